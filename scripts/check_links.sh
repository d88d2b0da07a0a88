#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: check_links.sh with|without BINARY: does it need libbluetooth?
set -euo pipefail
needed=$(readelf -d "$2" | grep -c 'NEEDED.*libbluetooth' || true)
symbols=$(readelf -Ws --dyn-syms "$2" | grep -cE ' UND (hci_|ba2str|str2ba)' || true)
case "$1" in
    with)
        [ "$needed" -eq 1 ] && echo "ok - $(basename "$2") links libbluetooth" && exit 0
        ;;
    without)
        [ "$needed" -eq 0 ] && [ "$symbols" -eq 0 ] && echo "ok - $(basename "$2") does not link libbluetooth" && exit 0
        ;;
esac
echo "not ok - $2: expected $1 libbluetooth, found needed=$needed symbols=$symbols"
exit 1

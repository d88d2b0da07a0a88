#!/bin/bash
# SPDX-License-Identifier: MIT
# A fixed sample of Tests/Chaos/chaos.py: broker and gateway killed, network cut, disk full. The whole run: make soak.
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v mosquitto >/dev/null || ! command -v unshare >/dev/null || ! command -v ip >/dev/null; then
    echo "ok 1 - chaos # SKIP mosquitto, iproute2 or util-linux is not installed"
    echo 1..1
    exit
fi
python3 "$here/../Chaos/chaos.py" "${TENDON:-$here/../../.build/debug/tendon}" --seed 3 --broker-kills 2 --gateway-kills 3 \
    --cuts 1 --long-cuts 0 --full 1

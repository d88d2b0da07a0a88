#!/bin/bash
# SPDX-License-Identifier: MIT
# run --mqtt-share: three gateways, a device that walks between them, a broker that fails.
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v mosquitto >/dev/null; then
    echo "ok 1 - shared devices # SKIP mosquitto is not installed"
    echo 1..1
    exit
fi
python3 "$here/../Chaos/walk.py" "${TENDON:-$here/../../.build/debug/tendon}"

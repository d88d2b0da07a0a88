# SPDX-License-Identifier: MIT
# title: an independent client (bleak over bluetoothd) discovers, configures and streams from our simulated device
# needs: venv
# lane: 2
# limit: 180
source "$KERNEL_TESTS/command.sh"

bluetoothd_start || not_ok "bluetoothd starts"
adapters_on
device_start
/usr/bin/python3 "$KERNEL_TESTS/advertise_again.py" hci1 "$CASE_DIR/found" &
again=$!
timeout -k 5 160 "$VENV/bin/python" "$PROJECT/Tests/Peers/bleak_bose.py" --adapter hci0 --notifications 500 \
    --found "$CASE_DIR/found" >"$CASE_DIR/bleak.txt" 2>&1
code=$?
stop $again
cat "$CASE_DIR/bleak.txt"
check "the client ends well" test $code -eq 0
device_stop

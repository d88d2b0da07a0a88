# SPDX-License-Identifier: MIT
# title: an independent client (bleak over bluetoothd) uses a device of a program's own, the example in C
# needs: build venv
# lane: 2
# limit: 150

bluetoothd_start || not_ok "bluetoothd starts"
adapters_on
# The adapter with the lowest index, hci0.
timeout 120 "$BUILD/Tests/Kernel/c/heart_rate" >"$CASE_DIR/sensor.txt" 2>&1 &
sensor=$!
wait_for 15 grep -q advertises "$CASE_DIR/sensor.txt"
/usr/bin/python3 "$KERNEL_TESTS/advertise_again.py" hci0 "$CASE_DIR/found" &
again=$!
timeout -k 5 110 "$VENV/bin/python" "$PROJECT/Tests/Peers/bleak_heart_rate.py" hci1 "$CASE_DIR/found" \
    >"$CASE_DIR/bleak.txt" 2>&1
code=$?
stop $again
cat "$CASE_DIR/bleak.txt"
check "the client ends well" test $code -eq 0
wait $sensor
check "the device ends well, after ten values" test $? -eq 0
check "it names who reads, resets and subscribes" eval '[ "$(grep -cE "reads the location|resets|subscribes" "$CASE_DIR/sensor.txt")" -ge 3 ]'
check "and the end of the connection, with its reason" grep -q '^reason: ' "$CASE_DIR/sensor.txt"

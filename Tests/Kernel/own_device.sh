# SPDX-License-Identifier: MIT
# Sourced by the cases in which an independent client uses the heart rate sensor of an example.

# sensor_used PROGRAM ARGUMENT...: an example, on hci0, the adapter with the lowest index; bleak over bluetoothd on hci1.
sensor_used() {
    local sensor again code
    bluetoothd_start || not_ok "bluetoothd starts"
    adapters_on
    timeout 120 "$@" >"$CASE_DIR/sensor.txt" 2>&1 &
    sensor=$!
    wait_for 15 grep -q advertises "$CASE_DIR/sensor.txt"
    # 0x1D: the set of a radio of the library (TENDON_BLUEZ_ADVERTISING_SET).
    # shellcheck disable=SC2046 # one word or none
    /usr/bin/python3 "$KERNEL_TESTS/advertise_again.py" hci0 "$CASE_DIR/found" $([ "$KIND" != extended ] || echo 0x1D) &
    again=$!
    timeout -k 5 110 "$VENV/bin/python" "$PROJECT/Tests/Peers/bleak_heart_rate.py" hci1 "$CASE_DIR/found" \
        >"$CASE_DIR/bleak.txt" 2>&1
    code=$?
    stop $again
    cat "$CASE_DIR/bleak.txt"
    check "the client ends well" test $code -eq 0
    wait $sensor
    check "the device ends well, after ten values" test $? -eq 0
}

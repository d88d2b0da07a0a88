# SPDX-License-Identifier: MIT
# title: an independent client (bleak over bluetoothd) uses a device of a program's own, the example in Swift (LocalPeripheral)
# needs: venv
# lane: 2
# kinds: extended
# sample: nothing
# limit: 150
source "$KERNEL_TESTS/own_device.sh"

sensor_used stdbuf -oL "$SWIFT_BIN/heart-rate"
check "it names who connects, and who resets" eval '[ "$(grep -cE "is connected$|resets$" "$CASE_DIR/sensor.txt")" -ge 2 ]'
check "no value was dropped" test "$(grep -cxE '(7[2-9]|8[01]) per minute ' "$CASE_DIR/sensor.txt")" -eq 10
sed 's/^/# /' "$CASE_DIR/sensor.txt"

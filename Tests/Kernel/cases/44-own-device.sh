# SPDX-License-Identifier: MIT
# title: an independent client (bleak over bluetoothd) uses a device of a program's own, the example in C
# needs: build venv
# lane: 2
# limit: 150
source "$KERNEL_TESTS/own_device.sh"

sensor_used "$BUILD/Tests/Kernel/c/heart_rate"
check "it names who reads, resets and subscribes" eval '[ "$(grep -cE "reads the location|resets|subscribes" "$CASE_DIR/sensor.txt")" -ge 3 ]'
check "and the end of the connection, with its reason" grep -q '^reason: ' "$CASE_DIR/sensor.txt"

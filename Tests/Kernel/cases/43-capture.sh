# SPDX-License-Identifier: MIT
# title: tendon capture of a stream: btmon, tshark and tendon replay find the same
# lane: 3
# kinds: extended legacy
# limit: 90
source "$KERNEL_TESTS/command.sh"

capture=$CASE_DIR/stream.btsnoop
device_start --notifications 500
timeout 60 "$TENDON" capture "$capture" --radio bluez --adapter hci0 --json --for 40 >"$CASE_DIR/capture.jsonl" &
capturing=$!
wait_for 10 test -s "$capture"
run_stream 30 --notifications 500
device_wait
kill -INT $capturing
wait $capturing
check "capture ends well" test $? -eq 0
check "nothing lost" grep -q '"lost":0' "$CASE_DIR/capture.jsonl"
check_lines --run "$CASE_DIR/run.jsonl" --device "$CASE_DIR/device.jsonl" --notifications 500

# Opcode 0x1b with a record of sensor 2: the sensor data, not the configurations.
timeout 60 tshark -r "$capture" -Y 'btatt.opcode == 0x1b' -T fields -e btatt.value >"$CASE_DIR/tshark.txt" \
    2>"$CASE_DIR/tshark.err"
check "tshark dissects every notification" eval \
    '[ "$(grep -c "^02[0-9a-f]\{24\}$" "$CASE_DIR/tshark.txt")" -eq 500 ] || { wc -l <"$CASE_DIR/tshark.txt"; head -3 "$CASE_DIR"/tshark.*; false; }'
btmon -r "$capture" >"$CASE_DIR/btmon.txt" 2>&1
check "so does btmon" eval '[ "$(grep -c "Handle Value Notification" "$CASE_DIR/btmon.txt")" -ge 500 ]'

"$TENDON" replay "$capture" --json >"$CASE_DIR/replay.jsonl"
check "replay ends well" test $? -eq 0
check "replay decodes every notification" grep -qE '"event":"summary".*"notifications":500,' "$CASE_DIR/replay.jsonl"
# The same samples, value by value.
samples() {
    grep '"event":"sample"' "$1" | grep -oE '"device_time_ms":[0-9]+|"quaternion":\[[^]]*\]|"yaw_deg":[-0-9.e]+'
}
check "replay and run agree in every value" eval \
    'diff <(samples "$CASE_DIR/run.jsonl") <(samples "$CASE_DIR/replay.jsonl") | head -5 | { ! grep .; }'

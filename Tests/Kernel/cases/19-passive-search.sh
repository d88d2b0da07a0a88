# SPDX-License-Identifier: MIT
# title: tendon run scans passively, and asks a device of its families for its name
# lane: 3
# kinds: legacy extended
# limit: 60
source "$KERNEL_TESTS/command.sh"

device_start --name 'LE-Frames of the response'
monitor_start "$CASE_DIR/other.btsnoop"
code=0
timeout -k 5 20 "$TENDON" stream feelspace --radio bluez --adapter hci0 --json --for 2 >"$CASE_DIR/other.jsonl" 2>&1 || code=$?
monitor_stop
check "a gateway for belts finds none" test $code -eq 4
btmon -r "$CASE_DIR/other.btsnoop" >"$CASE_DIR/other.txt"
check "it scans passively" grep -q 'Type: Passive' "$CASE_DIR/other.txt"
check "and sends no scan request beside a wearable" eval '! grep -q "Type: Active" "$CASE_DIR/other.txt"'

monitor_start "$CASE_DIR/own.btsnoop"
run_stream 20 --notifications 20
monitor_stop
btmon -r "$CASE_DIR/own.btsnoop" >"$CASE_DIR/own.txt"
check "a gateway for wearables asks for the name" grep -q 'Type: Active' "$CASE_DIR/own.txt"
check "and has it when it connects" grep -q '"event":"connected".*LE-Frames of the response' "$CASE_DIR/run.jsonl"
device_stop

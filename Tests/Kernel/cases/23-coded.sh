# SPDX-License-Identifier: MIT
# title: tendon run --coded with an independent wearable that advertises on LE Coded only (bumble)
# lane: 2
# needs: venv build
# kinds: rootcanal
# sample: nothing
# limit: 120
source "$KERNEL_TESTS/command.sh"

hciconfig hci1 down
timeout -k 5 230 "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_bose.py" --transport hci-socket:1 --notifications 100 \
    --coded --limit 220 >"$CASE_DIR/bumble.txt" 2>&1 &
peer=$!
wait_for 90 grep -q ready "$CASE_DIR/bumble.txt" || { not_ok "the peer is ready"; sed 's/^/#   /' "$CASE_DIR/bumble.txt"; }
monitor_start "$CASE_DIR/all.btsnoop"
check "it is not found on LE 1M" eval '! stream_into "$CASE_DIR/without.jsonl" 5 --notifications 1 &&
    ! grep -q "\"event\":\"found\"" "$CASE_DIR/without.jsonl"'
run_stream 60 --notifications 100 --period 20 --coded
check "the peer ends by itself" wait_for 20 eval '! kill -0 $peer'
wait $peer
check "and well" test $? -eq 0
monitor_stop
check_lines --run "$CASE_DIR/run.jsonl" --sent 100 --notifications 100 --yaw-per-sample 1
btmon -r "$CASE_DIR/all.btsnoop" >"$CASE_DIR/all.txt" 2>/dev/null
# Linux 6.12 selects all PHYs of the controller itself, and connects on the one on which it has heard the device.
check "the adapter has LE Coded, beside what it had" grep -aqE "Selected PHYs: 0x(67|7f)ff" "$CASE_DIR/all.txt"
check "and connects on it" grep -aqE "Initiating PHYs: 0x0[45]" "$CASE_DIR/all.txt"

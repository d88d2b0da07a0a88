# SPDX-License-Identifier: MIT
# title: tendon run --gatt-cache with another host's server (bumble): its Database Hash, Database Out Of Sync, Service Changed
# lane: 3
# needs: venv
# kinds: extended
# limit: 150
source "$KERNEL_TESTS/command.sh"

hciconfig hci1 down
timeout -k 5 280 "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_bose.py" --transport hci-socket:1 --notifications 20 \
    --connections 9 --move-at 3 --out-of-sync-at 6 --change-at 8 --limit 270 >"$CASE_DIR/bumble.txt" 2>&1 &
peer=$!
wait_for 90 grep -q ready "$CASE_DIR/bumble.txt" || { not_ok "the peer is ready"; sed 's/^/#   /' "$CASE_DIR/bumble.txt"; }

# connection N: one run of the program, until it has 20 samples.
connection() {
    run_stream 40 --notifications 20 --period 20 --gatt-cache
    check "the peer has seen the end of connection $1" wait_for 20 grep -q "^connection $1:" "$CASE_DIR/bumble.txt"
    check_lines --run "$CASE_DIR/run.jsonl" --sent 20 --notifications 20 --yaw-per-sample 1
}
requests() { sed -n "s/^connection $1: sent [0-9]* requests //p" "$CASE_DIR/bumble.txt"; }
tables() { find "$XDG_STATE_HOME/tendon/gatt" -name 'gatt-*' | wc -l; }

connection 1
check "one table is stored" test "$(tables)" -eq 1
connection 2
check "the hash saves the discovery: $(requests 2) requests instead of $(requests 1)" \
    test "$(requests 2)" -le "$(($(requests 1) - 10))"
connection 3
check "another hash, other handles: discovered again, with $(requests 3) requests" \
    test "$(requests 3)" -ge "$(($(requests 2) + 10))"
connection 4
# The last request of a run can come after its end: the numbers of two runs differ by 1.
check "and stored: $(requests 4) requests" test "$(requests 4)" -le "$(($(requests 3) - 10))"
check "the table is dropped" "$TENDON" cache drop
check "there is none" test "$(tables)" -eq 0
connection 5
check "discovered again: $(requests 5) requests" test "$(requests 5)" -ge "$(($(requests 2) + 10))"
# The table changes between the reading of its hash and the first request that uses a stored handle.
connection 6
check "Database Out Of Sync, once" test "$(grep -c '^out of sync' "$CASE_DIR/bumble.txt")" -eq 1
check "discovered again in the same connection: $(requests 6) requests" test "$(requests 6)" -ge "$(($(requests 2) + 10))"
check "one connection" test "$(grep -c '"event":"connected"' "$CASE_DIR/run.jsonl")" -eq 1
connection 7
check "the new handles are stored: $(requests 7) requests" test "$(requests 7)" -le "$(($(requests 6) - 10))"
# Service Changed in the middle of a stream; the device hangs up, and the run goes on with what it finds then.
check "run goes on over a change of the table" stream_into "$CASE_DIR/run.jsonl" 60 --notifications 20 --period 20 --gatt-cache
check "Service Changed was confirmed" grep -q '^service changed: 1 confirmed' "$CASE_DIR/bumble.txt"
check "the peer has seen the end of both connections" wait_for 20 grep -q '^connection 9:' "$CASE_DIR/bumble.txt"
check "with 10 values over the first, and the others over the second" eval \
    'grep -q "^connection 8: sent 10 " "$CASE_DIR/bumble.txt" && grep -q "^connection 9: sent 1[0-9] " "$CASE_DIR/bumble.txt"'
check "the first one had the stored handles: $(requests 8) requests" test "$(requests 8)" -lt "$(requests 5)"
check "the second one discovered: $(requests 9) requests" test "$(requests 9)" -ge "$(($(requests 2) + 10))"
check "every value arrived, over two connections" \
    test "$(grep -c '"event":"sample"' "$CASE_DIR/run.jsonl") $(grep -c '"event":"connected"' "$CASE_DIR/run.jsonl")" = "20 2"
check "the peer ends by itself" wait_for 20 eval '! kill -0 $peer'
wait $peer
check "and well" test $? -eq 0
sed 's/^/# /' "$CASE_DIR/bumble.txt"

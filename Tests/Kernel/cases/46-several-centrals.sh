# SPDX-License-Identifier: MIT
# title: three centrals of one device of our own at once (bumble): each gets its own values; one leaves and comes again
# lane: 2
# needs: build venv
# kinds: none
# controllers: bumble
# sample: nothing
# limit: 200
COMMANDS=/tmp/commands.$BASHPID
mkfifo "$COMMANDS"
"$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_centrals.py" --limit 180 <"$COMMANDS" >"$CASE_DIR/centrals.txt" 2>&1 &
peers=$!
exec 3>"$COMMANDS"
wait_for 120 grep -q ready "$CASE_DIR/centrals.txt" || { not_ok "the centrals are ready"; sed 's/^/#   /' "$CASE_DIR/centrals.txt"; }
wait_for 60 adapter_ready hci0 || not_ok "the adapter is ready"
"$BUILD/Tests/Kernel/c/radio_check" crowd hci0 90000 >"$CASE_DIR/device.txt" 2>&1 &
device=$!
wait_for 10 grep -q 'serving: OK' "$CASE_DIR/device.txt"
echo go >&3
check "all have had what they wanted" wait_for 80 grep -q '^done' "$CASE_DIR/centrals.txt"
check "the one that left twice, each time in order, none of another's" \
    test "$(grep -c '^central 1 got 4[0-9] wrong 0 lost 0' "$CASE_DIR/centrals.txt")" = 2
check "the others the whole time, on one connection" \
    test "$(grep -cE '^central [23] got ([5-9][0-9]|[1-9][0-9]{2}) wrong 0 lost 0' "$CASE_DIR/centrals.txt")" = 2
check "three were connected together, two while one was away" eval \
    'grep -q "^connected: 3 together" "$CASE_DIR/device.txt" && grep -q "PEER_CLOSED: 2 together" "$CASE_DIR/device.txt"'
check "there were four connections" wait_for 10 eval '[ "$(grep -c "^connected: " "$CASE_DIR/device.txt")" = 4 ]'
sed 's/^/# /' "$CASE_DIR/device.txt"
sed 's/^/# /' "$CASE_DIR/centrals.txt"
exec 3>&-
stop $device $peers

# SPDX-License-Identifier: MIT
# title: a controller that gives no credit, sends what is no packet, or changes places with another
# kinds: none
# controllers: scripted
# needs: build
# lane: 3
# limit: 60
source "$KERNEL_TESTS/scripted.sh"

# The kernel waits 4 s for the credit, and resets; the reset gets none either.
scripted_start --no-credits 200b
radio_check scan hci0 20000 active - fdd2 >"$CASE_DIR/credits.txt"
check "F03 no command may be sent any more: told once, with the reason" \
    test "$(grep '^failure' "$CASE_DIR/credits.txt")" = "failure RADIO_ERROR_ADAPTER_DOWN"
check "F03 the kernel had tried a reset" eval 'sed "1,/^200b/d" "$CASE_DIR/commands.txt" | grep -q "^0c03 "'
scripted_stop

scripted_start --h4
check "F14 packets of no kind, and reports cut at every byte: the whole ones are found" \
    radio_check scan hci0 5000 active Scripted -
check "F14 the cut ones reached the kernel" test "$(grep -c '^broken 04 .* taken$' "$CASE_DIR/commands.txt")" -ge 40
check "F14 packets of no kind did not" test "$(grep -c '^broken \(00\|01\|06\|7f\|ff\) .* EINVAL$' "$CASE_DIR/commands.txt")" -ge 10
scripted_stop

both_start() { # ADDRESS ADDRESS: hci0 and hci1
    scripted_start --address "$1"
    /usr/bin/python3 "$KERNEL_TESTS/controller.py" --log "$CASE_DIR/other.txt" --address "$2" &
    OTHER=$!
    wait_for 10 eval "radio_check list any | grep -q '^hci1 $2 '" || not_ok "a second controller comes up"
}
first=00:00:5E:00:53:AA second=00:00:5E:00:53:BB
both_start $first $second
radio_check scan hci0 30000 active Nobody - >"$CASE_DIR/swapped.txt" 2>&1 &
scan=$!
wait_for 5 grep -q '^limits' "$CASE_DIR/swapped.txt"
kill -9 $OTHER
scripted_stop
both_start $second $first
check "F17 the index belongs to another controller now" eval "radio_check list any | grep -q '^hci0 $second '"
wait $scan
check "F17 who used the first one is told that it is gone, once" \
    test "$(grep '^failure' "$CASE_DIR/swapped.txt")" = "failure RADIO_ERROR_NO_ADAPTER"
# Of the other one it has not even asked for a scan: its commands are those of the kernel's set-up.
check "F17 and does nothing on the other one" eval '! grep -qE "^(200b|200c|2041|2042) " "$CASE_DIR/commands.txt"'
kill -9 $OTHER
scripted_stop

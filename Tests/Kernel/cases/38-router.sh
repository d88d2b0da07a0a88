# SPDX-License-Identifier: MIT
# title: tendon-gateway: pairs, does what it is asked, connects again, an adapter that is switched off and on
# lane: 3
# kinds: extended legacy
# needs: build
# limit: 200
source "$KERNEL_TESTS/command.sh"
FAMILY=fjorden
lines=$CASE_DIR/gateway.jsonl

count() { # EVENT COUNT: so many lines of the event
    [ "$(grep -c "\"event\":\"$1\"" "$lines")" -ge "$2" ]
}

requests=$(mktemp -d)/requests # the case directory is the host's, and has no pipes
mkfifo "$requests"
device_start
"$BUILD/programs/gateway/tendon-gateway" --adapter hci0 --pair <"$requests" >"$lines" 2>"$CASE_DIR/gateway.err" &
gateway=$!
exec 3>"$requests"
check "it pairs with a grip, and connects" wait_for 40 count connected 1
address=$(sed -n 's/.*"event":"connected".*"address":"\([0-9A-F:]*\)".*/\1/p' "$lines" | head -n 1)
echo "{\"address\":\"$address\",\"action\":\"led\",\"arguments\":[\"blinkFast\",500]}" >&3
check "it does what it is asked" wait_for 15 count action 1
check "the parameters of the connection are reported" wait_for 15 count connection_parameters 1
device_stop
check "a device that is lost is reported" wait_for 20 count disconnected 1
device_start
check "it connects again, with its bond" wait_for 60 count connected 2
hciconfig hci0 down
check "an adapter that is switched off is reported" wait_for 20 count radio_lost 1
check "and its connection has ended" wait_for 10 count disconnected 2
hciconfig hci0 up
check "an adapter that is on again is used" wait_for 60 count radio_restored 1
check "and the device connected" wait_for 60 count connected 3
kill -TERM $gateway
check "SIGTERM ends it" wait_for 15 eval '! kill -0 $gateway'
wait $gateway
check "with status 0" test $? -eq 0
check "the last line is the summary" eval 'tail -n 1 "$lines" | grep -q "\"event\":\"summary\""'
check "nothing is on standard error" test ! -s "$CASE_DIR/gateway.err"
device_stop

# SPDX-License-Identifier: MIT
# title: links: connect, listen, deadline, cancel, reconnect, scans paused meanwhile
# kinds: extended legacy rootcanal
# needs: build
# limit: 180

peer=$(address_of hci1)
signal_of() { # COMMAND...: 127 stands for a signal that is not known
    local output
    output=$("$@")
    echo "$output"
    grep -E 'signal -?[0-9]+ dBm' <<<"$output" | grep -qv 'signal 127 '
}
serve_start hci1 340 "Tendon Wearable"
monitor_start "$CASE_DIR/all.btsnoop"
# RootCanal takes up to 20 s for them in a machine with one CPU.
check "2,000 notifications, none lost" radio_check connect hci0 40000 "$peer" 5000 2000
if [ "$KIND" = legacy ]; then # btvirt -L has no Read RSSI
    check "a controller that does not know how strong the connection is" eval \
        'radio_check connect hci0 40000 "$peer" 5000 1000 >"$CASE_DIR/signal.txt" && grep -q "^signal 127 dBm" "$CASE_DIR/signal.txt"'
else
    check "the controller says how strong the connection is" signal_of radio_check connect hci0 40000 "$peer" 5000 1000
fi
check "again at once: a new connection" radio_check connect hci0 10000 "$peer" 5000 10
check "a scan is paused and restored" radio_check connect hci0 10000 "$peer" 5000 10 scan
expect "nobody there: the deadline" 1 radio_check connect hci0 10000 00:AA:01:01:00:77 1500 0
# Emulated time on a busy host: the bounds are what the deadlines mean, not how exact a quiet machine keeps them.
closed_after() { # REASON FROM TO COMMAND...: it prints "closed: REASON after N ms", with FROM <= N < TO
    local reason=$1 from=$2 to=$3 output after
    shift 3
    output=$("$@")
    echo "$output"
    after=$(sed -n "s/.*closed: $reason after \([0-9]*\) ms.*/\1/p" <<<"$output")
    [ -n "$after" ] && [ "$after" -ge "$from" ] && [ "$after" -lt "$to" ]
}
check "not before the deadline, and not by a later limit" \
    closed_after ERROR_TIMEOUT 1500 9000 radio_check connect hci0 10000 00:AA:01:01:00:77 1500 0
check "the scan is restored after a failed connect too" \
    radio_check connect hci0 15000 00:AA:01:01:00:77 1500 0 scan
check "cancelled by the owner, long before the deadline" \
    closed_after ERROR_CANCELLED 300 5000 radio_check connect hci0 10000 00:AA:01:01:00:77 5000 0 cancel
check "and then a connect works" radio_check connect hci0 10000 "$peer" 5000 10
monitor_stop # what follows would fill the capture: written packet by packet, it takes minutes on an emulated machine
"$BUILD/Tests/Kernel/c/radio_check" connect hci0 20000 "$peer" 5000 1000000 >"$CASE_DIR/killed.txt" 2>&1 &
killed=$!
wait_for 5 grep -q connected "$CASE_DIR/killed.txt"
kill -9 $killed
check "after a client that was killed: a new connection, not its leavings" \
    radio_check connect hci0 10000 "$peer" 5000 10
check "the server saw a new central each time" eval \
    '[ "$(grep -c "^central $(address_of hci0)" "$CASE_DIR/serve.txt")" -eq 7 ]'
check "hci0 got one command set" one_set_only "$CASE_DIR/all.btsnoop" hci0
check "60 times beside a scan that pauses for each: every one connects" radio_check cycles hci0 150000 "$peer" 60
stop $SERVER
# The process was killed: the controller still advertises, and no program has the adapter open.
serve_start hci1 20 "Tendon Again"
check "what a killed program left on is cleared" radio_check scan hci0 5000 active "Tendon Again" -
stop $SERVER
# The same while a program has the other adapter open, which says that it is not this one.
serve_start hci1 40 "Tendon Wearable"
for again in 1 2; do
    "$BUILD/Tests/Kernel/c/radio_check" scan hci0 20000 active Nobody - >"$CASE_DIR/left.txt" 2>&1 &
    left=$!
    wait_for 5 grep -q open "$CASE_DIR/left.txt"
    sleep 0.5
    kill -9 $left
    wait $left 2>/dev/null
    check "a scan that a killed program left on is cleared beside another program ($again)" \
        radio_check scan hci0 5000 active "Tendon Wearable" -
done
stop $SERVER

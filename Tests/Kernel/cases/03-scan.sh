# SPDX-License-Identifier: MIT
# title: scanning and advertising, with one command set only
# kinds: legacy extended rootcanal
# sample: legacy extended
# needs: build venv

monitor_start "$CASE_DIR/all.btsnoop"
"$BUILD/Tests/Kernel/c/radio_check" advertise hci1 90000 "Tendon Wearable" >"$CASE_DIR/advertise.txt" 2>&1 &
advertiser=$!
wait_for 5 grep -q open "$CASE_DIR/advertise.txt"
sleep 0.3
check "by service UUID, passive" radio_check scan hci0 5000 passive - fdd2
check "by service UUID, active" radio_check scan hci0 5000 active - fdd2
check "by the name that only the scan response has" radio_check scan hci0 5000 active "Tendon Wearable" -
expect "a passive scan gets no scan response" 1 radio_check scan hci0 1000 passive "Tendon Wearable" -
expect "nothing is found that is not there" 1 radio_check scan hci0 1000 active "Tendon Other" 180d
# The example of the tutorial, with an adapter that is named and with the first one.
example() { "$BUILD/Tests/Kernel/c/choose_adapter" "$@" >"$CASE_DIR/example.txt" 2>&1; }
check "the example scans over the adapter that is named" example hci0
check "it lists both adapters" eval '[ "$(sed -n "s/^\(hci[01]\): on$/\1/p" "$CASE_DIR/example.txt" | xargs)" = "hci0 hci1" ]'
check "and prints the device with its family" \
    grep -qE "^$(address_of hci1) +-?[0-9]+ dBm Bose" "$CASE_DIR/example.txt"
check "without a name it takes the first adapter" example
check "which finds the device too" grep -q "^$(address_of hci1)" "$CASE_DIR/example.txt"
expect "an adapter that is not there: status 3" 3 example hci77
stop $advertiser
monitor_stop
check "hci0 got one command set" one_set_only "$CASE_DIR/all.btsnoop" hci0
check "hci1 got one command set" one_set_only "$CASE_DIR/all.btsnoop" hci1

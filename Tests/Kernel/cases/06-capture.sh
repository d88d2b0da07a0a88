# SPDX-License-Identifier: MIT
# title: captures from the monitor channel, read again by btmon
# kinds: legacy extended
# needs: build

for form in monitor h4; do
    "$BUILD/Tests/Kernel/c/radio_check" capture "$CASE_DIR/$form.btsnoop" 40000 $form >"$CASE_DIR/$form.txt" 2>&1 &
    eval $form=$!
done
wait_for 5 grep -q 'capture: OK' "$CASE_DIR/h4.txt"
serve_start hci1 30 "Tendon Wearable"
radio_check connect hci0 20000 "$(address_of hci1)" 15000 500 >"$CASE_DIR/connect.txt"
sleep 0.5
stop $monitor $h4
check "one connection" [ "$(grep -c '^central 00' "$CASE_DIR/serve.txt")" -eq 1 ]
for form in monitor h4; do
    btmon -r "$CASE_DIR/$form.btsnoop" >"$CASE_DIR/$form.btmon" 2>&1
    check "$form: nothing lost" grep -q '^lost 0$' "$CASE_DIR/$form.txt"
    check "$form: btmon finds every notification, both ways" eval \
        '[ "$(grep -c "Handle Value Notification" "$CASE_DIR/$form.btmon")" -eq 1000 ]'
    check "$form: btmon finds the connection at both ends" eval \
        '[ "$(grep -cE "LE (Enhanced )?Connection Complete \(0x" "$CASE_DIR/$form.btmon")" -eq 2 ]'
done
expect "without rights it is refused" 1 \
    setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$BUILD/Tests/Kernel/c/radio_check" \
    capture /dev/null 100
stop $SERVER

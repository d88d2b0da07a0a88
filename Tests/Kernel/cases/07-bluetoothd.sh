# SPDX-License-Identifier: MIT
# title: an adapter that bluetoothd uses at the same time
# kinds: extended legacy
# needs: build
# limit: 90

bluetoothd_start || not_ok "bluetoothd starts"
# Discovery belongs to the D-Bus client that started it: this one stays.
printf 'select %s\npower on\nscan on\n' "$(address_of hci0)" >"$CASE_DIR/control.txt"
(cat "$CASE_DIR/control.txt"; sleep 60) | bluetoothctl >"$CASE_DIR/bluetoothctl.txt" 2>&1 &
wait_for 10 grep -q 'Discovery started' "$CASE_DIR/bluetoothctl.txt"
sleep 0.5
radio_check scan hci0 4000 active Nobody - >"$CASE_DIR/scan.txt" 2>&1
check "while bluetoothd scans: no failure" eval '! grep failure "$CASE_DIR/scan.txt"'
serve_start hci1 60 "Tendon Wearable"
check "the device is received" radio_check scan hci0 20000 active - fdd2
# An attempt that ran out of time keeps the kernel busy for a moment.
check "links go on all the same" eval 'for attempt in 1 2 3 4; do
    radio_check connect hci0 10000 "$(address_of hci1)" 8000 500 && break; sleep 3; done'

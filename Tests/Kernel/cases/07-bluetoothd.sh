# SPDX-License-Identifier: MIT
# title: an adapter that bluetoothd uses at the same time: its search finds the device, and our scan and connection work
# kinds: extended legacy
# needs: build
# limit: 180

bluetoothd_start || not_ok "bluetoothd starts"
peer=$(address_of hci1)
# Discovery belongs to the D-Bus client that started it: this one stays.
printf 'select %s\npower on\nscan on\n' "$(address_of hci0)" >"$CASE_DIR/control.txt"
(cat "$CASE_DIR/control.txt"; sleep 120) | bluetoothctl >"$CASE_DIR/bluetoothctl.txt" 2>&1 &
search=$!
check "bluetoothd searches" wait_for 10 grep -q 'Discovery started' "$CASE_DIR/bluetoothctl.txt"
searches() { # bluetoothd's own word for it
    dbus-send --system --print-reply --dest=org.bluez /org/bluez/hci0 org.freedesktop.DBus.Properties.Get \
        string:org.bluez.Adapter1 string:Discovering | grep -q 'boolean true'
}
searches_beside() { kill -0 "$1" && searches; } # PROCESS, which has not ended
told() { grep -a "Device $peer" "$CASE_DIR/bluetoothctl.txt"; }
sleep 0.5
# For longer than a scan without a report is left alone: the search is stopped then, and bluetoothd begins another one.
radio_check scan hci0 7000 active Nobody - >"$CASE_DIR/scan.txt" 2>&1
check "while bluetoothd scans: no failure" eval '! grep failure "$CASE_DIR/scan.txt"'
expect "the device is not there yet, for bluetoothd either" 1 told
# A scan of ours lasts while the device begins to advertise.
"$BUILD/Tests/Kernel/c/radio_check" scan hci0 40000 active Nobody - >"$CASE_DIR/beside.txt" 2>&1 &
beside=$!
wait_for 5 grep -q '^limits' "$CASE_DIR/beside.txt"
serve_start hci1 120 "Tendon Wearable"
check "bluetoothd finds the device beside our scan" wait_for 20 told
stop $beside
check "the device is received" radio_check scan hci0 20000 active - fdd2
# An attempt that ran out of time keeps the kernel busy for a moment.
streams() {
    local attempt link code
    for attempt in 1 2 3 4; do
        "$BUILD/Tests/Kernel/c/radio_check" connect hci0 60000 "$peer" 8000 20000 >"$CASE_DIR/stream.txt" 2>&1 &
        link=$! code=0
        # bluetoothd pauses for 5 s between two searches, and the kernel ends one to connect.
        wait_for 10 grep -q '^connected' "$CASE_DIR/stream.txt" && wait_for 20 searches_beside $link &&
            : >"$CASE_DIR/beside-search.txt"
        wait $link || code=$?
        cat "$CASE_DIR/stream.txt"
        [ $code -ne 0 ] || return 0
        sleep 3
    done
    return 1
}
check "links go on all the same: 20,000 notifications, none lost" streams
check "bluetoothd searched while they came" test -e "$CASE_DIR/beside-search.txt"
check "and searches still" searches

# A bonded device of bluetoothd's that is absent: the kernel scans for it, with the accept list, without an end.
stop $search
wait_for 10 eval '! searches' || not_ok "the search ends"
stop $SERVER
serve_start hci1 60 "Tendon Wearable"
monitor_start "$CASE_DIR/absent.btsnoop"
timeout 10 btmgmt --index 0 add-device -a 2 -t 2 C0:11:22:33:44:55 </dev/null >"$CASE_DIR/btmgmt.txt" 2>&1
sleep 1
check "the device is received all the same" radio_check scan hci0 20000 active - fdd2
sleep 1
monitor_stop
btmon -r "$CASE_DIR/absent.btsnoop" >"$CASE_DIR/absent.txt" 2>/dev/null
policies() { grep -a 'Filter policy: ' "$CASE_DIR/absent.txt" | sed 's/.*(\(0x0[0-9]\)).*/\1/' | uniq | xargs; }
check "the kernel's scan was taken over, and begins again: $(policies)" eval '[[ "$(policies)" == "0x01 0x00"*"0x01" ]]'

# SPDX-License-Identifier: MIT
# title: a device of our own keeps what an independent central (bumble) has subscribed to: over connections, kill -9, another table
# kinds: extended
# needs: build venv
# limit: 210
# Linux 6.1.192 crashes when the socket of a connection that has ended is closed: see README.md.

peer=$(address_of hci1)
hciconfig hci0 down

starts=0
keeper_start() { # [moved]
    starts=$((starts + 1))
    # What a killed one has left enabled: beside the central's socket, whose adapter nothing tells, it is not taken over.
    hcitool -i hci1 cmd 0x08 0x0039 00 00 >/dev/null
    "$BUILD/Tests/Kernel/c/radio_check" keeper hci1 200000 "$CASE_DIR/bonds" "$CASE_DIR/subscriptions" "$@" \
        >"$CASE_DIR/keeper-$starts.txt" 2>&1 3>&- &
    KEEPER=$!
    wait_for 10 grep -q 'serving: OK' "$CASE_DIR/keeper-$starts.txt"
}
count() { grep -cE "^$1" "$CASE_DIR/central.txt"; }
has_lines() { [ "$(count "$1")" -ge "$2" ]; }
again() { # NUMBER: one more connection, without a write
    echo >&3
    wait_for 30 has_lines done "$1"
}

keeper_start
mkfifo /tmp/lines
timeout -k 5 200 "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_subscriber.py" --transport hci-socket:0 "$peer" \
    </tmp/lines >"$CASE_DIR/central.txt" 2>&1 &
central=$!
exec 3>/tmp/lines
check "the central pairs, subscribes and hangs up" wait_for 110 has_lines disconnected 1
check "what it subscribed to is in a file of its own" wait_for 10 eval '[ "$(ls "$CASE_DIR/subscriptions" | grep -c cccd-)" -eq 1 ]'
check "which only its owner can read" eval '[ "$(stat -c %a "$CASE_DIR"/subscriptions/cccd-*)" = 600 ]'
check "it connects again" again 1
check "and is notified without a write" has_lines "notified" 3
check "its subscriptions are restored, not written" eval '[ "$(grep -c ^subscribed "$CASE_DIR/keeper-1.txt")" -eq 4 ]'

before=$(count notified)
kill -9 $KEEPER
wait $KEEPER 2>/dev/null
keeper_start
check "after kill -9 of the device: it connects again" again 2
check "and is notified" has_lines notified $((before + 3))

before=$(count notified)
stop $KEEPER
keeper_start moved
check "the device has another table: it connects again" again 3
check "it is told by Service Changed" has_lines "changed 0001 ffff" 1
check "and is not notified with a handle of the table before" eval '[ "$(count notified)" -eq "$before" ]'
check "once it has confirmed that: connected again" again 4
check "it is not told again" eval '[ "$(count changed)" -eq 1 ]'
exec 3>&-
check "the central ends well" wait $central
stop $KEEPER
cut -c1-200 "$CASE_DIR/central.txt" | sed 's/^/# /' | head -60

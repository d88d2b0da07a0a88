# SPDX-License-Identifier: MIT
# title: an independent central with private addresses (bumble) pairs, and is known by its identity: over connections, after kill -9
# kinds: extended
# sample: nothing
# needs: build venv
# lane: 2
# limit: 200
# Linux 6.1.192 crashes when the socket of a connection that has ended is closed: see README.md.
identity=F0:F1:F2:F3:F4:F5
key=00112233445566778899aabbccddeeff
bonds=$CASE_DIR/bonds
peer=$(address_of hci0)
hciconfig hci1 down

starts=0
wearable_start() { # pairable|closed
    starts=$((starts + 1))
    # What a killed one has left enabled: beside the central's socket, whose adapter nothing tells, it is not taken over.
    hcitool -i hci0 cmd 0x08 0x0039 00 00 >/dev/null
    "$BUILD/Tests/Kernel/c/radio_check" wearable hci0 190000 "$bonds" "$1" >"$CASE_DIR/wearable-$starts.txt" 2>&1 3>&- &
    WEARABLE=$!
    wait_for 10 grep -q 'serving: OK' "$CASE_DIR/wearable-$starts.txt"
}
wearable() { # TEXT: the device has said it since it was started
    grep -q "^$1" "$CASE_DIR/wearable-$starts.txt"
}
count() { grep -cE "^$1" "$CASE_DIR/central.txt"; }
has_lines() { [ "$(count "$1")" -ge "$2" ]; }
address() { sed -n 's/^address //p' "$CASE_DIR/central.txt" | tail -n 1; }
connection() { # NUMBER: one more, from another address
    echo >&3
    wait_for 40 has_lines done "$1"
}
has_read() { # NUMBER: so many connections have read the value with encryption
    [ "$(count 'read [1-9]')" -eq "$1" ] && [ "$(count failed)" -eq 0 ]
}

wearable_start pairable
COMMANDS=/tmp/commands.$BASHPID
mkfifo "$COMMANDS"
timeout -k 5 190 "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_private.py" --transport hci-socket:1 \
    --identity $identity $key "$peer" <"$COMMANDS" >"$CASE_DIR/central.txt" 2>&1 &
central=$!
exec 3>"$COMMANDS"
wait_for 110 has_lines ready 1 || not_ok "the central is ready"
connection 1
first=$(address)
check "the central has a resolvable private address" eval 'case $first in [4-7]*) true ;; *) false ;; esac'
check "refused, paired, read" has_read 1
check "refused for lack of authentication" test "$(count 'refused 5')" = 1
check "the device saw the private address" wearable "central $first"
check "the bond has the identity address" test "$(od -An -tx1 -j27 -N7 "$bonds" | tr -d ' ')" = f5f4f3f2f1f001
check "and the identity key" test "$(od -An -tx1 -j$((16 + 46)) -N16 "$bonds" | tr -d ' \n')" = $key
connection 2
check "from another address: encrypted with the bond, and read" eval 'has_read 2 && [ "$(address)" != "$first" ]'
check "the device knows its identity" wearable "central $identity"
check "and that it has a key, before it is used: Insufficient Encryption" test "$(count 'refused 15')" = 1
kill -9 $WEARABLE
wait $WEARABLE 2>/dev/null
wearable_start closed
connection 3
check "after kill -9 of the device, which pairs no more: read" has_read 3
check "by the same key" test "$(count encrypted) $(count paired)" = "2 1"
check "from a third address, known by the identity" eval 'wearable "central $identity" && [ "$(count address)" = 3 ]'
exec 3>&-
check "the central ends well" wait $central
stop $WEARABLE
check "there is one bond" test "$(stat -c %s "$bonds")" = $((16 + 46 + 16))
cut -c1-200 "$CASE_DIR/central.txt" | sed 's/^/# /' | head -60
sed 's/^/# /' "$CASE_DIR"/wearable-*.txt

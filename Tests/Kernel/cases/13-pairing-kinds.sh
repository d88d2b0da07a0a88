# SPDX-License-Identifier: MIT
# title: pairing of each kind with an independent device: passkeys, comparison, what is refused, one retry
# lane: 3
# needs: build venv
# kinds: extended rootcanal
# limit: 300
peer_address=F0:F1:F2:F3:F4:F5/random
hciconfig hci1 down
echo "--io none" >"$CASE_DIR/options.txt"
timeout -k 5 600 "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_pairing.py" --transport hci-socket:1 \
    --options "$CASE_DIR/options.txt" --limit 590 >"$CASE_DIR/bumble.txt" 2>&1 &
peer=$!
wait_for 90 grep -q ready "$CASE_DIR/bumble.txt" || { not_ok "the peer is ready"; sed 's/^/#   /' "$CASE_DIR/bumble.txt"; }

# pair STATUS "PEER'S OPTIONS" AGENT...: a pairing with a store of its own; lines in pair.txt, the peer's in peer.txt.
pair() {
    local wanted=$1 code=0
    echo "$2" >"$CASE_DIR/options.txt"
    shift 2
    bonds=$CASE_DIR/bonds-$((++stores))
    local before
    before=$(wc -l <"$CASE_DIR/bumble.txt")
    timeout 25 "$BUILD/Tests/Kernel/c/radio_check" pair hci0 20000 $peer_address "$bonds" ${mode:-pair} "$@" \
        >"$CASE_DIR/pair.txt" 2>&1 || code=$?
    sleep 0.2
    tail -n +$((before + 1)) "$CASE_DIR/bumble.txt" >"$CASE_DIR/peer.txt"
    sed 's/^/# /' "$CASE_DIR/pair.txt" "$CASE_DIR/peer.txt"
    test $code -eq "$wanted"
}
stores=0
said() { grep -q "^$1" "$CASE_DIR/pair.txt"; }
key_type() { od -An -tu1 -j18 -N1 "$bonds" | tr -d ' '; } # of the first record; odd: authenticated, from 2: Secure Connections
key_size() { od -An -tu1 -j19 -N1 "$bonds" | tr -d " "; }

check "passkey entry: the peer shows it" pair 0 "--io display --mitm --passkey 123456" io=2 passkey=123456 authenticated
check "paired, and the value that needs authentication is read" said 'done: OK'
check "the first read was refused, the second was the last" test "$(grep -c '^read:' "$CASE_DIR/pair.txt")" = 2
check "the key is authenticated, of Secure Connections" test "$(key_type)" = 3
echo "--io none" >"$CASE_DIR/options.txt"
check "another process reads with the bond alone" eval \
    'timeout 25 "$BUILD/Tests/Kernel/c/radio_check" pair hci0 20000 $peer_address "$bonds" read io=2 authenticated >"$CASE_DIR/pair.txt"'
check "encrypted before it is told" said 'connected, encrypted, bonded 1'

check "a wrong passkey" pair 1 "--io display --mitm --passkey 123456" io=2 passkey=654321 authenticated
check "fails" said 'paired: RADIO_ERROR_PAIRING_FAILED, bonded 0'
check "and leaves no bond" test ! -e "$bonds"

printf '# labels\n%s 042042\n* 111111\n' $peer_address >"$CASE_DIR/passkeys"
chmod 600 "$CASE_DIR/passkeys"
check "a file of passkeys" pair 0 "--io display --mitm --passkey 42042" io=2 "file=$CASE_DIR/passkeys" authenticated
check "a user who reads the passkey off the device" eval \
    'rm -f "$CASE_DIR/shown"; pair 0 "--io display --mitm --show $CASE_DIR/shown" io=2 ask=yes "from=$CASE_DIR/shown" authenticated'
check "was asked for it" said 'question: enter'

check "passkey display: the peer enters it" pair 0 "--io keyboard --mitm --enter $CASE_DIR/pair.txt" io=0 ask=yes authenticated
check "was shown it" said 'question: show'
check "the peer enters a wrong one" pair 1 "--io keyboard --mitm --wrong 1 --enter $CASE_DIR/pair.txt" io=0 ask=yes authenticated
check "fails" said 'paired: RADIO_ERROR_PAIRING_FAILED, bonded 0'

check "numeric comparison" pair 0 "--io yes-no --mitm" io=1 ask=yes authenticated
check "both show the same number" test "$(sed -n 's/^question: compare //p' "$CASE_DIR/pair.txt")" = \
    "$(sed -n 's/^compare //p' "$CASE_DIR/peer.txt")"
check "an authenticated key" test "$(key_type)" = 3
check "our user denies" pair 1 "--io yes-no --mitm" io=1 ask=no authenticated
check "fails" said 'paired: RADIO_ERROR_PAIRING_FAILED, bonded 0'
check "the peer's user denies" pair 1 "--io yes-no --mitm --denies" io=1 ask=yes authenticated
check "fails too" said 'paired: RADIO_ERROR_PAIRING_FAILED, bonded 0'
check "nobody to ask" pair 1 "--io yes-no --mitm" io=1 authenticated
check "is a failure" said 'paired: RADIO_ERROR_PAIRING_FAILED, bonded 0'

check "H06 Just Works where a passkey is demanded" pair 1 "--io none" io=4 ask=yes authenticated
check "H06 is too weak" said 'paired: RADIO_ERROR_PAIRING_TOO_WEAK, bonded 0'
check "H06 and leaves no bond" test ! -e "$bonds"

# Just Works is not enough for the value: one pairing, one more read, and no more.
check "a value that needs more than the agent can do" pair 1 "--io none --never" io=3
check "paired once" test "$(grep -c '^paired: OK, bonded 1' "$CASE_DIR/pair.txt")" = 1
check "and read twice" test "$(grep -c '^read: ATT_INSUFFICIENT_AUTHENTICATION' "$CASE_DIR/pair.txt")" = 2
check "with a key of Secure Connections" test "$(key_type)" = 2

# A bond of Just Works: not enough for a request that needs an authenticated key, and replaced where the level is required.
weak() { # the bond of the next check
    check "a bond of Just Works" pair 0 "--io none" io=3
    check "with an unauthenticated key" test "$(key_type)" = 2
    weak=$bonds
}
again() { # STATUS "PEER'S OPTIONS" AGENT...: with the weak bond
    local wanted=$1
    stores=$((stores + 1))
    cp "$weak" "$CASE_DIR/bonds-$stores"
    stores=$((stores - 1))
    mode=request pair "$wanted" "--authenticated $2" "${@:3}"
}
weak
check "over the connection that it encrypts, nobody pairs again" again 1 "--io display --mitm --passkey 123456" io=2 passkey=123456
check "encrypted before" said 'connected, encrypted, bonded 1'
check "the rejection is the result" said 'read: ATT_INSUFFICIENT_AUTHENTICATION, 0 bytes, encrypted'
check "and the bond stays" test "$(key_type)" = 2
check "a required level pairs, and the request succeeds" again 0 "--io display --mitm --passkey 123456" io=2 passkey=123456 required=2
check "one read" test "$(grep -c '^read: OK' "$CASE_DIR/pair.txt")" = 1
check "the bond is authenticated now" test "$(key_type)" = 3
check "and the next connection is encrypted with it" eval \
    'timeout 25 "$BUILD/Tests/Kernel/c/radio_check" pair hci0 20000 $peer_address "$bonds" request io=2 required=2 >"$CASE_DIR/pair.txt"'
check "without another pairing" said 'connected, encrypted, bonded 1'
weak
check "a wrong passkey" again 1 "--io display --mitm --passkey 123456" io=2 passkey=654321 required=2
check "ends the connection" said 'disconnected: RADIO_ERROR_NOT_SECURE'
check "and leaves the bond" test "$(key_type)" = 2
weak
check "a device that has only Just Works" again 1 "--io none" io=2 passkey=123456 required=2
check "is not used" said 'disconnected: RADIO_ERROR_NOT_SECURE'
check "and the bond stays too" test "$(key_type)" = 2

check "legacy pairing with a passkey" pair 0 "--legacy --io display --mitm --passkey 7" io=2 passkey=7 authenticated
check "an authenticated legacy key" test "$(key_type)" = 1
check "legacy pairing where Secure Connections is demanded" pair 1 "--legacy --io display --mitm --passkey 7" \
    io=2 passkey=7 authenticated secure
check "is too weak" said 'paired: RADIO_ERROR_PAIRING_TOO_WEAK, bonded 0'
check "and leaves no bond" test ! -e "$bonds"

# A device whose keys have 7 bytes, the least that the specification permits.
check "a key of 7 bytes where 16 are demanded" pair 1 "--io none --key-size 7" io=3 size=16
check "is too weak" said 'paired: RADIO_ERROR_PAIRING_TOO_WEAK, bonded 0'
check "and leaves no bond" test ! -e "$bonds"
check "a key of 7 bytes where 8 are demanded" pair 1 "--io none --key-size 7" io=3 size=8
check "is too weak" said 'paired: RADIO_ERROR_PAIRING_TOO_WEAK, bonded 0'
check "a key of 7 bytes where 7 are demanded" pair 0 "--io none --key-size 7" io=3 size=7
check "is accepted" said 'paired: OK, bonded 1'
check "and the value is read with it" said 'done: OK'
check "the bond says how long it is" test "$(key_size)" = 7
check "it encrypts the next connection" eval \
    'timeout 25 "$BUILD/Tests/Kernel/c/radio_check" pair hci0 20000 $peer_address "$bonds" read io=3 size=7 >"$CASE_DIR/pair.txt"'
check "before it is told" said 'connected, encrypted, bonded 1'
check "but not for a program that demands 16" eval \
    '! timeout 25 "$BUILD/Tests/Kernel/c/radio_check" pair hci0 20000 $peer_address "$bonds" read io=3 size=16 >"$CASE_DIR/pair.txt"'

check "the peer's user rejects the pairing" pair 1 "--io display --mitm --rejects" io=2 passkey=1 authenticated
check "fails" said 'paired: RADIO_ERROR_PAIRING_FAILED, bonded 0'
check "the peer is stopped" kill $peer
wait $peer 2>/dev/null || true

# SPDX-License-Identifier: MIT
# title: a bonded device with private addresses is found by its identity, also by another process
# lane: 3
# needs: build venv
# kinds: extended
# limit: 120
identity=F0:F1:F2:F3:F4:F5/random
key=00112233445566778899aabbccddeeff
bonds=$CASE_DIR/bonds
hciconfig hci1 down
timeout -k 5 110 "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_pairing.py" --transport hci-socket:1 --private $key \
    --limit 100 >"$CASE_DIR/bumble.txt" 2>&1 &
peer=$!
wait_for 60 grep -q ready "$CASE_DIR/bumble.txt" || { not_ok "the peer is ready"; sed 's/^/#   /' "$CASE_DIR/bumble.txt"; }
address() { sed -n 's/^address //p' "$CASE_DIR/bumble.txt" | tail -n 1; }

# client ADDRESS MODE: connects, pairs or reads with the bond; lines in client.txt.
client() {
    timeout 25 "$BUILD/Tests/Kernel/c/radio_check" pair hci0 20000 "$1" "$bonds" "$2" io=3 >"$CASE_DIR/client.txt" 2>&1
    local code=$?
    sed 's/^/# /' "$CASE_DIR/client.txt"
    return $code
}
said() { grep -q "^$1" "$CASE_DIR/client.txt"; }

first=$(address)
check "the peer has a resolvable private address" eval 'case $first in [4-7]*) true ;; *) false ;; esac'
check "it pairs at its private address" client "$first/random" pair
check "and is bonded" said 'done: OK'
check "the file has the identity address" test "$(od -An -tx1 -j27 -N7 "$bonds" | tr -d ' ')" = f5f4f3f2f1f001
check "and the identity key" test "$(od -An -tx1 -j$((16 + 46)) -N16 "$bonds" | tr -d ' \n')" = $key
check "the peer has another address now" wait_for 10 eval 'test "$(address)" != "$first"'
second=$(address)
# scan [BONDS]: for the service of the peer; lines in scan.txt.
scan() {
    timeout 20 "$BUILD/Tests/Kernel/c/radio_check" scan hci0 10000 active - fdd2 $1 >"$CASE_DIR/scan.txt" 2>&1
    local code=$?
    sed 's/^/# /' "$CASE_DIR/scan.txt"
    return $code
}
check "a scan finds it by its identity" scan "$bonds"
check "with that address" grep -q "^found ${identity%/*}/random" "$CASE_DIR/scan.txt"
check "and its private address besides" grep -q "^private address $second" "$CASE_DIR/scan.txt"
check "a scan without the bonds finds it" scan
check "by its private address" grep -q "^found ${second%/*}/random" "$CASE_DIR/scan.txt"
check "another process connects to the identity" client $identity read
check "encrypted with the bond" said 'connected, encrypted, bonded 1'
check "and reads" said 'done: OK'
check "the peer has a third address" wait_for 10 eval 'test "$(address)" != "$second"'
check "and is found again" client $identity read
check "the peer is stopped" kill $peer
wait $peer 2>/dev/null || true

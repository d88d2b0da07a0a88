# SPDX-License-Identifier: MIT
# title: a bonded device with private addresses is found by its identity, also by another process
# lane: 3
# needs: build venv
# kinds: extended rootcanal
# limit: 200
identity=F0:F1:F2:F3:F4:F5/random
key=00112233445566778899aabbccddeeff
bonds=$CASE_DIR/bonds
hciconfig hci1 down
timeout -k 5 210 "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_pairing.py" --transport hci-socket:1 --private $key \
    --limit 200 >"$CASE_DIR/bumble.txt" 2>&1 &
peer=$!
wait_for 90 grep -q ready "$CASE_DIR/bumble.txt" || { not_ok "the peer is ready"; sed 's/^/#   /' "$CASE_DIR/bumble.txt"; }
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
third=$(address)
check "and is found again" client $identity read
# A controller that resolves addresses has the key now, and the kernel has left its resolution on.
check "the peer has a fourth address" wait_for 10 eval 'test "$(address)" != "$third"'
check "a scan still finds it by its identity" scan "$bonds"
check "with its private address besides" grep -q "^private address $(address)" "$CASE_DIR/scan.txt"
check "a scan without the bonds still finds it" scan
check "by its private address, not by an identity that it has no bond of" grep -q "^found $(address)/random" "$CASE_DIR/scan.txt"
check "the peer is stopped" kill $peer
wait $peer 2>/dev/null || true

# The command, with a wearable of bumble's that pairs. Starting it takes most of the time.
[ -z "$SAMPLE" ] || return 0
source "$KERNEL_TESTS/command.sh"
timeout -k 5 300 "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_bose.py" --transport hci-socket:1 --private $key --pairing \
    --address ${identity%/*} --notifications 20 --connections 4 --limit 290 >"$CASE_DIR/bumble.txt" 2>&1 &
peer=$!
wait_for 90 grep -q ready "$CASE_DIR/bumble.txt" || { not_ok "the wearable is ready"; sed 's/^/#   /' "$CASE_DIR/bumble.txt"; }
seen() { # CONNECTION: the wearable has its end, and another address
    wait_for 20 eval '[ "$(grep -c "^address" "$CASE_DIR/bumble.txt")" -gt '"$1"' ]'
}
bond() { # MEMBER: of the only bond, in a file that `tendon bonds export` writes
    rm -f "$CASE_DIR/keys.json"
    "$TENDON" bonds export "$CASE_DIR/keys.json" >/dev/null
    /usr/bin/python3 -c 'import json, sys; (bond,) = json.load(open(sys.argv[1]))["bonds"]; print(bond[sys.argv[2]])' \
        "$CASE_DIR/keys.json" "$1"
}
first=$(address)
check "tendon pair, with the private address" timeout 60 "$TENDON" pair bose --accept --radio bluez --adapter hci0 \
    --address "$first/random" --timeout 40 --json
check "its bond is exported with the identity address" test "$(bond address)" = "${identity%/*}"
check "and the identity key, least significant byte first" \
    test "$(bond identity_key)" = $key
check "the wearable has another address" eval 'seen 1 && [ "$(address)" != "$first" ]'
run_stream 40 --address $identity --notifications 20 --period 20
check "the run names the identity address" grep -q "\"event\":\"connected\".*${identity%/*}" "$CASE_DIR/run.jsonl"
check "and has not paired again" eval '! grep -q "\"event\":\"pairing\"" "$CASE_DIR/run.jsonl"'
seen 2
check "the bond is forgotten by the identity address" "$TENDON" forget --radio bluez --adapter hci0 --address $identity
check "there is none" test "$("$TENDON" bonds list --json | grep -c '"event":"bond"')" = 0
second=$(address)
run_stream 40 --pair --address "$second/random" --notifications 20 --period 20
check "run --pair has paired" grep -q '"event":"pairing".*"state":"done"' "$CASE_DIR/run.jsonl"
check "and stored the identity" test "$(bond address)" = "${identity%/*}"
seen 3
run_stream 40 --address $identity --notifications 20 --period 20
check "another run connects to the identity" test "$(address)" != "$second"
check_lines --run "$CASE_DIR/run.jsonl" --sent "$(wait_for 20 grep -q '^sent ' "$CASE_DIR/bumble.txt"; sed -n 's/^sent //p' "$CASE_DIR/bumble.txt")" \
    --notifications 20 --yaw-per-sample 1
check "the wearable ends by itself" wait_for 20 eval '! kill -0 $peer'
wait $peer
check "and well" test $? -eq 0
sed 's/^/# /' "$CASE_DIR/bumble.txt"

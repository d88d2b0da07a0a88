# SPDX-License-Identifier: MIT
# title: bonds beside bluetoothd, which replaces the kernel's keys: the kernel pairs by itself, and that is not taken for the bonded device
# lane: 3
# needs: build venv
# kinds: extended
# sample: nothing
# limit: 150
peer_address=F0:F1:F2:F3:F4:F5/random
hciconfig hci1 down
timeout -k 5 240 "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_pairing.py" --transport hci-socket:1 \
    --limit 220 >"$CASE_DIR/bumble.txt" 2>&1 &
peer=$!
wait_for 90 grep -q ready "$CASE_DIR/bumble.txt" || { not_ok "the peer is ready"; sed 's/^/#   /' "$CASE_DIR/bumble.txt"; }
bonds=$CASE_DIR/bonds

client() { # pair|read|forget: lines in client.txt, the peer's in peer.txt
    local code=0 before
    before=$(wc -l <"$CASE_DIR/bumble.txt")
    timeout 25 ${IN:-} "$BUILD/Tests/Kernel/c/radio_check" pair hci0 20000 $peer_address "$bonds" "$1" io=3 \
        >"$CASE_DIR/client.txt" 2>&1 || code=$?
    sleep 0.3
    tail -n +$((before + 1)) "$CASE_DIR/bumble.txt" >"$CASE_DIR/peer.txt"
    sed 's/^/# /' "$CASE_DIR/client.txt" "$CASE_DIR/peer.txt"
    return $code
}
said() { grep -q "^$1" "$CASE_DIR/client.txt"; }

check "paired without bluetoothd" client pair
check "and bonded" said 'done: OK'
cp "$bonds" "$CASE_DIR/before"
# bluetoothctl stays, with the input of a pipe: as the agent that bluetoothd asks, it answers when it is told to.
COMMANDS=/tmp/commands.$BASHPID
mkfifo "$COMMANDS"
agent_start() {
    wait_for 10 eval 'bluetoothctl list | grep -q "$(address_of hci0)"' || not_ok "bluetoothd has the adapter"
    bluetoothctl <"$COMMANDS" >"$CASE_DIR/agent.txt" 2>&1 &
    AGENT=$!
    exec 3>"$COMMANDS"
    wait_for 10 grep -q 'Agent registered' "$CASE_DIR/agent.txt" || not_ok "an agent of bluetoothd"
}
bluetoothd_start || not_ok "bluetoothd starts"
wait_for 10 eval 'bluetoothctl list | grep -q "$(address_of hci0)"' || not_ok "bluetoothd has the adapter"
expect "bluetoothd has loaded its own keys, and rejects what the kernel pairs" 1 client read
check "it says why" said 'disconnected: RADIO_ERROR_OTHER_BOND_STORE'
check "the kernel had tried to pair" grep -q '^asked' "$CASE_DIR/peer.txt"
check "no request was sent" eval '! grep -q "^att" "$CASE_DIR/peer.txt"'

# The same where bluetoothd's process cannot be seen: its keys stay.
sandbox=/tmp/sandbox.$BASHPID
{ echo '#!/bin/bash'; declare -f sandboxed; echo 'sandboxed "$@"'; } >"$sandbox"
chmod +x "$sandbox"
monitor_start "$CASE_DIR/sandbox.btsnoop"
IN=$sandbox expect "in the sandbox of the service the bond is of no use either" 1 client read
check "it says why" said 'disconnected: RADIO_ERROR_OTHER_BOND_STORE'
monitor_stop
btmon -r "$CASE_DIR/sandbox.btsnoop" >"$CASE_DIR/sandbox.txt" 2>/dev/null
loads() { grep -aE 'Load (Long Term Keys|Identity Resolving Keys)' "$CASE_DIR/sandbox.txt"; }
expect "no keys were loaded in the place of bluetoothd's" 1 loads
bluetoothd_kill
IN=$sandbox check "without bluetoothd the bond is of use again, in the sandbox too" client read
check "encrypted before it is told" said 'connected, encrypted, bonded 1'

bluetoothd_run || not_ok "bluetoothd starts again"
agent_start
(wait_for 20 grep -q 'Accept pairing' "$CASE_DIR/agent.txt"; echo yes >&3) &
expect "an agent accepts what the kernel pairs: it is not taken for the bonded device" 1 client read
check "it says why" said 'disconnected: RADIO_ERROR_OTHER_BOND_STORE'
check "it was paired and encrypted all the same" grep -q '^paired' "$CASE_DIR/peer.txt"
check "the bond is as it was" cmp "$bonds" "$CASE_DIR/before"
# bluetoothd uses the devices that it has the key of, once the connection of our client has ended, 2 s after that.
device_is() { bluetoothctl info "${peer_address%/*}" | grep -qE "$1"; }
wait_for 20 device_is 'Connected: no|ServicesResolved: yes'
echo "connect ${peer_address%/*}" >&3
wait_for 20 device_is 'Connected: yes'
busy() { radio_check connect hci0 12000 $peer_address 8000 500 | grep -q 'connect: RADIO_ERROR_DEVICE_IN_USE'; }
check "bluetoothd has the only ATT channel of that device: it says so" busy
exec 3>&-
stop $AGENT $peer

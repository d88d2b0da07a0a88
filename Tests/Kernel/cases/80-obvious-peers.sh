# SPDX-License-Identifier: MIT
# title: the command against the independent Obvious device (bumble), clean and with each fault; the independent client against tendon simulate
# sample: nothing
# needs: venv
# kinds: legacy
# limit: 300
# lane: 2
FAMILY=obvious
source "$KERNEL_TESTS/command.sh"
source "$KERNEL_TESTS/obvious.sh"
VERSION=1.5.0
PEER=$PROJECT/Tests/Peers/bumble_ogp.py

head -c 6000 "$PROJECT/Tests/vectors/obvious_peer.jsonl" >"$DATA/image"
cloud_start --firmware "1234:$VERSION:$DATA/image"

# ---- our client, and a device that has no line of ours: one process, a new device of it for each fault
hciconfig hci1 down
mkfifo "$DATA/plans"
timeout -k 5 520 "$VENV/bin/python" "$PEER" device --transport hci-socket:1 --limit 500 --public "$(site 'v["keys"]["1"]')" \
    --unprovisioned --counter 0 --mtu 185 --plans <"$DATA/plans" >"$CASE_DIR/peer.jsonl" 2>"$CASE_DIR/peer.err" &
PEER_ID=$!
exec 7>"$DATA/plans"
if ! wait_for 150 grep -q '"ready"' "$CASE_DIR/peer.jsonl"; then
    not_ok "the independent device is ready: $(tail -n 3 "$CASE_DIR/peer.err")"
    exit 1
fi

plan() { # NAME [MEMBER]: a new device; the member of its plan, in JSON
    echo "{\"name\": \"$1\"${2:+, $2}}" >&7
    wait_for 30 grep -q "\"event\": \"plan\".*\"name\": \"$1\"" "$CASE_DIR/peer.jsonl" || not_ok "$1: a new device"
}
plans=()
whole() { # NAME [MEMBER]: provisioning, update and upgrade of a new device
    plans+=("$1")
    plan "$@"
    check "$1: update" obvious update
    check "$1: firmware upgrade" obvious firmware upgrade
}

whole clean
check "clean: toggle of a feature that is not bought" eval '! obvious toggle 16 on'
check "clean: its reason" grep -q FEATURE_DISABLED "$CASE_DIR/obvious.err" "$CASE_DIR/obvious.txt"
"$TENDON" obvious checkout 7 --serial 1122334455667788 --product 1234 --json >"$CASE_DIR/cart.txt" 2>&1
cart=$(sed 's/.*"cart":\([0-9]*\).*/\1/' "$CASE_DIR/cart.txt" | tail -1)
"$TENDON" obvious pay "$cart" --serial 1122334455667788 --product 1234 --card-fd 3 --json \
    3< <(printf '%s\n' 4242424242424242 04/33 123) >"$CASE_DIR/pay.txt" 2>"$CASE_DIR/pay.err"
check "clean: update with what was bought" obvious update
check "clean: toggle" obvious toggle 16 off
check "clean: features" obvious features 16 19
check "clean: off" says '"feature":16,"state":"enabled","toggle":"deactivated"'

whole lost '"air": {"lost": 0.1}'
whole doubled '"air": {"doubled": 0.2}'
whole late '"air": {"late": 0.04}'
whole reordered '"air": {"reordered": 0.2}'
whole credit '"faults": {"credit": 1}'
whole wrong_crc '"air": {"changed": 0.03}, "faults": {"bad_crc": 2}'
whole reboot '"faults": {"reboot_at": [4000], "disconnect_at": [6000]}'
exec 7>&-
check "the independent device ends by itself" wait_for 20 eval "! kill -0 $PEER_ID"
wait $PEER_ID
check "and well" test $? -eq 0
/usr/bin/python3 "$KERNEL_TESTS/check_obvious.py" device "$CASE_DIR/peer.jsonl" $VERSION "${plans[@]}"
stop $CLOUD

# ---- the other way round: a client that has no line of ours, and the simulated device, which trusts the client's key
hciconfig hci0 down
KEY=03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8 # the public half of the usual --seed
echo "1234 1 $KEY" >"$CASE_DIR/client-keys"
device_start --keys-file "$CASE_DIR/client-keys" --flash "$DATA/flash" --unprovisioned
timeout -k 5 300 "$VENV/bin/python" "$PEER" client --transport hci-socket:0 --limit 100 --address F0:F1:F2:F3:F4:F7 \
    --peer "$(address_of hci1)/P" --mtu 185 --image-size 6000 info update features toggle=16 upgrade=1.4.0 \
    air=lost:0.05,doubled:0.1,reordered:0.1 upgrade=1.5.0 >"$CASE_DIR/client.jsonl" 2>"$CASE_DIR/client.err"
check "the independent client ends well" test $? -eq 0
tail -n 5 "$CASE_DIR/client.err" | sed 's/^/# /'
device_stop
/usr/bin/python3 "$KERNEL_TESTS/check_obvious.py" client "$CASE_DIR/client.jsonl" "$CASE_DIR/device.jsonl"

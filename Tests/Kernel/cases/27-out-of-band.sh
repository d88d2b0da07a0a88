# SPDX-License-Identifier: MIT
# title: pairing out of band, with an independent device and between two ends of our own: data of one side, of both, wrong data, none
# lane: 3
# needs: build venv
# kinds: extended
# limit: 180
stores=0
said() { grep -q "^$1" "$CASE_DIR/pair.txt"; }
key_type() { od -An -tu1 -j18 -N1 "$1" | tr -d ' '; } # of the first record; 3: authenticated, of Secure Connections
data_file() { printf '%s\n' "$2" >"$CASE_DIR/$1" && chmod 600 "$CASE_DIR/$1"; }
# wrong FILE TYPE: its data with another last byte in the structure of this AD type (22: confirmation value, 23: random).
wrong() {
    local last=ff
    case $(sed -E "s/.*11$2[0-9a-f]{30}(..).*/\1/" "$CASE_DIR/$1") in ff) last=00 ;; esac
    sed -E "s/(11$2[0-9a-f]{30})../\1$last/" "$CASE_DIR/$1" >"$CASE_DIR/wrong" && chmod 600 "$CASE_DIR/wrong"
    ! cmp -s "$CASE_DIR/$1" "$CASE_DIR/wrong"
}
expect_status() { # STATUS COMMAND...: its output in status.txt
    local wanted=$1 code=0
    shift
    "$@" >"$CASE_DIR/status.txt" 2>&1 || code=$?
    sed 's/^/# /' "$CASE_DIR/status.txt"
    test $code -eq "$wanted"
}

# ---- two ends of our own ----
peer=$(address_of hci1)
device=
device_start() { # AGENT...: a device with a store of its own
    device_bonds=$CASE_DIR/device-bonds-$((++stores))
    rm -f "$CASE_DIR/device.txt"
    "$BUILD/Tests/Kernel/c/radio_check" wearable hci1 60000 "$device_bonds" pairable "$@" >"$CASE_DIR/device.txt" 2>&1 &
    device=$!
    wait_for 10 grep -q 'serving: OK' "$CASE_DIR/device.txt"
}
pair() { # STATUS ADDRESS AGENT...
    local wanted=$1 address=$2 code=0
    shift 2
    bonds=$CASE_DIR/bonds-$((++stores))
    timeout 40 "$BUILD/Tests/Kernel/c/radio_check" pair hci0 30000 "$address" "$bonds" ${mode:-pair} "$@" \
        >"$CASE_DIR/pair.txt" 2>&1 || code=$?
    sleep 0.3
    sed 's/^/# /' "$CASE_DIR/pair.txt"
    test $code -eq "$wanted"
}
rejected() { # REASON [DEVICE'S BONDS]: what is true after each failure
    check "fails" said "paired: $1, bonded 0"
    check "and leaves no bond" test ! -e "$bonds" -a ! -e "${2:-/nonexistent}"
}

check "a device that has no display shares its data" device_start io=3 authenticated "share=$CASE_DIR/device-data"
chmod 600 "$CASE_DIR/device-data"
check "which have its address, and that it is a peripheral" grep -qE '^081b[0-9a-f]{12}00021c001122[0-9a-f]{32}1123[0-9a-f]{32}$' "$CASE_DIR/device-data"
wrong device-data 22
check "a wrong confirmation value" pair 1 "$peer" io=3 authenticated "data=$CASE_DIR/wrong"
rejected RADIO_ERROR_PAIRING_FAILED "$device_bonds"
wrong device-data 23
check "a wrong random value" pair 1 "$peer" io=3 authenticated "data=$CASE_DIR/wrong"
rejected RADIO_ERROR_PAIRING_FAILED "$device_bonds"
data_file nothing '#'
check "no data, where the agent takes nothing else" pair 1 "$peer" io=3 authenticated "data=$CASE_DIR/nothing"
check "fails" said 'paired: RADIO_ERROR_PAIRING_TOO_WEAK, bonded 0'
check "no data, and an agent that can enter passkeys" pair 1 "$peer" io=2 passkey=1 authenticated
check "fails too: the device has no display" grep -qE '^paired: RADIO_ERROR_PAIRING_(TOO_WEAK|FAILED), bonded 0' "$CASE_DIR/pair.txt"
check "the device's data" pair 0 "$peer" io=3 authenticated "data=$CASE_DIR/device-data"
check "the value is read" said 'done: OK'
check "both keys are authenticated, of Secure Connections" test "$(key_type "$bonds")$(key_type "$device_bonds")" = 33
check "another process reads with the bond alone" eval \
    'timeout 25 "$BUILD/Tests/Kernel/c/radio_check" pair hci0 20000 "$peer" "$bonds" read io=2 authenticated >"$CASE_DIR/pair.txt"'
check "encrypted before it is told" said 'connected, encrypted, bonded 1'
stop $device

# The kernel forgets a bond that this store does not have when the next pairing with the device begins.
check "the device is started again, with other data" device_start io=3 authenticated "share=$CASE_DIR/other-data"
chmod 600 "$CASE_DIR/other-data"
check "which differ" eval '! cmp -s "$CASE_DIR/device-data" "$CASE_DIR/other-data"'
check "those of before do not pair any more" pair 1 "$peer" io=3 authenticated "data=$CASE_DIR/device-data"
rejected RADIO_ERROR_PAIRING_FAILED "$device_bonds"
check "a user's agent pairs with the new ones too" pair 0 "$peer" io=4 ask=no authenticated "data=$CASE_DIR/other-data"
check "and asks nobody" test "$(grep -c '^question' "$CASE_DIR/pair.txt")" = 0
check "both keys are authenticated" test "$(key_type "$bonds")$(key_type "$device_bonds")" = 33
stop $device

# The other way round: the device has the data of the central, which has none of the device.
rm -f "$CASE_DIR/central-data"
mode=share check "a program makes the data of the central, and ends" pair 0 "$peer" io=3 "share=$CASE_DIR/central-data"
chmod 600 "$CASE_DIR/central-data"
check "a device has them" device_start io=3 authenticated "data=$CASE_DIR/central-data"
check "another program pairs, without data of the device" pair 0 "$peer" io=3 authenticated "data=$CASE_DIR/nothing"
check "both keys are authenticated" test "$(key_type "$bonds")$(key_type "$device_bonds")" = 33
stop $device

# ---- the command at both ends ----
# shellcheck source=../command.sh
. "$KERNEL_TESTS/command.sh"
FAMILY=feelspace device_start --generation 2 --pairing ready --show-out-of-band
check "the simulated device prints its data" wait_for 10 grep -q '"event":"out_of_band"' "$CASE_DIR/device.jsonl"
data_file belt-data "$(sed -nE 's/.*"data":"([0-9a-f]+)".*/\1/p' "$CASE_DIR/device.jsonl")"
check "tendon pair finds the device by its data, and pairs" timeout 60 "$TENDON" pair feelspace --radio bluez --adapter hci0 \
    --out-of-band "$CASE_DIR/belt-data" --timeout 40
"$TENDON" bonds list --json >"$CASE_DIR/bonds.jsonl"
check "the bond is authenticated" grep -q '"authenticated":true' "$CASE_DIR/bonds.jsonl"
"$TENDON" forget --radio bluez --adapter hci0 --address "$peer" >"$CASE_DIR/forget.txt" 2>&1 || true
wrong belt-data 22
check "wrong data: status 1" expect_status 1 timeout 60 "$TENDON" pair feelspace --radio bluez --adapter hci0 \
    --out-of-band "$CASE_DIR/wrong" --timeout 40
check "with the reason" grep -q RADIO_ERROR_PAIRING_FAILED "$CASE_DIR/status.txt"
check "tendon pair prints the data of this machine" expect_status 0 \
    timeout 20 "$TENDON" pair --radio bluez --adapter hci0 --show-out-of-band
check "which are those of a central" grep -qE '^081b[0-9a-f]{12}00021c011122[0-9a-f]{32}1123[0-9a-f]{32}$' "$CASE_DIR/status.txt"
device_stop

# ---- an independent device ----
peer_address=F0:F1:F2:F3:F4:F5/random
hciconfig hci1 down
echo "--io none --oob" >"$CASE_DIR/options.txt"
timeout -k 5 150 "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_pairing.py" --transport hci-socket:1 \
    --options "$CASE_DIR/options.txt" --limit 140 >"$CASE_DIR/bumble.txt" 2>&1 &
bumble=$!
wait_for 90 grep -q ready "$CASE_DIR/bumble.txt" || { not_ok "the peer is ready"; sed 's/^/#   /' "$CASE_DIR/bumble.txt"; }
data_file bumble-data "$(sed -n 's/^data //p' "$CASE_DIR/bumble.txt")"

check "bumble: its data" pair 0 $peer_address io=3 authenticated "data=$CASE_DIR/bumble-data"
check "bumble: the value is read" said 'done: OK'
check "bumble: an authenticated key of Secure Connections" test "$(key_type "$bonds")" = 3
wrong bumble-data 22
check "bumble: a wrong confirmation value" pair 1 $peer_address io=3 authenticated "data=$CASE_DIR/wrong"
rejected RADIO_ERROR_PAIRING_FAILED
wrong bumble-data 23
check "bumble: a wrong random value" pair 1 $peer_address io=3 authenticated "data=$CASE_DIR/wrong"
rejected RADIO_ERROR_PAIRING_FAILED
check "bumble: no data" pair 1 $peer_address io=3 authenticated "data=$CASE_DIR/nothing"
check "bumble: is too weak" said 'paired: RADIO_ERROR_PAIRING_TOO_WEAK, bonded 0'
echo "--io none --legacy" >"$CASE_DIR/options.txt"
check "bumble: LE Legacy Pairing, whatever the agent accepts" pair 1 $peer_address io=3 "data=$CASE_DIR/bumble-data"
check "bumble: is too weak, or fails" grep -qE '^paired: RADIO_ERROR_PAIRING_(TOO_WEAK|FAILED), bonded 0' "$CASE_DIR/pair.txt"
check "bumble: and leaves no bond" test ! -e "$bonds"

echo "--io none --peer-data $CASE_DIR/central-data" >"$CASE_DIR/options.txt"
check "bumble: data of both sides" pair 0 $peer_address io=3 authenticated "data=$CASE_DIR/bumble-data" "share=$CASE_DIR/central-data"
check "bumble: an authenticated key" test "$(key_type "$bonds")" = 3
check "bumble: our data alone" pair 0 $peer_address io=3 authenticated "data=$CASE_DIR/nothing" "share=$CASE_DIR/central-data"
check "bumble: an authenticated key too" test "$(key_type "$bonds")" = 3
wrong central-data 23
echo "--io none --peer-data $CASE_DIR/wrong" >"$CASE_DIR/options.txt"
check "bumble: wrong data of ours" pair 1 $peer_address io=3 authenticated "data=$CASE_DIR/bumble-data"
rejected RADIO_ERROR_PAIRING_FAILED
check "bumble: for the value that is wrong: Confirm Value Failed (4) or DHKey Check Failed (11)" \
    eval 'tail -n 8 "$CASE_DIR/bumble.txt" | grep -qE "^failed (4|11)$"'
check "the peer is stopped" kill $bumble
wait $bumble 2>/dev/null || true

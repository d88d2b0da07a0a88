# SPDX-License-Identifier: MIT
# title: adapters without a public address: a static random one, made once and stored
# kinds: none
# controllers: scripted
# needs: build
# limit: 60
source "$KERNEL_TESTS/scripted.sh"

opened() { # ADAPTER: the address that a radio has there
    radio_check open "$1" | sed -n 's/^open [^ ]* \([^ ]*\) .*/\1/p'
}

for KIND in extended legacy; do
    option=
    [ $KIND = extended ] && option=--extended
    scripted_start $option --no-address
    first=$(opened hci0)
    echo "# $first"
    check "$KIND: it has a static random address" grep -qE '^[C-F][0-9A-F]:([0-9A-F]{2}:){4}[0-9A-F]{2}/random$' <<<"$first"
    check "$KIND: the list tells the same" eval "radio_check list any | grep -q '^hci0 ${first%/random} '"
    check "$KIND: so does the next program, while the adapter is on" test "$(opened hci0)" = "$first"
    hciconfig hci0 down
    check "$KIND: and after it was off" test "$(opened hci0)" = "$first"
    check "$KIND: scan" radio_check scan hci0 5000 active Scripted -
    "$BUILD/Tests/Kernel/c/radio_check" advertise hci0 20000 "Tendon" >"$CASE_DIR/advertise.txt" 2>&1 &
    advertiser=$!
    check "$KIND: advertising is on" wait_for 5 grep -qE '^(200a|2039) 01.* 00$' "$CASE_DIR/commands.txt"
    check "$KIND: a scan beside it" radio_check scan hci0 5000 passive - fdd2
    stop $advertiser
    check "$KIND: nothing was refused for want of an address" eval '! grep " 12$" "$CASE_DIR/commands.txt"'
    if [ $KIND = legacy ]; then # the extended set would be a mixed one
        hcitool -i hci0 cmd 08 000b 00 60 00 60 00 00 00 >/dev/null
        check "$KIND: this controller does refuse a public one" grep -q '^200b.* 12$' "$CASE_DIR/commands.txt"
    fi
    scripted_stop
done

# Links: an LE controller whose identity is a static address, which the kernel has of somebody else.
controllers_start -L -l2
timeout 5 btmgmt --index 1 static-addr C0:00:5E:00:53:01 </dev/null >"$CASE_DIR/btmgmt.txt" 2>&1
device=$(opened hci1)
check "it has our static address" test "${device#*/}" = random
check "the list tells the same" eval 'radio_check list any | grep -q "^hci1 ${device%/random} "'
file=${XDG_STATE_HOME:-$HOME/.local/state}/tendon/address-hci1
check "the address is stored for its owner alone" test "$(stat -c '%a %u' "$file")" = "600 0"
check "as it is" test "$(cat "$file")" = "${device%/random}"
check "not the one of the other adapter" eval '! cmp "$file" "${file%1}0"'
serve_start hci1 30 "Tendon Wearable"
check "found under it" eval 'radio_check scan hci0 5000 active "Tendon Wearable" - | grep -q "^found $device "'
check "500 notifications over a link to it" radio_check connect hci0 10000 "$device" 5000 500
check "another program beside it: the adapter stays on, with that address" test "$(opened hci1)" = "$device"
stop $SERVER
# The other way round: the central has the static address.
serve_start hci0 30 "Tendon Other"
check "and from it" radio_check connect hci1 10000 "$(address_of hci0)" 5000 500
check "the server saw it" grep -q "^central ${device%/random}" "$CASE_DIR/serve.txt"
stop $SERVER

# SPDX-License-Identifier: MIT
# title: pairing of each kind between two ends of our own: passkey entry, passkey display, comparison, one wrong answer each
# lane: 3
# needs: build
# kinds: extended
# limit: 120
peer=$(address_of hci1)
stores=0

# both STATUS "DEVICE'S AGENT" AGENT...: a pairing with stores of its own; lines in pair.txt, the device's in device.txt.
both() {
    local wanted=$1 device_agent=$2 code=0
    shift 2
    stores=$((stores + 1))
    bonds=$CASE_DIR/bonds-$stores device_bonds=$CASE_DIR/device-bonds-$stores
    rm -f "$CASE_DIR/pair.txt" "$CASE_DIR/device.txt"
    # shellcheck disable=SC2086 # words
    "$BUILD/Tests/Kernel/c/radio_check" wearable hci1 60000 "$device_bonds" pairable $device_agent >"$CASE_DIR/device.txt" 2>&1 &
    local device=$!
    wait_for 10 grep -q 'serving: OK' "$CASE_DIR/device.txt" || { kill $device && return 1; }
    timeout 40 "$BUILD/Tests/Kernel/c/radio_check" pair hci0 30000 "$peer" "$bonds" pair "$@" >"$CASE_DIR/pair.txt" 2>&1 || code=$?
    sleep 0.3
    stop $device
    sed 's/^/# /' "$CASE_DIR/pair.txt"
    sed 's/^/# device: /' "$CASE_DIR/device.txt"
    test $code -eq "$wanted"
}
said() { grep -q "^$1" "$CASE_DIR/pair.txt"; }
device_said() { grep -q "^$1" "$CASE_DIR/device.txt"; }
key_type() { od -An -tu1 -j18 -N1 "$1" | tr -d ' '; } # of the first record; 3: authenticated, of Secure Connections

paired() { # what is true after each success
    check "the value is read" said 'done: OK'
    check "both keys are authenticated, of Secure Connections" test "$(key_type "$bonds")$(key_type "$device_bonds")" = 33
}
rejected() { # and after each failure
    check "fails" said 'paired: RADIO_ERROR_PAIRING_FAILED, bonded 0'
    check "and leaves no bond on either side" test ! -e "$bonds" -a ! -e "$device_bonds"
}

entry="io=0 ask=yes authenticated"
check "passkey entry: the device shows it" both 0 "$entry" io=2 ask=yes "from=$CASE_DIR/device.txt" authenticated
check "both users were asked" eval "said 'question: enter' && device_said 'question: show'"
paired
check "the central enters a wrong one" both 1 "$entry" io=2 ask=yes "from=$CASE_DIR/device.txt" wrong=1 authenticated
rejected

display="io=2 ask=yes from=$CASE_DIR/pair.txt authenticated"
check "passkey display: the device enters it" both 0 "$display" io=0 ask=yes authenticated
check "both users were asked" eval "said 'question: show' && device_said 'question: enter'"
paired
check "the device enters a wrong one" both 1 "$display wrong=1" io=0 ask=yes authenticated
rejected

compare="io=1 ask=yes authenticated"
check "numeric comparison" both 0 "$compare" io=1 ask=yes authenticated
check "both users saw the same number" test -n "$(sed -n 's/^question: compare //p' "$CASE_DIR/pair.txt")" -a \
    "$(sed -n 's/^question: compare //p' "$CASE_DIR/pair.txt")" = "$(sed -n 's/^question: compare //p' "$CASE_DIR/device.txt")"
paired
check "the central's user denies" both 1 "$compare" io=1 ask=no authenticated
rejected
check "the device's user denies" both 1 "io=1 ask=no authenticated" io=1 ask=yes authenticated
rejected

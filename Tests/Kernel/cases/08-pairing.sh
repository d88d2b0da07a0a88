# SPDX-License-Identifier: MIT
# title: pairing through the management socket: refused, paired, bonded, killed, forgotten, paired again
# kinds: legacy extended rootcanal
# sample: legacy extended
# needs: build venv
# limit: 120

peer=$(address_of hci1)
bonds=$CASE_DIR/bonds

wearable_start() { # BONDS pairable|closed
    "$BUILD/Tests/Kernel/c/radio_check" wearable hci1 80000 "$1" "$2" >"$CASE_DIR/wearable.txt" 2>&1 &
    WEARABLE=$!
    wait_for 5 grep -q 'serving: OK' "$CASE_DIR/wearable.txt"
}

pair() { # BONDS pair|read|forget: what it said is in pair.txt
    local code=0
    timeout 40 "$BUILD/Tests/Kernel/c/radio_check" pair hci0 30000 "$peer" "$@" >"$CASE_DIR/pair.txt" 2>&1 || code=$?
    cat "$CASE_DIR/pair.txt"
    return $code
}
said() { # TEXT: a line that starts with it
    grep -q "^$1" "$CASE_DIR/pair.txt"
}

wearable_start "$CASE_DIR/device-bonds" closed
expect "a read without a bond is refused" 1 pair "$bonds" read
check "for lack of authentication" said 'read: ATT_INSUFFICIENT_AUTHENTICATION'
expect "a wearable that is not in pairing mode refuses to pair" 1 pair "$bonds" pair
check "it says so" said 'paired: RADIO_ERROR_PAIRING_FAILED, bonded 0'
check "no file was made" test ! -e "$bonds"
stop $WEARABLE

wearable_start "$CASE_DIR/device-bonds" pairable
check "in pairing mode: refused, paired, read again" pair "$bonds" pair
check "Just Works, and the bond is stored" said 'paired: OK, bonded 1'
# Type 2: unauthenticated, of Secure Connections; in the first record, after magic, version, count, CRC, radio and end.
check "LE Secure Connections" eval '[ $(od -An -tu1 -j18 -N1 "$bonds") = 2 ]'
check "the file is for its owner alone" eval '[ "$(stat -c %a "$bonds")" = 600 ]'
check "a bonded link is encrypted before it is told" pair "$bonds" read
check "with the stored key" said 'connected, encrypted, bonded 1'
stop $WEARABLE

# Both ends are killed, the adapters are new: nothing is left but the two files.
wearable_start "$CASE_DIR/device-bonds" closed
timeout 40 "$BUILD/Tests/Kernel/c/radio_check" pair hci0 30000 "$peer" "$bonds" read >/dev/null 2>&1 &
killed=$!
sleep 0.1
kill -9 $killed $WEARABLE
wait $killed $WEARABLE 2>/dev/null
controllers_stop
case_begin
peer=$(address_of hci1)
wearable_start "$CASE_DIR/device-bonds" closed
check "after kill -9 and with fresh adapters: the keys are loaded from the files" pair "$bonds" read
check "encrypted again" said 'connected, encrypted, bonded 1'

check "forget" pair "$bonds" forget
check "nothing is left in the file" said 'forget: OK, 0 keys left'
expect "the read is refused again" 1 pair "$bonds" read
check "not bonded any more" said 'connected, not encrypted, bonded 0'
stop $WEARABLE

# The other side forgets; nobody connects with the old key (Linux 6.1 with both hosts on one machine has a list corrupted
# when both end the link over a missing key: that is tested on the virtual radio).
wearable_start "$CASE_DIR/device-bonds" pairable
check "paired again" pair "$bonds" pair
stop $WEARABLE
check "the wearable forgets" eval \
    '"$BUILD/Tests/Kernel/c/radio_check" pair hci1 5000 "$(address_of hci0)" "$CASE_DIR/device-bonds" forget'
check "and so do we" pair "$bonds" forget
wearable_start "$CASE_DIR/device-bonds" pairable
check "paired anew" pair "$bonds" pair
stop $WEARABLE

# The command, with its own file: the kernel still has the keys of the last pairing, which no file contains.
source "$KERNEL_TESTS/command.sh"
export XDG_STATE_HOME=$CASE_DIR/state
device_start --pairing ready
run_stream 40 --notifications 20 --pair
check "run pairs when it is enabled" grep -q '"event":"pairing".*"state":"done"' "$CASE_DIR/run.jsonl"
check "and streams" notified 20
run_stream 40 --notifications 20
check "another run is bonded" eval '! grep -q "\"event\":\"pairing\"" "$CASE_DIR/run.jsonl"'
check "and streams too" notified 20
check "the bond is forgotten" "$TENDON" forget --radio bluez --adapter hci0 --address "$(address_of hci1)"
device_stop

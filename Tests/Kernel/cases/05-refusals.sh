# SPDX-License-Identifier: MIT
# title: a controller that refuses mixed commands, answers late, or belongs to another program
# kinds: none
# controllers: scripted
# needs: build
# limit: 150
# lane: 2

source "$KERNEL_TESTS/scripted.sh"

for KIND in extended legacy; do
    option=
    [ $KIND = extended ] && option=--extended
    scripted_start $option
    check "$KIND: the controller's limits" eval \
        'radio_check open hci0 | grep -q "^limits 8 packets of 251 bytes, 4 peers, states 0x000000ffffffffff$"'
    check "$KIND: scan" radio_check scan hci0 5000 active Scripted -
    "$BUILD/Tests/Kernel/c/radio_check" advertise hci0 20000 "Tendon" >"$CASE_DIR/advertise.txt" 2>&1 &
    advertiser=$!
    wait_for 5 grep -qE '^(200a|2039) 01.* 00' "$CASE_DIR/commands.txt"
    check "$KIND: advertising is on" grep -qE '^(200a|2039) 01.* 00$' "$CASE_DIR/commands.txt"
    check "$KIND: a scan beside it" radio_check scan hci0 5000 passive - fdd2
    stop $advertiser
    expect "$KIND: a connect to nobody, with a scan around it" 0 \
        radio_check connect hci0 9000 00:00:5E:00:53:77 1000 0 scan
    check "$KIND: nothing was refused as mixed" eval '! grep " 0c$" "$CASE_DIR/commands.txt"'
    if [ $KIND = extended ]; then
        hcitool -i hci0 cmd 08 000b 00 60 00 60 00 00 00 >/dev/null
        check "$KIND: this controller does refuse what is mixed" grep -q '^200b.* 0c$' "$CASE_DIR/commands.txt"
    fi
    scripted_stop
done

# The adapter is off: the kernel is busy powering it on for one of the two.
both_open() {
    local times first code=0
    for times in 1 2 3 4 5; do
        scripted_start
        "$BUILD/Tests/Kernel/c/radio_check" idle hci0 500 &
        first=$!
        "$BUILD/Tests/Kernel/c/radio_check" idle hci0 500 || code=1
        wait $first || code=1
        scripted_stop
    done
    return $code
}
check "two programs open the adapter at the same moment, five times" both_open

# The other program would lose its connections: the adapter is not powered off.
scripted_start --silent 200b
"$BUILD/Tests/Kernel/c/radio_check" idle hci0 60000 >/dev/null &
other=$!
check "no answer, three times, and another program has the adapter: the radio fails" \
    fails_with 'failure RADIO_ERROR_COMMAND_TIMEOUT' radio_check scan hci0 20000 active - fdd2
kill $other
scripted_stop

scripted_start --silent 200b --count 3
check "no answer, three times: powered off and on, then it scans" radio_check scan hci0 40000 active - fdd2
check "the controller was reset, and the scan set up again" eval \
    'sed "1,/^200b.* silent/d" "$CASE_DIR/commands.txt" | sed "1,/^0c03 /d" | grep -q "^200b .* 00$"'
scripted_stop

scripted_start --silent 200c --count 1
check "one lost answer: the radio goes on" radio_check scan hci0 15000 active - fdd2
check "the scan was disabled before it was set up again" eval \
    'grep -A1 "^200c 01.* silent" "$CASE_DIR/commands.txt" | grep -q "^200c 00"'
scripted_stop

scripted_start --refuse 200b=0c
check "refused: another program has the adapter" fails_with 'failure RADIO_ERROR_ADAPTER_BUSY' \
    radio_check scan hci0 5000 active - fdd2
check "what fails is the scan, the radio goes on" radio_check idle hci0 300
scripted_stop

scripted_start --refuse 200b=0c --count 1
check "left on by a program that died: cleared, then scanned" radio_check scan hci0 5000 active - fdd2
scripted_stop

scripted_start --refuse 2006=12
check "any other refusal: the HCI code" fails_with 'failure HCI_INVALID' radio_check advertise hci0 3000 "Tendon"
scripted_stop

# A hardware error: the kernel resets the controller, and what was wanted is asked for again.
after_error() { # REGULAR_EXPRESSION of a command
    sed '1,/hardware error/d' "$CASE_DIR/commands.txt" | grep -qE "$1"
}
for KIND in extended legacy; do
    option=
    [ $KIND = extended ] && option=--extended
    scripted_start $option --hardware-error 1
    "$BUILD/Tests/Kernel/c/radio_check" scan hci0 5000 active Nobody - >"$CASE_DIR/error.txt" 2>&1
    check "$KIND: the controller was reset" after_error '^0c03 '
    check "$KIND: it scans again after a hardware error" after_error '^(200c|2042) 01.* 00$'
    check "$KIND: nobody was told of a failure" eval '! grep failure "$CASE_DIR/error.txt"'
    scripted_stop
    scripted_start $option --hardware-error 1
    "$BUILD/Tests/Kernel/c/radio_check" advertise hci0 5000 "Tendon" >"$CASE_DIR/error-$KIND.txt" 2>&1
    check "$KIND: it advertises again after a hardware error" after_error '^(200a|2039) 01.* 00$'
    check "$KIND: nobody was told of that failure" eval '! grep failure "$CASE_DIR/error-$KIND.txt"'
    scripted_stop
done

scripted_start
check "a process that stood still finds the answer all the same" radio_check advertise hci0 6000 "Tendon" 4000
check "and advertises" grep -qE '^200a 01.* 00$' "$CASE_DIR/commands.txt"
scripted_stop

KIND=legacy
controllers_start -L -l2
"$BUILD/Tests/Kernel/c/radio_check" scan hci0 20000 active Nobody - >"$CASE_DIR/other.txt" 2>&1 &
other=$!
wait_for 5 grep -q open "$CASE_DIR/other.txt"
sleep 0.3
"$BUILD/Tests/Kernel/c/radio_check" scan hci0 8000 active - fdd2 >"$CASE_DIR/second.txt" 2>&1 &
second=$!
wait_for 5 grep -q open "$CASE_DIR/second.txt"
sleep 0.5
"$BUILD/Tests/Kernel/c/radio_check" advertise hci1 20000 "Tendon" >"$CASE_DIR/device.txt" 2>&1 &
device=$!
check "two programs that scan: the second receives what the first one's scan brings" wait $second
stop $other $device

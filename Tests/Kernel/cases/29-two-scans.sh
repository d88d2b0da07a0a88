# SPDX-License-Identifier: MIT
# title: two programs scan on one adapter: the second one joins, and goes on when the first one ends; run and scan beside each other
# lane: 3
# kinds: legacy extended rootcanal
# sample: legacy
# needs: build venv
# limit: 120
source "$KERNEL_TESTS/command.sh"

# scan_start FILE ARGUMENT...: `tendon scan` on hci0, a line for each advertisement; its process in STARTED. Each radio
# shows itself to the others by a name.
shown() {
    grep -c '@tendon/hci0/' /proc/net/unix
}
scan_start() {
    local file=$CASE_DIR/$1.jsonl before
    shift
    before=$(shown)
    "$TENDON" scan --radio bluez --adapter hci0 --json --duplicates --for 100 "$@" >"$file" 2>"${file%.jsonl}.err" &
    STARTED=$!
    wait_for 20 eval '[ "$(shown)" -eq $((before + 1)) ]'
    sleep 1.5
}

# advertise: a device on hci1 starts to advertise, so that also a controller that reports a device once per scan does.
advertise() {
    [ -z "${ADVERTISER:-}" ] || stop "$ADVERTISER"
    "$BUILD/Tests/Kernel/c/radio_check" advertise hci1 60000 "Tendon Wearable" >"$CASE_DIR/advertise.txt" 2>&1 &
    ADVERTISER=$!
}

# sees NAME FILE: a line that comes from now on has the device; it is found again and again until it is seen.
sees() {
    local file=$CASE_DIR/$2.jsonl lines attempt
    lines=$(wc -l <"$file")
    for attempt in 1 2 3; do
        advertise
        wait_for 4 eval "tail -n +$((lines + 1)) '$file' | grep -q '$DEVICE_ADDRESS'" && break
    done
    check "$1" eval "tail -n +$((lines + 1)) '$file' | grep -q '$DEVICE_ADDRESS'" || cat "${file%.jsonl}.err"
}

# ended NAME PROCESS [STATUS]: a program that got a signal ends well; 4: it has found nothing.
ended() {
    local code=0
    kill -INT "$2"
    wait "$2" || code=$?
    check "$1 ends well" test $code -eq "${3:-0}"
}

DEVICE_ADDRESS=$(address_of hci1)
radio_check idle hci0 300 >/dev/null # on: two programs that power it on at the same time are refused by the kernel
scan_start first
FIRST=$STARTED
scan_start second
SECOND=$STARTED
advertise
check "the first one sees the device" wait_for 15 grep -q "$DEVICE_ADDRESS" "$CASE_DIR/first.jsonl"
check "the second one, which has joined, does too" wait_for 15 grep -q "$DEVICE_ADDRESS" "$CASE_DIR/second.jsonl"
ended "the first one" $FIRST
sleep 1.5
sees "the second one goes on when the first one has ended" second
scan_start third
THIRD=$STARTED
ended "the second one" $SECOND
sleep 1.5
sees "a third one, which has joined it, goes on too" third
scan_start fourth --passive
FOURTH=$STARTED
kill -9 $THIRD
wait $THIRD 2>/dev/null
sleep 7
sees "one whose holder was killed goes on" fourth
scan_start fifth
FIFTH=$STARTED
ended "a joined one that saw nothing" $FIFTH "$([ "$KIND" = rootcanal ] || echo 4)"
sees "its end does not end the other scan" fourth
ended "the fourth one" $FOURTH
stop "$ADVERTISER"
case $KIND in # it has left its advertising enabled
legacy) hcitool -i hci1 cmd 08 000a 00 ;;
*) hcitool -i hci1 cmd 08 0039 00 00 ;;
esac >/dev/null

# run searches all the time; scan is started beside it, and ended again. Linux 6.12 connects to no device while an active
# scan of another program is on (docs/bluez-states.md).
active=
case $(uname -r) in 6.1.*) ;; *) active=--passive ;; esac
stream_into "$CASE_DIR/run.jsonl" 60 --notifications 200 --period 20 >"$CASE_DIR/run.txt" 2>&1 &
RUN=$!
wait_for 10 grep -q . "$CASE_DIR/run.jsonl"
sleep 1
scan_start beside $active
BESIDE=$STARTED
device_start --for 60
check "run and scan: scan sees the device" wait_for 10 grep -q "$DEVICE_ADDRESS" "$CASE_DIR/beside.jsonl"
check "run connects to it" wait_for 30 grep -q '"event":"connected"' "$CASE_DIR/run.jsonl"
ended "scan beside run" $BESIDE
check "run gets what it asked for" wait $RUN
cat "$CASE_DIR/run.txt"
check "nobody was told of a failure" eval '! grep -l ADAPTER_BUSY "$CASE_DIR"/*.err "$CASE_DIR"/*.jsonl'
device_stop

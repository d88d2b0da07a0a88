# SPDX-License-Identifier: MIT
# title: shared, sole and observing use of an adapter, alone and beside bluetoothd; doctor shows who interferes
# lane: 3
# limit: 90
source "$KERNEL_TESTS/command.sh"

# scan.jsonl and scan.err are of the latest scan in the foreground.
scan() { # STATUS ARGUMENT...
    local wanted=$1 code=0
    shift
    timeout 30 "$TENDON" scan --radio bluez --adapter hci0 --family bose --count 1 --json --for 8 "$@" \
        >"$CASE_DIR/scan.jsonl" 2>"$CASE_DIR/scan.err" || code=$?
    cat "$CASE_DIR/scan.jsonl" "$CASE_DIR/scan.err"
    [ $code -eq "$wanted" ]
}
gateway_start() { # ARGUMENT...
    "$TENDON" stream feelspace --radio bluez --adapter hci0 --json --for 60 "$@" >"$CASE_DIR/gateway.jsonl" 2>&1 &
    GATEWAY=$!
    sleep 2
    kill -0 $GATEWAY
}

device_start
check "sole: finds the device when nobody else is there" scan 0 --adapter-use sole
check "an observer alone receives nothing" scan 4 --adapter-use observer --for 2
# btvirt reports a device once per scan: the observer is there before the scan begins.
scan 0 --adapter-use observer --for 15 >"$CASE_DIR/observer.txt" &
OBSERVER=$!
sleep 1
gateway_start
check "an observer receives what a later scan of another program brings" wait $OBSERVER
check "two shared radios: the second one joins, and this controller has reported the device already" scan 4 --for 3
check "it says that another program scans" grep -q 'another program scans' "$CASE_DIR/scan.err"
check "a scan that it has not seen begin and that brings nothing for 5 s is taken over" scan 0
check "no owner beside them" scan 3 --adapter-use sole
stop $GATEWAY
gateway_start --adapter-use sole
check "beside a sole owner: no shared radio" scan 3
check "it says why" grep -q ADAPTER_BUSY "$CASE_DIR/scan.err"
check "and no second owner" scan 3 --adapter-use sole
check "an observer is not refused" scan 4 --adapter-use observer --for 1
stop $GATEWAY

bluetoothd_start
check "beside bluetoothd: no owner" scan 3 --adapter-use sole
check "a shared radio" scan 0
gateway_start
(timeout 10 bluetoothctl --timeout 4 scan le >"$CASE_DIR/bluetoothctl.txt" 2>&1) &
code=0
timeout 30 "$TENDON" doctor --watch 5 --adapter hci0 --json >"$CASE_DIR/doctor.jsonl" 2>"$CASE_DIR/doctor.err" || code=$?
cat "$CASE_DIR/doctor.jsonl" "$CASE_DIR/doctor.err"
check "doctor: bluetoothd and this gateway interfere" test $code -eq 1
check "doctor: bluetoothd starts and stops a scan" \
    grep -q '"program":"bluetoothd","access":"management",.*"scan":' "$CASE_DIR/doctor.jsonl"
check "doctor: another program can send commands" grep -q '"access":"commands"' "$CASE_DIR/doctor.jsonl"
monitor_start "$CASE_DIR/quiet.btsnoop"
sleep 1
monitor_stop
stop $GATEWAY
check "nobody does anything: no interference, from a capture of btmon" \
    "$TENDON" doctor --neighbors "$CASE_DIR/quiet.btsnoop" --json
device_stop
stop $BLUETOOTHD

# SPDX-License-Identifier: MIT
# Sourced by the cases that run the command `tendon` at both ends: hci0 is the program's, hci1 the simulated device's.
TENDON=$SWIFT_BIN/tendon
# Bonds of this case alone: the guest's home is the host's and cannot be written.
export XDG_STATE_HOME=$CASE_DIR/state

# device_start ARGUMENT...: a simulated device of $FAMILY (bose) on hci1; lines in device.jsonl, its process in DEVICE.
device_start() {
    "$TENDON" simulate "${FAMILY:-bose}" --radio bluez --adapter hci1 --json "$@" >"$CASE_DIR/device.jsonl" 2>"$CASE_DIR/device.err" &
    DEVICE=$!
    if ! wait_for 45 grep -q '"ready"' "$CASE_DIR/device.jsonl"; then
        not_ok "the simulated device is ready: $(cat "$CASE_DIR/device.err")"
        exit 1
    fi
}

# run_stream SECONDS ARGUMENT...: `tendon run` on hci0 into run.jsonl; a case's check is that it ends well and in time.
# READER_PAUSE: seconds for which its output is not read, from the first sample on.
run_stream() {
    local seconds=$1
    shift
    check "run ends well, in time" stream_into "$CASE_DIR/run.jsonl" "$seconds" "$@"
}

stream_into() { # FILE SECONDS ARGUMENT...
    local file=$1 seconds=$2 code=0 reader=()
    shift 2
    [ -z "${READER_PAUSE:-}" ] || reader=(/usr/bin/python3 "$PROJECT/Tests/Command/slow_reader.py" "$READER_PAUSE")
    timeout -k 5 $((seconds + 10)) ${reader[@]+"${reader[@]}"} "$TENDON" run --radio bluez --adapter hci0 --json --for "$seconds" "$@" \
        >"$file" 2>"${file%.jsonl}.err" || code=$?
    [ $code -eq 0 ] || tail -n 5 "$file" "${file%.jsonl}.err"
    return $code
}

# notified COUNT: the run has received so many notifications, or up to nine more: it ends after the wake-up with the last.
notified() {
    local got
    got=$(sed -n 's/.*"event":"summary".*"notifications":\([0-9]*\).*/\1/p' "$CASE_DIR/run.jsonl")
    echo "# notifications: $got"
    [ "${got:-0}" -ge "$1" ] && [ "$got" -lt $(($1 + 10)) ]
}

# device_wait: the device ends by itself, with status 0.
device_wait() {
    check "the simulated device ends by itself" wait_for 15 eval "! kill -0 $DEVICE"
    wait "$DEVICE"
    check "and well" test $? -eq 0
}

# device_stop: the same after a signal.
device_stop() {
    kill -INT "$DEVICE"
    device_wait
}

# check_lines ARGUMENT...: the lines of both ends compared (check_stream.py says how); prints results of its own.
check_lines() {
    /usr/bin/python3 "$KERNEL_TESTS/check_stream.py" "$@"
}

# SPDX-License-Identifier: MIT
# title: tendon run against tendon simulate bose over the kernel's stack: exact counters, drops, scenarios
# kinds: legacy extended
# limit: 180

export XDG_RUNTIME_DIR=$CASE_DIR
tendon=$SWIFT_BIN/tendon
sim=$CASE_DIR/simulate run=$CASE_DIR/run

field() { # name, file: of the last summary
    grep '"event":"summary"' "$2" | tail -n 1 | grep -oE "\"$1\":[0-9]+" | cut -d: -f2
}

# both NAME "simulate's options" "run's options": one after the other on hci1 and hci0, until both have ended.
both() {
    # shellcheck disable=SC2086
    "$tendon" simulate bose --radio bluez --adapter hci1 --json $2 >"$sim" 2>"$sim.err" &
    local id=$!
    wait_for 10 grep -q '"event":"ready"' "$sim"
    # shellcheck disable=SC2086
    timeout 60 "$tendon" run --radio bluez --adapter hci0 --json $3 >"$run" 2>"$run.err"
    local code=$?
    check "$1: run ends well" eval "[ $code -eq 0 ] || cat '$run.err'; [ $code -eq 0 ]"
    wait $id
    code=$?
    check "$1: simulate ends well" eval "[ $code -eq 0 ] || cat '$sim.err'; [ $code -eq 0 ]"
}

in_order() { # device clocks never go back
    grep -o '"device_ms":[0-9]*' "$1" | cut -d: -f2 | sort -n -c
}

both "50 Hz" "--notifications 1000" "--notifications 1000 --for 50"
check "50 Hz: the counters of both ends are equal" [ "$(field notifications "$sim")" = 1000 -a "$(field notifications "$run")" = 1000 ]
check "50 Hz: every one decoded" [ "$(grep -c '"event":"sample"' "$run")" = 1000 ]
check "50 Hz: order kept" in_order "$run"

both "flat out" "--flat-out --notifications 10000" "--notifications 10000 --for 50"
check "flat out: the counters of both ends are equal" [ "$(field notifications "$sim")" = 10000 -a "$(field notifications "$run")" = 10000 ]
check "flat out: every one decoded, none dropped" [ "$(grep -c '"event":"sample"' "$run")" = 10000 -a "$(field drops "$run")" = 0 ]
check "flat out: order kept" in_order "$run"

both "paused" "--flat-out --notifications 10000" \
    "--notifications 10000 --capacity 64 --pause-consumer-at 1000 --pause-for 2 --for 50"
check "paused: the loop went on" [ "$(field notifications "$run")" = 10000 ]
check "paused: something was dropped" [ "$(field drops "$run")" -gt 0 ]
check "paused: what it misses equals the drop counter" \
    [ "$(($(grep -c '"event":"sample"' "$run") + $(field drops "$run")))" = 10000 ]

cat >"$CASE_DIR/scenario" <<'EOF'
at 1s gesture double_tap
at 1.5s suspend voice_assistant
at 2.5s resume
at 3.5s disconnect
at 14s gesture affirmative
at 15s stop
EOF
both "scenario" "--scenario $CASE_DIR/scenario --scenario-from connection" "--for 17"
check "scenario: a gesture" grep -q '"gesture":"double_tap"' "$run"
check "scenario: suspended" grep -q '"event":"suspended".*"reason":"voice_assistant"' "$run"
check "scenario: resumed" grep -q '"event":"resumed"' "$run"
check "scenario: disconnected and opened again" [ "$(grep -c '"event":"opened"' "$run")" = 2 ]
check "scenario: streams again" grep -q '"gesture":"affirmative"' "$run"

"$tendon" simulate bose --radio bluez --adapter hci1 --json >"$sim" 2>"$sim.err" &
id=$!
wait_for 10 grep -q '"event":"ready"' "$sim"
check "scan: by service" "$tendon" scan --radio bluez --adapter hci0 --service fdd2 --count 1 --for 10 --json
check "scan: by a name that only the scan response has" \
    "$tendon" scan --radio bluez --adapter hci0 --name Frames --count 1 --for 10 --json
expect "scan: a name that nobody has" 4 "$tendon" scan --radio bluez --adapter hci0 --name Nobody --for 2 --json
"$tendon" capture "$CASE_DIR/all.btsnoop" --radio bluez --for 8 --json >"$CASE_DIR/capture" 2>&1 &
capture=$!
sleep 0.5
check "configure: what the device took" eval \
    "'$tendon' bose configure --radio bluez --adapter hci0 --sensors gyroscope --period 40 --json | grep -F '{\"sensors\":[\"gyroscope\"],\"period_ms\":40,'"
check "run beside a capture" "$tendon" run --radio bluez --adapter hci0 --notifications 20 --for 20 --json
wait $capture
check "capture: the monitor channel, decoded again" eval \
    "'$tendon' replay '$CASE_DIR/all.btsnoop' --json | grep -q '\"event\":\"sample\"'"
kill $id
wait $id
expect "an adapter that is not there: no radio" 3 "$tendon" scan --radio bluez --adapter hci7 --for 1

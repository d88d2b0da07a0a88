# SPDX-License-Identifier: MIT
# title: tendon run against tendon simulate bose: 10,000 notifications at 50 Hz
# limit: 270

export XDG_RUNTIME_DIR=$CASE_DIR
tendon=$SWIFT_BIN/tendon
sim=$CASE_DIR/simulate run=$CASE_DIR/run

field() { # name, file: of the last summary
    grep '"event":"summary"' "$2" | tail -n 1 | grep -oE "\"$1\":[0-9]+" | cut -d: -f2
}

"$tendon" simulate bose --radio bluez --adapter hci1 --json --notifications 10000 >"$sim" 2>"$sim.err" &
id=$!
wait_for 10 grep -q '"event":"ready"' "$sim"
expect "run ends well" 0 eval \
    "'$tendon' run --radio bluez --adapter hci0 --json --notifications 10000 --for 240 >'$run' 2>'$run.err'"
wait $id
check "the counters of both ends are equal" \
    [ "$(field notifications "$sim") $(field notifications "$run")" = "10000 10000" ]
check "every one decoded, none dropped" [ "$(grep -c '"event":"sample"' "$run") $(field drops "$run")" = "10000 0" ]
check "order kept" eval "grep -o '\"device_ms\":[0-9]*' '$run' | cut -d: -f2 | sort -n -c"

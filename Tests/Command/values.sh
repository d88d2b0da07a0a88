#!/bin/bash
# SPDX-License-Identifier: MIT
# tendon-conformance, decode, encode: bytes to values and back.
. "$(dirname "$0")/tap.bash"

for file in "$root"/Tests/vectors/*.jsonl; do
    answer=$(python3 "$root/Tests/vectors/compare.py" "$CONFORMANCE" "$file")
    result $? "every vector of $(basename "$file")" "$answer"
done

# Malformed lines are results. One answer each, and the next line is answered.
answers=$(printf '%s\n' '{' 'nonsense' '[]' '{"family":"bose"}' '{"family":"bose","kind":"toast"}' \
    '{"family":"toaster","kind":"toast"}' '{"family":"bose","kind":"gesture_data","hex":"c1271"}' \
    '{"family":"bose","kind":"gesture_data","hex":"no"}' '{"family":"bose","kind":"gesture_data","hex":7}' \
    '{"family":"bose","kind":"gesture_data"}' '{"family":"bose","kind":"sensor_config_encode","hex":"000000","ops":[7]}' |
    "$CONFORMANCE")
is $? 0 "malformed lines: no exit"
is "$(printf '%s\n' "$answers" | wc -l)" 11 "malformed lines: one answer each"
is "$(printf '%s\n' "$answers" | grep -c '^{"error":"')" 11 "malformed lines: each an error"
is "$(printf '\xff\xfe{"family":1}\n{"family":"bose","kind":"gesture_data","hex":"c12710"}' | "$CONFORMANCE" | tail -n 1)" \
    '{"gesture_id":193,"gesture":"affirmative","timestamp":10000,"trailing_bytes":0}' \
    "after bytes that are no text the next line counts, with or without its end"
for window in 0 33 64 256; do
    like "$(printf '{"family":"obvious","kind":"stream","mtu":23,"window":%s,"frame_max":2048,"segments":[]}\n' "$window" |
        "$CONFORMANCE")" '^{"error":"bad_input"' "a window of $window: the protocol has 1 to 32"
done
deep=$(printf '[%.0s' $(seq 5000))
like "$(printf '%s\n' "$deep" | "$CONFORMANCE")" '^{"error":"bad_json"' "nesting without end"
(printf '{"family":"bose","kind":"gesture_data","hex":"c12710"}\n'; sleep 2) | "$CONFORMANCE" >"$work/early" &
until_true grep -q affirmative "$work/early"
result $? "an answer comes before the input ends" "$(cat "$work/early")"

run decode bose gesture_data c1 27 10
is "$status" 0 "decode: done"
like "$out" '"event":"gesture".*"gesture":"affirmative"' "decode: JSON in a pipe"
people decode bose gesture_data c1 27 10
like "$out" " gesture .*gesture=affirmative" "decode: for people"
run decode bose gesture_data 0xc1
is "$status" 2 "decode: what is no hexadecimal is usage"
run decode bose gesture_data c1
is "$status" 1 "decode: what the library rejects is failed"
like "$out" '"error":"ERROR_TRUNCATED"' "decode: and the error is named"
run decode bose sensor_data 0003e800000000f00003 --information frames --json
like "$out" '"acceleration_g":\[0,0,-1[],]' "decode: with the device's ranges"
run decode bose gesture_data c12710 --information frames
is "$status" 2 "decode: an option of another kind is refused"
for words in 'activ5 force 0800|"force_n":' 'activ5 battery 64|100' 'feelspace orientation 010a00000000000000000000|malformed' \
    'fjorden control_state 010200000100|"shutter":"full"' 'fjorden battery 1d|29' \
    'fjorden event 0002000100|"grip_event":"shutterButtonDown"'; do
    # shellcheck disable=SC2086 # words of a command line
    run decode ${words%%|*} --json
    like "$out" "${words#*|}" "decode: ${words%%|*}"
done
run decode feelspace battery 020064ffff --json
like "$out" '"time_left_s":null' "decode: the greatest time of a belt means at least that, so it is not known"
run decode bose
is "$status" 2 "decode: kind missing"
run decode bose sensordata 00
like "$err" "did you mean 'sensor_data'" "decode: the nearest kind"
run decode fjorden manager 00
is "$status" 2 "decode: kinds of tests alone are unknown"

run encode bose sensor_configuration 000000010000020000030000 enable:rotation:40 --json
like "$out" '"bytes":"000000010000020028030000"' "encode: sensors by name"
run encode bose sensor_configuration 000000010000020000030000 enable:9:40
is "$status" 1 "encode: a sensor that the configuration lacks"
is "$out" "" "encode: an error is not a result"
like "$err" "sensor" "encode: and is named on standard error"
run encode bose gesture_configuration 8100c100 set:affirmative:on
like "$out" '"bytes":"8100c101"' "encode: gestures by name"
run encode bose gesture_configuration 8100c100 jump
is "$status" 2 "encode: an unknown change"
people encode feelspace mode mode=compass
is "$out" "01810200" "encode: a mode by name"
run encode feelspace mode mode=2
is "$status" 2 "encode: modes have names"
run encode feelspace vibration bearing=90 angle=3
is "$status" 2 "encode: two directions"
run encode fjorden led mode=on
like "$out" '"bytes":"0201010000"' "encode: a request to the LED"
for value in -1 70000 99999999; do
    run encode fjorden led mode=on duration_ms=$value
    like "$status $err" "^2 .*duration_ms takes a whole number from 0 to 65535, not '$value'" "encode: a duration of $value"
done
run encode obvious feature_status features=19 corr=99999999
like "$status $err" "^2 .*corr takes a whole number from 0 to 65535" "encode: a correlation that is too large"
for value in 4 0 101; do
    run encode feelspace default_intensity percent=$value
    like "$status $err" "^2 .*percent takes a whole number from 5 to 100, not '$value'" "encode: an intensity of $value"
done
for pair in channel=6:0..5 intensity=120:0..100 iterations=300:1..255 period_ms=0:1..65535; do
    range=${pair#*:}
    run encode feelspace vibration angle=90 "${pair%:*}"
    like "$status $err" "^2 .*${pair%%=*} takes a whole number from ${range%..*} to ${range#*..}" "encode: ${pair%:*}"
done
for change in enable:rotation:41 period:7; do
    run encode bose sensor_configuration 000000010000020000030000 $change
    like "$status $err" "^2 .*'${change##*:}' is no period: it is 5, 10, 20, 40, 80, 160 or 320" "encode: $change"
done
run encode fjorden led mode=on mode=off
like "$status $err" "^2 .*mode is given twice" "encode: a name twice"
run encode activ5 sample_rate hz=100
like "$out" '"bytes":"6400"' "encode: a sample rate"
run encode fjorden led colour=red
like "$err" "unknown name 'colour'; known: mode, duration_ms, request_id" "encode: the names of a kind"
run encode --help
for word in "bose sensor_configuration HEX" "percent=5..100" "mode=off.on.blinkSlow.blinkFast"; do
    like "$out" "$word" "encode --help lists the fields: $word"
done

# Words that JSON has not, and numbers that no force can be: nothing happens, and no line is lost.
vector='{"family":"activ5","kind":"squeeze","sequence":[{"t_ms":0,"newtons":NaN},{"t_ms":1,"newtons":Infinity},'
vector+='{"t_ms":2,"newtons":-Infinity}],"note":"NaN \"and Infinity"}'
is "$(printf '%s\n' "$vector" | "$CONFORMANCE" | grep -o '"states":[^]]*]')" \
    '"states":["initial","firstPressed","firstPressCompleted"]' "NaN and infinities are numbers"
like "$(printf '{"family":"bose","kind":NaN\n' | "$CONFORMANCE")" '^{"error":"bad_json"' "NaN does not mend a line"
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# conformance, decode, encode: bytes to values and back.
. "$(dirname "$0")/tap.bash"

for file in "$root"/Tests/vectors/*.jsonl; do
    answer=$(python3 "$root/Tests/vectors/compare.py" "$TENDON" "$file")
    result $? "every vector of $(basename "$file")" "$answer"
done

# Malformed lines are results. One answer each, and the next line is answered.
answers=$(printf '%s\n' '{' 'nonsense' '[]' '{"family":"bose"}' '{"family":"bose","kind":"toast"}' \
    '{"family":"toaster","kind":"toast"}' '{"family":"bose","kind":"gesture_data","hex":"c1271"}' \
    '{"family":"bose","kind":"gesture_data","hex":"no"}' '{"family":"bose","kind":"gesture_data","hex":7}' \
    '{"family":"bose","kind":"gesture_data"}' '{"family":"bose","kind":"sensor_config_encode","hex":"000000","ops":[7]}' |
    "$TENDON" conformance)
is $? 0 "malformed lines: no exit"
is "$(printf '%s\n' "$answers" | wc -l)" 11 "malformed lines: one answer each"
is "$(printf '%s\n' "$answers" | grep -c '^{"error":"')" 11 "malformed lines: each an error"
is "$(printf '\xff\xfe{"family":1}\n{"family":"bose","kind":"gesture_data","hex":"c12710"}' | "$TENDON" conformance | tail -n 1)" \
    '{"gesture_id":193,"gesture":"affirmative","timestamp":10000,"trailing_bytes":0}' \
    "after bytes that are no text the next line counts, with or without its end"
deep=$(printf '[%.0s' $(seq 5000))
like "$(printf '%s\n' "$deep" | "$TENDON" conformance)" '^{"error":"bad_json"' "nesting without end"
(printf '{"family":"bose","kind":"gesture_data","hex":"c12710"}\n'; sleep 2) | "$TENDON" conformance >"$work/early" &
until_true grep -q affirmative "$work/early"
result $? "an answer comes before the input ends" "$(cat "$work/early")"

run decode bose gesture_data c1 27 10
is "$status" 0 "decode: done"
like "$out" "^gesture: affirmative$" "decode: for people"
run decode bose gesture_data 0xc1
is "$status" 2 "decode: what is no hexadecimal is usage"
run decode bose gesture_data c1
is "$status" 1 "decode: what the library rejects is failed"
like "$out" "^error: truncated$" "decode: and says why"
run decode bose sensor_data 0003e800000000f00003 --information frames --json
like "$out" '"reported":\[0.0,0.0,-1.0000305' "decode: with the device's ranges"
run decode bose
is "$status" 2 "decode: kind missing"
run decode bose sensordata 00
like "$err" "did you mean 'sensor_data'" "decode: the nearest kind"

run encode bose sensor_config_encode 000000010000020000030000 enable:rotation:40 --json
is "$out" '{"hex":"000000010000020028030000"}' "encode: sensors by name"
run encode bose sensor_config_encode 000000010000020000030000 enable:9:40
is "$status" 1 "encode: a sensor that is not there"
run encode bose gesture_config_encode 8100c100 set:affirmative:on
is "$out" "hex: 8100c101" "encode: gestures by name"
run encode bose gesture_config_encode 8100c100 jump
is "$status" 2 "encode: an operation that is none"
finish

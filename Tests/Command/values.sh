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
run decode activ5 string_char 373761613130000000 --char F0F8 --json
is "$out" '{"type":"uuid2","value":"77aa10"}' "decode: of another characteristic"
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

# What is text stays text where it looks like a number.
for words in 'fjorden firmware_parse text=1.2|"description":"1.2.0"' 'fjorden firmware_compare a=1.2 b=1.10|"order":-1' \
    'fjorden firmware_check connected=true current=1.2 latest=1.10|updateAvailable' \
    'fjorden smp_encode command=echo sequence=3 text=12|a16164623132' \
    'fjorden command command=ping request_id=1 payload=55|"hex":"010155"' \
    'fjorden resync last_shutter=shutterButtonDown state_hex=1|bad_hex' \
    'feelspace set_name_suffix suffix=123|"hex":"0184313233"' 'feelspace set_name_suffix suffix=true|"hex":"018474727565"' \
    'feelspace usb_frame write_char=fe05 payload=10|"hex":"290110"' 'activ5 uuid_join uuid1=12 uuid2=34|"uuid":"1234"'; do
    # shellcheck disable=SC2086 # words of a command line
    run encode ${words%%|*} --json
    like "$out" "${words#*|}" "encode: ${words%%|*}"
done
run encode activ5 convert fn=toGForce input=4095 --json
is "$out" '{"value":1.0}' "encode: a number is a number"

# Words that JSON has not, and numbers that no force can be: nothing happens, and no line is lost.
vector='{"family":"activ5","kind":"squeeze","sequence":[{"t_ms":0,"newtons":NaN},{"t_ms":1,"newtons":Infinity},'
vector+='{"t_ms":2,"newtons":-Infinity}],"note":"NaN \"and Infinity"}'
is "$(printf '%s\n' "$vector" | "$TENDON" conformance | grep -o '"states":[^]]*]')" \
    '"states":["initial","firstPressed","firstPressCompleted"]' "NaN and infinities are numbers"
like "$(printf '{"family":"bose","kind":NaN\n' | "$TENDON" conformance)" '^{"error":"bad_json"' "NaN does not mend a line"
finish

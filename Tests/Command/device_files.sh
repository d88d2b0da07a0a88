#!/bin/bash
# SPDX-License-Identifier: MIT
# Devices that a file defines: the shipped files, a device of each that is simulated and served, rules, mistakes.
. "$(dirname "$0")/tap.bash"
shipped=$root/packaging/devices

# A number that is none of a battery, and no integer of this machine, from a device that can send anything.
for kind in f32:ca,f2,49,71 u64:ff,ff,ff,ff,ff,ff,ff,ff; do
    printf '{"name":"odd","title":"Odd","find":{"name":"Odd"},"characteristics":[{"name":"battery","service":"fff0","uuid":"fff1",
        "every_ms":100,"examples":["%s"],"notify":[{"name":"battery_percent","type":"%s"}]},{"name":"other","service":"fff0","uuid":"fff2",
        "every_ms":100,"examples":["%s"],"notify":[{"name":"battery_percent","type":"%s"}]}]}' \
        "$(tr -d , <<<"${kind#*:}")" "${kind%:*}" "$(tr -d , <<<"${kind#*:}")" "${kind%:*}" >"$work/odd.json"
    start odd simulate odd --define "$work/odd.json" --radio virtual --json
    odd=$child
    until_true grep -q ready "$work/odd.out"
    run run --define "$work/odd.json" --families odd --radio virtual --json --for 1
    is "$status $(grep -c '"event":"battery"' <<<"$out" | sed 's/^[1-9][0-9]*$/some/')" "0 some" "a battery of ${kind%:*} that is beyond all limits: lines"
    people run --define "$work/odd.json" --families odd --radio virtual --for 1
    like "$out" "[0-9] notifications" "and the table"
    kill "$odd"
    wait "$odd" 2>/dev/null
done

# Each shipped file is right, has at most 25 lines, decodes its own examples, and what its document says of other values: a
# capture that another program has made by the document, with the lines of it.
python3 "$root/Tests/vectors/make_device_tests.py" --check >"$work/vectors"
result $? "a test of replay for each file, with each characteristic and member" "$(grep '^not ok' "$work/vectors")"
for file in "$shipped"/*.json; do
    name=$(basename "$file" .json)
    [ "$(wc -l <"$file")" -le 25 ]
    result $? "$name: at most 25 lines"
    run replay --test "$root/Tests/vectors/devices/$name.test" --define "$file" --json
    like "$status $out" '^0 .*"differences":0' "$name: replay --test"
    while read -r kind example; do
        run decode "$name" "$kind" $example --define "$file" --json
        is "$status" 0 "$name: $kind $example"
        unlike "$out" '"event":"malformed"' "$name: $kind is well-formed"
    done < <(python3 -c '
import json, sys
for row in json.load(open(sys.argv[1]))["characteristics"]:
    for example in row.get("examples", []):
        print(row["name"], example)' "$file")
done

decoded() { # family, kind, bytes, members
    run decode "$1" "$2" $3 --define "$shipped" --json
    is "$(printf '%s' "$out" | sed -E 's/.*"family":"[a-z_]+",?//')" "$4" "$1 $2 $3"
}
# By the GATT Specification Supplement, beyond what the examples of the files show.
decoded heart_rate measurement '00 48' '"contact":"unsupported","heart_rate_bpm":72}'
decoded heart_rate measurement '01 2c 01' '"contact":"unsupported","heart_rate_bpm":300}'
decoded heart_rate measurement '0e 50 d2 04' '"contact":"yes","heart_rate_bpm":80,"energy_kj":1234}'
decoded heart_rate sensor_location '02' '"location":"wrist"}'
decoded heart_rate sensor_location '09' '"location":9}'
decoded cycling power_measurement '31 08 9c ff 64 0a 00 00 00 00 08 05 00 00 04' \
    '"power_w":-100,"balance_percent":50,"wheel_revolutions":10,"wheel_per_s":null,"crank_revolutions":5,"cadence_per_min":null}'
decoded running measurement '00 00 01 50' '"gait":"walking","speed_m_per_s":1,"cadence_per_min":80}'
decoded environment temperature '0c fe' '"temperature_c":-5}'
decoded environment temperature '00 80' '"temperature_c":null}'
decoded environment humidity 'ff ff' '"humidity_percent":null}'
decoded pulse_oximeter continuous '01 61 00 48 00 ff 07 49 00' \
    '"spo2_percent":97,"pulse_bpm":72,"spo2_fast_percent":null,"pulse_fast_bpm":73}'
decoded weight_scale measurement '09 40 1f fa 00 a0 00' '"weight_lb":80,"body_mass_index":25,"height_in":16}'
decoded weight_scale measurement '02 b0 36 ea 07 0b 1d 07 1e 00' '"weight_kg":70,"measured_at":"2026-11-29T07:30:00"}'
decoded blood_pressure measurement '02 ff 07 50 00 5d 00 00 00 0b 1d 0d 07 1e' \
    '"systolic_mmhg":null,"diastolic_mmhg":80,"mean_arterial_mmhg":93,"measured_at":null}'
decoded health_thermometer measurement '07 da 03 00 ff ea 07 0b 1d 0d 07 1e 06' \
    '"temperature_f":98.6,"measured_at":"2026-11-29T13:07:30","place":"mouth"}'
decoded glucose measurement '06 01 00 ea 07 0b 1d 0d 07 1e 37 c0 a4' \
    '"has_context":false,"sequence_number":1,"measured_at":"2026-11-29T13:07:30","glucose_mmol_per_l":5.5,"sample_type":4,"sample_location":10}'
decoded body_composition measurement '01 04 2c 01 20 4e' '"fat_percent":30,"weight_lb":200}'
decoded indoor_bike indoor_bike_data '60 00 c4 09 05 00 9c ff' '"speed_km_per_h":25,"resistance":5,"power_w":-100}'
decoded indoor_bike indoor_bike_data '01 00' '}'
decoded sensortag movement '00 80 00 00 00 00 00 c0 00 00 00 40 00 00 00 00 00 00' \
    '"sensor":"movement","gyro_x_deg_per_s":-250,"gyro_y_deg_per_s":0,"gyro_z_deg_per_s":0,"x_g":-1,"y_g":0,"z_g":1,"magnetic_x_ut":0,"magnetic_y_ut":0,"magnetic_z_ut":0}'
cat >"$work/kinds.json" <<'END'
{"name":"kinds","title":"Kinds","find":{"name":"Kinds"},"characteristics":[{"name":"answer","service":"fff0","uuid":"fff1","notify":[
 {"name":"k","type":"u8"},{"switch":"k","cases":{"1":[{"name":"a","type":"u8"}],"2":[{"name":"b","type":"u8"}]},"otherwise":[]}]}],
 "events":[{"name":"one","layout":"answer","members":["a"]},{"name":"two","layout":"answer","members":["b"]}]}
END
run decode kinds answer 0207 --define "$work/kinds.json" --json
like "$status $out" '^0 .*"event":"two".*"b":7' "an event that lists its members"
run decode kinds answer 0307 --define "$work/kinds.json" --json
is "$status$out" 1 "a value that is none of them"
like "$err" "the value has no member of any event of answer" "and why nothing is printed"
run decode weight_scale measurement '02 b0 36 ea 07 0d 1d 07 1e 00' --define "$shipped" --json
like "$out" '"error":"ERROR_MALFORMED","error_offset":3' "a month 13: where"
run encode infinitime set_clock 2026-11-29T13:07:30 --define "$shipped/infinitime.json"
like "$out" '"bytes":"ea070b1d0d071e000001"' "encode: a time"
run encode mi_thermometer set_time now --define "$shipped/mi_thermometer.json"
like "$out" '"bytes":"23[0-9a-f]{8}"' "encode: now"
run encode infinitime set_clock yesterday --define "$shipped/infinitime.json"
like "$status $err" "^2 .*date takes now or a time of the place, without a zone, such as 2026-11-29T13:07:30, not 'yesterday'" "encode: what is no time"
for time in 2026-11-29T13:07:30Z 2026-11-29T13:07:30+01:00; do
    run encode infinitime set_clock "$time" --define "$shipped/infinitime.json"
    like "$status $err" "^2 .*, without a zone, .*not '${time/+/.}'" "encode: a zone, of a clock that has none: $time"
done
before=$(TZ=America/New_York date +%H)
TZ=America/New_York run encode infinitime set_clock now --define "$shipped/infinitime.json"
like "$(printf '%02d' "0x$(sed 's/.*"bytes":"........\(..\).*/\1/' <<<"$out")")" "^($before|$(TZ=America/New_York date +%H))\$" \
    "encode: now, by the clock of the place"
decoded infinitime motion '00 04 00 fc 00 02' '"sensor":"acceleration","x_g":1,"y_g":-1,"z_g":0.5}'
# Two events of one layout, by the case of its switch: a value is the one whose members it has.
cat >"$work/plant.json" <<'END'
{"name": "plant", "title": "Plant", "find": {"services": ["fff0"]}, "characteristics": [
 {"name": "report", "service": "fff0", "uuid": "fff1", "notify": "report"}], "layouts": {"report": [
 {"name": "kind", "type": "u8", "hidden": true}, {"switch": "kind", "cases": {
  "1": [{"name": "moisture_percent", "type": "u8"}], "2": [{"name": "button", "type": "u8", "values": [[1, "pressed"]]}]}}]},
 "events": [{"name": "soil", "layout": "report", "members": ["moisture_percent"]},
  {"name": "button", "layout": "report", "members": ["button"], "state": false}]}
END
run decode plant report 012a --define "$work/plant.json" --json
is "$(cut -d, -f2- <<<"$out")" '"event":"soil","family":"plant","moisture_percent":42}' "decode: one event of two, by its member"
run decode plant report 0201 --define "$work/plant.json" --json
is "$(cut -d, -f2- <<<"$out")" '"event":"button","family":"plant","button":"pressed"}' "decode: the other one"
# A text of a device is the device's: on a terminal it sets no title, and stays on its line.
cat >"$work/label.json" <<'END'
{"name": "label", "title": "Label", "find": {"services": ["fff0"]}, "characteristics": [
 {"name": "text", "service": "fff0", "uuid": "fff1", "notify": [{"name": "label", "type": "utf8"}]}]}
END
script -qefc "'$TENDON' decode label text 1b5d303b7407410a42e280ae43 --define '$work/label.json'" "$work/screen" >/dev/null 2>&1 </dev/null
is "$(grep -o 'label=.*C' "$work/screen")" "label=�]0;t�A�B�C" "decode: control characters of a text, on a terminal"
run decode label text 1b5d303b7407410a42e280ae43 --define "$work/label.json" --json
like "$out" '"label":"\\u001b]0;t\\u0007A\\u000aB' "decode: the same as JSON"
run decode environment temperature 0cfe --define "$shipped" --json --exact
like "$out" '"temperature_c":-5\.0}' "decode --exact"
run decode heart_rate measurement 16480004 04 --define "$shipped/heart_rate.json" --json
like "$out" '"event":"malformed".*"error":"ERROR_TRUNCATED","error_offset":4' "half an interval: where"
is "$status" 1 "half an interval: status"

# A device of each, served together: every example arrives.
# In two programs: the kernel holds 11 advertisements for a program that is late (net.unix.max_dgram_qlen).
families=$(for file in "$shipped"/*.json; do basename "$file" .json; done | grep -v battery)
expected=$(wc -w <<<"$families")
# shellcheck disable=SC2086
start devices simulate $(head -n 8 <<<"$families") --define "$shipped" --radio virtual --json
devices=$child
# shellcheck disable=SC2046
start others simulate $(tail -n +9 <<<"$families") --define "$shipped" --radio virtual --json
others=$child
until_true eval '[ "$(cat "$work/devices.out" "$work/others.out" | grep -c ready)" = "$expected" ]'
start gateway run --define "$shipped" --radio virtual --json
gateway=$child
for event in heart_rate cycling_power revolutions running temperature humidity pressure carbon_dioxide oxygen weight blood_pressure body_temperature glucose \
    body_composition bike keys control_response; do
    until_true grep -q "\"event\":\"$event\"" "$work/gateway.out"
    result $? "run: $event" ""
done
until_true grep -q '"event":"sample".*"received_at":[0-9.]*,"sensor":"acceleration","x_g":0.5,"y_g":-0.5,"z_g":1' "$work/gateway.out"
result $? "run: samples of the watch"
like "$(grep '"event":"heart_rate"' "$work/gateway.out" | head -1)" '"received_at":[0-9.]+,"contact":"yes","heart_rate_bpm":72,"rr_intervals_s":\[1' \
    "run: members in the order of the bytes"
until_true grep -q '"event":"revolutions".*"wheel_per_s":3,"crank_revolutions":17,"cadence_per_min":90' "$work/gateway.out"
result $? "run: rates"
like "$(grep '"event":"connected","family":"weight_scale"' "$work/gateway.out")" '"model":"Weight scale"' "run: what it is"
kill -INT "$gateway"
wait "$gateway"
is $? 0 "run: status"
like "$(grep summary "$work/gateway.out")" "\"devices\":$expected,.*\"malformed\":0" "run: nothing was malformed"
kill -INT "$devices" "$others"
wait "$devices" "$others"

# Files for one service beside each other, of which one looks for a name, and a family of it is not served.
start strap simulate heart_rate --define "$shipped" --radio virtual --json
strap=$child
until_true grep -q ready "$work/strap.out"
run stream heart_rate --define "$shipped" --radio virtual --notifications 1 --for 10
like "$status $(tr '\n' ' ' <<<"$out")" '^0 .*"event":"heart_rate"' "stream: a family whose devices may have the name of another"
run run --families battery,heart_rate --define "$shipped" --radio virtual --notifications 1 --for 10
like "$status $(tr '\n' ' ' <<<"$out")" '^0 .*"event":"heart_rate"' "run --families: the same"
kill -INT "$strap"
wait "$strap"
start watch simulate infinitime --define "$shipped" --radio virtual --json
watch=$child
until_true grep -q ready "$work/watch.out"
run stream heart_rate --define "$shipped" --radio virtual --for 2
is "$status" 4 "a device with the name of another family is left alone"
kill -INT "$watch"
wait "$watch"
run stream heart_rate --define "$shipped/heart_rate.json" --radio virtual --for 0.2
like "$err" "try: tendon simulate heart_rate --define $shipped/heart_rate.json --radio virtual &" "how to simulate it"
for words in "decode thermometer temperature 0cfe" "stream thermometer"; do
    # shellcheck disable=SC2086
    run $words
    like "$status $err" "^2 .*unknown family 'thermometer'.*; of a device file: --define FILE" "$words: what was forgotten"
done
run help decode --define "$shipped/heart_rate.json"
like "$out" "Kinds of heart_rate: " "help of a command with a device file"

# Actions, rules and what a device refuses: a lamp that a rule switches on when the level rises.
cat >"$work/lamp.json" <<'END'
{
  "name": "lamp", "title": "Lamp", "find": {"services": ["fff0"], "name": "Lamp*"},
  "characteristics": [
    {"name": "level", "service": "fff0", "uuid": "fff1", "required": true, "every_ms": 200,
     "examples": ["00 0a", "01 50"], "notify": [
      {"name": "switched", "type": "u8", "values": [[0, "off"], [1, "on"]]}, {"name": "level_percent", "type": "u8", "unit": "%"}]},
    {"name": "control", "service": "fff0", "uuid": "fff2", "write": [
      {"type": "u8", "equals": 3}, {"name": "state", "type": "u8", "values": [[0, "off"], [1, "on"]]},
      {"name": "level", "type": "u16", "factor": 0.1, "max": 1000}]}
  ],
  "actions": [{"name": "set", "title": "Switch", "characteristic": "control"},
              {"name": "rename", "characteristic": "control", "write": [
                {"type": "u8", "equals": 4}, {"name": "label", "type": "utf8", "at_least": 1, "at_most": 8}]},
              {"name": "key", "characteristic": "control", "write": [{"name": "secret", "type": "bytes", "length": 2}]},
              {"name": "hello", "characteristic": "control", "at_start": true, "write": [{"type": "u8", "equals": 99}]}]
}
END
lamp=(--define "$work/lamp.json" --radio virtual --json)
start lamp simulate lamp "${lamp[@]}"
device=$child
until_true grep -q ready "$work/lamp.out"
start ruled run "${lamp[@]}" --rule 'lamp.level on => lamp.set on 12.5' --rule 'lamp.level_percent > 60 => publish bright yes' \
    --rule 'lamp.level off => lamp.rename "Lamp\t1", publish dark "yes"'
gateway=$child
until_true grep -q '"event":"action".*"action":"lamp.set on 12.5"' "$work/ruled.out"
result $? "a rule acts"
until_true grep -q '"event":"rule".*level_percent' "$work/ruled.out"
result $? "a rule compares a number"
until_true grep -q '"event":"write".*"characteristic":"control","bytes":"03017d00"' "$work/lamp.out"
result $? "the device was written to, as the layout says"
until_true grep -q '"event":"write".*"characteristic":"control","bytes":"044c616d700931"' "$work/lamp.out"
result $? "text in quotation marks was written to it"
until_true grep -q '"event":"publish".*"topic":"dark","value":"\\"yes\\""' "$work/ruled.out"
result $? "what is published is as it is written"
until_true grep -q '"event":"rule".*"rule":"lamp.level off => lamp.rename \\"Lamp\\\\t1\\", publish dark \\"yes\\""' "$work/ruled.out"
result $? "the rule itself, too, with its quotation marks" "$(grep -m1 'lamp.rename' "$work/ruled.out")"
like "$(grep -m1 '"event":"write"' "$work/lamp.out")" '"bytes":"63"' "the action of the start came first"
kill -INT "$gateway"
wait "$gateway"
kill -INT "$device"
wait "$device"
run encode lamp set on 12.5 --define "$work/lamp.json"
like "$out" '"bytes":"03017d00"' "encode"
run encode lamp rename 12 --define "$work/lamp.json"
like "$out" '"bytes":"043132"' "encode: text that is a number"
run encode lamp rename Livingroom --define "$work/lamp.json"
like "$status $err" "^2 .*label takes text of 1 to 8 bytes, not 'Livingroom'" "encode: text that is too long"
run encode lamp rename $'a b\n' --define "$work/lamp.json"
like "$out" '"bytes":"046120620a"' "encode: text with a space and a newline"
run encode lamp key 0a0B --define "$work/lamp.json"
like "$out" '"bytes":"0a0b"' "encode: bytes"
run encode lamp key 0a --define "$work/lamp.json"
like "$status $err" "^2 .*secret takes 2 bytes as hexadecimal digits, not '0a'" "encode: bytes that are missing"
run run "${lamp[@]}" --rule 'lamp.level on => lamp.set on' --for 0.1
like "$err" "it takes 2: off\|on LEVEL" "a rule with an argument too few"
run run "${lamp[@]}" --rule 'lamp.level on => lamp.set on 101' --for 0.1
like "$err" "level takes a number from 0 to 100, not '101'" "an argument out of range"
run run "${lamp[@]}" --rule 'lamp.level dim => lamp.set on 1' --for 0.1
like "$err" "unknown lamp.level 'dim'" "a detail that the file does not have"

# A capture of it can be replayed.
start lamp simulate lamp "${lamp[@]}"
device=$child
until_true grep -q ready "$work/lamp.out"
run run "${lamp[@]}" --capture "$work/lamp.btsnoop" --notifications 4
kill -INT "$device"
wait "$device"
run replay "$work/lamp.btsnoop" --define "$work/lamp.json" --json
like "$out" '"event":"level","family":"lamp".*"switched":"off","level_percent":10' "replay: values"
like "$out" '"event":"command","family":"lamp".*"characteristic":"control","bytes":"63"' "replay: what was written"
python3 "$root/scripts/generate_dissector.py" "$work/tendon.lua" "$work/lamp.json" "$shipped"/*.json 2>"$work/both.txt"
shown=$(tshark -X "lua_script:$work/tendon.lua" -r "$work/lamp.btsnoop" -T fields -e tendon.lamp.level.level_percent \
    -e tendon.lamp.level.switched 2>"$work/tshark.err" | grep -v '^\s*$' | sort -u | tr '\t\n' ': ')
is "$shown" '10:0 80:1 ' "Wireshark shows the same, from the same file"
run replay "$work/lamp.btsnoop" --json
unlike "$out" '"event":"level"' "replay without the file: not decoded"

# One UUID in two services, and the time: a clock that a rule sets.
cat >"$work/pair.json" <<'END'
{
  "name": "pair", "title": "Pair", "find": {"services": ["fff0"], "name": "Pair*"},
  "characteristics": [
    {"name": "first", "service": "fff0", "uuid": "ffff", "every_ms": 200, "examples": ["01"], "value": [{"name": "first", "type": "u8"}]},
    {"name": "second", "service": "fff1", "uuid": "ffff", "every_ms": 200, "examples": ["92 23 0c 6b"],
     "value": [{"name": "at", "type": "u32", "epoch": "1970-01-01"}]},
    {"name": "clock", "service": "1805", "uuid": "2a2b", "write": [{"name": "date", "type": "datetime"}]},
    {"name": "meter", "service": "fff1", "uuid": "fffe", "every_ms": 200, "examples": ["80 5a b0"], "value": "kinds"},
    {"name": "tag", "service": "fff1", "uuid": "fffd", "every_ms": 200, "examples": ["ac 3e 02 07 01 00 00 00 01 80", "ff ff 01"], "value": [
      {"type": "u16", "endian": "big", "unknown": 65535, "bits": [
        {"name": "battery_v", "bit": 5, "count": 11, "factor": 0.001, "offset": 1.6, "unit": "V"},
        {"name": "power_dbm", "bit": 0, "count": 5, "factor": 2, "offset": -40, "unknown": 30}]},
      {"name": "step", "type": "u8", "factor": 10}, {"name": "steps", "type": "u8", "if": "step=0x2"},
      {"type": "u48", "optional": true, "bits": [{"name": "low", "bit": 0, "count": 40}, {"name": "top", "bit": 47}]}]}
  ],
  "layouts": {"kinds": [{"name": "kind", "type": "u8", "equals": "0x80"}, {"switch": "kind", "cases": {"0x80": "meter"}}],
    "meter": [{"name": "glucose_mg_per_dl", "type": "sfloat", "factor": 100000}]},
  "events": [{"name": "kinds", "sample": true}],
  "actions": [{"name": "set_clock", "characteristic": "clock"}]
}
END
pair=(--define "$work/pair.json" --radio virtual --json)
start pair simulate pair "${pair[@]}"
device=$child
until_true grep -q ready "$work/pair.out"
start both run "${pair[@]}" --capture "$work/pair.btsnoop" --rule 'pair.first every 1 h => pair.set_clock now'
gateway=$child
until_true grep -q '"event":"second","family":"pair".*"at":"2026-11-29T13:07:30Z"' "$work/both.out"
result $? "one UUID in two services: each has its layout, a count of an epoch is a time"
until_true grep -q "\"event\":\"write\".*\"characteristic\":\"clock\",\"bytes\":\"$(printf '%02x%02x' $(($(date +%Y) % 256)) $(($(date +%Y) / 256)))" "$work/pair.out"
result $? "a rule sets the clock to now" "$(grep -e '"write"' "$work/pair.out"; grep action "$work/both.out")"
kill -INT "$gateway" "$device"
wait "$gateway" "$device"
run replay "$work/pair.btsnoop" --define "$work/pair.json" --json
like "$out" '"event":"first".*"first":1' "replay: the first of the two"
like "$out" '"event":"second".*"at":"2026-11-29T13:07:30Z"' "replay: the second of the two, by its service"
unlike "$out" '"event":"malformed"' "replay: neither is taken for the other"
both=$out
printf 'pair.first > 0 => publish value yes\npair.first => publish event yes\n' >"$work/rules"
run rules test "$work/rules" "$work/pair.btsnoop" --define "$work/pair.json" --json
like "$out" '"decisions":\[[1-9][0-9]*,[1-9]' "rules: an event and a value in it that have one name"
python3 "$root/scripts/generate_dissector.py" "$work/tendon.lua" "$work/pair.json"
shown=$(tshark -X "lua_script:$work/tendon.lua" -r "$work/pair.btsnoop" -T fields -e tendon.pair.first.first \
    -e tendon.pair.second.at 2>"$work/tshark.err" | grep -v '^\s*$' | sort -u | tr '\t\n' ', ')
is "$shown" ',2026-11-29T13:07:30Z 1, ' "Wireshark shows both, and the time"
# What is read: a replay has each value, the last one, too.
cat >"$work/tank.json" <<'END'
{"name": "tank", "title": "Tank", "find": {"name": "Tank"}, "characteristics": [{"name": "level", "service": "180f", "uuid": "2a19",
  "read": [{"name": "level_percent", "type": "u8"}], "read_every_ms": 1000, "every_ms": 900, "examples": ["64", "63", "62"]}]}
END
tank=(--define "$work/tank.json" --radio virtual --json)
start tank simulate tank "${tank[@]}" --database-hash
device=$child
until_true grep -q ready "$work/tank.out"
run run "${tank[@]}" --families tank --for 4 --capture "$work/tank.btsnoop"
read=$(printf '%s\n' "$out" | grep -o '"level_percent":[0-9]*')
run run "${tank[@]}" --families tank --for 2 --gatt-cache="$work/caches"
run run "${tank[@]}" --families tank --for 3 --gatt-cache="$work/caches" --capture "$work/known.btsnoop"
kill -INT "$device"
wait "$device"
run replay "$work/known.btsnoop" --define "$work/tank.json" --json
unlike "$out" '"event":"level"' "replay: the capture has no discovery"
run replay "$work/known.btsnoop" --define "$work/tank.json" --gatt-cache="$work/caches" --json
like "$out" '"event":"level".*"level_percent":100' "replay: with the handles of the gateway's cache"
run replay "$work/tank.btsnoop" --define "$work/tank.json" --json
is "$(printf '%s\n' "$out" | grep -o '"level_percent":[0-9]*')" "${read:-nothing was read}" "replay: all values that were read"
out=$both
# A case of a layout that stands after it, hexadecimal integers, a factor of a medical number: as replay has them.
like "$out" '"sensor":"kinds".*"glucose_mg_per_dl":90[,}]' "replay: a medical number, scaled"
shown=$(tshark -X "lua_script:$work/tendon.lua" -r "$work/pair.btsnoop" -T fields -e tendon.pair.meter.glucose_mg_per_dl \
    -e tendon.bad 2>"$work/tshark.err" | grep -v '^\s*$' | sort -u | tr '\t\n' ', ')
is "$shown" '90, ' "Wireshark shows it, and no mistake"
like "$out" '"event":"tag".*"battery_v":null,"power_dbm":null' "replay: parts of what is unknown are so"
like "$out" '"event":"tag".*"battery_v":2.977,"power_dbm":null' "... and a part that is unknown itself"
# Parts of bits with a scale; and a condition is about the number before the scale.
shown=$(tshark -X "lua_script:$work/tendon.lua" -r "$work/pair.btsnoop" -T fields -e tendon.pair.tag.battery_v \
    -e tendon.pair.tag.power_dbm -e tendon.pair.tag.power_dbm_raw -e tendon.pair.tag.step -e tendon.pair.tag.steps \
    -e tendon.pair.tag.low -e tendon.pair.tag.top 2>"$work/tshark.err" | grep -v '^\s*$' | sort -u | tr '\t\n' ', ')
is "$shown" ',,31,10,,, 2.977,,30,20,7,4294967297,1 ' "Wireshark shows parts with their scale, and none of what is unknown"
tshark -X "lua_script:$work/tendon.lua" -r "$work/pair.btsnoop" -O tendon >"$work/shown" 2>"$work/tshark.err"
is "$(grep -c 'battery_v: 2.977 V' "$work/shown")" "$(grep -c 'step_raw: 2' "$work/shown")" "... and their unit"
sed 's/"pair"/"other"/' "$work/pair.json" >"$work/other.json"
is "$(python3 "$root/scripts/generate_dissector.py" "$work/two.lua" "$work/pair.json" "$work/other.json" 2>&1 | head -1)" \
    "other: first (fff0/ffff) is shown as pair has it" "a characteristic of two files: it says which one is shown"
run export "$work/pair.btsnoop" "$work" --define "$work/pair.json" --json
like "$out" '"event":"exported".*"samples":[1-9]' "export: samples of a device file"

# A device that only lets its value be read: again and again, while it changes.
cat >"$work/soil.json" <<'END'
{
  "name": "soil", "title": "Soil", "find": {"services": ["fff0"], "name": "Soil*"},
  "characteristics": [
    {"name": "moisture", "service": "fff0", "uuid": "fff1", "read_every_ms": 1000, "every_ms": 1700, "examples": ["0a 00", "14 01"],
     "read": [{"name": "moisture_percent", "type": "u8", "unit": "%"},
              {"type": "u8", "bits": [{"name": "lid", "bit": 0, "values": [[1, "open"]]}]}]}
  ]
}
END
soil=(--define "$work/soil.json" --radio virtual --json)
start soil simulate soil "${soil[@]}"
device=$child
until_true grep -q ready "$work/soil.out"
start reads run "${soil[@]}" --rule 'soil.moisture_percent > 15 => publish wet yes' \
    --rule 'soil.lid == 1 => publish lid open' --rule 'soil.lid == 0 => publish lid shut'
gateway=$child
until_true grep -q '"event":"rule".*moisture_percent' "$work/reads.out"
result $? "a value that is read again changes, and a rule sees it" "$(tail -3 "$work/reads.out")"
for lid in open shut; do
    until_true grep -q "\"event\":\"publish\".*\"topic\":\"lid\",\"value\":\"$lid\"" "$work/reads.out"
    result $? "a bit with a word and without: $lid" "$(tail -3 "$work/reads.err")"
done
is "$(grep -o '"moisture_percent":[0-9]*' "$work/reads.out" | sort -u | tr '\n' ' ')" '"moisture_percent":10 "moisture_percent":20 ' \
    "it is an event each time"
kill -INT "$gateway" "$device"
wait "$gateway" "$device"

# Several with the one name that the file means: addresses tell them apart.
start twins simulate infinitime --define "$shipped/infinitime.json" --count 2 --radio virtual --json
device=$child
until_true eval '[ "$(grep -c ready "$work/twins.out")" = 2 ]'
start both run --define "$shipped/infinitime.json" --families infinitime --radio virtual --json
gateway=$child
until_true eval '[ "$(grep -c "\"event\":\"connected\"" "$work/both.out")" = 2 ]'
result $? "two devices of one name" "$(cat "$work/both.err")"
kill -INT "$gateway" "$device"
wait "$gateway" "$device"

# Values that take longer to read than their pause: one is always due, and the device is connected and takes actions.
cat >"$work/slow.json" <<'END'
{"name": "slow", "title": "Slow", "find": {"services": ["fff0"]}, "characteristics": [
  {"name": "first", "service": "fff0", "uuid": "fff1", "read": [{"name": "x", "type": "u8"}], "read_every_ms": 1000, "examples": ["01"]},
  {"name": "second", "service": "fff0", "uuid": "fff2", "read": [{"name": "y", "type": "u8"}], "read_every_ms": 1000, "examples": ["02"]},
  {"name": "third", "service": "fff0", "uuid": "fff3", "write": [{"name": "n", "type": "u8"}]}],
 "actions": [{"name": "go", "characteristic": "third"}]}
END
slow=(--define "$work/slow.json" --radio virtual --json)
start slow simulate slow "${slow[@]}" --fault delay=100%,delay_ms=600
device=$child
until_true grep -q ready "$work/slow.out"
start slowed run "${slow[@]}" --rule 'slow.first every 1 h => slow.go 7'
gateway=$child
until_true grep -q '"event":"action' "$work/slowed.out"
is "$(grep -c -e '"event":"connected"' -e '"event":"action","family":"slow".*"action":"slow.go 7"' "$work/slowed.out")" 2 \
    "a device that is slow is connected, and takes an action"
kill -INT "$gateway" "$device"
wait "$gateway" "$device"

# A notification that breaks its layout, by a scenario.
echo 'at 1s notify level 00' >"$work/broken"
start lamp simulate lamp "${lamp[@]}" --scenario "$work/broken" --scenario-from connection
device=$child
until_true grep -q ready "$work/lamp.out"
start broken run "${lamp[@]}"
gateway=$child
until_true grep -q '"event":"malformed".*"characteristic":"level","error":"ERROR_TRUNCATED","error_offset":1' "$work/broken.out"
result $? "a malformed value: which, where, why"
kill -INT "$gateway" "$device"
wait "$gateway" "$device"

# Mistakes: file, line and column.
wrong() { # text, pattern, what
    printf '%s' "$1" >"$work/wrong.json"
    run run --define "$work/wrong.json" --radio virtual --for 0.1
    is "$status" 2 "$3: status"
    like "$err" "$2" "$3"
}
wrong '' 'wrong.json:1:1: a value is expected here' "an empty file"
wrong '{"name": "lamp",
 "titel": "Lamp"}' "wrong.json:2:3: 'titel' is not a member of the file; did you mean 'title'?" "a word that is misspelled"
wrong '{"name": "bose", "title": "B", "find": {"services": ["fff0"]}, "characteristics": [{"name": "a", "service": "fff0", "uuid": "fff1", "value": []}]}' \
    "wrong.json:1:11: 'bose' is a family that Tendon has" "the name of a family"
wrong '{"name": "all", "title": "B", "find": {"services": ["fff0"]}, "characteristics": [{"name": "a", "service": "fff0", "uuid": "fff1", "value": []}]}' \
    "wrong.json:1:11: 'all' has another meaning, in rules or options" "a name that means all"
wrong '{"name": "soil", "title": "Soil", "find": {"services": ["fff0"]}, "characteristics": [{"name": "a", "service": "fff0",
 "uuid": "fff1", "value": [{"name": "x", "type": "u8", "class": "battery"}, {"name": "y", "type": "u8",
   "class" : "temprature"}]}]}' \
    "wrong.json:3:15: unknown device class of Home Assistant 'temprature'; did you mean 'temperature'?" "a class that Home Assistant does not have"
wrong '{"name": "b", "title": "B", "find": {"services": ["fff0"]},
 "characteristics": [{"name": "disconnected", "service": "fff0", "uuid": "fff1", "value": [{"name": "x", "type": "u8"}]}]}' \
    "wrong.json:2:32: 'disconnected' is an event that Tendon has" "the name of an event that all have"
wrong "$(printf '[%.0s' $(seq 60000))" 'wrong.json:1:17: too many values inside of each other' "a deep file"
head -c 70000 /dev/zero | tr '\0' ' ' >"$work/long.json"
run run --define "$work/long.json" --radio virtual --for 0.1
like "$err" 'long.json: longer than 65536 bytes' "a long file"
cp "$work/lamp.json" "$work/other.json"
run run --define "$work/lamp.json,$work/other.json" --radio virtual --for 0.1
like "$err" "the device 'lamp' is defined in .*lamp.json as well" "one device twice"
sed 's/"name": "lamp"/"name": "other"/' "$work/lamp.json" >"$work/other.json"
run run --define "$work/lamp.json,$work/other.json" --radio virtual --for 0.1
like "$err" "its 'find' means devices that .*lamp.json means as well" "two files for one device"
run run --define "$work/none.json" --for 0.1
like "$err" 'none.json: No such file' "a file that is not there"
mkdir "$work/empty"
run run --define "$work/empty" --for 0.1
like "$err" 'has no file \*.json' "a directory without files"
run run --define
is "$status" 2 "--define without a value"
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# run --osc, --osc-in: real receivers and senders (python-osc, Pure Data, liblo) and a simulated head and belt.
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/puredata.bash"
PYTHONPATH=$("$root/scripts/python_package.sh" python-osc 1.10.2) || { echo "Bail out! no python-osc"; exit 1; }
export PYTHONPATH
tool="$root/Tests/Command/check_osc.py"
head=C0:00:00:00:0F:01 belt=C0:00:00:00:0F:02

receiver() { # NAME [KIND]: leaves its port in the variable NAME
    python3 "$tool" "${2:-receive}" "$work/$1" 2>"$work/$1.err" &
    children+=("$!")
    until_true test -s "$work/$1.port"
    printf -v "$1" '%s' "$(cat "$work/$1.port")"
}
messages() { [ "$(wc -l <"$work/$1")" -ge "$2" ]; }
lines() { [ "$(grep -c '"sample"' "$work/$1.out")" -ge "$2" ]; }

pure_data pd
liblo_port=''
if command -v oscdump >/dev/null; then
    for port in 20902 23818 27434 31020; do
        timeout 120 oscdump -L "$port" >"$work/liblo" 2>&1 &
        children+=("$!")
        until_true sh -c "ss -lun | grep -q ':$port ' || ! kill -0 $!"
        kill -0 $! 2>/dev/null || continue
        liblo_port=$port
        break
    done
fi

for name in iem iem_ypr sparta adm virtuoso raw custom; do receiver "$name"; done
receiver track opentrack
osc=(--osc "127.0.0.1:$iem/iem" --osc "localhost:$iem_ypr/iem-ypr" --osc "127.0.0.1:$sparta/sparta" --osc "127.0.0.1:$adm/adm/$head/random"
    --osc "127.0.0.1:$virtuoso/virtuoso" --osc "[::1]:$track/opentrack" --osc "127.0.0.1:$raw"
    --osc "127.0.0.1:$custom/custom/someone-else" --osc-address /x --osc-map yaw
    --osc "127.0.0.1:9/sparta")
[ -n "$pd_port" ] && osc+=(--osc "127.0.0.1:$pd_port/sparta")
[ -n "$liblo_port" ] && osc+=(--osc "127.0.0.1:$liblo_port/adm")
printf '[device %s random]\nname = studio\n[device %s random]\nname = waist\n' "$head" "$belt" >"$work/tendon.conf"
start devices simulate bose --radio virtual --json --address "$head/random"
devices=$child
until_true ready devices
start gateway run --radio virtual --pair --json --config "$work/tendon.conf" --sensors rotation,accelerometer "${osc[@]}"
gateway=$child
until_true lines gateway 200
until_true messages iem 60
kill -INT "$gateway"
wait "$gateway"
for preset in iem:iem iem-ypr:iem_ypr sparta:sparta adm:adm virtuoso:virtuoso opentrack:track; do
    python3 "$tool" compare "${preset%:*}" "$work/gateway.out" "$work/${preset#*:}" >"$work/compared" 2>&1
    results "$work/compared"
done
like "$(head -3 "$work/raw")" '"address": "/tendon/studio/(rotation|accelerometer)"' "raw: an address for each sensor, by the name of the device"
is "$(grep -c accelerometer "$work/raw")" "$(grep -c '"sensor":"accelerometer"' "$work/gateway.out")" "raw: each sample of each sensor"
is "$(wc -l <"$work/custom")" 0 "a destination of another device gets nothing"
is "$(grep -c 'no program listens at 127.0.0.1:9;' "$work/gateway.err")" 1 "nobody listens: one sentence, not one for each datagram"
if [ -n "$pd_port" ]; then
    like "$(grep -m1 '^osc: ' "$work/pd")" '^osc: (list )?ypr -?[0-9.e-]+ -?[0-9.e-]+ -?[0-9.e-]+$' "Pure Data parses it"
    expected=$(python3 -c 'import json,sys; print(" ".join("%.4g" % a for a in json.loads(open(sys.argv[1]).readline())["args"]))' "$work/sparta")
    got=$(grep -m1 '^osc: ' "$work/pd" | awk '{ printf "%.4g %.4g %.4g", $(NF-2), $(NF-1), $NF }')
    is "$got" "$expected" "Pure Data has the same numbers as python-osc"
else
    skip "Pure Data parses it" "puredata-core is not installed"
fi
if [ -n "$liblo_port" ]; then
    like "$(grep -m1 adm "$work/liblo")" '/adm/lis/ypr fff -?[0-9.]+ -?[0-9.]+ -?[0-9.]+' "liblo parses it"
else
    skip "liblo parses it" "liblo-tools is not installed"
fi
kill "$devices"
wait "$devices" 2>/dev/null

# Orientations that will not come are said once, at the start.
why='osc: 127.0.0.1:7000 takes orientations, and none will be sent: they are those of Bose wearables, of the sensors rotation and game_rotation'
run run --radio virtual --for 0.1 --osc 127.0.0.1:7000/iem --osc 127.0.0.1:7001 --families feelspace
is "$(grep -c "$why" <<<"$err") $(grep -c osc: <<<"$err")" "1 1" "no head is served: said once"
run run --radio virtual --for 0.1 --osc 127.0.0.1:7000/iem --sensors gyroscope
is "$(grep -c "$why" <<<"$err")" 1 "without its sensor"
run run --radio virtual --for 0.1 --osc 127.0.0.1:7000/iem --sensors all
is "$(grep -c osc: <<<"$err")" 0 "otherwise nothing is said"

run run --radio virtual --for 0.1 --rule 'bose.gesture double_tap => osc.recenter'
is "$(grep -c 'rules: osc.recenter does nothing: no orientation of a device is sent; see --osc' <<<"$err")" 1 "recentering without a destination: said at the start"

# A destination of one device that was never connected is said once, at the end.
run run --radio virtual --for 0.1 --osc 127.0.0.1:7001 --osc 127.0.0.1:7001/raw/nobody
is "$(grep -c "osc: 127.0.0.1:7001 is of the device 'nobody' alone, which was not connected" <<<"$err") $(grep -c osc: <<<"$err")" "1 1" \
    "a device that does not come: said once"

# What comes in: actions of a belt, recentering, and what is neither.
receiver shown
printf 'at 3s gesture double_tap\n' >"$work/tap.scenario"
start belts simulate feelspace --radio virtual --json --address "$belt/random"
start heads simulate bose --radio virtual --json --address "$head/random" --scenario "$work/tap.scenario" \
    --scenario-from connection
until_true ready belts
until_true ready heads
for port in 20903 23819 27435 31021; do
    start in run --radio virtual --pair --json --config "$work/tendon.conf" --osc "127.0.0.1:$shown/sparta" --osc-in "$port" \
        --rule 'bose.gesture double_tap => osc.recenter'
    gateway=$child
    until_true sh -c "grep -q '\"connected\"' '$work/in.out' || grep -q 'osc: ' '$work/in.err'"
    grep -q 'osc: ' "$work/in.err" || break
done
is "$(ss -lun "sport = $port" | awk 'NR > 1 { print $4 }')" "127.0.0.1:$port" "it listens on loopback alone"
until_true grep -q '"event":"connected".*"name":"waist"' "$work/in.out"
python3 "$tool" send "$port" /tendon/waist/vibrate 90
until_true grep -q '"action":"feelspace.vibrate 90"' "$work/in.out"
result $? "an action of a device by its name" "$(grep action "$work/in.out" "$work/in.err")"
python3 "$tool" send "$port" /tendon/waist/vibrate 60.5
until_true grep -q '"action":"feelspace.vibrate 60.5"' "$work/in.out"
result $? "a number that is not whole is rounded" "$(grep action "$work/in.out" "$work/in.err")"
python3 "$tool" send "$port" /tendon/belt/signal warning
until_true grep -q '"action":"feelspace.signal warning"' "$work/in.out"
result $? "by its family, with a text" "$(grep action "$work/in.out" "$work/in.err")"
if command -v oscsend >/dev/null; then
    oscsend 127.0.0.1 "$port" /tendon/belt/vibrate i 45
    until_true grep -q '"action":"feelspace.vibrate 45"' "$work/in.out"
    result $? "sent by liblo" "$(tail -3 "$work/in.err")"
fi
run run --radio virtual --for 0.1 --osc-in "$port"
like "$status $err" "^1 .*Address already in use" "a port in use"
like "$err" "try: another port: --osc-in PORT" "a port in use: another one"
refused() { # TEXT, WHAT, COMMAND...
    sleep 1.1 # one sentence a second
    python3 "$tool" "${@:3}"
    until_true grep -q "$1" "$work/in.err"
    result $? "$2" "$(tail -3 "$work/in.err")"
}
refused "unknown action of feelspace 'vibrat'" "an action that nobody knows" send "$port" /tendon/belt/vibrat 90
refused "no device 'nobody' is connected" "a device that nobody knows" send "$port" /tendon/nobody/vibrate 90
refused "/tendon/NAME/ACTION and /tendon/recenter are known" "an address that nobody knows" send "$port" /other/belt/vibrate 90
refused "it is not OSC" "bytes that are no packet" junk "$port" 2f61
python3 "$tool" send "$port" /tendon/belt/vibrate 30
until_true grep -q '"action":"feelspace.vibrate 30"' "$work/in.out"
result $? "and the next one is carried out" ""

# A rule: the head that is tapped is the one that is recentered.
until_true grep -q '"event":"rule".*"rule":"bose.gesture double_tap => osc.recenter","devices":1,"missed":0' "$work/in.out"
result $? "a double tap recenters" "$(grep -e '"rule"' -e gesture "$work/in.out")"
like "$(grep -m1 '"osc.recenter"}' "$work/in.out")" \
    "\"event\":\"action\",\"family\":\"bose\",\"address\":\"$head\",\"address_type\":\"random\",\"name\":\"studio\",\"action\":\"osc.recenter\"" \
    "and is an event as of any action"
# The head turns all the time: after recentering the next message is near 0, which it was not before.
near() { # LIMIT: the last message but WITHIN
    tail -n 3 "$work/shown" | python3 -c 'import json,sys
print(min(max(abs(a) for a in json.loads(line)["args"]) for line in sys.stdin))'
}
jumps() { # the number of messages that are nearer to 0 than a tenth of a degree, all three angles
    python3 -c 'import json,sys
print(sum(max(abs(a) for a in json.loads(line)["args"]) < 2 for line in open(sys.argv[1]) if line.endswith("\n")))' "$work/shown"
}
until_true messages shown 100
python3 "$tool" send "$port" /tendon/recenter
before=$(jumps)
until_true sh -c "sleep 0.2; [ \$(python3 -c 'import json,sys; print(sum(max(map(abs, json.loads(l)[\"args\"])) < 2 for l in open(\"$work/shown\")))') -gt $before ]"
result $? "recentered by a message: the head looks straight ahead" "$(near)"
kill -INT "$gateway"
wait "$gateway"
is "$(grep -c 'Broken\|fatal' "$work/in.err")" 0 "nothing failed"

# Mistakes.
wrong() { # PATTERN, WHAT, OPTION...
    run run --radio virtual --for 0.1 "${@:3}"
    is "$status" 2 "$2: status 2"
    like "$err" "$1" "$2: why"
}
wrong "unknown preset 'iam'; known: raw, iem" "a preset that nobody knows" --osc 127.0.0.1:9000/iam
wrong "is not HOST:PORT/PRESET" "no port" --osc 127.0.0.1/iem
wrong "is not HOST:PORT/PRESET" "an IPv6 address without brackets" --osc ::1:9000
wrong "needs --osc-address and --osc-map" "custom without its map" --osc 127.0.0.1:9000/custom
wrong "^tendon: --osc-map needs --osc-address, and a destination with the preset custom" "a map without an address" \
    --osc 127.0.0.1:9000/iem --osc-map yaw
wrong "is of the preset custom, and no --osc names it" "a map that nothing uses" --osc 127.0.0.1:9000 --osc-address /a --osc-map yaw
wrong "is no map \(column 5\)" "a map with a mistake" --osc 127.0.0.1:9000/custom --osc-address /a --osc-map yaw,pich
wrong "needs --osc" "a rate without a destination" --osc-rate 50
wrong "is not PORT or ADDRESS:PORT" "a name to listen on" --osc-in localhost:9000
run run --radio virtual --for 0.1 --osc-in 203.0.113.1:9000
like "$err" "203.0.113.1:9000: Cannot assign requested address" "an address of another machine"
printf '[osc]\nsend = 127.0.0.1:7000/iem\nsend = [::1]:4242/opentrack/studio\nrate = 60\nlisten = 9001\nmap = yaw,pitch\n' >"$work/mistake.conf"
run config check "$work/mistake.conf"
is "$status" 2 "a configuration with a mistake: status 2"
like "$err$out" "mistake.conf:6: .*map needs address, and a destination with the preset custom" "its line, with the keys of the file"
printf '[osc]\nsend = 127.0.0.1:7000/custom\n' >"$work/custom.conf"
run config check "$work/custom.conf"
like "$err$out" "custom.conf:2: .*the preset custom needs address and map" "a preset without its keys: its line"
printf '[osc]\nsend = 127.0.0.1:7000/iem\nrate = 60\nlisten = 9001\n' >"$work/good.conf"
run config check "$work/good.conf"
is "$status" 0 "a configuration without one"
run run --help
like "$(tr -s ' \n' ' ' <"$work/out")" "opentrack \(opentrack, UDP over network\)" "help lists the presets"
finish

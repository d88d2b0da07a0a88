#!/bin/bash
# SPDX-License-Identifier: MIT
# bose info, bose configure, stream bose, capture, replay.
. "$(dirname "$0")/tap.bash"

start device simulate bose --radio virtual --json --address C0:00:00:00:00:01/random --firmware 2.3.4
device=$child
until_true ready device

run bose info --radio virtual
is "$status" 0 "bose info: done"
people bose info --radio virtual
like "$out" "^product: Bose Frames$" "bose info: the product"
like "$out" "^firmware: 2.3.4$" "bose info: its firmware"
run bose info --radio virtual --json --address C0:00:00:00:00:01
like "$out" '"sensors":\[\{"sensor":"accelerometer","periods_ms":\[320,160,80,40,20\],"range":\[-8,8\]' "bose info: sensors, as JSON"
run bose info --radio virtual --address C0:00:00:00:00:02 --timeout 0.5
is "$status" 4 "bose info: a device that is not there"

run bose configure --radio virtual --sensors rotation,gyroscope --period 40 --gestures double_tap --json
like "$out" '"sensors":\["gyroscope","rotation"\],"period_ms":40,"gestures":\["double_tap"\]}' "bose configure: what the device took"
run bose configure --radio virtual --sensors magnetometer
is "$status" 1 "bose configure: a sensor that it lacks"
like "$err" "magnetometer" "bose configure: says which"
run bose configure --radio virtual --sensors rotatoin
is "$status" 2 "bose configure: an unknown sensor"
like "$err" "did you mean 'rotation'" "bose configure: the nearest one"
run bose configure --radio virtual --period 33
is "$status" 2 "bose configure: an unknown period"

run stream bose --radio virtual --sensors magnetometer --no-lines --for 2
like "$err" "it has no magnetometer at 20 ms" "stream bose: a sensor that it lacks, in a sentence"
run stream bose --radio virtual --sensors 200 --gestures 7 --no-lines --for 2
like "$err" "it has no sensor 200 at 20 ms, no gesture 7" "stream bose: numbers without a name"
run stream bose --radio virtual --sensors all --gestures none --period 40 --notifications 8 --json --for 5
is "$status" 0 "stream bose: done"
for sensor in accelerometer gyroscope rotation game_rotation; do
    like "$out" "\"sensor\":\"$sensor\"" "stream bose: $sensor"
done
like "$out" '"sensor":"accelerometer".*"acceleration_g":\[' "stream bose: an accelerometer in g"
# When it arrived and was measured, by the clock that Python's time.monotonic() reads.
times=$(printf '%s\n' "$out" | python3 -c '
import json, sys, time
samples = [json.loads(line) for line in sys.stdin if "\"event\":\"sample\"" in line]
now = time.monotonic()
wrong = [s for s in samples if not now - 60 < s["sampled_at"] <= s["received_at"] <= now or s["error_ms"] < 2]
print(len(samples) > 0 and not wrong, wrong[:1])')
is "$times" "True []" "stream bose: when each sample arrived and was measured"
run stream toaster
is "$status" 2 "stream: an unknown family"

run capture "$work/file" --radio virtual --sensors rotation,accelerometer --notifications 12 --for 5 --json
is "$status" 0 "capture: done"
is "$(head -c 8 "$work/file" | od -An -c | tr -d ' ')" 'btsnoop\0' "capture: a btsnoop file"
run capture "$work/file" --radio virtual --for 1
like "$status $err" "^1 .*file exists" "capture: a file that exists is left alone"
like "$err" "try: --replace" "capture: and how to replace it"
run capture "$work/piped" --radio virtual --sensors rotation --gestures none --period 40 --notifications 3 --for 5
like "$out" '"event":"summary".*"records":[1-9]' "capture in a pipe: the summary"
is "$(printf '%s\n' "$out" | grep -cv '^{.*}$')" 0 "capture in a pipe: JSON alone, without --json"
run replay "$work/piped" --json
like "$out" '"event":"configure_sensors".*"period_ms":40' "capture takes the options of run"
run replay "$work/file" --json
is "$status" 0 "replay: done"
like "$out" '"event":"device_information".*"product":"Bose Frames"' "replay: what was read"
like "$out" '"event":"configure_sensors".*"period_ms":20' "replay: what was written"
like "$out" '"sensor":"accelerometer".*"acceleration_g":\[' "replay: samples, in the device's units"
like "$out" '"sensor":"rotation".*"yaw_deg":' "replay: angles"
unlike "$out" '"profile":"fixed"' "replay: by the device's own ranges"
replayed=$(field notifications "$(printf '%s\n' "$out" | tail -n 1)")
[ "$replayed" -ge 12 ] # one more may come before the capture ends
result $? "replay: every notification" "$replayed"
run replay "$work/file" --att --json
like "$out" '"pdu":"Handle Value Notification"' "replay --att: the PDUs"
before=$(cat "$work/file" | "$TENDON" replay - --json | grep -c '"sample"')
[ "$before" -ge 12 ]
result $? "replay -: from standard input" "$before"
head -c 700 "$work/file" >"$work/cut"
run replay "$work/cut" --json
is "$status" 1 "replay: a file that is cut is told"
like "$err" "at byte" "replay: with the place"
like "$out" '"event":"summary"' "replay: what came before is decoded"
head -c 200 /dev/urandom >"$work/noise"
run replay "$work/noise"
is "$status" 1 "replay: not a capture"
h4() { # version, datalink, packets in hexadecimal digits
    python3 -c '
import struct, sys
out = b"btsnoop\0" + struct.pack(">II", int(sys.argv[1]), int(sys.argv[2]))
for packet in map(bytes.fromhex, sys.argv[3:]):
    out += struct.pack(">IIIIQ", len(packet), len(packet), 1, 0, 0xE03AB44A676000) + packet
sys.stdout.buffer.write(out)' "$@"
}
report=043e0f02010000AB00000080c003020106c8
# 127 is "not available" (Vol 4 Part E 7.7.65.2).
h4 1 1002 "${report/AB/01}" "${report/AB/02}" >"$work/signals"
python3 - "$work/signals" <<'E3'
import sys
content = bytearray(open(sys.argv[1], "rb").read())
content[-1] = 127
open(sys.argv[1], "wb").write(content)
E3
run replay "$work/signals" --json
is "$(grep '"found"' <<<"$out" | grep -c rssi_dbm)" 1 "replay: a signal that is not available is none"
h4 1 1002 "${report/AB/01}" ff0102 "" "${report/AB/02}" >"$work/vendor"
run replay "$work/vendor" --json
is "$status" 0 "replay: records of a vendor's own type and empty ones are no end"
like "$out" '"event":"summary".*"records":2,"devices":2.*"skipped_records":2' "replay: they are counted"
unlike "$out" 'truncated_records|dropped_records' "replay: nothing is missing in them"
# The first record was longer by 5 bytes; 7 were lost until the second one (32 bits each, the most significant byte first).
h4 1 1002 "${report/AB/01}" "${report/AB/02}" >"$work/lacking"
python3 - "$work/lacking" <<'E4'
import sys
content = bytearray(open(sys.argv[1], "rb").read())
content[16 + 3] += 5
content[16 + 24 + 18 + 15] = 7
open(sys.argv[1], "wb").write(content)
E4
run replay "$work/lacking" --json
like "$out" '"event":"summary".*"records":2.*"truncated_records":1,"dropped_records":7' "replay: what the capture lacks is counted"
of=0300000080c0
short=043e1402010001${of}080708$(printf Tendon | od -An -tx1 | tr -d ' \n')c8
full=043e1802010401${of}0c0b09$(printf 'Tendon One' | od -An -tx1 | tr -d ' \n')c8
empty=043e0e02010401${of}020109c8
h4 1 1002 "$short" "$full" "$short" "$full" "$empty" "$short" "$full" >"$work/names"
run replay "$work/names" --json
is "$(grep '"found"' <<<"$out" | grep -o '"name":"[^"]*"' | xargs)" "name:Tendon name:Tendon One" "replay: a shortened or empty name replaces no complete one"
people replay "$work/names"
like "$out" "found .*C0:80:00:00:00:03.*  Tendon One  " "replay: people see the name of what was found"
h4 1 1003 >"$work/bcsp"
run replay "$work/bcsp"
like "$status $err" "^1 .*btsnoop file of datalink 1003 .BCSP.: 1001 .HCI., 1002" "replay: another datalink is named"
h4 2 1002 >"$work/later"
run replay "$work/later"
like "$status $err" "^1 .*btsnoop file of another version than 1" "replay: another version"

run run --radio virtual --notifications 5 --capture "$work/second" --json --for 5
received=$(field notifications "$(tail -n 1 <<<"$out")")
run replay "$work/second" --json
is "$(field notifications "$(tail -n 1 <<<"$out")")" "$received" "run --capture: every notification that run received"
kill "$device"
wait "$device" 2>/dev/null
finish

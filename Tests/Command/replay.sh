#!/bin/bash
# SPDX-License-Identifier: MIT
# replay --to-test and --test: a capture with its events, in one file that is run again.
. "$(dirname "$0")/tap.bash"

start device simulate bose activ5 --radio virtual --json
until_true eval '[ "$(grep -c ready "$work/device.out")" = 2 ]'
# A busy machine needs longer to open both.
for seconds in 1.5 10; do
    run capture "$work/capture" --replace --radio virtual --json --for $seconds
    run replay "$work/capture" --json
    [ "$(printf '%s\n' "$out" | grep -o 'force_n\|yaw_deg' | sort -u | wc -l)" = 2 ] && break
done
events=$(printf '%s\n' "$out" | wc -l)
printf '%s\n' "$out" >"$work/events"

run replay "$work/capture" --to-test "$work/test" --json
is "$status" 0 "--to-test: done"
is "$(field events "$out")" "$events" "--to-test: all events"
is "$(stat -c %a "$work/test")" 600 "--to-test: the owner's alone, as the capture"
is "$(grep -v '^{"test"\|^{"capture"' "$work/test" | diff - "$work/events" | head -c 300)" "" "--to-test: the events of replay, line by line"
mv "$work/capture" "$work/elsewhere"
run replay --test "$work/test" --json
is "$status" 0 "--test: the same events, without the capture's own file"
is "$(field differences "$out")" 0 "--test: no difference"
is "$(field events "$out")" "$events" "--test: so many events"
is "$(field differences "$("$TENDON" replay --test - --json <"$work/test")")" 0 "--test -: standard input"

# Each way to differ.
differs() { # name, expected differences, first event's number
    run replay --test "$work/changed" --json
    is "$status" 1 "$1: fails"
    is "$(field differences "$(printf '%s\n' "$out" | tail -n 1)")" "$2" "$1: so many differences"
    is "$(field number "$(printf '%s\n' "$out" | head -n 1)")" "$3" "$1: where"
    like "$err" "$2 of [0-9]+ events differ" "$1: says so"
}
first=$(grep -n '^{"time"' "$work/test" | head -n 1 | cut -d: -f1)
sed "$((first + 4))s/\"event\":\"[a-z_]*\"/\"event\":\"other\"/" "$work/test" >"$work/changed"
differs "another event" 1 5
like "$(printf '%s\n' "$out" | head -n 1)" '"expected":"\{\\"time\\".*\\"other\\".*"actual":"\{\\"time\\"' "both are printed"
sed "$((first + 6))d" "$work/test" >"$work/changed"
differs "an event that is not expected" 1 7
unlike "$(printf '%s\n' "$out" | head -n 1)" '"expected"' "there is none to compare with"
sed "$((first + 6))p" "$work/test" >"$work/changed"
run replay --test "$work/changed" --json
is "$status $(field differences "$(printf '%s\n' "$out" | tail -n 1)")" "1 1" "an event that is missing"
unlike "$(printf '%s\n' "$out" | head -n 1)" '"actual"' "there is none"
grep '^{"test"\|^{"capture"' "$work/test" >"$work/changed"
run replay --test "$work/changed" --json
is "$status $(printf '%s\n' "$out" | grep -c '"event":"difference"')" "1 10" "only the first 10 differences are printed"
is "$(field differences "$(printf '%s\n' "$out" | tail -n 1)")" "$events" "and all are counted"
# A value of the capture: the last force of the trainer (a notification of two bytes).
python3 - "$work/test" "$work/changed" <<'CHANGE'
import json, sys
lines = open(sys.argv[1]).read().splitlines()
pieces = [i for i, line in enumerate(lines) if line.startswith('{"capture"')]
whole = bytearray.fromhex("".join(json.loads(lines[i])["capture"] for i in pieces))
at, forces = 16, []
while at < len(whole):
    length = int.from_bytes(whole[at + 4:at + 8], "big")
    if length == 13 and whole[at + 24 + 8] == 0x1B:
        forces.append(at + 24 + 11)
    at += 24 + length
whole[forces[-1]] ^= 1
lines[pieces[0]] = json.dumps({"capture": whole.hex()}, separators=(",", ":"))
open(sys.argv[2], "w").write("\n".join(line for i, line in enumerate(lines) if i not in pieces[1:]) + "\n")
CHANGE
run replay --test "$work/changed" --json
is "$status" 1 "another value in the capture: fails"
like "$(printf '%s\n' "$out" | head -n 1)" 'force_n' "the sample is named"

run replay "$work/elsewhere" --att --exact --to-test "$work/att.test"
is "$status $(grep -c '"event":"att"' "$work/att.test" | grep -cv '^0$')" "0 1" "--to-test --att: the PDUs are events"
run replay --test "$work/att.test"
is "$status" 0 "--test: with the options of the test"
run replay --test "$work/att.test" --att
is "$status" 2 "--test --att: a mistake"
"$TENDON" replay - --to-test "$work/piped.test" --json <"$work/elsewhere" >/dev/null
is "$(cmp "$work/piped.test" "$work/test" 2>&1)" "" "--to-test of standard input: the same test"
run replay "$work/test" --to-test "$work/again.test" --json
is "$status $(cmp "$work/again.test" "$work/test" 2>&1)" "0 " "--to-test of a test: the same test"
sed '1a{"report":"tendon","version":"0"}' "$work/test" >"$work/changed"
run replay --test "$work/changed"
is "$status" 0 "--test: lines of a report are not compared"
grep -v '^{"capture"' "$work/test" >"$work/changed"
run replay --test "$work/changed"
is "$status" 1 "--test: without a capture"
like "$err" "it has no capture" "and that is said"

# Interrupted: neither a test nor the result of one. It reads a pipe, so that the signal comes before the events.
interrupted() { # input, words of the command line after it
    local input=$1 child code
    shift
    rm -f "$work/input"
    mkfifo "$work/input"
    timeout -s KILL 20 "$TENDON" replay "$@" <"$work/input" >"$work/out" 2>"$work/err" &
    child=$!
    exec 9>"$work/input"
    head -c 1000 "$input" >&9
    # Not every kernel says where a process waits.
    patience=20 until_true grep -q 'pipe_read\|anon_pipe_read' "/proc/$(pgrep -P $child)/wchan" || sleep 1
    kill -TERM "$(pgrep -P $child)"
    sleep 0.3 # the thread that reads signals
    tail -c +1001 "$input" >&9
    exec 9>&-
    wait $child
    code=$?
    is "$code $(cat "$work/out" "$work/err")" "1 tendon: interrupted" "interrupted: replay $1 fails"
}
cp "$work/test" "$work/kept.test"
interrupted "$work/elsewhere" --to-test "$work/kept.test" --replace -
is "$(cmp "$work/kept.test" "$work/test" 2>&1)" "" "interrupted: the old test stays"
interrupted "$work/test" --test /dev/stdin

run replay "$work/test"
is "$status" 1 "a test without --test: no capture"
like "$err" "this is a test of replay.*" "says what it is"
like "$err" "try: tendon replay --test FILE" "and how to run it"

# What is no test, and what cannot be one.
head -c 900 "$work/elsewhere" >"$work/cut"
cp "$work/test" "$work/before"
run replay "$work/elsewhere" --to-test "$work/test"
like "$status $err" "^1 .*test exists" "--to-test: a file that exists is left alone"
is "$(cmp "$work/test" "$work/before" 2>&1)" "" "--to-test: it is as it was"
run replay "$work/elsewhere" --to-test "$work/elsewhere" --replace
is "$status" 2 "--to-test: never the capture itself"
run replay "$work/elsewhere" --to-test "$work/before" --replace
is "$status" 0 "--to-test --replace"
run replay "$work/cut" --to-test "$work/none.test"
is "$status" 1 "--to-test of a capture that is cut: fails"
[ ! -e "$work/none.test" ]
result $? "and writes nothing" ""
run replay "$work/elsewhere" --to-test "$work/no/folder.test"
is "$status" 1 "--to-test into a folder that does not exist"
like "$err" "No such file" "with the reason"
for wrong in "$work/elsewhere" "$work/events" /dev/null; do
    run replay --test "$wrong"
    is "$status" 1 "--test: $(basename "$wrong") is not a test"
    like "$err" "not a test of replay" "and that is said"
done
sed 's/^{"capture":"../{"capture":"zz/' "$work/test" >"$work/changed"
run replay --test "$work/changed"
is "$status" 1 "--test: a capture that is not hexadecimal"
sed 's/"version":1/"version":2/' "$work/test" >"$work/changed"
run replay --test "$work/changed"
is "$status" 1 "--test: another version of the form"
run replay --test "$work/none"
is "$status" 1 "--test: a file that does not exist"
finish

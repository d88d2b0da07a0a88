#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults on the way, several devices, addresses, Ctrl-C.
. "$(dirname "$0")/tap.bash"

# Faults do not hurt.
start faulty simulate bose --radio virtual --json --flat-out --notifications 500 \
    --fault garbage=5%,truncate=5%,notifications_only --seed 7
faulty=$child
until_true ready faulty
run run --radio virtual --json --for 2
is "$status" 0 "faults: run ends well"
like "$(printf '%s\n' "$out" | grep '"event":"summary"')" '"(malformed|skipped)":[1-9]' "faults: what was spoiled is counted"
wait "$faulty"

# Two devices, and an address chosen.
start two simulate bose --radio virtual --json --count 2 --address C0:00:00:00:00:10/random
two=$child
until_true eval '[ "$(grep -c ready "$work/two.out")" = 2 ]'
run run --radio virtual --json --for 1.5
is "$(printf '%s\n' "$out" | grep '"event":"connected"' | sort -u | wc -l)" 2 "two devices: both are opened"
run run --radio virtual --address C0:00:00:00:00:11 --json --for 1.5
is "$(printf '%s\n' "$out" | grep '"event":"connected"' | grep -o 'C0:[0-9A-F:]*' | sort -u)" C0:00:00:00:00:11 "--address: that one only"
kill -INT "$two"
wait "$two"
is $? 0 "Ctrl-C ends simulate with status 0"
is "$(grep -c '"event":"summary"' "$work/two.out")" 2 "Ctrl-C: the counters are printed"

# Addresses that nobody chose: two processes never take the same, whatever their numbers.
start many simulate bose --radio virtual --json --count 5
many=$child
until_true eval '[ "$(grep -c ready "$work/many.out")" = 5 ]'
is "$(grep ready "$work/many.out" | grep -o 'C0:7E:0[0-4]:[0-9A-F:]*' | cut -d: -f4- | sort -u | wc -l)" 1 "several devices differ above their process's number"
is "$(grep ready "$work/many.out" | grep -o 'C0:7E:0[0-4]:' | sort -u | wc -l)" 5 "and from each other"
kill -INT "$many"
wait "$many"

# Waiting costs nothing: a second of scanning with nobody there, a second of streaming at 50 Hz. What the start of the
# program takes, on this machine and under its load, does not count.
cpu() { # milliseconds of processor time that a command takes longer for 1.1 s than for 0.1 s
    python3 -c 'import resource, subprocess, sys
def used(limit):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*sys.argv[1:], "--for", limit], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(int((used("1.1") - used("0.1")) * 1000))' "$@"
}
spent=$(cpu "$TENDON" scan --radio virtual --json)
[ "$spent" -lt 300 ]
result $? "scan sleeps while nothing comes" "$spent ms of processor time for a second"
start calm simulate bose --radio virtual --json
calm=$child
until_true ready calm
spent=$(cpu "$TENDON" run --radio virtual --json)
[ "$spent" -lt 400 ]
result $? "run sleeps between samples" "$spent ms of processor time for a second"
kill "$calm"
wait "$calm" 2>/dev/null

# An address that another simulated device has.
start first simulate bose --radio virtual --json --address C0:00:00:00:00:31/random
first=$child
until_true ready first
run simulate bose --radio virtual --address C0:00:00:00:00:31/random --for 1
is "$status" 3 "two simulated devices with one address: the second one does not start"
like "$err" "another simulated device has the address C0:00:00:00:00:31/random" "it says why"
unlike "$err" "adapter|doctor" "and nothing about an adapter"
kill "$first"
wait "$first" 2>/dev/null
# A device of --address that is in range, and is not served: why.
start first simulate bose --radio virtual --json --address C0:00:00:00:00:32/random
until_true ready first
run run --radio virtual --families obvious --address C0:00:00:00:00:32 --for 1
like "$status $err" "^4 .*C0:00:00:00:00:32 is in range, but of the family bose" "--address: of another family"
start second simulate feelspace --radio virtual --json --address C0:00:00:00:00:33/random
until_true ready second
run run --radio virtual --families bose --address C0:00:00:00:00:33 --for 1
like "$status $err" "^4 .*C0:00:00:00:00:33 is in range, but was not recognized as a device that is served" "--address: of a family that needs a scan response"
like "$err" "try: tendon run --radio virtual --address C0:00:00:00:00:33/random" "and the command"
run run --radio virtual --address C0:00:00:00:00:32/public --for 1
like "$status $err" "^4 .*C0:00:00:00:00:32 is in range, with the type random" "--address: of another type"
like "$err" "try: tendon stream bose --radio virtual --address C0:00:00:00:00:32/random" "and the command"

# Two programs, one capture.
start writer run --radio virtual --json --capture "$work/same.btsnoop" --address C0:00:00:00:00:32
writer=$child
until_true test -s "$work/same.btsnoop"
until_true grep -q '"connected"' "$work/writer.out"
run run --radio virtual --capture "$work/same.btsnoop" --for 1
like "$status $err" "^1 .*same.btsnoop: another program is writing this capture" "--capture: a file that another program writes"
kill -INT "$(pgrep -P "$writer")"
wait "$writer"
run replay "$work/same.btsnoop" --json
is "$status" 0 "and the file is whole"
kill "$first" "$child" 2>/dev/null
finish

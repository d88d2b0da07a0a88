#!/bin/bash
# SPDX-License-Identifier: MIT
# scan and doctor: what is in reach, and what this machine lacks.
. "$(dirname "$0")/tap.bash"

start device simulate bose --radio virtual --json --name 'LE-Only in the response' --address C0:00:00:00:00:01/random
device=$child
until_true ready device

run scan --radio virtual --family any --count 1 --json --for 5
is "$status" 0 "scan: finds the device"
like "$out" '"event":"found".*"address":"C0:00:00:00:00:01","address_type":"random"' "scan: its address"
like "$out" '"family":"bose"' "scan: its family"
run scan --radio virtual --service fdd2 --count 1 --json --for 5
is "$status" 0 "scan: by service"
run scan --radio virtual --service 180d --for 0.6 --json
is "$status $out" "4 " "scan: another service is not there"
run scan --radio virtual --name 'in the response' --count 1 --json --for 5
is "$status" 0 "scan: by a name that only the scan response has"
like "$out" '"name":"LE-Only in the response"' "scan: the name"
run scan --radio virtual --name 'le-ONLY in The' --count 1 --json --for 5
is "$status" 0 "scan --name: upper and lower case are the same"
run scan --radio virtual --name 'in the response' --passive --for 0.6 --json
is "$status" 4 "scan --passive: hears no scan response"
run stream feelspace --radio virtual --for 1 --no-lines --capture "$work/other.btsnoop"
run replay "$work/other.btsnoop" --json
like "$out" '"event":"found","family":"bose"' "stream of another family: receives the device"
unlike "$out" 'in the response' "stream of another family: asks it for nothing"
run stream bose --radio virtual --for 2 --json --notifications 1
like "$out" '"event":"connected".*in the response' "stream: asks a device of the family for its name, and then connects"
run scan --radio virtual --address C0:00:00:00:00:02 --for 0.6 --json
is "$status" 4 "scan --address: only that one"
run scan --radio virtual --coded --for 0.6 --json
is "$status $out" "2 " "scan --coded: the virtual radio has no PHYs"
like "$err" "^tendon: --coded is for --radio bluez" "scan --coded: says so"
TENDON_RADIO=virtual run run --coded --for 0.6 --json
is "$status $out" "2 " "run --coded: the same, before anything is opened"
like "$err" "^tendon: --coded is for --radio bluez" "run --coded: says so"
for selection in "--name nobody" "--service 180d" "--families fjorden" "--address C0:00:00:00:00:02"; do
    # shellcheck disable=SC2086
    run scan --radio virtual $selection --for 0.6
    like "$status $err" "^4 .*devices in range: 1; none of them is one that was searched for" "scan $selection: other devices are in range"
    like "$err" "try: tendon scan --radio virtual$" "and the command that shows them"
done
run run --radio virtual --address C0:00:00:00:00:02 --for 0.6
like "$err" "the device C0:00:00:00:00:02 was not found" "run --address: which device is missing"
like "$err" "try: tendon simulate bose --radio virtual --address C0:00:00:00:00:02/random &" "and how to simulate it"
run feelspace mode --radio virtual --address C0:00:00:00:00:01 --timeout 1
like "$status $err" "^4 .*C0:00:00:00:00:01 is in range, and is no feelSpace belt but of the family bose" "a device of another family: says so"
run feelspace mode --radio virtual --address C0:00:00:00:00:01/public --timeout 1
like "$status $err" "^4 .*C0:00:00:00:00:01 is in range, with the type random" "a device with another type of address: its type"
like "$err" "try: --address C0:00:00:00:00:01/random" "and the option that means it"
run feelspace mode --radio virtual --address C0:00:00:00:00:02 --timeout 0.5
like "$err" "no feelSpace belt was found with the address C0:00:00:00:00:02" "a device that is not in range: its address"
run scan --radio virtual --service nonsense
is "$status" 2 "scan: a service that is no UUID"
kill "$device"
wait "$device" 2>/dev/null

# Two files whose devices share a service: the one with a name decides, whose packet comes second. scan and run agree.
start strap simulate polar_h10 --define "$root/packaging/devices" --radio virtual --json --name 'Polar H10 7'
strap=$child
until_true ready strap
run scan --radio virtual --define "$root/packaging/devices" --families polar_h10 --count 1 --for 5 --json
like "$status $out" '^0 .*"family":"polar_h10".*"name":"Polar H10 7"' "scan: the file with the name"
unlike "$out" '"family":"heart_rate"' "scan: and not first the other one"
run run --radio virtual --define "$root/packaging/devices" --for 5 --notifications 1 --json
like "$out" '"event":"connected","family":"polar_h10"' "run takes it for the same"
kill "$strap"
wait "$strap" 2>/dev/null

# A name that would play with the terminal.
start evil simulate bose --radio virtual --json --name "$(printf 'a\033[2Jb\r\n\342\200\256c')"
evil=$child
until_true ready evil
run scan --radio virtual --family bose --count 1 --json --for 3
unlike "$(printf '%s' "$out" | cat -v)" '\^\[|\\u001b|\\r|\\n' "a hostile name is made harmless"
kill "$evil"
wait "$evil" 2>/dev/null

run scan --radio virtual --for 0.3 --json
is "$status" 4 "nothing in reach: status 4"
like "$err" 'no device was found' "nothing in reach: says so"
like "$err" 'try: tendon simulate bose' "nothing in reach: says what to do next"
timeout --preserve-status -s INT 0.5 "$TENDON" bose info --radio virtual >"$work/out" 2>"$work/err" </dev/null
is "$? $(cat "$work/err")" "4 tendon: interrupted" "Ctrl-C during a search: status 4, without a message about a missing device"

run doctor --radio virtual --json
is "$status" 0 "doctor: the virtual radio works"
for name in kernel capabilities adapters rfkill bluetoothd; do
    like "$out" "\"check\":\"$name\"" "doctor: looks at $name"
done
chmod 755 "$XDG_RUNTIME_DIR/tendon"
run doctor --radio virtual
is "$status" 3 "doctor: a directory that is open to others: no radio"
people doctor --radio virtual
like "$out" "try: .*" "doctor: the command that fixes it"
run scan --radio virtual --for 0.3
is "$status" 3 "scan there: no radio"
like "$err" "try: chmod 700 .*/tendon" "scan there: says what to do next"
chmod 700 "$XDG_RUNTIME_DIR/tendon"
kept=$XDG_RUNTIME_DIR
XDG_RUNTIME_DIR=$kept/$(printf 'x%.0s' {1..90})
run scan --radio virtual --for 0.3
is "$status" 3 "a directory whose path is too long: no radio"
like "$err" "^tendon: ${XDG_RUNTIME_DIR:0:60}.*\.\.\.: .* has $((${#XDG_RUNTIME_DIR} + 7)) bytes; 1 to 79 are possible \\(ERROR_OVERFLOW\\)" \
    "it names the path and the limit"
like "$err" "try: export XDG_RUNTIME_DIR=" "and what helps"
XDG_RUNTIME_DIR=/dev/null
run scan --radio virtual --for 0.3
is "$status" 3 "a directory that is none: no radio"
like "$err" "/dev/null/tendon cannot be created [(]SYSTEM_ENOTDIR[)]" "which directory, and the system's reason"
XDG_RUNTIME_DIR=$work/file
mkdir -m 700 "$XDG_RUNTIME_DIR"
touch "$XDG_RUNTIME_DIR/tendon"
run scan --radio virtual --for 0.3
is "$status" 3 "a file in the place of the directory: no radio"
like "$err" "/tendon is not a directory of this user [(]ERROR_FILE_PERMISSION[)]" "why"
XDG_RUNTIME_DIR=$kept

# A reader that closes the pipe ends the command, also if nothing is printed any more.
for words in "scan --radio virtual --for 20" "simulate bose --radio virtual" "run --radio virtual --families none --for 20"; do
    before=$(date +%s)
    # shellcheck disable=SC2086
    timeout 15 "$TENDON" $words 2>"$work/err" | true
    result "$(($(date +%s) - before > 5))" "$words: ends with its reader" "$(cat "$work/err")"
done

if [ -e /sys/class/bluetooth/hci0 ]; then
    skip "no adapter: status 3" "this machine has one"
else
    run scan --radio bluez --for 0.3
    is "$status" 3 "no adapter: status 3"
    like "$err" "tendon doctor" "no adapter: says what to do next"
    run doctor
    is "$status" 3 "doctor: the kernel's radio cannot work here"
    run scan --for 0.3
    like "$err" "virtual" "no radio asked for, no adapter: says that it takes the virtual one"
fi
finish

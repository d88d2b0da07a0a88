#!/bin/bash
# SPDX-License-Identifier: MIT
# activ5 force, imu, tare, battery, watch; stream, run with rules, simulate, capture and replay of trainers.
. "$(dirname "$0")/tap.bash"

new=C0:00:00:00:00:05 old=C0:00:00:00:00:06
cat >"$work/squeezes" <<'E2'
at 2200ms double_squeeze
at 3400ms malformed short 2
E2
start trainer simulate activ5 --radio virtual --json --address $new/random --scenario "$work/squeezes" \
    --scenario-from connection
until_true ready trainer
like "$(cat "$work/trainer.out")" '"family":"activ5".*"name":"ACTIV5-AC-0001"' "simulate activ5: a trainer"

run scan --radio virtual --family activ5 --count 1 --json
like "$out" '"family":"activ5".*"name":"ACTIV5-AC-0001"' "scan: knows it by its service"

run stream activ5 --radio virtual --json --measure force,imu --for 4 --no-reconnect
is "$status" 0 "stream activ5: done"
like "$out" '"event":"connected".*"generation":"new","firmware":"1.00","serial":"A5-000123","id":"00112233445566"' "stream: who it is"
like "$out" '"event":"sample".*"sensor":"force","force_n":[-0-9.]+' "stream: newtons"
like "$out" '"event":"sample".*"sensor":"imu",.*"acceleration_g":\[0(\.0)?,' "stream: motion"
like "$out" '"event":"battery".*"battery_percent":75' "stream: battery"
is "$(printf '%s\n' "$out" | grep -c '"state":"squeezed"')" 3 "stream: one squeeze of the script, two of the scenario"
is "$(printf '%s\n' "$out" | grep -c '"event":"double_squeeze"')" 1 "stream: a double squeeze"
like "$out" '"event":"malformed".*"characteristic":"F0FE"' "stream: values that are too short are told"
counters=$(printf '%s\n' "$out" | grep '"event":"summary"')
is "$(field malformed "$counters")" 2 "stream: and counted"
is "$(field samples "$counters")" "$(field delivered "$counters")" "stream: every sample is given out"

run activ5 force --radio virtual --json --count 5 --address $new
is "$status $(printf '%s\n' "$out" | grep -c force_n)" "0 5" "activ5 force: so many samples"
run activ5 imu --radio virtual --json --count 5 --rate 100 --address $new
is "$status $(printf '%s\n' "$out" | grep -c rotation_rad_per_s)" "0 5" "activ5 imu: at a rate"
run activ5 imu --radio virtual --count 1 --rate 1000 --address $new --json
is "$status" 0 "activ5 imu: a rate that the device refuses leaves its own"
run stream activ5 --radio virtual --rate 5000 --notifications 2 --for 5 --json --address $new
like "$err" "the trainer rejects 5000 samples per second and keeps its own rate; try: a lower --rate" \
    "stream: a rate that the device refuses is said in words"
people activ5 battery --radio virtual --address $new
like "$out" "75 %" "activ5 battery"
run activ5 battery --radio virtual --json --address $new
like "$out" "\"address\":\"$new\".*\"battery_percent\":75" "activ5 battery --json"
run activ5 tare --radio virtual --address $new
is "$status" 0 "activ5 tare"
like "$out" '"event":"done".*"command":"activ5 tare"' "activ5 tare: reports that it is done"
run activ5 watch --radio virtual --json --count 8 --address $new
is "$status $(printf '%s\n' "$out" | grep -c '"sensor":"force"')" "0 8" "activ5 watch in a pipe: JSON lines"
run activ5 force --radio virtual --address $old --timeout 0.5
is "$status" 4 "a trainer that is not there"
run activ5 force now
is "$status" 2 "activ5 force: no operands"
run activ5 lift
is "$status" 2 "activ5: an unknown command"
run activ5
like "$err" "force, imu" "activ5: says which there are"
run stream activ5 --radio virtual --measure weight
is "$status" 2 "stream: an unknown measure"

run capture "$work/file" --radio virtual --for 2.5 --json --address $new
run replay "$work/file" --json
like "$out" '"event":"command".*"command":"TVGTIME"' "replay: the handshake"
like "$out" '"event":"message".*"message":"initialMessage","content":"TC5k;1.00;04;BATOK"' "replay: the first message"
like "$out" '"event":"sample".*"sensor":"force","force_n":' "replay: newtons"
like "$out" '"event":"squeeze","family":"activ5".*"state":"squeezed"' "replay: squeezes"

run capture "$work/both" --radio virtual --for 2.5 --json --address $new --measure force,imu --evergreen
run replay "$work/both" --json
like "$out" '"event":"sample".*"sensor":"imu"' "capture --measure: the sensors that were asked for"

# The older generation, with what real ones do to their texts.
printf 'at 0s stale_tails on\nat 1s split_frames on\nat 1800ms malformed bad_number 3\n' >"$work/texts"
start old simulate activ5 --radio virtual --json --legacy --name Press --address $old/random --scenario "$work/texts"
until_true ready old
run stream activ5 --radio virtual --json --for 3.5 --no-reconnect --address $old
like "$out" '"generation":"legacy"' "legacy: text protocol"
like "$out" '"event":"sample".*"sensor":"force","force_n":' "legacy: newtons"
like "$out" '"event":"squeeze"' "legacy: squeezes"
run activ5 battery --radio virtual --address $old
is "$status" 1 "legacy: no battery level"
run activ5 imu --radio virtual --address $old --count 1
is "$status" 1 "legacy: no motion"
like "$err" "imu" "legacy: says so"
run activ5 tare --radio virtual --address $old
is "$status" 0 "legacy: tare"

# A rule: one trainer makes the other begin anew.
run run --radio virtual --json --for 6 --no-reconnect --measure force --rule 'activ5.squeeze => activ5.tare'
like "$out" '"event":"rule".*"devices":2' "run --rule: a squeeze tells both trainers"
like "$out" '"event":"action".*"action":"activ5.tare"' "run --rule: which carry it out"
run run --radio virtual --rule 'activ5.squeeeze => activ5.tare'
is "$status" 2 "run --rule: an unknown event"
like "$err" "did you mean 'squeeze'" "run --rule: the nearest one"
run run --radio virtual --rule 'activ5.squeeze => activ5.tare twice'
is "$status" 2 "run --rule: an action that takes no arguments"

run simulate activ5 --radio virtual --ground-truth "$work/truth" --for 0.1 --json
is "$(wc -l <"$work/truth")" 20000 "simulate --ground-truth: a line for each millisecond"
like "$(sed -n 1301p "$work/truth")" '"device_time_ms":1300,"force_n":4[0-9]\.' "simulate --ground-truth: the squeeze of the script"
echo 'at 1s squeeze hard' >"$work/bad"
run simulate activ5 --radio virtual --scenario "$work/bad"
is "$status" 2 "simulate: a scenario that is wrong"

# On a terminal; a trainer of its own.
echo 'at 2s double_squeeze' >"$work/twice"
start shown simulate activ5 --radio virtual --json --address C0:00:00:00:00:07/random --scenario "$work/twice" \
    --scenario-from connection
until_true ready shown
python3 - "$TENDON" activ5 watch --radio virtual --address C0:00:00:00:00:07 --for 4 >"$work/out" 2>&1 <<'E2'
import os, pty, sys, fcntl, termios, struct
child, terminal = pty.fork()
if child == 0:
    os.environ.pop("NO_COLOR", None)
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
output = b""
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    output += data
sys.stdout.buffer.write(output)
print("STATUS", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
E2
shown=$(cat "$work/out")
like "$shown" "STATUS 0" "activ5 watch on a terminal: done"
like "$shown" "█" "activ5 watch: a curve"
like "$shown" "20 N .*·" "activ5 watch: the limit of a squeeze"
like "$shown" "▲.*▼" "activ5 watch: squeezes are marked"
like "$shown" "◆" "activ5 watch: double squeezes too"
like "$(cat -v "$work/out")" '\^\[\[[0-9]+A' "activ5 watch: drawn in place"
unlike "$shown" '"event"' "activ5 watch: no JSON"
finish

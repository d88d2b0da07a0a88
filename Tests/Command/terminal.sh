#!/bin/bash
# SPDX-License-Identifier: MIT
# On a terminal: live tables, colours, Ctrl-C; and a pipe whose reader goes away.
. "$(dirname "$0")/tap.bash"

start device simulate bose --radio virtual --json --name Commuter
device=$child
until_true ready device

# Runs the program on a terminal of its own, of 24 rows and 120 columns, or as many as ROWS and COLUMNS_OF say; Ctrl-C once it has printed what PATTERN
# matches, or after 20 s.
on_terminal() { # pattern, arguments
    env -u NO_COLOR TERM="${TERMINAL-xterm}" python3 - "$TENDON" "$@" >"$work/out" 2>&1 <<'E2'
import os, pty, re, select, sys, time, fcntl, termios, struct
program, pattern, arguments = sys.argv[1], re.compile(sys.argv[2].encode(), re.S), sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    os.execv(program, [program, *arguments])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", int(os.environ.get("ROWS", 24)), int(os.environ.get("COLUMNS_OF", 120)), 0, 0))
end, output, interrupted = time.monotonic() + 20, b"", False
while True:
    if not interrupted and (time.monotonic() >= end or pattern.search(output)):
        os.write(terminal, b"\x03")
        interrupted = True
    if time.monotonic() >= end + 5:
        os.kill(child, 9)
    if select.select([terminal], [], [], 0.05)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        output += data
sys.stdout.buffer.write(output)
status = os.waitpid(child, 0)[1]
print(f"\nSTATUS {os.waitstatus_to_exitcode(status)}")
E2
    out=$(cat -v "$work/out")
}

on_terminal '\x1b\[[0-9]+A.*Commuter[^\n]* connected [^\n]*pitch[^\n]*yaw[^\n]*\n' run --radio virtual
like "$out" "STATUS 0" "run: Ctrl-C ends it with status 0"
like "$out" "STATE .*RATE .*BAT .*DROP .*READINGS" "run: a table of rates, battery, drops, readings"
like "$out" "Commuter .*connected .*pitch +-?[0-9]+\.[0-9] .*yaw +-?[0-9]+\.[0-9]" "run: the device and its angles"
like "$out" '\^\[\[[0-9]+A' "run: the table is drawn in place"
unlike "$out" '"event"' "run: no JSON on a terminal"
like "$out" "[0-9]+ notifications, [0-9]+ samples, 0 dropped" "run: counters at the end"
COLUMNS_OF=40 on_terminal 'connected +p -?[0-9]+' run --radio virtual
like "$out" "connected +p -?[0-9]+ r -?[0-9]+( y -?[0-9]+)?\^M" "run in 40 columns: whole numbers"
on_terminal 'try: tendon doctor' run --adapter hci9999
like "$out" "STATUS 3" "run without an adapter: Ctrl-C ends it with status 3"
like "$(grep -A1 'tendon: ' <<<"$out" | tr -d '\n')" "open radio: .*try: .*tendon doctor" "and the reason stays when the table is gone"
on_terminal '"event":"sample"' run --radio virtual --json
like "$out" '"event":"sample"' "run --json: JSON on a terminal too"
on_terminal 'bose [^\n]*Commuter' scan --radio virtual
like "$out" "STATUS 0" "scan: Ctrl-C ends it with status 0"
like "$out" "bose .*Commuter" "scan: a table of devices"
like "$out" '\^C\^\[\[\?7l\^\[\[[0-9]+A\^M' "scan: after Ctrl-C the table is drawn in its place again"
like "$(grep -A99 '\^C' <<<"$out")" '^\^\[\[J' "scan: and what Ctrl-C left below it is cleared"
for kind in dumb ''; do
    TERMINAL=$kind on_terminal '"*connected' run --radio virtual
    unlike "$out" '\^\[' "run: no escape sequence with TERM=$kind"
    like "$out" "connected  .*bose  Commuter" "run: lines of text instead, with TERM=$kind"
    TERMINAL=$kind on_terminal 'found' scan --radio virtual
    unlike "$out" '\^\[' "scan: none with TERM=$kind"
    like "$out" "found  .*bose  Commuter" "scan: lines of text, with family and name"
    TERMINAL=$kind on_terminal '(?!)' bose info --radio virtual
    unlike "$out" '\^\[' "bose info: none with TERM=$kind"
done
start trainer simulate activ5 --radio virtual --json
trainer=$child
until_true ready trainer
TERMINAL=dumb on_terminal '(received_at=[^\n]*\n.*){9}' activ5 watch --radio virtual
like "$out" '[0-9:]{8}\.[0-9]{3}Z  sample .* force_n=-?[0-9.]{1,4} received_at=[0-9]+\.[0-9]{5,6}[^0-9]' \
    "text has UTC with a Z, and the decimals of the lines"
kill "$trainer"
wait "$trainer" 2>/dev/null
on_terminal 'Try: [^\n]*\n' run --adapter hci99
like "$out" 'waiting for a Bluetooth adapter: [^(]*\. Try: tendon doctor; for simulated devices: --radio virtual' "run without an adapter: what to do"
on_terminal '(?!)' --help
like "$out" '\^\[\[1mUsage' "help: colours on a terminal"
NO_COLOR=1 TERM=xterm python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$TENDON" --help >"$work/out" </dev/null
unlike "$(cat -v "$work/out")" '\^\[\[1m' "help: none with NO_COLOR"

start belt simulate feelspace --radio virtual --json
belt=$child
until_true ready belt
# Messages stand above the table, as sentences.
on_terminal 'SIM: the device is not paired[^\n]*\n.*STATE' run --radio virtual
message=$(grep 'is not paired' <<<"$out" | head -n 1)
like "$message" "naviGuertel SIM: the device is not paired; .*use --pair, --allow or 'tendon pair feelspace --radio virtual( --state [^']*)?'\. Next attempt in [0-9.]+ s\." "run: a message above the table, with what to do"
unlike "$message" 'RADIO_ERROR|text=|retry_in_s' "run: a sentence, without names for programs"
like "$(grep -A3 'is not paired' <<<"$out" | tr -d '\n')" "paired; .*DEVICE +STATE" "run: the table is drawn below it"
on_terminal '(?=.*front)(?=.*mode wait[^\n]*intensity 50 %)' feelspace watch --radio virtual
like "$out" "STATUS 0" "feelspace watch: Ctrl-C ends it with status 0"
like "$out" "mode wait.*intensity 50 %" "feelspace watch: mode and intensity"
like "$out" "front" "feelspace watch: the ring"
unlike "$out" '"event"' "feelspace watch: no JSON on a terminal"
ROWS=10 on_terminal 'mode wait.*heading [0-9]' feelspace watch --radio virtual
like "$out" "heading [0-9]+" "feelspace watch in 10 rows: the heading in one line"
unlike "$out" "front" "feelspace watch in 10 rows: no ring, which would be cut"
kill "$belt"
wait "$belt" 2>/dev/null
# The first picture comes before the belt's answer to the request for headings.
start slow simulate feelspace --radio virtual --json --fault delay=100%,delay_ms=300
belt=$child
until_true ready slow
on_terminal 'front' feelspace watch --radio virtual
like "$out" "STATUS 0" "feelspace watch: Ctrl-C ends it with status 0 while the belt has not answered"
kill "$belt"
wait "$belt" 2>/dev/null

# The reader goes: no message, no status of failure.
timeout 5 "$TENDON" run --radio virtual --json 2>"$work/err" | head -n 3 >"$work/out"
is "${PIPESTATUS[0]} $(wc -l <"$work/out")" "0 3" "a pipe that is closed ends run cleanly"
is "$(cat "$work/err")" "" "and silently"
timeout 5 "$TENDON" run --radio virtual --address C0:00:00:00:00:99 --json --for 0.5 2>"$work/err" | true
is "${PIPESTATUS[0]} $(cat "$work/err")" "4 " "a closed pipe does not hide the status"
kill "$device"
wait "$device" 2>/dev/null
finish

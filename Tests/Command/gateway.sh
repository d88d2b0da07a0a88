#!/bin/bash
# SPDX-License-Identifier: MIT
# tendon run as a gateway: four families on a terminal of 80 x 24 and of 40 columns, a stopped terminal, a full disk, SIGHUP,
# devices that are lost and found, strangers that advertise and do not answer.
. "$(dirname "$0")/tap.bash"
export TENDON

start frames simulate bose --radio virtual --json --name 'LE-Bose Frames' --address C0:00:00:00:00:30/random
frames=$child
start all simulate activ5 feelspace fjorden --radio virtual --json
all=$child
until_true eval '[ "$(grep -hc ready "$work/all.out" "$work/frames.out" | tr "\n" " ")" = "3 1 " ]'

# A terminal that obeys XOFF. Prints one finding per line.
timeout 200 python3 - "$TENDON" "$(pgrep -P "$frames")" >"$work/terminal.txt" 2>&1 <<'E2'
import datetime, fcntl, os, pty, re, select, signal, struct, subprocess, sys, termios, time

program, frames = sys.argv[1], int(sys.argv[2])


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")


def size(terminal, rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def spawn(*arguments):
    ready, go = os.pipe()
    child, terminal = pty.fork()
    if child == 0:
        os.read(ready, 1)
        os.execvp(program, [program, *arguments])
    size(terminal, 24, 80)
    os.write(go, b"g")
    return child, terminal


def read(terminal, seconds):
    output, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            output += data
    return output


def wait(child, terminal):
    output = b""
    for _ in range(200):
        output += read(terminal, 0.05)
        time.sleep(0.05)
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            output += read(terminal, 0.3)  # what the terminal still holds
            return output, os.waitstatus_to_exitcode(status)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return output, None


def lines(output):
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.decode(errors="replace"))
    return [line.strip("\r") for line in text.split("\n")]


def report(name, good, detail=""):
    print(("ok " if good else "BAD ") + name, detail)


child, terminal = spawn("run", "--radio", "virtual", "--pair")
output = read(terminal, 3)
wide = lines(output)
report("80 columns: no line is longer", max(map(len, wide)) <= 80, max(map(len, wide)))
report("80 columns: readings", any("pitch" in line for line in wide) and any("READINGS" in line for line in wide))
report("80 columns: four devices", all(any(word in line for line in wide) for word in ("Bose", "ACTIV5", "navi", "Fjorden")))
report("searching is shown", any("searching" in line for line in wide))
report("one header per picture, in its place", output.count(b"READINGS") == output.count(b"\x1b[?7l"))
size(terminal, 24, 40)
os.kill(child, signal.SIGWINCH)
narrow = read(terminal, 1.5)
picture = narrow[narrow.find(b"\x1b[H\x1b[2J"):]
report("40 columns: drawn again from the top", b"\x1b[H\x1b[2J" in narrow)
report("40 columns: no line is longer", max(map(len, lines(picture))) <= 40, max(map(len, lines(picture))))
size(terminal, 6, 80)
read(terminal, 0.5)
few = read(terminal, 1)
report("6 rows: the rest is counted", b"more" in few)
size(terminal, 24, 80)
read(terminal, 0.5)
os.write(terminal, b"\x13")  # XOFF
time.sleep(0.3)
read(terminal, 0.2)
stopped = read(terminal, 2.5)
report("XOFF stops the output", len(stopped) < 8192, len(stopped))
os.write(terminal, b"\x11")  # XON
back = read(terminal, 1)
report("XON: the table goes on", b"pitch" in back)
def until(terminal, pattern, seconds=60):
    output, end = b"", time.monotonic() + seconds
    while time.monotonic() < end and not re.search(pattern, output):
        output += read(terminal, 0.1)
    return re.search(pattern, output) is not None


# The same run: one of the four is lost and found again.
os.kill(frames, signal.SIGKILL)
report("a device is lost: its row says so", until(terminal, rb"Bose[^\n]*(disconnected|connecting|failed)"))
again = subprocess.Popen(
    [program, "simulate", "bose", "--radio", "virtual", "--json", "--address", "C0:00:00:00:00:30/random"],
    stdout=subprocess.DEVNULL)
report("a device is found again: its row says so", until(terminal, rb"Bose[^\n]* connected"))
os.kill(child, signal.SIGHUP)
end, status = wait(child, terminal)
report("SIGHUP ends the command with its counters and status 0", status == 0 and b"notifications" in end, status)
counters = re.search(rb"(\d+) notifications, (\d+) samples, (\d+) dropped", end)
report("nothing was lost while the terminal stood", counters and int(counters[2]) > 0 and int(counters[3]) == 0, counters)

child, terminal = spawn("run", "--radio", "virtual", "--json", "--for", "8")
read(terminal, 1)
os.write(terminal, b"\x13")
read(terminal, 0.5)
stopped = now()
time.sleep(3)
resumed = now()
os.write(terminal, b"\x11")
output, status = wait(child, terminal)
report("JSON on a stopped terminal: status 0", status == 0, status)
total = re.search(rb'"event":"summary".*?"samples":(\d+),"delivered":(\d+),"dropped":(\d+)', output)
numbers = [int(number) for number in total.groups()] if total else []
report("JSON on a stopped terminal: counters add up", len(numbers) == 3 and numbers[0] == numbers[1] + numbers[2], numbers)
times = re.findall(r'"time":"([^"]*)Z","event":"sample"', output.decode())
report("JSON on a stopped terminal: the loop went on", any(stopped < time < resumed for time in times), (stopped, resumed))
again.terminate()
again.wait()
E2
while read -r verdict name; do
    [ "$verdict" = ok ]
    result $? "$name" "$(cat "$work/terminal.txt")"
done <"$work/terminal.txt"
[ "$(wc -l <"$work/terminal.txt")" = 17 ]
result $? "all findings of the terminal" "$(cat "$work/terminal.txt")"

# A full disk: every command says why and fails.
start frames2 simulate bose --radio virtual --json --address C0:00:00:00:00:30/random
frames2=$child
until_true ready frames2
full() {
    timeout 20 "$TENDON" "$@" >/dev/full 2>"$work/err" </dev/null
    local code=$?
    is "$code $(grep -c 'No space left on device' "$work/err")" "1 1" "/dev/full: $*"
}
full run --radio virtual --for 2
full stream bose --radio virtual --for 2
full scan --radio virtual --for 1
full bose info --radio virtual
full activ5 force --radio virtual --count 3
full feelspace mode --radio virtual
full simulate bose --radio virtual --for 0.2 --address C0:00:00:00:00:77
full decode bose gesture_data c12710
full encode feelspace mode mode=compass
full doctor --radio virtual
full help
full --version
timeout 20 "$TENDON" run --radio virtual --for 2 --capture /dev/full >"$work/out" 2>"$work/err"
is "$? $(grep -c 'No space left' "$work/err")" "1 1" "/dev/full: run --capture"
timeout 20 "$TENDON" capture /dev/full --radio virtual --for 2 >"$work/out" 2>"$work/err"
is "$? $(grep -c 'No space left' "$work/err") $(grep -c records "$work/out")" "1 1 0" "/dev/full: capture reports no file"
timeout 20 "$TENDON" simulate bose --radio virtual --for 0.2 --ground-truth /dev/full --address C0:00:00:00:00:78 >"$work/out" 2>"$work/err"
is "$? $(grep -c 'No space left' "$work/err")" "1 1" "/dev/full: simulate --ground-truth"
kill "$all" "$frames2"
wait "$all" "$frames2" 2>/dev/null

# A device is lost; meanwhile another one is found; the first one is found again.
start first simulate bose --radio virtual --json --address C0:00:00:00:00:31/random
first=$child
until_true ready first
start gateway run --radio virtual --json --for 14
gateway=$child
until_true grep -q '"event":"connected"' "$work/gateway.out"
kill -KILL "$(pgrep -P "$first")"
wait "$first" 2>/dev/null
until_true grep -q '"event":"disconnected"' "$work/gateway.out"
like "$(cat "$work/gateway.out")" '"event":"disconnected".*"reason":"(device_disconnected|connection_lost)","text":"' "a lost device: the reason"
start second simulate activ5 --radio virtual --json --address C0:00:00:00:00:32/random
until_true grep -q '"event":"connected","family":"activ5"' "$work/gateway.out"
result $? "another device is found and connected while the first one is lost" "$(cat "$work/gateway.out")"
activ5=$child
start again simulate bose --radio virtual --json --address C0:00:00:00:00:31/random
again=$child
until_true eval '[ "$(grep -c "\"event\":\"connected\",\"family\":\"bose\"" "$work/gateway.out")" = 2 ]'
result $? "the lost device is found again" "$(grep -v sample "$work/gateway.out")"
wait "$gateway"
line=$(summary "$work/gateway.out")
is "$(field samples "$line")" "$(($(field delivered "$line") + $(field dropped "$line")))" "the counters add up over both connections"

kill "$activ5" "$again" 2>/dev/null
wait "$activ5" "$again" 2>/dev/null

# Strangers: addresses of wearables that advertise and do not answer. Eight are tried at a time. Of 10,000, of which 4,096 are
# remembered, others are new while a busy machine still waits for the name of the healthy one: six rounds, where a choice
# without an order takes hundreds.
strangers() { # kind, count, attempts that may end between the moment when a healthy device is found and its connection
    python3 "$here/peers.py" "$1" "$2" 110 &
    local ghosts=$! gateway healthy tried
    children+=("$ghosts")
    start "gateway$2" run --radio virtual --json --for 100
    gateway=$child
    until_true grep -q '"event":"found"' "$work/gateway$2.out"
    start "healthy$2" simulate bose --radio virtual --json --name Healthy --address C0:00:00:00:00:41/random
    healthy=$child
    patience=1800 until_true grep -q '"event":"connected".*Healthy' "$work/gateway$2.out"
    tried=$(awk '/"event":"found".*"C0:00:00:00:00:41"/ { found = 1 } found && /"event":"(connect_failed|disconnected)"/ { tried++ }
        /"event":"connected".*Healthy/ { print tried + 0; exit }' "$work/gateway$2.out")
    [ "${tried:-$(($3 + 1))}" -le "$3" ]
    result $? "$2 $1: a healthy one is connected after at most $3 attempts" "$tried; $(grep -v sample "$work/gateway$2.out" | head -5)"
    kill "$gateway" "$healthy" "$ghosts" 2>/dev/null
    wait "$gateway" "$healthy" "$ghosts" 2>/dev/null
}
strangers ghosts 1 4
strangers leavers 33 66
strangers ghosts 10000 48
finish

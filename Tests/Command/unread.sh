#!/bin/bash
# SPDX-License-Identifier: MIT
# Output that is not read: a command ends in a bounded time, with its status, and devices are served meanwhile.
. "$(dirname "$0")/tap.bash"

start device simulate bose bose bose --radio virtual --json
until_true eval '[ "$(grep -c ready "$work/device.out")" = 3 ]'

timeout 200 python3 - "$TENDON" "$work" >"$work/unread.txt" 2>&1 <<'E2'
import array, fcntl, json, os, signal, subprocess, sys, termios, threading, time

program, work = sys.argv[1:]
F_SETPIPE_SZ = 1031
# Ends what hangs. A command waits 5 s for the reader of standard output, which it then reports, and 1 s for that of standard
# error.
LIMIT = 60
FAST = ["--radio", "virtual", "--json", "--sensors", "all", "--period", "20"]


printing = threading.Lock()


def report(name, good, detail=""):
    with printing:
        print(f"ok {name}" if good else f"not ok {name}: {detail}", flush=True)


class Pipe:
    """A pipe of one page, which is not read."""

    def __init__(self, full=False):
        self.reader, self.writer = os.pipe()
        self.size = fcntl.fcntl(self.reader, F_SETPIPE_SZ, 4096)
        if full:
            os.write(self.writer, b"x" * self.size)

    def count(self):
        waiting = array.array("i", [0])
        fcntl.ioctl(self.reader, termios.FIONREAD, waiting)
        return waiting[0]

    def read(self):
        """All, up to the end."""
        data = b""
        while piece := os.read(self.reader, 65536):
            data += piece
        return data


def start(arguments, out, err):
    child = subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
    for end in (out, err):
        if end != subprocess.PIPE:
            os.close(end)
    return child


def end(child, seconds):
    """The status, None if it did not end in this time; then it is killed."""
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return None


def until(condition, seconds=20):
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True


def size(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


def times(child):
    with open(f"/proc/{child.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return fields[11:13]


def rests(child):
    before = times(child)
    time.sleep(0.2)
    return times(child) == before


def says(err):
    return b"standard output was not read for 5 s" in err


# Much more than the 64 KiB that may wait is in the capture when the end comes.
def unread(name, *arguments):
    pipe, file = Pipe(), os.path.join(work, f"unread.{name}")
    child = start([*arguments, *FAST, "--capture", file], pipe.writer, subprocess.PIPE)
    served = until(lambda: size(file) > 80_000)
    report(f"{name} serves devices while standard output is not read", served, size(file))
    child.send_signal(signal.SIGTERM)
    status = end(child, LIMIT)
    err = child.stderr.read()
    report(f"{name} ends after SIGTERM", status == 1 and says(err), (status, err))


def unread_for():
    pipe = Pipe()
    child = start(["run", *FAST, "--for", "8"], pipe.writer, subprocess.PIPE)
    status = end(child, 8 + LIMIT)
    err = child.stderr.read()
    report("run ends after --for", status == 1 and says(err), (status, err))


def replay(capture):
    pipe = Pipe()
    child = start(["replay", capture, "--json", "--att"], pipe.writer, subprocess.PIPE)
    until(lambda: pipe.count() == pipe.size and rests(child))
    child.send_signal(signal.SIGTERM)
    status = end(child, LIMIT)
    err = child.stderr.read()
    report("replay ends after SIGTERM", status == 1 and says(err), (status, err))


def back():
    """A reader that comes back in the 5 s finds all, and the summary at the end."""
    pipe, file = Pipe(), os.path.join(work, "unread.back")
    child = start(["run", *FAST, "--capture", file], pipe.writer, subprocess.PIPE)
    until(lambda: size(file) > 80_000)
    child.send_signal(signal.SIGTERM)
    lines = [json.loads(line) for line in pipe.read().splitlines()]
    status = end(child, LIMIT)
    last = lines[-1]
    report("a reader that comes back gets the summary", status == 0 and last["event"] == "summary", (status, last))
    report("the counters add up", last["samples"] == last["delivered"] + last["dropped"], last)
    # Of the lines that found no room some may be events: that the devices were disconnected.
    written = sum(line["event"] == "sample" for line in lines)
    report("lines that are missing were counted",
           written <= last["delivered"] <= written + last["dropped_lines"], (written, last))
    replay(file)


# Standard error, which devices have messages for.
def unread_error(name, level, limit):
    pipe, lines = Pipe(full=True), []
    child = start(
        ["run", "--radio", "virtual", "--json", "--log-level", level, "--for", limit], subprocess.PIPE, pipe.writer)
    reading = threading.Thread(target=lambda: lines.extend(child.stdout))
    reading.start()
    served = until(lambda: any(b'"event":"sample"' in line for line in list(lines)))
    report(f"devices are served while standard error is not read, level {level}", served, len(lines))
    if name == "SIGTERM":
        child.send_signal(signal.SIGTERM)
    status = end(child, LIMIT)
    reading.join()
    ended = status == 0 and b'"event":"summary"' in lines[-1]
    report(f"run ends after {name} while standard error is not read", ended, (status, lines[-1:]))


def failure():
    pipe = Pipe(full=True)
    status = end(start(["replay", "/dev/null"], subprocess.PIPE, pipe.writer), LIMIT)
    report("a failure has its status while standard error is not read", status == 1, status)


# One group after the other: a device has a few connections only.
for group in (
    [(unread, "run", "run"), (unread, "stream", "stream", "bose"), (unread_for,)],
    [(back,), (unread_error, "--for", "info", "6"), (unread_error, "SIGTERM", "debug", "60"), (failure,)],
):
    threads = [threading.Thread(target=function, args=arguments) for function, *arguments in group]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
E2
results "$work/unread.txt"
[ "$(grep -c '^ok\|^not ok' "$work/unread.txt")" = 14 ]
result $? "all cases" "$(cat "$work/unread.txt")"

# A terminal that takes no table: the messages that were to stand above it are on the other terminal in the end.
start belt simulate feelspace --radio virtual --json
until_true ready belt
timeout 60 python3 - "$TENDON" >"$work/terminals.txt" 2>&1 <<'E2'
import os, pty, subprocess, sys, tty

(_, full), (reader, free) = pty.openpty(), pty.openpty()
for slave in (full, free):
    tty.setraw(slave)
os.set_blocking(full, False)
try:
    while os.write(full, b"x" * 1024):
        pass
except BlockingIOError:
    pass
environment = {**os.environ, "TERM": "xterm"}
child = subprocess.Popen([sys.argv[1], "run", "--radio", "virtual", "--families", "feelspace", "--for", "3"],
                         stdin=subprocess.DEVNULL, stdout=full, stderr=free, env=environment)
os.close(free)
text = b""
try:
    while piece := os.read(reader, 4096):
        text += piece
except OSError:  # EIO: the end of a terminal
    pass
child.wait()
good = b"tendon pair feelspace" in text
print("ok" if good else "not ok", "messages above a table that is not taken are printed at the end:" , text)
E2
results "$work/terminals.txt"

# Messages come before the error that ends the command.
timeout 20 "$TENDON" run --radio virtual --json --log-level info --for 2 >/dev/full 2>"$work/err"
is "$?" 1 "messages and an error: status 1"
is "$(sed -n '$p' "$work/err")" "tendon: standard output: No space left on device" "the error is last"
finish

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gateway.py GATEWAY TENDON: the program tendon-gateway beside simulated devices on the virtual radio. Prints TAP.

Its lines follow docs/events.schema.json and have the members of those of `tendon run`; it does not wait for a reader; what it
is asked on standard input is done or refused; it uses little memory, and no time while nothing happens.
"""
import collections
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
GATEWAY, TENDON = sys.argv[1:3]
LIMIT = 60  # seconds; ends what hangs
VIRTUAL = ["--radio", "virtual"]
# The address space of the sanitizers is not what is measured.
MEASURED = len(sys.argv) < 4
failed = False


def report(name, good, detail=""):
    global failed
    print(f"ok - tendon-gateway: {name}" if good else f"not ok - tendon-gateway: {name}", flush=True)
    if not good:
        failed = True
        print("\n".join("#   " + line for line in str(detail).splitlines()[-12:]), flush=True)


def run(*arguments, seconds=LIMIT, stdin=subprocess.DEVNULL, **more):
    return subprocess.run([GATEWAY, *arguments], stdin=stdin, capture_output=True, timeout=seconds, **more)


def start(*arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE):
    return subprocess.Popen([GATEWAY, *arguments], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)


def lines_of(data):
    return [json.loads(line) for line in data.decode().splitlines() if line.startswith("{")]


class Devices:
    """Simulated devices, until the end of the block."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def __enter__(self):
        self.log = tempfile.TemporaryFile(dir=work)
        self.child = subprocess.Popen([TENDON, "simulate", *self.arguments, *VIRTUAL, "--json"],
                                      stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.DEVNULL)
        families = [word for word in self.arguments if not word.startswith("-")]
        until = time.monotonic() + LIMIT
        while len([line for line in self.lines() if line["event"] == "ready"]) < len(families):
            assert time.monotonic() < until and self.child.poll() is None, "the simulator has not started"
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.child.terminate()
        self.child.wait(LIMIT)

    def lines(self):
        data = os.pread(self.log.fileno(), 1 << 24, 0)
        return lines_of(data[: data.rfind(b"\n") + 1])


def read_until(child, seen, enough):
    """Lines of a child are added to `seen` until that is enough."""
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        line = child.stdout.readline()
        if not line:
            return False
        seen.append(json.loads(line))
        if enough(seen):
            return True
    return False


def status_of(pid, *keys):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    values = dict(line.split(":", 1) for line in text.splitlines())
    return [int(values[key].split()[0]) for key in keys]


# ---- the command line


def command_line():
    help_text = run("--help")
    report("--help and --version", help_text.returncode == 0 and b"Examples:" in help_text.stdout
           and run("--version").stdout.startswith(b"tendon-gateway "), help_text)
    wrong = [["--nothing"], ["bose"], ["--period", "6"], ["--sensors"], ["-x"], ["--families", "phones"], ["--for", "soon"],
             ["--define", "/nothing.json"], ["--exact=yes"]]
    results = {" ".join(words): run(*words) for words in wrong}
    report("-h is --help", run("-h").stdout == help_text.stdout)
    report("a value that is missing is named", results["--sensors"].stderr.startswith(b"tendon-gateway: --sensors needs a value"),
           results["--sensors"])
    report("a wrong command line ends with 2, and says why",
           all(result.returncode == 2 and result.stderr for result in results.values()), results)
    words = {
        ("--rate", "0"): "--rate '0' is not possible: samples per second, 1 to 32767; default: the setting of the device",
        ("--for", "soon"): "--for takes a time such as 90, 500ms, 2min or 1h",
        ("--define",): "--define takes the path of a device file",
        ("--mqtt", "mqtt://host"): "there is no option --mqtt; try: tendon-gateway --help",
        ("--exact", "yes"): "'yes' is no option; try: tendon-gateway --help",
        ("--define", "/"): "/: Is a directory",
        ("--families", "none"): "no family is served: see --families and --ignore",
        ("--radio", "virtual", "--adapter", "hci0"): "--adapter is for --radio bluez",
    }
    said = {options: run(*options).stderr.decode() for options in words}
    report("and says what is possible", all(said[options] == f"tendon-gateway: {text}\n" for options, text in words.items()), said)
    closed = subprocess.run(["sh", "-c", 'exec "$0" --radio virtual --for 1 >&-', GATEWAY], capture_output=True, timeout=LIMIT)
    report("standard output that is closed is an error", (closed.returncode, closed.stderr)
           == (1, b"tendon-gateway: standard output is closed: >/dev/null for none\n"), closed)
    others = subprocess.run(["sh", "-c", 'exec "$0" --radio virtual --for 0.3 <&- 2>&-', GATEWAY], capture_output=True, timeout=LIMIT)
    report("other descriptors that are closed are none", others.returncode == 4 and b'"summary"' in others.stdout, others)
    variable = run("--for", "0.1", env={**os.environ, "TENDON_RADIO": "wifi"})
    report("TENDON_RADIO is one of two", (variable.returncode, variable.stderr)
           == (2, b"tendon-gateway: TENDON_RADIO is bluez or virtual, not 'wifi'\n"), variable)
    times = [run(*VIRTUAL, "--for", word) for word in ("300ms", "0.005min", "0.3s")]
    report("a time may have a unit, as that of `tendon run`", all(one.returncode == 4 for one in times), times)
    units = [run(*VIRTUAL, "--for", word) for word in ("1d", "ms", "1 min", "1.2.3", "99999999999h")]
    report("and no other one", all(one.returncode == 2 for one in units), units)
    alone = run(*VIRTUAL, "--for", "1")
    report("without a device it ends with 4", alone.returncode == 4, alone)
    lines = lines_of(alone.stdout)
    report("its last line is the summary", lines and lines[-1]["event"] == "summary" and lines[-1]["devices"] == 0, alone)
    nowhere = run(*VIRTUAL, "--for", "1", env={**os.environ, "XDG_RUNTIME_DIR": "/proc"})
    report("without a radio it ends with 3", nowhere.returncode == 3 and nowhere.stderr, nowhere)


# ---- the same lines as `tendon run`


def follow_schema(name, lines):
    path = work / "lines.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    schema = subprocess.run([sys.executable, HERE.parent / "Command/check_events.py", path], capture_output=True,
                            timeout=LIMIT, check=False)
    report(f"{name} follow the schema", lines and schema.returncode == 0, schema.stdout.decode() + schema.stderr.decode())


def members(lines):
    """Of each family and event: the members of its lines."""
    found = collections.defaultdict(set)
    for line in lines:
        if "family" in line:
            found[line["family"], line["event"], line.get("sensor")].add(tuple(line))
    return found


def same_lines():
    families = ["bose", "activ5", "feelspace", "fjorden", "obvious"]
    options = [*VIRTUAL, "--pair", "--for", "8", "--sensors", "all", "--measure", "force,imu", "--product", "1234",
               "--features", "16"]
    with Devices(*families):
        first = subprocess.run([TENDON, "run", "--json", *options], stdin=subprocess.DEVNULL, capture_output=True,
                               timeout=LIMIT)
        second = run(*options)
    follow_schema("its lines", lines_of(second.stdout))
    ours, theirs = members(lines_of(second.stdout)), members(lines_of(first.stdout))
    # Which gesture of the hand, or squeeze, comes in these seconds is not the gateway's to say.
    common = ours.keys() & theirs.keys()
    different = {key: (ours[key], theirs[key]) for key in common if not ours[key] & theirs[key]}
    connected = {key[0] for key in ours if key[1] == "connected"}
    report("it connects to all families", connected == set(families) and second.returncode == 0, (connected, second.stderr))
    # name: a device that `run` has received before has its name earlier.
    lacking = {key for key in theirs.keys() - ours.keys()
               if key[1] in ("connected", "sample", "battery", "disconnected", "found", "sensor_configuration")}
    report("its lines are those of `tendon run`", not different and not lacking and len(common) >= 15,
           f"different: {different}\nlacking: {lacking}\ncommon: {sorted(map(str, common))}")


# ---- standard output


def readers():
    with Devices("bose"):
        pipe_reader, pipe_writer = os.pipe()
        child = start(*VIRTUAL, "--sensors", "all", "--period", "20", stdout=pipe_writer)
        os.close(pipe_writer)
        os.read(pipe_reader, 10)
        os.close(pipe_reader)
        _, errors = child.communicate(timeout=LIMIT)
        report("it ends silently when its reader is gone", child.returncode == 0 and not errors, (child.returncode, errors))
    with Devices("bose", "bose", "bose", "bose"):
        child = start(*VIRTUAL, "--sensors", "all", "--period", "20")
        seen = []
        connected = read_until(child, seen, lambda lines: sum(line["event"] == "connected" for line in lines) == 4)
        time.sleep(8)  # 4 devices, 4 sensors, 50 Hz, 300 bytes: 2 MB
        running = child.poll() is None
        child.send_signal(signal.SIGTERM)
        data, errors = child.communicate(timeout=LIMIT)
        lines = seen + lines_of(data)
        summary = lines[-1]
        samples = sum(line["event"] == "sample" for line in lines)
        report("a reader that does not read delays nothing", connected and running and child.returncode == 0,
               (connected, running, child.returncode, errors))
        report("what is dropped is counted", summary["event"] == "summary" and summary["dropped"] > 0
               and summary["samples"] == summary["delivered"] + summary["dropped"] and samples == summary["delivered"],
               (summary, samples))
        ends = [line["event"] for line in lines[-5:]]
        report("SIGTERM ends connections in order", ends == ["disconnected"] * 4 + ["summary"], ends)


# ---- standard input


def as_jobs():
    """nohup(1), and the background of an interactive shell, where reading the terminal stops a process."""
    child = subprocess.Popen([GATEWAY, *VIRTUAL, "--for", "1.5"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    handled = pathlib.Path(f"/proc/{child.pid}/status")
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        mask = next(line for line in handled.read_text().splitlines() if line.startswith("SigCgt:"))
        if int(mask.split()[1], 16) >> signal.SIGTERM - 1 & 1:
            break
        time.sleep(0.02)
    child.send_signal(signal.SIGHUP)
    began = time.monotonic()
    child.wait(timeout=LIMIT)
    report("under nohup it does not end with its terminal", time.monotonic() - began > 0.5, time.monotonic() - began)
    pid, terminal = pty.fork()
    if pid == 0:
        child = subprocess.Popen([GATEWAY, *VIRTUAL, "--for", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 preexec_fn=os.setpgrp)
        _, status = os.waitpid(child.pid, os.WUNTRACED)
        child.kill()
        os._exit(1 if os.WIFSTOPPED(status) else 0)
    os.write(terminal, b"for the shell\n")
    report("in the background a terminal's input does not stop it", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0)
    os.close(terminal)


def actions():
    with Devices("fjorden", "feelspace") as devices:
        child = start(*VIRTUAL, "--pair", stdin=subprocess.PIPE)
        seen = []
        read_until(child, seen, lambda lines: sum(line["event"] == "connected" for line in lines) == 2)
        address = {line["family"]: line["address"] for line in seen if line["event"] == "connected"}

        def ask(*requests):
            before = len(seen)
            child.stdin.write(b"".join(requests))
            child.stdin.flush()
            read_until(child, seen, lambda lines: sum(
                line["event"] in ("action", "action_failed") for line in lines[before:]) >= len(requests))
            return [line for line in seen[before:] if line["event"] in ("action", "action_failed")]

        def request(**values):
            return json.dumps(values).encode() + b"\n"

        done = ask(request(address=address["fjorden"], action="led", arguments=["blinkFast", 500]),
                   request(address=address["feelspace"], address_type="random", action="vibrate", arguments=[90]))
        report("it does what it is asked", sorted(line["event"] for line in done) == ["action", "action"], done)
        until, moved = time.monotonic() + 10, []
        while not moved and time.monotonic() < until:
            moved = [line for line in devices.lines() if line["event"] == "write" and any(line.get("motors", []))]
            time.sleep(0.1)
        report("the belt vibrates", moved, devices.lines()[-3:])
        refused = ask(b"{}\n", b"\x00\xff\xfe\n", b"[" * 100000 + b"\n", b'{"address":"\n', b"x" * 5000 + b"\n",
                      request(address=address["fjorden"], action="dance"),
                      request(address="00:00:00:00:00:00", action="led", arguments=["on"]),
                      request(address=address["feelspace"], action="vibrate", arguments=["round"]))
        report("what is no request is refused", [line["event"] for line in refused] == ["action_failed"] * 8
               and all(line["text"] for line in refused), refused)
        report("a refusal has the address and the action of its request",
               [(line.get("address"), line["action"]) for line in refused[5:]]
               == [(address["fjorden"], "dance"), ("00:00:00:00:00:00", "led on"), (address["feelspace"], "vibrate round")], refused)
        follow_schema("its answers", seen)
        before = len(seen)
        child.stdin.write(request(address=address["fjorden"], action="led", arguments=["off"]).rstrip(b"\n"))
        child.stdin.close()
        child.stdin = None
        report("a last line without a line feed counts",
               read_until(child, seen, lambda lines: any(line["event"] == "action" for line in lines[before:])), seen[before:])
        again = len(seen)
        alive = read_until(child, seen, lambda lines: len(lines) > again)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=LIMIT)
        report("it goes on when standard input ends", alive and child.returncode == 0, child.returncode)


CLOCK = {"name": "clock", "title": "Clock", "find": {"name": "Clock"}, "characteristics": [
    {"name": "time", "service": "1805", "uuid": "2a2b", "examples": ["ea 07 0b 1d 0d 07 1e"],
     "value": [{"name": "shown", "type": "datetime"}], "write": [{"name": "date", "type": "datetime"}]},
    {"name": "label", "service": "1805", "uuid": "2a3d", "write": [{"name": "label", "type": "utf8"}]}],
    "actions": [{"name": "set_clock", "characteristic": "time"}, {"name": "set_label", "characteristic": "label"}]}
LABELS = ["TEA TIME", "", "Süß", "a\nb", "\"5 o'clock\" \\o/"]


def unusable_bonds():
    """A belt lets itself be used without a bond: not because the file of the bonds cannot be read."""
    file = pathlib.Path(os.environ["XDG_STATE_HOME"], "tendon/bonds")
    kept = file.read_bytes() if file.exists() else None
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_bytes(b"no bonds")
    file.chmod(0o600)
    with Devices("feelspace"):
        end = run(*VIRTUAL, "--pair", "--families", "feelspace", "--for", "3")
    events = [line["event"] for line in lines_of(end.stdout)]
    report("a belt is not used without encryption because the file of bonds is damaged",
           "connect_failed" in events and "connected" not in events and f"the bonds in {file} cannot be used: " in end.stdout.decode(),
           end.stdout.decode() + end.stderr.decode())
    if kept is None:
        file.unlink()
    else:
        file.write_bytes(kept)
    with Devices("feelspace"):
        end = run(*VIRTUAL, "--pair", "--families", "feelspace", "--for", "3", env={**os.environ, "XDG_STATE_HOME": "/proc"})
    report("a bond that cannot be stored: its file is named",
           "the bond cannot be stored in /proc/tendon/bonds: " in end.stdout.decode(), end.stdout.decode() + end.stderr.decode())


def clock():
    path = work / "clock.json"
    path.write_text(json.dumps(CLOCK))
    with Devices("clock", f"--define={path}") as devices:
        child = start(*VIRTUAL, "--define", path, stdin=subprocess.PIPE)
        seen = []
        read_until(child, seen, lambda lines: any(line["event"] == "connected" for line in lines))
        address = next(line["address"] for line in seen if line["event"] == "connected")
        before = time.time()
        for action, argument in [("clock", "now"), ("clock", "soon"), *(("label", label) for label in LABELS)]:
            child.stdin.write(json.dumps({"address": address, "action": f"set_{action}", "arguments": [argument]}).encode() + b"\n")
        child.stdin.flush()
        read_until(child, seen, lambda lines: sum(line["event"] in ("action", "action_failed") for line in lines) == 2 + len(LABELS))
        until, written = time.monotonic() + 10, []
        while len(written) < 1 + len(LABELS) and time.monotonic() < until:
            written = [line["bytes"] for line in devices.lines() if line["event"] == "write"]
            time.sleep(0.1)
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=LIMIT)
    report("a time is shown", any(line.get("shown") == "2026-11-29T13:07:30" for line in seen), seen)
    data = bytes.fromhex(written[0]) if written else b""
    moment = time.mktime((data[0] | data[1] << 8, *data[2:7], 0, 0, -1)) if len(data) == 7 else 0
    report("it sets a clock to the time of this place", before - 2 < moment < time.time() + 2, (written, moment))
    report("texts of any kind arrive", [bytes.fromhex(one).decode() for one in written[1:]] == LABELS, written)
    failed_texts = [line["text"] for line in seen if line["event"] == "action_failed"]
    report("what is no time is refused", failed_texts == ["date takes now or a time of the place, without a zone, such as 2026-11-29T13:07:30, not 'soon'"],
           failed_texts)


def device_files():
    """--define may stand anywhere; two files for the same devices, and a value whose line is long."""
    def lamp(name):
        path = work / f"{name}.json"
        path.write_text(json.dumps({
            "name": name, "title": "Lamp", "find": {"services": ["fff0"]}, "characteristics": [
                {"name": "v", "service": "fff0", "uuid": "fff1", "examples": ["ff" * 510], "every_ms": 200, "required": True,
                 "notify": [{"name": "pixels", "records": [{"name": color, "type": "u8"} for color in ("red", "green", "blue")]}]}]}))
        return path
    one, two = lamp("lamp"), lamp("tower")
    same = run(*VIRTUAL, "--define", one, "--define", two, "--for", "0.1")
    report("two files for the same devices are refused", (same.returncode, same.stderr.decode())
           == (2, f"tendon-gateway: {two}: its 'find' means devices that a file before it means as well\n"), same)
    with Devices("lamp", f"--define={one}"):
        ends = {words: run(*VIRTUAL, *words, "--for", "1.5") for words in
                [("--families", "lamp", "--define", one), ("--families", "bose", "--define", one), ("--ignore", "lamp", "--define", one),
                 ("--ignore", "bose", "--families", "bose,lamp", "--define", one), ("--ignore", "all", "--define", one)]}
    many = work / "many.json"
    many.write_text(json.dumps({
        "name": "many", "title": "Many", "find": {"name": "Many"}, "characteristics": [
            {"name": f"v{number}", "service": "181a", "uuid": f"2a{number:02x}", "examples": [f"{number:02x}"],
             "notify": [{"name": "x", "type": "u8"}]} for number in range(20)]}))
    with Devices("many", f"--define={many}"):
        lines = lines_of(run(*VIRTUAL, "--define", many, "--for", "3").stdout)
    report("each of twenty characteristics notifies", {line["event"] for line in lines if "x" in line} == {f"v{number}" for number in range(20)},
           lines)
    path = work / "lines"
    path.write_text('{"address":"C0:00:00:00:00:01","action":"vibrate","arguments":[1]}\nno line\n')
    with open(path, "rb") as lines:
        answers = [line["event"] for line in lines_of(run(*VIRTUAL, "--for", "0.2", stdin=lines).stdout)]
    report("lines of a file are answered", answers[:2] == ["action_failed", "action_failed"], answers)
    report("the order of the options does not matter", [end.returncode for end in ends.values()] == [0, 4, 4, 0, 2], ends)
    lines = lines_of(ends["--families", "lamp", "--define", one].stdout)
    long = [line for line in lines if line["event"] == "v"]
    report("a long line arrives", len(long) > 1 and all(len(line["pixels"]) == 170 for line in long), lines)
    report("and none is dropped", lines[-1]["dropped_lines"] == 0, lines[-1])


# ---- OSC, to python-osc


class Receivers:
    """Receivers of Tests/Command/check_osc.py, by the names of their files, until the end of the block."""

    TOOL = HERE.parent / "Command/check_osc.py"

    def __init__(self, **kinds):
        package = [HERE.parents[1] / "scripts/python_package.sh", "python-osc", "1.10.2"]
        path = subprocess.run(package, capture_output=True, check=True, timeout=LIMIT)
        self.environment = {**os.environ, "PYTHONPATH": path.stdout.decode().strip()}
        self.kinds, self.ports, self.children = kinds, {}, []

    def __enter__(self):
        for name, kind in self.kinds.items():
            self.children.append(subprocess.Popen([sys.executable, self.TOOL, kind, work / name], env=self.environment))
            port = work / f"{name}.port"
            until = time.monotonic() + LIMIT
            while not (port.exists() and port.read_text().endswith("\n")):
                assert time.monotonic() < until, "the receiver has not started"
                time.sleep(0.05)
            self.ports[name] = int(port.read_text())
        return self

    def __exit__(self, *_):
        for child in self.children:
            child.terminate()
            child.wait(LIMIT)

    def messages(self, name):
        data = (work / name).read_text()
        return [json.loads(line) for line in data[: data.rfind("\n") + 1].splitlines()]


def osc_wrong():
    wrong = {"no port": ["--osc", "127.0.0.1/iem"], "port 0": ["--osc", "127.0.0.1:0"], "port 65536": ["--osc", "127.0.0.1:65536"],
             "a name": ["--osc", "localhost:7000/iem"], "no brackets": ["--osc", "::1:7000"], "no address": ["--osc", "[abc]:7000"],
             "an empty preset": ["--osc", "127.0.0.1:7000/"], "an empty device": ["--osc", "127.0.0.1:7000/iem/"],
             "an unknown preset": ["--osc", "127.0.0.1:7000/iam"], "custom alone": ["--osc", "127.0.0.1:7000/custom"],
             "a map that is none": ["--osc", "127.0.0.1:7000/custom", "--osc-address", "/a", "--osc-map", "yaw,pich"],
             "an address alone": ["--osc", "127.0.0.1:7000/custom", "--osc-address", "/a"], "a rate alone": ["--osc-rate", "50"],
             "a map that nothing uses": ["--osc", "127.0.0.1:7000", "--osc-address", "/a", "--osc-map", "yaw"],
             "a rate that is none": ["--osc", "127.0.0.1:7000", "--osc-rate", "fast"],
             "a word that is none": ["--osc", "127.0.0.1:7000", "--osc-recenter", "pitch"], "no value": ["--osc"],
             "an address that is none": ["--osc-address", "head"], "9 destinations": ["--osc", "127.0.0.1:7000"] * 9}
    results = {name: run(*VIRTUAL, "--for", "0.1", *words) for name, words in wrong.items()}
    bad = {name: result for name, result in results.items() if result.returncode != 2 or len(result.stderr.splitlines()) != 1}
    report("--osc: what is wrong ends with 2, and says why", not bad, bad)
    like = {"a name": b"names are not resolved", "a map that is none": b"(column 5)", "an unknown preset": b"'iam'"}
    why = b"tendon-gateway: osc: 127.0.0.1:7000 takes orientations, and none will be sent: they are those of Bose wearables, " \
        b"of the sensors rotation and game_rotation\n"
    for words, said in ((["--families", "feelspace"], why), (["--sensors", "gyroscope"], why), (["--sensors", "all"], b"")):
        result = run(*VIRTUAL, "--for", "0.1", "--osc", "127.0.0.1:7000/iem", "--osc", "127.0.0.1:7001", *words)
        report(f"--osc: {words[1]}: an orientation that will not come is said once", result.stderr.replace(
            b"tendon-gateway: no device was found\n", b"") == said, result)
    report("--osc: in its words", all(text in results[name].stderr for name, text in like.items()), results)


def osc_sends():
    address = "C0:00:00:00:0F:01"
    kinds = dict.fromkeys(("iem", "iem_ypr", "sparta", "adm", "virtuoso", "raw", "other", "custom"), "receive")
    with Receivers(**kinds, track="opentrack") as to, Devices("bose", f"--address={address}/random") as devices:
        del devices
        osc = [f"127.0.0.1:{to.ports['iem']}/iem", f"127.0.0.1:{to.ports['iem_ypr']}/iem-ypr",
               f"127.0.0.1:{to.ports['sparta']}/sparta/{address.lower()}", f"127.0.0.1:{to.ports['adm']}/adm",
               f"127.0.0.1:{to.ports['virtuoso']}/virtuoso", f"127.0.0.1:{to.ports['raw']}",
               f"[::1]:{to.ports['track']}/opentrack", "127.0.0.1:9/sparta"]
        child = start(*VIRTUAL, "--pair", "--sensors", "rotation,accelerometer", *(word for one in osc for word in ("--osc", one)))
        seen = []
        read_until(child, seen, lambda lines: sum(line.get("sensor") == "rotation" for line in lines) >= 60)
        child.send_signal(signal.SIGTERM)
        data, errors = child.communicate(timeout=LIMIT)
        seen += lines_of(data)
        (work / "osc.jsonl").write_text("".join(json.dumps(line) + "\n" for line in seen))
        until = time.monotonic() + LIMIT
        samples = sum(line["event"] == "sample" for line in seen)
        while len(to.messages("raw")) < samples and time.monotonic() < until:
            time.sleep(0.05)
        for name in ("iem", "iem_ypr", "sparta", "adm", "virtuoso", "track"):
            preset = {"iem_ypr": "iem-ypr", "track": "opentrack"}.get(name, name)
            result = subprocess.run([sys.executable, to.TOOL, "compare", preset, work / "osc.jsonl", work / name], env=to.environment,
                                    capture_output=True, timeout=LIMIT)
            lines = result.stdout.decode().splitlines()
            report(f"--osc: {preset}: the receiver hears the world where the head does", len(lines) == 3
                   and all(line.startswith("ok") for line in lines), lines)
        raw = to.messages("raw")
        connected = next(line for line in seen if line["event"] == "connected")
        level = connected.get("name", address).replace(" ", "_")
        report("--osc: raw: every sample, by name and sensor", len(raw) == samples and {message["address"] for message in raw} == {
            f"/tendon/{level}/rotation", f"/tendon/{level}/accelerometer"}, (len(raw), samples, raw[:2]))
        refused = [line for line in errors.decode().splitlines() if "127.0.0.1:9" in line]
        report("--osc: a receiver that is not there is reported once, and counted at the end", child.returncode == 0
               and len(refused) == 2 and "no program listens" in refused[0] and " refused" in refused[1], errors)
        options = ["--osc", f"127.0.0.1:{to.ports['other']}/sparta/nobody", "--osc", f"127.0.0.1:{to.ports['custom']}/custom",
                   "--osc-address", "/head", "--osc-map", "-yaw,pitch,roll,0", "--osc-rate", "1000", "--osc-recenter", "full"]
        child = start(*VIRTUAL, "--sensors", "rotation", *options, stdin=subprocess.PIPE)
        seen = []
        read_until(child, seen, lambda lines: sum(line["event"] == "sample" for line in lines) >= 20)

        def angles():
            return [max(map(abs, message["args"])) for message in to.messages("custom")]

        # The head turns all the time; where it looks to the side, nothing but recentering makes the next message straight.
        read_until(child, seen, lambda lines: min(angles()[-5:], default=0) > 20)
        before = len(angles())
        child.stdin.write(json.dumps({"address": address, "action": "recenter"}).encode() + b"\n"
                          + json.dumps({"address": "C0:00:00:00:00:00", "action": "recenter"}).encode() + b"\n")
        child.stdin.flush()
        read_until(child, seen, lambda lines: any(line["event"] == "action_failed" for line in lines))
        read_until(child, seen, lambda lines, after=len(seen) + 20: len(lines) >= after)
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=LIMIT)
        follow_schema("--osc: lines", seen)
        done = [(line["event"], line["action"], line.get("address"), line.get("name")) for line in seen
                if line["event"].startswith("action")]
        report("--osc: an action recenters: the head looks straight ahead",
               done == [("action", "recenter", address, "LE-Bose Frames"), ("action_failed", "recenter", "C0:00:00:00:00:00", None)]
               and min(angles()[before:before + 10], default=180) < 3, (done, angles()[before - 2:before + 10]))
        report("--osc: custom: its address and its map", {(message["address"], len(message["args"]), message["args"][3])
                                                          for message in to.messages("custom")} == {("/head", 4, 0)}, to.messages("custom")[:2])
        report("--osc: a destination of another device gets nothing", to.messages("other") == [], to.messages("other")[:2])


# ---- memory and time


def costs():
    child = start(*VIRTUAL)
    time.sleep(2)
    before = status_of(child.pid, "voluntary_ctxt_switches")[0]
    time.sleep(6)
    after, resident = status_of(child.pid, "voluntary_ctxt_switches", "VmRSS")
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=LIMIT)
    report("nothing wakes it while nothing happens", after - before <= 1, f"{after - before} wake-ups in 6 s")
    with Devices("bose", "activ5", "feelspace", "fjorden", "obvious"):
        child = start(*VIRTUAL, "--pair")
        seen = []
        read_until(child, seen, lambda lines: sum(line["event"] == "connected" for line in lines) == 5)
        time.sleep(1)
        connected = status_of(child.pid, "VmHWM")[0]
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=LIMIT)
    if MEASURED:
        report(f"resident memory, at most 2048 KiB: {resident} KiB alone, {connected} KiB with five devices",
               max(resident, connected) <= 2048)


with tempfile.TemporaryDirectory() as folder:
    work = pathlib.Path(folder)
    os.chmod(work, 0o700)
    os.environ |= {"XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": folder + "/state"}
    for part in (command_line, same_lines, readers, as_jobs, actions, unusable_bonds, clock, device_files, osc_wrong, osc_sends, costs):
        try:
            part()
        except (AssertionError, KeyError, IndexError, ValueError, subprocess.TimeoutExpired, OSError) as error:
            report(part.__name__, False, repr(error))
sys.exit(1 if failed else 0)

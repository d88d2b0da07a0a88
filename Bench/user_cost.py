#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""user_cost.py TENDON C_PROGRAM [json] [osc] [record] [mqtt] [lsl=LIBRARY] [idle] [--check]: what a user of the command pays.

Processor time and context switches of whole processes, on the virtual radio, for a sample at 50 Hz; the limit is
C_PROGRAM (sample_output.c), a program over the C library that sends the same to the same place:
- run_json: a line on a pipe. run_osc: a datagram. run_record: rows of a recording, on the disk.
- run_mqtt: published to a broker, by libmosquitto. run_lsl: a stream, by this liblsl, without a receiver.
- run_idle: four connected devices that send nothing; context switches per minute, no limit.
Without names: all but lsl.

Programs take turns, each round a process of its own; the ratio is the median of the rounds' ratios. Prints one JSON object
per row, and a table on standard error. --check: one short round, TAP instead of rows: whether samples arrive and are
counted, never how fast.
"""

import json
import os
import pathlib
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests/Chaos"))
from wearable import Radio  # noqa: E402

ROUNDS, SECONDS, WARM = 3, 5.0, 2.0
ADDRESS = "C0:00:00:00:0B:01/random"


def used(identity):
    """Seconds of processor time and voluntary switches of all threads of a process."""
    nanoseconds = switches = 0
    for task in pathlib.Path(f"/proc/{identity}/task").iterdir():
        nanoseconds += int((task / "schedstat").read_text().split()[0])
        status = (task / "status").read_text()
        switches += int(status.split("voluntary_ctxt_switches:")[1].split()[0])
    return nanoseconds / 1e9, switches


class Receiver:
    """A socket on loopback that has the kernel's stamp of each datagram."""

    STAMP = 35  # SO_TIMESTAMPNS, asm-generic/socket.h

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, self.STAMP, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.port = self.socket.getsockname()[1]

    def stamps(self):
        """Of all datagrams that have arrived, nanoseconds of CLOCK_REALTIME."""
        found = []
        while True:
            try:
                _, messages, _, _ = self.socket.recvmsg(256, 256)
            except BlockingIOError:
                return found
            for _, kind, data in messages:
                if kind == self.STAMP:
                    seconds, nanoseconds = struct.unpack("ll", data[:16])
                    found.append(seconds * 10**9 + nanoseconds)


class Site:
    """A directory of its own, simulated devices and a broker."""

    def __init__(self, tendon):
        self.tendon = tendon
        self.directory = tempfile.TemporaryDirectory()
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.directory.name, XDG_STATE_HOME=self.directory.name,
                                XDG_CACHE_HOME=self.directory.name)
        self.children = []

    def start(self, *words, **options):
        child = subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, **options)
        self.children.append(child)
        return child

    def devices(self, *words):
        child = self.start(self.tendon, "simulate", *words, "--radio", "virtual", "--json", stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL)
        for line in child.stdout:
            if b'"event":"ready"' in line:
                return child
        raise SystemExit("the simulated device did not start")

    def broker(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        file = pathlib.Path(self.directory.name, "broker.conf")
        file.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence false\nuser root\n")
        self.start("mosquitto", "-c", str(file), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return port
            except OSError:
                time.sleep(0.05)
        raise SystemExit("the broker did not start")

    def end(self, child):
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        self.children.remove(child)

    def close(self):
        for child in list(self.children):
            self.end(child)
        self.directory.cleanup()


# ---- where samples arrive: `words` of both programs, the samples that come within some seconds, and how late they come ----

def counted(lines, seconds, mark):
    """Reads for so long; lines that contain the mark."""
    count, end = 0, time.monotonic() + seconds
    os.set_blocking(lines.fileno(), False)
    rest = b""
    while time.monotonic() < end:
        time.sleep(0.01)
        rest += lines.read() or b""
        *whole, rest = rest.split(b"\n")
        count += sum(mark in line for line in whole)
    return count


class Pipe:
    """Lines of standard output; of another program that reads them, if `lines` is given."""

    late = 0

    def __init__(self, site, ours, limit, lines=None):
        self.words = {"ours": ours, "limit": limit}
        self.lines = lines

    def count(self, child, seconds):
        return counted(self.lines or child.stdout, seconds, b'"sensor":"rotation"')


class Datagrams:
    late = 0

    def __init__(self, site):
        self.receiver = Receiver()
        self.words = {"ours": ["--no-lines", "--osc", f"127.0.0.1:{self.receiver.port}/iem"], "limit": ["osc", str(self.receiver.port)]}

    def count(self, child, seconds):
        self.receiver.stamps()
        time.sleep(seconds)
        return len(self.receiver.stamps())


class Rows:
    """Of a recording. They are written four times per second: the arrival of each is in it."""

    late = 0.5

    def __init__(self, site):
        self.directory = pathlib.Path(site.directory.name, "recordings")
        self.directory.mkdir()
        self.words = {"ours": ["--no-lines", "--record", str(self.directory)], "limit": ["record", str(self.directory)]}

    def count(self, child, seconds):
        began = time.monotonic()
        time.sleep(seconds)
        return lambda ended=time.monotonic(): sum(began <= arrival < ended for arrival in self.arrivals())

    def arrivals(self):
        found = []
        for path in list(self.directory.rglob("*.rotation.csv")):
            found += [row.split(",")[1] for row in path.read_text().splitlines()]
            path.unlink()
        return [float(arrival) for arrival in found if arrival[:1].isdigit()]


class Stream:
    """Of the Lab Streaming Layer: as many as the device sends."""

    late = 0

    def __init__(self, site, library):
        configuration = pathlib.Path(site.directory.name, "lsl_api.cfg")
        configuration.write_text("[ports]\nIPv6 = disable\n[multicast]\nResolveScope = machine\n[log]\nlevel = -2\n")
        site.environment["LSLAPICFG"] = str(configuration)
        self.words = {"ours": ["--no-lines", "--lsl", "--lsl-library", library], "limit": ["lsl", library]}

    def count(self, child, seconds):
        began = time.monotonic()
        time.sleep(seconds)
        return round(50 * (time.monotonic() - began))


def published(site):
    port = str(site.broker())
    reader = site.start("mosquitto_sub", "-p", port, "-t", "+/+/stream/#", "-t", "bench/#", stdout=subprocess.PIPE)
    return Pipe(site, ["--no-lines", "--mqtt", f"mqtt://127.0.0.1:{port}", "--mqtt-gateway", "bench", "--mqtt-stream", "rotation",
                       "--mqtt-stream-rate", "100"], ["mqtt", port], reader.stdout)


OUTPUTS = {"json": lambda site, _: Pipe(site, [], ["json"]), "osc": lambda site, _: Datagrams(site),
           "record": lambda site, _: Rows(site), "mqtt": lambda site, _: published(site), "lsl": Stream}


def sample_cost(site, program, place, seconds, warm):
    """Microseconds and switches per sample of one process, and how many samples came."""
    child = site.start(*program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    place.count(child, warm + 2)
    before = used(child.pid)
    count = place.count(child, seconds)
    after = used(child.pid)
    time.sleep(place.late)
    site.end(child)
    count = count() if callable(count) else count
    if count == 0:
        raise SystemExit(f"no sample arrived: {' '.join(program)}")
    return (after[0] - before[0]) / count * 1e6, (after[1] - before[1]) / count, count


def compared(name, site, programs, place, rounds, seconds, warm):
    """Two rows: the limit, and ours."""
    results = [{body: sample_cost(site, program + place.words[body], place, seconds, warm) for body, program in programs.items()}
               for _ in range(rounds)]
    rows = []
    for body in programs:
        row = {"bench": name, "name": body, "ns": round(statistics.median(each[body][0] for each in results) * 1000),
               "limit": "limit", "ratio": round(statistics.median(each[body][0] / each["limit"][0] for each in results), 2),
               "switches": round(statistics.median(each[body][1] for each in results), 2),
               "samples": sum(each[body][2] for each in results)}
        print(json.dumps(row), flush=True)
        rows.append(row)
    return rows


def table(rows):
    """Of all outputs, for people."""
    print(f"{'output':<12} {'body':<6} {'us a sample':>11} {'ratio':>6} {'switches':>9}", file=sys.stderr)
    for row in rows:
        print(f"{row['bench']:<12} {row['name']:<6} {row['ns'] / 1000:>11.1f} {row['ratio']:>6.2f} {row['switches']:>9.2f}", file=sys.stderr)


def idle(site, tendon, seconds, check):
    """Four grips of another implementation, which do not advertise while they are connected, as single devices do not."""
    radio = Radio(rate=1e-6)
    radio.add(f"{site.directory.name}/tendon", [bytes([number, 0x0B, 0, 0, 0, 0xC0]) for number in range(4)])
    radio.start()
    child = site.start(tendon, "run", "--radio", "virtual", "--json", "--pair", stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL)
    connected, end = 0, time.monotonic() + 60
    while connected < 4 and time.monotonic() < end:
        connected += counted(child.stdout, 0.5, b'"event":"connected"')
    if connected < 4:
        raise SystemExit("four devices did not connect")
    time.sleep(20)  # the parameters of new connections are looked at more often
    before = used(child.pid)
    time.sleep(seconds)
    after = used(child.pid)
    site.end(child)
    radio.stop()
    if check:
        # The rest of the minute's six may fall into these seconds, a thread that looks once a second has five.
        quiet = after[1] - before[1] <= 3
        print(f"{'ok' if quiet else 'not ok'} - user_cost: nothing but a look at the connections wakes an idle run")
        return
    print(json.dumps({"bench": "run_idle", "name": "four_silent_devices",
                      "switches_per_minute": round((after[1] - before[1]) * 60 / seconds, 1),
                      "cpu_us_per_minute": round((after[0] - before[0]) * 60e6 / seconds)}), flush=True)


def main():
    tendon, program = sys.argv[1:3]
    check = "--check" in sys.argv
    only = dict(word.partition("=")[::2] for word in sys.argv[3:] if not word.startswith("--"))
    only = only or {"json": "", "osc": "", "record": "", "mqtt": "", "idle": ""}
    rounds, seconds, warm = (1, 1.0, 0.5) if check else (ROUNDS, SECONDS, WARM)
    programs = {"limit": [program], "ours": [tendon, "run", "--radio", "virtual", "--json", "--gestures", "none"]}
    rows = []
    for name, argument in only.items():
        site = Site(tendon)
        try:
            if name == "idle":
                idle(site, tendon, 5.0 if check else 120.0, check)
                continue
            site.devices("bose", "--address", ADDRESS)
            rows += compared(f"run_{name}", site, programs, OUTPUTS[name](site, argument), rounds, seconds, warm)
        finally:
            site.close()
    if check:
        print(f"ok - user_cost: samples arrive at {', '.join(row['bench'][4:] for row in rows if row['name'] == 'ours')}")
    else:
        table(rows)


if __name__ == "__main__":
    main()

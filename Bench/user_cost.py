#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""user_cost.py TENDON C_PROGRAM [--check]: what a user of the command pays, beside a C program over the library.

Processor time and context switches of whole processes, on the virtual radio, with a device process of their own:
- run_json: a sample at 50 Hz as a line on a pipe; the limit is the C program, which writes the same members.
- run_mqtt: the same published to a broker; the limit is the C program, which calls libmosquitto.
- run_idle: four connected devices that send nothing; context switches per minute, no limit.

Programs take turns, each round a process of its own; the ratio is the median of the rounds' ratios. Prints one JSON object
per row. --check: one short round, TAP instead of rows: whether samples arrive and are counted, never how fast.
"""

import json
import os
import pathlib
import signal
import socket
import statistics
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


def sample_cost(site, program, lines, seconds, warm, mark):
    """Microseconds and switches per sample of one process. `lines`: where its samples are read, None: its standard output."""
    child = site.start(*program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    source = lines or child.stdout
    if counted(source, warm + 2, mark) == 0:
        counted(source, 5, mark)
    before = used(child.pid)
    count = counted(source, seconds, mark)
    after = used(child.pid)
    site.end(child)
    if count == 0:
        raise SystemExit(f"no sample arrived: {' '.join(program)}")
    return (after[0] - before[0]) / count * 1e6, (after[1] - before[1]) / count, count


def compared(name, site, ours, limit, lines, rounds, seconds, warm, mark=b'"sensor":"rotation"'):
    results = []
    for _ in range(rounds):
        results.append((sample_cost(site, limit, lines, seconds, warm, mark),
                        sample_cost(site, ours, lines, seconds, warm, mark)))
    median = statistics.median
    rows = [("limit", 0), ("ours", 1)]
    for body, index in rows:
        row = {"bench": name, "name": body, "ns": round(median(result[index][0] for result in results) * 1000),
               "limit": "limit", "ratio": round(median(result[index][0] / result[0][0] for result in results), 2),
               "switches": round(median(result[index][1] for result in results), 2),
               "samples": sum(result[index][2] for result in results)}
        print(json.dumps(row), flush=True)


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
    only = [word for word in sys.argv[3:] if not word.startswith("--")]
    rounds, seconds, warm = (1, 1.0, 0.5) if check else (ROUNDS, SECONDS, WARM)
    site = Site(tendon)
    try:
        if not only or "json" in only:
            device = site.devices("bose", "--address", ADDRESS)
            compared("run_json", site, [tendon, "run", "--radio", "virtual", "--json", "--gestures", "none"], [program],
                     None, rounds, seconds, warm)
            site.end(device)
        if not only or "mqtt" in only:
            device = site.devices("bose", "--address", ADDRESS)
            port = site.broker()
            reader = site.start("mosquitto_sub", "-p", str(port), "-t", "+/+/stream/#", "-t", "bench/#",
                                stdout=subprocess.PIPE)
            compared("run_mqtt", site,
                     [tendon, "run", "--radio", "virtual", "--no-lines", "--gestures", "none", "--mqtt",
                      f"mqtt://127.0.0.1:{port}", "--mqtt-gateway", "bench", "--mqtt-stream", "rotation",
                      "--mqtt-stream-rate", "100"], [program, str(port)], reader.stdout, rounds, seconds, warm)
            site.end(device)
        if not only or "idle" in only:
            idle(site, tendon, 5.0 if check else 120.0, check)
    finally:
        site.close()
    if check:
        print("ok - user_cost: samples arrive on a pipe and at a broker")


if __name__ == "__main__":
    main()

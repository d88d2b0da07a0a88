#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""osc_delay.py TENDON C_PROGRAM [--check]: from the arrival of a notification to its datagram, and what that costs.

On the virtual radio, a simulated head at 50 Hz. Arrival is `received_at` of the line, which the process that sends takes when
it reads its socket; the datagram has the kernel's stamp of its arrival at the receiver's socket, which on loopback is when
it was sent. Both clocks are read together at the start and at the end; a round in which they moved apart is left out.

- osc_delay: p50 and p99 of all samples, in microseconds.
- run_osc: processor time and switches of a sample, whole process, without lines.

`limit`: a C program over the library that sends the same datagrams. Programs take turns. Prints one JSON object per row.
--check: one short round, TAP: whether each sample is sent, never how fast.
"""

import json
import pathlib
import socket
import statistics
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from user_cost import ADDRESS, Site, used  # noqa: E402

SO_TIMESTAMPNS = 35  # asm-generic/socket.h
ROUNDS, SECONDS, WARM = 3, 20.0, 1.0


def offset():
    """CLOCK_REALTIME - CLOCK_MONOTONIC in nanoseconds: the reading with the least time around it."""
    best = None
    for _ in range(50):
        before, middle, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        if best is None or after - before < best[0]:
            best = (after - before, middle - (before + after) // 2)
    return best[1]


class Receiver:
    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def stamps(self):
        """Of all datagrams that have arrived, nanoseconds of CLOCK_REALTIME."""
        found = []
        self.socket.setblocking(False)
        while True:
            try:
                _, messages, _, _ = self.socket.recvmsg(256, 256)
            except BlockingIOError:
                return found
            for _, kind, data in messages:
                if kind == SO_TIMESTAMPNS:
                    seconds, nanoseconds = struct.unpack("ll", data[:16])
                    found.append(seconds * 10**9 + nanoseconds)


def delays(site, words, seconds):
    """Microseconds of each sample of one run. Datagrams and lines have the same order, and none is missing."""
    receiver = Receiver()
    first = offset()
    path = pathlib.Path(site.directory.name, "lines")
    with path.open("wb") as out:
        child = site.start(*words(receiver.port, True), stdout=out, stderr=subprocess.DEVNULL)
    time.sleep(seconds + WARM)
    site.end(child)
    lines = [json.loads(line) for line in path.read_bytes().splitlines() if b'"event":"sample"' in line]
    stamps = receiver.stamps()
    last = offset()
    receiver.socket.close()
    if not lines or abs(len(lines) - len(stamps)) > 1:
        raise SystemExit(f"{len(lines)} lines, {len(stamps)} datagrams: {' '.join(words(0, True))}")
    if abs(last - first) > 20_000:
        return []
    return [(stamp - first) / 1e3 - line["received_at"] * 1e6 for stamp, line in zip(stamps, lines)][int(50 * WARM):]


def cost(site, words, seconds):
    """Microseconds of processor time, and switches, of a sample."""
    receiver = Receiver()
    child = site.start(*words(receiver.port, False), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 20
    while not receiver.stamps() and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(WARM)
    receiver.stamps()
    before = used(child.pid)
    time.sleep(seconds)
    after, count = used(child.pid), len(receiver.stamps())
    site.end(child)
    receiver.socket.close()
    if count == 0:
        raise SystemExit("no datagram arrived")
    return (after[0] - before[0]) / count * 1e6, (after[1] - before[1]) / count


def main():
    tendon, program = sys.argv[1:3]
    check = "--check" in sys.argv
    rounds, seconds = (1, 1.0) if check else (ROUNDS, SECONDS)
    bodies = {
        "limit": lambda port, lines: [program, str(port)] + (["lines"] if lines else []),
        "ours": lambda port, lines: [tendon, "run", "--radio", "virtual", "--json", "--gestures", "none", "--osc",
                                     f"127.0.0.1:{port}/iem"] + ([] if lines else ["--no-lines"]),
    }
    site = Site(tendon)
    try:
        site.devices("bose", "--address", ADDRESS)
        found, costs = {name: [] for name in bodies}, {name: [] for name in bodies}
        for _ in range(rounds):
            for name, words in bodies.items():
                found[name] += delays(site, words, seconds)
            for name, words in bodies.items():
                costs[name].append(cost(site, words, seconds / 2))
    finally:
        site.close()
    if check:
        good = all(len(delay) > 10 and min(delay) > 0 for delay in found.values())
        print(f"{'ok' if good else 'not ok'} - osc_delay: each sample is sent after it has arrived")
        return
    for name, delay in found.items():
        delay.sort()
        print(json.dumps({"bench": "osc_delay", "name": name, "samples": len(delay),
                          "p50_us": round(delay[len(delay) // 2], 1), "p99_us": round(delay[len(delay) * 99 // 100], 1),
                          "ns": round(delay[len(delay) // 2] * 1000), "limit": "limit",
                          "ratio": round(delay[len(delay) // 2] / sorted(found["limit"])[len(found["limit"]) // 2], 2)}))
    median = statistics.median
    for name, results in costs.items():
        print(json.dumps({"bench": "run_osc", "name": name, "ns": round(median(r[0] for r in results) * 1000), "limit": "limit",
                          "ratio": round(median(r[0] / l[0] for r, l in zip(results, costs["limit"])), 2),
                          "switches": round(median(r[1] for r in results), 2)}))


if __name__ == "__main__":
    main()

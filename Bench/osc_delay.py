#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""osc_delay.py TENDON C_PROGRAM [--check]: from the arrival of a notification to its datagram. What that costs: user_cost.py.

On the virtual radio, a simulated head at 50 Hz. Arrival is `received_at` of the line, which the process that sends takes when
it reads its socket; the datagram has the kernel's stamp of its arrival at the receiver's socket, which on loopback is when
it was sent. Both clocks are read together at the start and at the end; a round in which they moved apart is left out.

Prints one JSON object per row: p50 and p99 of all samples, in microseconds. `limit`: a C program over the library that sends the
same datagrams; the two take turns.
--check: one short round, TAP: whether each sample is sent, never how fast.
"""

import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from user_cost import ADDRESS, Receiver, Site  # noqa: E402

ROUNDS, SECONDS, WARM = 3, 20.0, 1.0


def offset():
    """CLOCK_REALTIME - CLOCK_MONOTONIC in nanoseconds: the reading with the least time around it."""
    best = None
    for _ in range(50):
        before, middle, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        if best is None or after - before < best[0]:
            best = (after - before, middle - (before + after) // 2)
    return best[1]


def delays(site, words, seconds):
    """Microseconds of each sample of one run. Datagrams and lines have the same order, and none is missing."""
    receiver = Receiver()
    first = offset()
    path = pathlib.Path(site.directory.name, "lines")
    with path.open("wb") as out:
        child = site.start(*words(receiver.port), stdout=out, stderr=subprocess.DEVNULL)
    time.sleep(seconds + WARM)
    site.end(child)
    lines = [json.loads(line) for line in path.read_bytes().splitlines() if b'"event":"sample"' in line]
    stamps = receiver.stamps()
    last = offset()
    receiver.socket.close()
    if not lines or abs(len(lines) - len(stamps)) > 1:
        raise SystemExit(f"{len(lines)} lines, {len(stamps)} datagrams: {' '.join(words(0))}")
    if abs(last - first) > 20_000:
        return []
    return [(stamp - first) / 1e3 - line["received_at"] * 1e6 for stamp, line in zip(stamps, lines)][int(50 * WARM):]


def main():
    tendon, program = sys.argv[1:3]
    check = "--check" in sys.argv
    rounds, seconds = (1, 1.0) if check else (ROUNDS, SECONDS)
    bodies = {
        "limit": lambda port: [program, "osc", str(port), "lines"],
        "ours": lambda port: [tendon, "run", "--radio", "virtual", "--json", "--gestures", "none", "--osc", f"127.0.0.1:{port}/iem"],
    }
    site = Site(tendon)
    try:
        site.devices("bose", "--address", ADDRESS)
        found = {name: [] for name in bodies}
        for _ in range(rounds):
            for name, words in bodies.items():
                found[name] += delays(site, words, seconds)
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


if __name__ == "__main__":
    main()

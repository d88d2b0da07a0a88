#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lsl_cost.py TENDON LIBRARY: what the Lab Streaming Layer costs a gateway; LIBRARY is a liblsl. PYTHONPATH has pylsl.

On the virtual radio, a simulated head at 50 Hz, no lines. Processor time and voluntary switches of all threads of the process, for
a sample: without --lsl, with it and no receiver, with one receiver; and with streams whose device is away, for a second. Prints one
JSON object per row. Run it by `PYTHONPATH=$(scripts/python_package.sh pylsl 1.18.6) Bench/lsl_cost.py ...`.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from user_cost import ADDRESS, Site, used  # noqa: E402

ROUNDS, SECONDS, WARM, RATE = 3, 20.0, 2.0, 50
RECEIVER = """
import pylsl
inlets = [pylsl.StreamInlet(info) for info in pylsl.resolve_byprop("source_id", "tendon/C0:00:00:00:0B:01/random/rotation", timeout=20)]
while True:
    inlets[0].pull_sample()
"""


def spent(child, seconds):
    before, began = used(child.pid), time.monotonic()
    time.sleep(seconds)
    after, took = used(child.pid), time.monotonic() - began
    return [(b - a) / took for a, b in zip(before, after)]


def run(tendon, library, has_lsl, has_receiver):
    """Processor time and switches of a second; then of one while the device is away; threads."""
    site = Site(tendon)
    try:
        configuration = pathlib.Path(site.directory.name, "lsl_api.cfg")
        configuration.write_text("[ports]\nIPv6 = disable\n[multicast]\nResolveScope = machine\n"
                                 f"[lab]\nKnownPeers = {{127.0.0.1}}\nSessionID = bench-{os.getpid()}\n[log]\nlevel = -2\n")
        site.environment["LSLAPICFG"] = str(configuration)
        device = site.devices("bose", "--address", ADDRESS)
        words = ["--lsl", "--lsl-library", library] if has_lsl else []
        gateway = site.start(tendon, "run", "--radio", "virtual", "--json", "--no-lines", "--gestures", "none", *words,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if has_receiver:
            site.start(sys.executable, "-c", RECEIVER, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(4)
        time.sleep(WARM)
        moving = spent(gateway, SECONDS)
        threads = len(os.listdir(f"/proc/{gateway.pid}/task"))
        descriptors = len(os.listdir(f"/proc/{gateway.pid}/fd"))
        site.end(device)
        time.sleep(WARM)
        return moving, spent(gateway, SECONDS), threads, descriptors
    finally:
        site.close()


def main():
    tendon, library = sys.argv[1:3]
    forms = {"without": (False, False), "no_receiver": (True, False), "one_receiver": (True, True)}
    found = {name: [] for name in forms}
    for _ in range(ROUNDS):
        for name, form in forms.items():
            found[name].append(run(tendon, library, *form))
    median = statistics.median
    for name, rounds in found.items():
        print(json.dumps({
            "bench": "lsl_cost", "name": name, "ns": round(median(moving[0] for moving, _, _, _ in rounds) / RATE * 1e9),
            "switches": round(median(moving[1] for moving, _, _, _ in rounds) / RATE, 2),
            "away_us_per_s": round(median(away[0] for _, away, _, _ in rounds) * 1e6),
            "away_switches_per_s": round(median(away[1] for _, away, _, _ in rounds), 2),
            "threads": max(count for _, _, count, _ in rounds), "descriptors": max(count for _, _, _, count in rounds)}))


main()

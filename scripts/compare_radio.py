#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the radio of another revision with that of the working tree.

Usage: scripts/compare_radio.py REVISION [--runs N]

Both play the random lives of Tests/C/linux/adapter/test_recorded.c, each with its own tests: the same inputs for the same
life, from the same dice. Compared is what leaves the radio: commands to the controller, requests to the kernel, PDUs, and
the callbacks with their times; what leaves it in one step of the loop, in any order. Of two lives the first difference
counts, for what follows it is another life. A life is compared until one of its system calls is refused, by its number.

Example: scripts/compare_radio.py v0.1.0

Exit status: 0 if each difference is one of ALLOWED, with its reason; 1 if one is not; 2 for a wrong call.
"""

import argparse
import collections
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST = "test_linux_bluez_recorded"
# What this test has and one of before may not: its own dice for each life, and a loop that is idle after each act.
LIVES = "test_bluez_recorded.c"
ADDED = ((LIVES, "static void live(recording *r, unsigned number) {\n",
          "    r->d = (dice){0x9E3779B97F4A7C15u * (number + 1u)};\n"),
         (LIVES, "bluez_acts[actor - ACTORS])(w);\n", "    world_pass(w, 0);\n"),
         (LIVES, "calls.refuse_number = numbers[choose(w->r, sizeof numbers / sizeof numbers[0])];\n",
          "    note(w->r, \"a call fails\");\n"),
         ("bluez_world.c", "connect */\n", "        world_pass(w, 30000);\n"))
LEAVES = re.compile(r"command |request |tap |report at|peer |failure |central |link \d+ (connected|received|writable|"
                    r"encrypted|closed|paired)")
ALLOWED = [  # (what one of the two has, what the other one has instead, why)
    (r"command 01 3[5679] 20 \w\w 1d|command 01 39 20 06 \d\d 01 1d", r"command 01 3[5679] 20 \w\w 00|command 01 39 20",
     "an adapter with a static address advertises with set 0, of which the kernel knows the address"),
    (r"\(nothing\)", r"request 24 00",
     "a scan that is paused before it was enabled: the discovery is stopped, or the kernel would connect to no device"),
]


def build(tree, directory):
    for name, place, line in ADDED if tree != ROOT else ():
        source = tree / "Tests/C/linux" / name
        text = source.read_text() if source.exists() else place + line  # of a later revision, which has it
        if place + line.rstrip("\n") not in text:
            source.write_text(text.replace(place, place + line))
    for command in (["meson", "setup", directory, tree, "-Dbuildtype=debug"],
                    ["ninja", "-C", directory, f"Tests/C/{TEST}"]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return directory / "Tests/C" / TEST


def is_same(old, new):
    """A time may differ by some milliseconds: a wait for a socket in which nothing comes costs one."""
    times = re.compile(r"\bat (\d+)")
    a, b = times.search(old), times.search(new)
    close = a is None or b is None or abs(int(a[1]) - int(b[1])) <= 5
    return close and times.sub("at", old) == times.sub("at", new)


def lives_of(program, run):
    """What left the radio in each life of a run, in each act of it."""
    text = subprocess.run([program], capture_output=True, text=True, errors="replace",
                          env={"TENDON_RECORDING": str(run), "PATH": "/usr/bin:/bin"}).stderr
    lives = (re.split("(?m)^a call fails$", life)[0] for life in re.split(r"(?m)^life \d+$", text)[1:])
    return [[sorted(filter(LEAVES.match, act.splitlines())) for act in re.split(r"(?m)^actor ", life)]
            for life in lives]


def first_difference(old, new):
    for before, after in zip(old, new):
        for a, b in itertools.zip_longest(before, after, fillvalue="(nothing)"):
            if not is_same(a, b):
                return a, b
    return None


def kind(line):
    """Of a line: a command by its opcode, anything else without numbers."""
    found = re.match(r"(command 01|request)( [0-9a-f]{2}){2}", line)
    return found[0] if found else re.sub(r"-?\b(0x)?[0-9a-f]+\b", "N", line)


def reason_of(old, new):
    for before, after, why in ALLOWED:
        if re.match(before, old) and re.match(after, new):
            return why
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision")
    parser.add_argument("--runs", type=int, default=16, help="of 40 lives each; 16: all")
    arguments = parser.parse_args()
    equal, counts, unexplained, examples = 0, collections.Counter(), collections.Counter(), {}
    with tempfile.TemporaryDirectory() as place:
        old = pathlib.Path(place) / "old"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "-q", "--detach", old, arguments.revision], check=True)
        try:
            programs = build(old, pathlib.Path(place) / "b1"), build(ROOT, pathlib.Path(place) / "b2")
            for run in range(arguments.runs):
                print(f"run {run + 1} of {arguments.runs}", end="\r", file=sys.stderr, flush=True)
                for life, (before, after) in enumerate(zip(*(lives_of(program, run) for program in programs))):
                    difference = first_difference(before, after)
                    if difference is None:
                        equal += 1
                        continue
                    why = reason_of(*difference)
                    (counts if why else unexplained)[why or " | ".join(map(kind, difference))] += 1
                    if not why:
                        examples.setdefault(" | ".join(map(kind, difference)), (run, life, *difference))
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", old], check=True)
    print(f"{equal} lives equal, {sum(counts.values())} with an allowed difference, {sum(unexplained.values())} others")
    for title, counted in (("allowed", counts), ("not explained (old | new)", unexplained)):
        for what, count in counted.most_common(40):
            print(f"{title}: {count:4} {what}")
            if what in examples:
                print("    first in run {}, life {}: {} | {}".format(*examples[what]))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())

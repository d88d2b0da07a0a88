#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seeds faults into a copy of the sources and counts how many the tests catch.

Usage: scripts/mutate.sh [--c N] [--swift N] [--sample] [--seed TEXT] [--only PREFIX] [--times] [--again FILE] [--list]
       scripts/mutate.sh --matrix FILE [--shard K/N | --report]
  --c N, --swift N  number of faults in C (default 400) and in Swift (default 100)
  --sample          40 in C, as `make test-all` does; TAP output
  --seed TEXT       another choice of faults
  --only PREFIX     only in files below PREFIX, for example CSources/host
  --times           each use of a constant in milliseconds or microseconds in C, one unit more, instead of other faults
  --again FILE      only those that were not caught in an earlier run, whose results.jsonl FILE is a copy of
  --list            print the chosen faults and end
  --matrix FILE     run all tests that reach a fault, each function by itself, and append to FILE which of them it fails;
                    what FILE has already is not run again
  --shard K/N       with --matrix: each N-th of the chosen faults, beginning with the K-th
  --report          with --matrix: print what FILE says of the tests, and end

All faults are compiled in at once, each behind a switch, so that one build serves all. A test is run for a fault only
if it reaches it. A fault is caught if a test fails, crashes or exceeds its time limit.
Faults that no test can catch are listed in Tests/Mutation/explained, each with its reason. They are printed and counted
by themselves. Exit status 0 if at least 95 % of the others were caught.
"""

import argparse
import collections
import os
import sys

from building import BUILD, copy_tree
from explaining import explained, reason_of
from finding import Fault, candidates, choose
from matrix import fill, functions, print_report
from running import build_c, build_swift, identity, judge, not_caught

WANTED_SHARE = 0.95


def report(language, verdicts, tap):
    listed = explained()
    reasons = {fault: reason_of(listed, fault) for fault, test in verdicts.items() if not test}
    open_ones = [(fault, test) for fault, test in sorted(verdicts.items()) if not test and not reasons[fault]]
    for fault, reason in sorted(reasons.items()):
        if reason:
            print(f"# explained: {fault.file}:{fault.line + 1} {fault.kind}: {reason}")
    for fault, test in open_ones:
        print(f"# survived: {fault.file}:{fault.line + 1} {fault.kind}{'' if test is None else ' (no test reaches it)'}\n"
              f"#   - {fault.before.strip()}\n#   + {fault.after.strip()}")
    rooms = collections.defaultdict(collections.Counter)
    for fault, test in verdicts.items():
        rooms[os.path.dirname(fault.file)]["caught" if test else "explained" if reasons[fault] else "survived"] += 1
    for room, counts in sorted(rooms.items()):
        print(f"#   {room}: {counts['caught']} of {counts.total()}"
              + (f", {counts['explained']} explained" if counts["explained"] else ""))
    total = sum(rooms.values(), collections.Counter())
    share = total["caught"] / max(1, total["caught"] + total["survived"])
    line = (f"{language}: {total['caught']} of {len(verdicts)} seeded faults are caught, {total['explained']} are explained,"
            f" {total['survived']} survived ({share:.1%} of those that can be caught)")
    good = share >= WANTED_SHARE
    print(f"{'ok' if good else 'not ok'} - {line}" if tap else line, flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(add_help=True, usage=__doc__.replace("%", "%%"))
    parser.add_argument("--c", type=int, default=400)
    parser.add_argument("--swift", type=int, default=100)
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", default="")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--again", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--matrix", default="")
    parser.add_argument("--shard", type=lambda text: tuple(map(int, text.split("/"))), default=(1, 1))
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.report:
        print_report(options.matrix)
        return 0
    if options.sample:
        options.c, options.swift = 40, 0  # ten Swift faults take three minutes
    found = list(candidates(options.only, options.times))
    in_c = choose([item for item in found if item[0].endswith(".c")], options.c, options.seed)
    in_swift = choose([item for item in found if item[0].endswith(".swift")], options.swift, options.seed)
    if options.again:
        again = not_caught(options.again)
        in_c, in_swift = ([item for item in items if identity(item[0], *item[2:5]) in again] for items in (in_c, in_swift))
    faults = [Fault(number, *item) for number, item in enumerate(in_c + in_swift)]
    print(f"# {len(faults)} faults of {len(found)} possible ones; seed {options.seed}", flush=True)
    if options.list:
        for fault in faults:
            print(f"{fault.file}:{fault.line + 1} {fault.kind}\n  - {fault.before.strip()}\n  + {fault.after.strip()}")
        return 0
    BUILD.mkdir(parents=True, exist_ok=True)
    if not options.matrix:
        (BUILD / "results.jsonl").write_text("")
    copy_tree(faults)
    good = True
    for language, chosen in (("C", faults[:len(in_c)]), ("Swift", faults[len(in_c):])):
        if not chosen:
            continue
        # A corpus finds crashes: no other test could take its place.
        built = build_c(chosen, not options.sample and not options.matrix) if language == "C" else build_swift(chosen)
        if options.matrix:
            first, step = options.shard
            compiled, tests, jobs, confirms = built
            tests = functions(tests) if language == "C" else tests
            fill(options.matrix, compiled[first - 1::step], tests, jobs, confirms)
        else:
            good = report(language, judge(*built), options.sample) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts tests in the logs of the stages, each test once.

Usage: count_tests.py [--sum] LOG...

Prints "passed failed skipped" for one log; with --sum, the closing lines for all of them together.

A C test is built several ways (with sanitizers, by clang, without libbluetooth, for other machines): it counts once, as
failed if it failed in any build; --sum names the builds. A kernel case that was run again counts with its last run; --sum
names it, with the reason, and in the last line. If the variable CI is set, a skipped test counts as failed: what a test
needs is installed there."""

import collections
import os
import pathlib
import re
import sys

RESULT = re.compile(r"\s*(?P<bad>not )?ok\b(?: \d+)?(?: -)? *(?P<name>.*)")
SWIFT = re.compile(r"(?P<mark>[✔✘➜↷]) Test (?P<name>.*?) (?P<what>passed after|failed after|skipped)")
SKIPPED = "failed" if os.environ.get("CI") else "skipped"
BUILD_OF_STAGE = {"c_sanitized": "sanitizers", "c_clang": "clang", "c_without_bluez": "without libbluetooth"}


class Log:
    """What one stage printed: results by the identity of their tests."""

    def __init__(self, path):
        self.stage = pathlib.Path(path).stem
        self.results = {}  # identity: (passed, failed or skipped; build or None)
        self.repeated = {}  # kernel case: reasons of its first run
        self.program = self.case = self.kernel = None
        self.seen = collections.Counter()
        for line in pathlib.Path(path).read_text(errors="replace").splitlines():
            self.take(line)
        # Meson shows the output of a failed test once more, before its log.
        names = {key[2] for key in self.results if key[0] == "c"}
        self.results = {key: value for key, value in self.results.items() if key[0] != "stage" or key[2] not in names}

    def take(self, line):
        if line.startswith("test: "):  # Meson: "test:         tendon:linux / linux_loop"
            self.program = line.split(" / ")[-1].strip()
        elif line.startswith("======"):
            self.program = None
        elif line.startswith("# guest is up after"):
            self.kernel = line.split(": ")[1].split(",")[0]
        elif line.startswith("# --- "):
            self.begin_case(line[6:].split(":")[0])
        elif line.startswith("# NOT OK, to be run again: "):
            reason = line.split(": ", 1)[1]
            self.repeated.setdefault(self.case, []).append(reason)
        else:
            self.take_result(line)

    def begin_case(self, name):
        """The results of a run before this one do not count."""
        self.case = name
        mine = ("kernel", self.kernel, name)
        self.results = {key: value for key, value in self.results.items() if key[:3] != mine}
        self.seen = collections.Counter({key: n for key, n in self.seen.items() if key[:3] != mine})

    def take_result(self, line):
        swift = SWIFT.match(line)
        if swift and not swift["name"].startswith("run "):
            what = {"passed after": "passed", "failed after": "failed", "skipped": SKIPPED}[swift["what"]]
            self.add(("swift", self.stage, swift["name"]), what, None)
            return
        found = RESULT.match(line)
        if not found:
            return
        name = re.sub(r"\s*# *SKIP.*", "", found["name"]).strip()
        skipped = not found["bad"] and re.search(r"# *SKIP", line)
        what = "failed" if found["bad"] else SKIPPED if skipped else "passed"
        build = BUILD_OF_STAGE.get(self.stage.removesuffix("_gate"))
        machine = re.match(r"(\w+): ", name) if self.stage == "cross" else None
        if machine:
            build, name = machine[1], name[machine.end():]
        if self.program:
            self.add(("c", self.program, name), what, build)
        elif self.kernel:
            self.add(("kernel", self.kernel, self.case, name), what, None)
        else:
            self.add(("stage", self.stage, name), what, build)

    def add(self, key, what, build):
        """The same name twice in one place are two tests."""
        place = key + (build,)
        self.seen[place] += 1
        self.results[key + (self.seen[place], build)] = what

    def count(self):
        found = collections.Counter(self.results.values())
        return found["passed"], found["failed"], found["skipped"]


def merged(logs):
    """Each test with its results in all builds."""
    tests = collections.defaultdict(dict)
    for log in logs:
        for key, what in log.results.items():
            tests[key[:-1]][key[-1]] = what
    return tests


def verdict(results):
    return "failed" if "failed" in results else "passed" if "passed" in results else "skipped"


def sum_up(logs):
    tests = merged(logs)
    builds = collections.Counter(build for key, results in tests.items() for build in results if build and key[0] == "c")
    if len(builds) > 1:
        each = ", ".join(f"{name} ({count})" for name, count in builds.items())
        number = sum(1 for key in tests if key[0] == "c")
        print(f"== {number} C tests, counted once, in {len(builds)} builds: {each}")
    repeated = {case: reasons for log in logs for case, reasons in log.repeated.items()}
    if repeated:
        print("== run a second time, which decided")
        for case, reasons in repeated.items():
            for reason in reasons:
                print(f"{case}: {reason}")
    found = collections.Counter(verdict(results.values()) for results in tests.values())
    extra = sum(log.extra for log in logs)
    line = f"{found['passed']} passed, {found['failed'] + extra} failed, {found['skipped']} skipped"
    if repeated:
        line += f"; run twice: {', '.join(repeated)}"
    print(line)


def main(arguments):
    with_sum = arguments[:1] == ["--sum"]
    logs = []
    for argument in arguments[1 if with_sum else 0:]:
        path, _, extra = argument.partition("=")  # LOG=N: N failures that no line of the log tells
        logs.append(Log(path))
        logs[-1].extra = int(extra or 0)
    if with_sum:
        sum_up(logs)
    else:
        print(*logs[0].count())


if __name__ == "__main__":
    main(sys.argv[1:])

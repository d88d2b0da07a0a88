#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every test that docs/known-problems.md names exists: the name of a C test, or of a kernel case."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    tests = set()
    for path in (ROOT / "Tests/C").rglob("*.c"):
        tests |= set(re.findall(r"^static void (\w+)\(void \*\*state\)", path.read_text(), re.M))
        tests |= set(re.findall(r"^TEST\((\w+)\)", path.read_text(), re.M))
    tests |= {path.stem for path in (ROOT / "Tests/Kernel/cases").rglob("*.sh")}
    rows = [line.split("|") for line in (ROOT / "docs/known-problems.md").read_text().splitlines() if re.match(r"\| \d", line)]
    problems = []
    for row in rows:
        names = re.findall(r"`([^`]+)`", row[4])
        problems += [f"problem {row[1].strip()} has no test"] if not names else []
        problems += [f"problem {row[1].strip()}: no test is called {name}" for name in names if name not in tests]
    print(f"{'not ok' if problems or len(rows) != 20 else 'ok'} - the tests of {len(rows)} known problems exist")
    for problem in problems:
        print("#  ", problem)
    return 1 if problems or len(rows) != 20 else 0


sys.exit(main())

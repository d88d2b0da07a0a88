# SPDX-License-Identifier: MIT
"""The results of a program that checks: a line "ok NAME" or "not ok NAME: DETAIL" for each."""

import sys
import traceback

failures = 0


def check(name, truth, detail=""):
    global failures
    failures += not truth
    print(f"ok {name}" if truth else f"not ok {name}: {detail}", flush=True)


def outcome():
    """The exit status: 1 if a check failed."""
    return 1 if failures else 0


def broken(kind, error, trace):
    traceback.print_exception(kind, error, trace)
    check("the checks run to their end", False, f"{kind.__name__}: {error}")


sys.excepthook = broken

# SPDX-License-Identifier: MIT
"""Runs the tests that reach a fault with this fault switched on."""

import concurrent.futures
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from building import BUILD, TREE, drop_what_does_not_compile, run
from explaining import explained, reason_of

# What the sanitizer finds ends a test, as under "meson test".
SANITIZERS = {"UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1"}
JOBS = max(1, os.cpu_count() or 1)


def outcome(command, environment, limit, directory):
    """The exit status, or "timeout"; nothing that the command started is left running. The limit is one of real time for what
    waits, longer where the machine is known to be busy, and one of CPU time for what spins."""
    command = ["prlimit", f"--cpu={int(limit) + 1}", *command]
    limit *= int(os.environ.get("TENDON_TIMEOUT_MULTIPLIER", "1"))
    # A test that a fault or the limit ends does not remove its files.
    with tempfile.TemporaryDirectory(prefix="tm", dir="/tmp", ignore_cleanup_errors=True) as files:
        process = subprocess.Popen(command, env={**os.environ, "TMPDIR": files, **environment}, cwd=directory,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            return process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def reached_by(command, environment, directory, name):
    trace = BUILD / "trace" / name
    trace.parent.mkdir(parents=True, exist_ok=True)
    trace.unlink(missing_ok=True)
    for attempt in range(2):
        started = time.monotonic()
        status = outcome(command, {**environment, "TENDON_MUTANT_TRACE": str(trace)}, 600, directory)
        spent = time.monotonic() - started
        if status == 0:
            break
        print(f"# {name} fails without any fault ({status})", flush=True)
    else:
        return None
    data = trace.read_bytes() if trace.exists() else b""
    return {number for number, byte in enumerate(data) if byte}, spent


def trace_all(tests, jobs):
    """tests: (name, command, environment, directory). Returns for each the numbers of the faults that it reaches and its seconds."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        traces = list(pool.map(lambda test: reached_by(test[1], test[2], test[3], test[0]), tests))
    for number, test in enumerate(tests):
        if traces[number] is None:  # now alone on the machine
            traces[number] = reached_by(test[1], test[2], test[3], test[0])
        if traces[number] is None:
            sys.exit(f"mutate: {test[0]} fails without any fault, alone too")
    return traces


def those_that_reach(fault, tests, traces):
    """(seconds, test) of the tests that reach a fault, the fastest first."""
    return sorted((spent, test) for (numbers, spent), test in zip(traces, tests) if fault.number in numbers)


def fails(fault, test, limit, confirms):
    """The outcome of a test that fails with this fault, otherwise 0."""
    _, command, environment, directory = test
    environment = {**environment, "TENDON_MUTANT": str(fault.number)}
    status = outcome(command, environment, limit, directory)
    # On a busy machine a test may fail by itself: the fault has to fail it twice.
    return outcome(command, environment, limit, directory) if status != 0 and confirms else status


def judge(faults, tests, jobs, confirms):
    """Returns {fault: name of the test that caught it, or None}."""
    traces = trace_all(tests, jobs)

    def one(fault):
        order = those_that_reach(fault, tests, traces)
        for spent, test in order:
            if fails(fault, test, 8 + 10 * spent, confirms) != 0:
                return test[0]
        return None if order else ""

    verdicts = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for fault, test in zip(faults, pool.map(one, faults)):
            verdicts[fault] = test
            note(fault, test)
    return verdicts


def note(fault, test):
    """One line for each fault as it is judged: a long run can be read before its end."""
    with (BUILD / "results.jsonl").open("a") as out:
        out.write(json.dumps({"file": fault.file, "line": fault.line + 1, "kind": fault.kind, "before": fault.before.strip(),
                              "after": fault.after.strip(), "caught_by": test or None, "reached": test is None or bool(test),
                              "explained": reason_of(explained(), fault)}) + "\n")


def identity(file, kind, before, after):
    """A fault, wherever its line has moved to."""
    return file, kind, before.strip(), after.strip()


def not_caught(name):
    """The faults of an earlier run, of which `name` is a copy of results.jsonl."""
    rows = [json.loads(line) for line in open(name).read().splitlines()]
    return {identity(*(row[key] for key in ("file", "kind", "before", "after"))) for row in rows if not row["caught_by"]}


def build_c(faults, corpora):
    """The faults that compile, and what judge() takes besides."""
    build = TREE / ".build/c"
    environment = {**os.environ, "CFLAGS": "-w -O0"}
    described = []

    def compile_all():
        if not (build / "build.ninja").exists():
            made = run(["meson", "setup", str(build), ".", "-Dbuildtype=plain", "-Dwerror=false",
                        "-Db_sanitize=undefined",  # a half of what the stage c_sanitized has
                        f"-Dcorpora={str(corpora).lower()}"], env=environment)
            if made.returncode != 0:
                return made
        run(["ninja", "-C", str(build), "build.ninja"])  # tests that were added since are listed only then
        described[:] = json.loads(run(["meson", "introspect", str(build), "--tests"]).stdout)
        programs = {os.path.relpath(word, build) for test in described for word in test["cmd"] if word.startswith(f"{build}/")}
        return run(["ninja", "-k", "0", "-C", str(build), *sorted(programs)])

    faults = drop_what_does_not_compile(faults, compile_all, r"(?m)^(\S+?\.c):(\d+):\d+: error")
    tests = [(test["name"].replace("/", "_").replace(" ", ""), test["cmd"], {**SANITIZERS, **test["env"]},
              test["workdir"] or str(build)) for test in described]
    return faults, tests, JOBS, False


def build_swift(faults):
    scratch = TREE / ".build/swift"
    # The tests' program alone: without the command and the benchmarks.
    base = ["swift", "build", "--scratch-path", str(scratch), "--product", "tendonPackageTests", "-j", str(JOBS)]
    faults = drop_what_does_not_compile(faults, lambda: run(base), r"(?m)^(\S+?\.swift):(\d+):\d+: error")
    program = [str(scratch / "debug/tendonPackageTests.xctest"), "--testing-library", "swift-testing"]
    return faults, swift_tests(program), 4 * JOBS, True  # most of their time they wait


def swift_tests(program):
    """One function of a suite each, so that a fault runs only those that reach it."""
    listed = subprocess.run([*program, "--list-tests"], cwd=TREE, capture_output=True, text=True, check=True).stdout
    names = sorted({line.split()[0] for line in listed.splitlines() if re.match(r"\w+\.\S*/\w+\(", line)})
    if not names:
        sys.exit("mutate: there are no Swift tests")
    return [(name.replace("/", "."), [*program, "--filter", "^" + re.escape(name)], {}, str(TREE)) for name in names]

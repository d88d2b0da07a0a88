# SPDX-License-Identifier: MIT
"""Which tests fail for which fault, and what that says of tests that nothing needs."""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import threading

from building import TREE, run
from running import fails, identity, those_that_reach, trace_all

HANGS_MAX = 2  # of one fault: what hangs in these tests hangs in most that reach it


def functions(tests):
    """The functions of each cmocka program as tests of their own; another program stays one test."""
    found = []
    targets = json.loads(run(["meson", "introspect", str(TREE / ".build/c"), "--targets"]).stdout)
    sources = {target["filename"][0]: target["target_sources"][0]["sources"] for target in targets
               if target["type"] == "executable"}
    for name, command, environment, directory in tests:
        names = [function for source in sources.get(command[0], [])
                 for function in re.findall(r"(?m)^static void (\w+)\(void \*\*\w+\)", pathlib.Path(source).read_text())]
        found += [(f"{name}.{function}", command, {**environment, "TENDON_MUTANT_TEST": function}, directory)
                  for function in sorted(set(names))] or [(name, command, environment, directory)]
    return found


def rows_of(name):
    """{test: seconds}, [fault]."""
    rows = [json.loads(line) for line in open(name)] if os.path.exists(name) else []
    return {row["test"]: row["seconds"] for row in rows if "test" in row}, [row for row in rows if "killed" in row]


def fill(name, faults, tests, jobs, confirms):
    known, judged = rows_of(name)
    judged = {identity(*(row[key] for key in ("file", "kind", "before", "after"))) for row in judged}
    traces = trace_all(tests, jobs)
    lock = threading.Lock()

    def one(fault):
        reached, killed, hangs = those_that_reach(fault, tests, traces), [], 0
        for spent, test in reached:
            # Shorter than that of a single run: all that hang are waited for.
            status = fails(fault, test, max(2 * spent, min(3 + 10 * spent, 15)), confirms)
            killed += [test[0]] if status != 0 else []
            hangs += status in ("timeout", -9, -24)  # -9, -24: the limit of processor time
            if hangs >= HANGS_MAX:
                break
        row = {"file": fault.file, "line": fault.line + 1, "kind": fault.kind, "before": fault.before.strip(),
               "after": fault.after.strip(), "reached": [test[0] for _, test in reached], "killed": killed}
        with lock:
            print(json.dumps({**row, **({"hangs": True} if hangs >= HANGS_MAX else {})}), file=out, flush=True)

    with open(name, "a") as out, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (_, spent), test in zip(traces, tests):
            if test[0] not in known:
                print(json.dumps({"test": test[0], "seconds": round(spent, 3)}), file=out, flush=True)
        todo = [fault for fault in faults if identity(fault.file, fault.kind, fault.before, fault.after) not in judged]
        list(pool.map(one, todo))


def cover(kills):
    """Few tests that kill together what all kill: the one that adds most, again and again."""
    left, chosen = set().union(*kills.values()), []
    while left:
        chosen.append(max(kills, key=lambda test: (len(kills[test] & left), test)))
        left -= kills[chosen[-1]]
    return chosen


def print_report(name):
    seconds, rows = rows_of(name)
    usable = [row for row in rows if not row.get("hangs")]  # what hangs was not run to the end
    reached, kills, alone = (collections.defaultdict(set) for _ in range(3))
    for number, row in enumerate(usable):
        for test in row["reached"]:
            reached[test].add(number)
        for test in row["killed"]:
            kills[test].add(number)
            if len(row["killed"]) == 1:
                alone[test].add(number)
    caught = sum(bool(row["killed"]) for row in rows)
    print(f"{len(rows)} faults: {caught} killed, {sum(not row['reached'] for row in rows)} not reached, {len(rows) - len(usable)}"
          f" hang and are left out below")
    chosen = cover(kills) if kills else []
    print(f"{len(seconds)} tests, {sum(seconds.values()):.0f} s; {len(chosen)} of them, {sum(seconds[test] for test in chosen):.0f}"
          " s, kill all that all kill")
    print("\nroom: tests, seconds, kill something, kill something alone, reach something and kill nothing")
    rooms = collections.defaultdict(list)
    for test in sorted(seconds):
        rooms[re.match("[^._]+", test)[0]].append(test)
    for room, tests in rooms.items():
        print(f"{room}: {len(tests)}, {sum(seconds[test] for test in tests):.1f}, {sum(bool(kills[test]) for test in tests)},"
              f" {sum(bool(alone[test]) for test in tests)}, {sum(bool(reached[test]) and not kills[test] for test in tests)}")
    print("\ntest: seconds, reached, killed, killed alone")
    for test in sorted(seconds, key=lambda test: (-len(alone[test]), -len(kills[test]), -len(reached[test]), test)):
        print(f"{test}: {seconds[test]}, {len(reached[test])}, {len(kills[test])}, {len(alone[test])}")
    print("\nreach something and kill nothing: seconds, reached")
    for test in sorted((test for test in seconds if reached[test] and not kills[test]), key=lambda test: -seconds[test]):
        print(f"{test}: {seconds[test]}, {len(reached[test])}")
    # Of tests that kill the same, the first needs no other.
    order = sorted((test for test in seconds if kills[test]), key=lambda test: (-len(kills[test]), seconds[test], test))
    inside = collections.defaultdict(list)
    for number, test in enumerate(order):
        other = next((other for other in order[:number] if kills[test] <= kills[other]), None)
        if other:
            inside[other].append(test)
    print("\nkill nothing that the first does not kill: seconds, killed")
    for other, tests in sorted(inside.items(), key=lambda item: -sum(seconds[test] for test in item[1])):
        print(f"{other} ({len(kills[other])}): {sum(seconds[test] for test in tests):.2f} s in {len(tests)} tests")
        for test in sorted(tests, key=lambda test: -seconds[test]):
            print(f"  {test}: {seconds[test]}, {len(kills[test])}")

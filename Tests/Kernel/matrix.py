#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of what ran where: docs/test-matrix.md, made from the output of run.sh.

  matrix.py write TABLE LOG...   makes the table from the output of runs; of two runs of a case in the same machine the later
                                 counts; a later LOG's result of a case takes the place of the one before
  matrix.py check TABLE          the table has a line for each case in cases/ and no other, each with what its header says;
                                 prints a result as the cases do
"""
import pathlib
import re
import sys

CASES = pathlib.Path(__file__).resolve().parent / "cases"
CONTROLLERS = {"legacy": "btvirt 4", "extended": "btvirt 5", "rootcanal": "RootCanal"}
SOCKETS = {"library": "libbluetooth", "kernel": "kernel sockets"}
HEAD = """# Which kernel case ran where

Cases of `Tests/Kernel/cases`, each with the controllers it had and the number of its checks that passed. Made by
`make kernel-matrix` ([how the cases run](../Tests/Kernel/README.md)); a script checks that every case has a line.

| controllers | are |
| --- | --- |
| btvirt 4, btvirt 5 | BlueZ's emulator: a controller with the legacy commands only; one with the extended sets |
| RootCanal | Android's virtual controller, which checks every parameter |
| scripted | `Tests/Kernel/controller.py` and `hostile.py`, which break rules |
| bumble | bumble's controllers: adapters, and devices in range of them |

Test programs in C reach the kernel through libbluetooth or through our own description of its sockets, as the column says;
the command `tendon` has libbluetooth. "(run 2)": a first run of the case failed, and it was run again with nothing beside
it. A dash: not in the runs that this table was made from.
"""


def header(text, name, default):
    found = re.search(rf"^# {name}: *(.*)$", text, re.M)
    return found.group(1).strip() if found else default


def cases():
    """Name, kinds and title of each case, in the order in which they run."""
    for path in sorted(CASES.glob("*.sh")) + sorted(CASES.glob("*/*.sh")):
        text = path.read_text(encoding="utf-8")
        kinds = header(text, "kinds", "legacy").split()
        names = {kind: header(text, "controllers", "own") if kind == "none" else CONTROLLERS[kind] for kind in kinds}
        yield path.stem, names, header(text, "title", "")


def number(version):
    return [int(part) for part in re.findall(r"\d+", version)]


def read(logs):
    """{(version, sockets): (date, {case: {kind: [passed, failed, runs, log]}})}"""
    kinds = {name: list(names) for name, names, _ in cases()}
    runs, machine, current = {}, None, None
    for log, line in ((log, line) for log in logs
                      for line in pathlib.Path(log).read_text(encoding="utf-8", errors="replace").splitlines()):
        if found := re.match(r"# machine: (\S+) sockets=(\w+) date=(\S+)", line):
            version, sockets, date = found.groups()
            known = runs.setdefault((version, sockets), [date, {}])
            known[0] = max(known[0], date)
            machine, current = known[1], None
        elif line.startswith("# guest is up"):
            machine = current = None
        elif (found := re.match(r"# --- ([^/:]+)(?:/(\w+))?: ", line)) and machine is not None:
            name, kind = found.groups()
            if name in kinds:  # cases that are no more do not count
                results, kind = machine.setdefault(name, {}), kind or kinds[name][0]
                before = results.get(kind, [0, 0, 0, log])
                current = results[kind] = [0, 0, (before[2] if before[3] == log else 0) + 1, log]
        elif re.match(r"# .* took \d+ ms, its processors", line):
            current = None
        elif current is not None and re.match(r"ok |not ok |# NOT OK, to be run again: ", line):
            current[not line.startswith("ok ")] += 1
    return runs


def cell(results, names):
    parts = [(f"{names[kind]}: {passed}" if not failed else f"**{names[kind]}: {passed}, {failed} failed**")
             + (f" (run {runs})" if runs > 1 else "")
             for kind, (passed, failed, runs, _) in results.items() if kind in names]
    return ", ".join(sorted(parts)) or "-"


def write(table, logs):
    runs = read(logs)
    if not runs:
        sys.exit("matrix.py: no run in these files")
    columns = sorted(runs, key=lambda column: (number(column[0]), column[1]))
    lines = [HEAD, "| case | " + " | ".join(
        f"Linux {version}, {SOCKETS[sockets]}, {runs[version, sockets][0]}" for version, sockets in columns) + " |",
        "| --- |" + " --- |" * len(columns)]
    for name, names, title in cases():
        results = [cell(runs[column][1].get(name, {}), names) for column in columns]
        lines.append(f"| `{name}`: {title.replace('|', '/')} | " + " | ".join(results) + " |")
    pathlib.Path(table).write_text("\n".join(lines) + "\n", encoding="utf-8")


def check(table):
    rows = [re.match(r"\| `([^`]+)`: (.*?) \| (.*) \|$", line)
            for line in pathlib.Path(table).read_text(encoding="utf-8").splitlines()]
    rows = {row.group(1): (row.group(2), row.group(3)) for row in rows if row}
    known = {name: title.replace("|", "/") for name, _, title in cases()}
    problems = [f"{name} has no line" for name in known if name not in rows]
    problems += [f"no case is called {name}" for name in rows if name not in known]
    problems += [f"{name} has another title" for name in known if name in rows and rows[name][0] != known[name]]
    missing = {name: [kind for kind in names.values() if rows.get(name, ("", ""))[1].strip("-| ") and kind not in rows[name][1]]
               for name, names, _ in cases()}
    problems += [f"{name} did not run with {', '.join(kinds)}" for name, kinds in missing.items() if kinds]
    problems += [f"{name} failed in the run" for name, (_, results) in rows.items() if "failed**" in results]
    new = sum(not results.strip("-| ") for _, results in rows.values())
    print(f"{'not ok' if problems else 'ok'} - the table of kernel cases has a line for each of {len(known)}"
          + (f", {new} of them without a result" if new else ""))
    for problem in problems:
        print("#  ", problem)
    return 1 if problems else 0


def main():
    what, *files = sys.argv[1:] or [""]
    if what == "write" and len(files) > 1:
        write(files[0], files[1:])
    elif what == "check" and len(files) == 1:
        sys.exit(check(files[0]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()

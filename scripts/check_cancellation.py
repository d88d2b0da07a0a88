#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every public asynchronous function has a row in the cancellation contract's test, or a reason why it needs none.

Usage: check_cancellation.py GRAPHS MODULE...
GRAPHS: folder of the modules' symbol graphs, as swift symbolgraph-extract writes them.
Rows are read from Tests/Swift/CancellationTests/*Rows.swift: Row("NAME"), request("NAME"), Exemption("NAME", "why").
"""
import json
import pathlib
import re
import sys

ROWS = pathlib.Path(__file__).parent.parent / "Tests/Swift/CancellationTests"


def is_async(fragments):
    """The keyword stands behind the parameters, not in one of them."""
    depth = 0
    for fragment in fragments:
        if fragment["spelling"] == "async" and depth == 0:
            return True
        depth += fragment["spelling"].count("(") - fragment["spelling"].count(")")
    return False


def functions(graphs, module):
    """Public asynchronous functions of a module, extensions of other modules' types included."""
    found = set()
    for path in sorted(graphs.glob(f"{module}.symbols.json")) + sorted(graphs.glob(f"{module}@*.symbols.json")):
        for symbol in json.loads(path.read_text())["symbols"]:
            if is_async(symbol.get("declarationFragments", [])):
                found.add(".".join(symbol["pathComponents"]))
    return found


def rows(module):
    """Names in the module's file of rows."""
    path = ROWS / f"{module}Rows.swift"
    text = path.read_text() if path.exists() else ""
    names = re.findall(r'\b[A-Za-z]+\(\s*"([A-Z][A-Za-z0-9]*\.(?:[A-Z]\w*\.)?[a-z][^"]*)"', text)
    exempt = re.findall(r'\bExemption\(\s*"([^"]+)",\s*"([^"]+)"', text)
    return set(names), {name for name, _ in exempt}


def main():
    graphs, modules = pathlib.Path(sys.argv[1]), sys.argv[2:]
    failures = 0
    for module in modules:
        wanted = functions(graphs, module)
        named, exempt = rows(module)
        missing, stale = sorted(wanted - named), sorted(named - wanted)
        for name in missing:
            print(f"#   {name} has no row in Tests/Swift/CancellationTests/{module}Rows.swift")
        for name in stale:
            print(f"#   {name} is in {module}Rows.swift and no public asynchronous function")
        bad = bool(missing or stale)
        failures += bad
        print(f"{'not ok' if bad else 'ok'} - {module}: {len(wanted)} asynchronous functions, {len(exempt)} exempt, "
              "each with a row of the cancellation contract")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables of Tests/Phone/signatures: the vendors' public signatures as lines of a program for the phone.

Usage: check_signatures.py generate FOLDER    writes one Swift file per family, and a main file that compares raw values
       check_signatures.py count [LOG]        prints TAP lines: how many are offered; with the log of a failed build, which
                                              lines do not compile

A table has one line per signature: name | parameters | statements. The statements are compiled as a function of the main
actor, without `await` and without an annotation. In place of the parameters, "-" says that the signature is not offered,
and the third column says why. A name that begins with ~ is one without an effect.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULES = {"activ5": "TendonActiv5", "bose": "TendonBose", "feelspace": "TendonFeelSpace", "fjorden": "TendonFjorden",
           "obvious": "TendonObvious"}
# Of all signatures; and names without an effect.
LEAST, MOST_IDLE = 0.95, 40

MAIN = """
import Glibc

@MainActor var compared = 0
@MainActor var different: [String] = []

func touch(_ values: Any?...) {}
func use(_ value: Any?) {}
@discardableResult func same<Value>(_ value: Value) -> Value { value }
func expect(_ condition: Bool, _ name: String) {
    compared += 1
    if !condition { different.append(name) }
}

@main
enum Program {
    static func main() {
        %s
        print("\\(compared) raw values are the vendors'")
        for name in different { print("another value: \\(name)") }
        exit(different.isEmpty ? 0 : 1)
    }
}
"""


def rows(family):
    """Name, parameters (None: not offered), statements or reason, number of the line."""
    path = ROOT / f"Tests/Phone/signatures/{family}.txt"
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        name, parameters, statements = (part.strip() for part in line.split(" | ", 2))
        yield name, None if parameters == "-" else "" if parameters == "()" else parameters, statements, number


def generate(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for family, module in MODULES.items():
        lines = ["import Foundation", "import Tendon", "import TendonFoundation", f"import {module}", ""]
        raw = []
        for name, parameters, statements, number in rows(family):
            if parameters is None:
                continue
            lines.append(f'#sourceLocation(file: "{family}.txt", line: {number})')
            if statements.startswith("expect("):
                raw.append(f"{family}{number}()")
                statements = statements[:-1] + f', "{name}")'
            lines.append(f"func {family}{number}({parameters}) {{ {statements} }}")
        lines.append("#sourceLocation()")
        lines.append(f"func {family}RawValues() {{\n    " + "\n    ".join(raw) + "\n}\n")
        (folder / f"{family}.swift").write_text("\n".join(lines))
    (folder / "Program.swift").write_text(MAIN % "\n        ".join(f"{family}RawValues()" for family in MODULES))


def count(log):
    broken = {}
    for family, number, text in re.findall(r"(?:^|/)(\w+)\.txt:(\d+):\d+: error: (.*)", log, re.M):
        broken.setdefault((family, int(number)), text)
    total, offered, idle, failed = 0, 0, [], False
    for family in MODULES:
        table = list(rows(family))
        bad = [(name, broken[family, number]) for name, _, _, number in table if (family, number) in broken]
        refused = sum(parameters is None for _, parameters, _, _ in table)
        here = len(table) - refused - len(bad)
        idle += [name[1:] for name, parameters, _, _ in table if name.startswith("~") and parameters is not None]
        total, offered = total + len(table), offered + here
        print(("not ok" if bad else "ok") + f" - {family}: {here} of {len(table)} signatures compile, {refused} are not offered")
        for name, text in bad:
            print(f"#   {name}: {text}")
        failed = failed or bool(bad)
    enough = offered >= LEAST * total
    print(("ok" if enough else "not ok") + f" - {offered} of {total} signatures of the vendors, {100 * offered / total:.1f} %")
    few = len(idle) <= MOST_IDLE
    print(("ok" if few else "not ok") + f" - {len(idle)} names have no effect: {', '.join(idle)}")
    return 1 if failed or not enough or not few else 0


if sys.argv[1] == "generate":
    generate(pathlib.Path(sys.argv[2]))
else:
    sys.exit(count(pathlib.Path(sys.argv[2]).read_text() if len(sys.argv) > 2 else ""))

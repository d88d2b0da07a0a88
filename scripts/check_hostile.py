#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every id of Tests/hostile_ids.txt has a test by its name, and no test has an id that is not there.

C tests carry an id as mal_A07, or as i07 at either end of their name; the checks of kernel cases and the scenarios of
Tests/Kernel/hostile.py begin with it; test purposes of the GATT client are gatt_cl_gar_bi_03_c.
  check_hostile.py [TABLE]    TABLE: another table, for the check of this script
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = {"ours", "kernel", "refused", "absent"}
CLASSES, PURPOSES = 127, 88


def ids_of(name):
    """The ids that the name of a C test carries."""
    purpose = re.match(r"gatt_cl_(ga[a-z])_(b[vi])_(\d\d)_c", name)
    if purpose:
        return {"GATT/CL/{}/{}-{}-C".format(*map(str.upper, purpose.groups()))}
    if "mal_" in name:
        return set(re.findall(r"(?<=_)[A-I]\d\d(?=_|$)", name))
    return {part.upper() for part in re.findall(r"^i(?:0\d|10)(?=_)|(?<=_)i(?:0\d|10)$", name)}


def tests():
    """Id: names of its tests."""
    found = {}
    for path in (ROOT / "Tests/C").rglob("*.c"):
        text = path.read_text()
        names = re.findall(r"^static void (\w+)\(void \*\*state\)|^TEST\((\w+)\)|^ +X\((\w+),", text, re.M)
        for name in (part for group in names for part in group if part):
            # What is not in the list of a group does not run.
            if len(re.findall(rf"\b{name}\b", text)) > 1 or f"X({name}," in text or f"TEST({name})" in text:
                for key in ids_of(name):
                    found.setdefault(key, []).append(name)
    for path in [*(ROOT / "Tests/Kernel/cases").rglob("*.sh"), ROOT / "Tests/Kernel/hostile.py"]:
        for key in re.findall(r"(?:^\s*check |Exchange\()f?\"([A-I]\d\d) ", path.read_text(), re.M):
            found.setdefault(key, []).append(f"{path.stem} {key}")
    return found


def main():
    table = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "Tests/hostile_ids.txt"
    rows = [[field.strip() for field in line.split("|", 2)] for line in table.read_text().splitlines() if line[:1] != "#"]
    found, problems = tests(), []
    kinds = {row[0]: row[1] for row in rows if len(row) == 3 and row[1] in KINDS and row[2]}
    problems += [f"{row} is no row" for row in rows if row[0] not in kinds]
    classes = sum(re.fullmatch(r"[A-I]\d\d", key) is not None for key in kinds)
    if len(kinds) != len(rows) or (classes, len(kinds) - classes) != (CLASSES, PURPOSES):
        problems.append(f"{classes} classes and {len(kinds) - classes} test purposes, not {CLASSES} and {PURPOSES}, each once")
    for key, kind in kinds.items():
        if (key in found) == (kind == "absent"):
            problems.append(f"{key} has a test, but the table says that it has none" if key in found else f"{key} has no test")
        elif kind == "kernel" and not any(" " in name for name in found.get(key, [" "])):
            problems.append(f"{key} is the kernel's, and no case sends it to the kernel")
    problems += [f"{', '.join(names)}: {key} is not in the table" for key, names in found.items() if key not in kinds]
    print(f"{'not ok' if problems else 'ok'} - {classes} classes of hostile input and {len(kinds) - classes} test purposes have tests")
    for problem in problems:
        print("#  ", problem)
    return 1 if problems else 0


sys.exit(main())

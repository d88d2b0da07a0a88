#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every id of Tests/hostile_ids.txt has a test by its name, and no test has an id that is not there.

C tests carry an id as mal_A07, or as i07 at either end of their name; the checks of kernel cases and the scenarios of
Tests/Kernel/hostile.py begin with it; test purposes of the GATT client are gatt_cl_gar_bi_03_c. A test counts if a
meson.build lists its file, and if its file runs it; what stands in a comment does not. Ids of group I are there for each
family of devices as well (I04/obvious): their tests are in files of that family, or the row says why there is none.
  check_hostile.py [TABLE [ROOT]]    another table and another tree, for the check of this script
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else __file__).resolve()
ROOT = ROOT if len(sys.argv) > 2 else ROOT.parent.parent
KINDS = {"ours", "kernel", "refused", "absent"}
CLASSES, PURPOSES = 127, 88
FAMILIES = ("bose", "feelspace", "activ5", "fjorden", "obvious")
EACH = [f"I{number:02}/{family}" for number in range(1, 11) for family in FAMILIES]


def ids_of(name):
    """The ids that the name of a C test carries."""
    purpose = re.match(r"gatt_cl_(ga[a-z])_(b[vi])_(\d\d)_c", name)
    if purpose:
        return {"GATT/CL/{}/{}-{}-C".format(*map(str.upper, purpose.groups()))}
    if "mal_" in name:
        return set(re.findall(r"(?<=_)[A-I]\d\d(?=_|$)", name))
    return {part.upper() for part in re.findall(r"^i(?:0\d|10)(?=_)|(?<=_)i(?:0\d|10)$", name)}


def bare(text):
    """C without comments; strings stay."""
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", lambda m: " " if m[0][0] == "/" else m[0], text, flags=re.S)


def built(folder):
    """The C files that a meson.build of the folder lists."""
    for path in folder.rglob("meson.build"):
        listed = "\n".join(line.partition("#")[0] for line in path.read_text().splitlines())
        for name in re.findall(r"'([\w./]+\.c)'", listed):
            if (path.parent / name).exists():
                yield (path.parent / name).resolve()


def tests():
    """Id: names of its tests. An id of group I is there once more for the family that the name of the file has."""
    found = {}
    for path in sorted(set(built(ROOT / "Tests/C"))):
        text = path.read_text()
        if not re.search(r"mal_|gatt_cl_|\bi(?:0\d|10)_|_i(?:0\d|10)\b", text):
            continue
        text = bare(text)
        names = re.findall(r"^static void (\w+)\(void \*\*state\)|^TEST\((\w+)\)|^ +X\((\w+),", text, re.M)
        families = [family for family in FAMILIES if re.search(rf"_{family}[_.]", path.name)]
        for name in (part for group in names for part in group if part and ids_of(part)):
            # What is not in the list of a group does not run.
            if len(re.findall(rf"\b{name}\b", text)) > 1 or f"X({name}," in text or f"TEST({name})" in text:
                for key in ids_of(name):
                    found.setdefault(key, []).append(name)
                    for family in families if key[0] == "I" else ():
                        found.setdefault(f"{key}/{family}", []).append(name)
    for path in [*(ROOT / "Tests/Kernel/cases").rglob("*.sh"), ROOT / "Tests/Kernel/hostile.py"]:
        text = re.sub(r"^\s*#.*", "", path.read_text(), flags=re.M)
        for key in re.findall(r"(?:^\s*check |Exchange\()f?\"([A-I]\d\d) ", text, re.M):
            found.setdefault(key, []).append(f"{path.stem} {key}")
    return found


def main():
    table = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "Tests/hostile_ids.txt"
    rows = [[field.strip() for field in line.split("|", 2)] for line in table.read_text().splitlines() if line[:1] != "#"]
    found, problems = tests(), []
    kinds = {row[0]: row[1] for row in rows if len(row) == 3 and row[1] in KINDS and row[2]}
    problems += [f"{row} is no row" for row in rows if row[0] not in kinds]
    classes = sum(re.fullmatch(r"[A-I]\d\d", key) is not None for key in kinds)
    each = [key for key in kinds if re.fullmatch(r"I\d\d/\w+", key)]
    purposes = len(kinds) - classes - len(each)
    if len(kinds) != len(rows) or (classes, purposes) != (CLASSES, PURPOSES):
        problems.append(f"{classes} classes and {purposes} test purposes, not {CLASSES} and {PURPOSES}, each once")
    problems += [f"{key} is not in the table" for key in EACH if key not in kinds]
    problems += [f"{key} is no class of a family" for key in each if key not in EACH]
    for key, kind in kinds.items():
        if key in each and kind not in ("ours", "absent"):
            problems.append(f"{key} is ours, or absent")
        elif (key in found) == (kind == "absent"):
            problems.append(f"{key} has a test, but the table says that it has none" if key in found else f"{key} has no test")
        elif kind == "kernel" and not any(" " in name for name in found.get(key, [" "])):
            problems.append(f"{key} is the kernel's, and no case sends it to the kernel")
    problems += [f"{', '.join(names)}: {key} is not in the table" for key, names in found.items()
                 if key not in kinds and key not in EACH]
    print(f"{'not ok' if problems else 'ok'} - {classes} classes of hostile input, {len(each)} of families and {purposes} test purposes have tests")
    for problem in problems:
        print("#  ", problem)
    return 1 if problems else 0


sys.exit(main())

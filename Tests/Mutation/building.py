# SPDX-License-Identifier: MIT
"""The copy of the sources with every chosen fault in it, each behind a switch."""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

from finding import ROOT

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("BUILD", ".build")).resolve() / "mutate"
TREE = BUILD / "tree"


def restore(name):
    """A file that differs gets the time of now: what was built from the faults of the run before is built again."""
    source, target = ROOT / name, TREE / name
    if source.is_symlink():
        target.unlink(missing_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(os.readlink(source))
    elif not target.is_file() or target.read_bytes() != source.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


def put(name, text):
    """Writes only what differs, so that a run with the faults of the run before builds nothing again."""
    target = TREE / name
    if not target.exists() or target.read_text() != text:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def additions():
    """The files that differ from the sources whatever the faults are."""
    header = "_Bool tendon_mutant(int number);\n"
    package = "Package.swift"  # a module without C could not ask which fault is switched on
    umbrella = "include/tendon/base.h"  # how Swift sees it
    build = "CSources/base/meson.build"
    return {
        "CSources/base/mutant.c": (HERE / "hit.c").read_text(),
        "include/tendon/mutant.h": f"#ifndef TENDON_MUTANT_H\n#define TENDON_MUTANT_H\n{header}#endif\n",
        build: (ROOT / build).read_text() + "core_sources += files('mutant.c')\n",
        umbrella: (ROOT / umbrella).read_text() + '\n#include "tendon/mutant.h"\n',
        package: (ROOT / package).read_text() + """
for target in package.targets where target.type == .regular && target.name.hasPrefix("Tendon") {
    if !target.dependencies.contains(where: { "\\($0)".contains("\\"CTendon\\"") }) {
        target.dependencies.append("CTendon")
    }
}
"""}


def copy_tree(faults):
    """All but the files with faults, which write_faults() writes."""
    TREE.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    names = {name for name in listed.stdout.split("\0") if name and os.path.lexists(ROOT / name)}
    added = additions()
    for folder, folders, files in os.walk(TREE):
        here = pathlib.Path(folder).relative_to(TREE)
        folders[:] = [name for name in folders if name != ".build"]
        for name in files:
            if str(here / name) not in names | set(added):
                (TREE / here / name).unlink()
    for name in names - set(added) - {fault.file for fault in faults}:
        restore(name)
    for name, text in added.items():
        put(name, text)


def write_faults(faults):
    """Writes each file with its faults in it."""
    files = collections.defaultdict(list)
    for fault in faults:
        files[fault.file].append(fault)
    for name, list_of_file in files.items():
        lines = (ROOT / name).read_text().split("\n")
        for fault in list_of_file:
            lines[fault.line:fault.line + fault.span] = [fault.after.replace("@", f"tendon_mutant({fault.number})"), *[""] * (fault.span - 1)]
        # On the first line, so that the compiler's line numbers stay those of the original.
        first = "import CTendon; " if name.endswith(".swift") else '#include "tendon/mutant.h" '
        put(name, first + "\n".join(lines))


def run(command, **options):
    return subprocess.run(command, cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def drop_what_does_not_compile(faults, build, complaint):
    """Builds until it succeeds; faults on lines that the compiler rejects are given up."""
    while True:  # each round gives up at least one fault
        write_faults(faults)
        result = build()
        if result.returncode == 0:
            return faults
        bad = {(os.path.relpath(os.path.normpath(found[1]), TREE) if os.path.isabs(found[1]) else found[1].replace("../", ""),
                int(found[2]) - 1) for found in re.finditer(complaint, result.stdout)}
        kept = [fault for fault in faults if (fault.file, fault.line) not in bad]
        if len(kept) == len(faults):  # reported behind the fault, for example where an initializer ends
            kept = [fault for fault in faults if not any(fault.file == name and 0 <= line - fault.line <= 25 for name, line in bad)]
        if len(kept) == len(faults):
            print(result.stdout[-4000:], file=sys.stderr)
            sys.exit("mutate: the copy does not build")
        for name in {fault.file for fault in faults} - {fault.file for fault in kept}:
            restore(name)
        faults = kept

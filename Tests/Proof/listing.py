# SPDX-License-Identifier: MIT
"""Whether every file of the C side that reads bytes is an own source of a proof, or is linked into a fuzz target.

What a file reads is looked for in its text without comments and strings, whatever its functions are called and take: the
reader of base/reader.h, recv() and read(), elements of `const uint8_t *`, `char *` and `void *`, and of views (`->data[`).
Each such file is an own source of a row of `decoders`, or stands in `by_fuzzing` with a target that links it, or there
with the reason why it decodes nothing. What a target links is found as a linker finds it: from its own names, file
by file, to the files that define what these use.
"""

import functools
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
READER = re.compile(r"\btendon_read(?:er)?_\w+")
CALLS = re.compile(r"\b(?:recv|recvmsg|recvmmsg|recvfrom|pread|read)\(")
VIEWS = re.compile(r"(?:->|\.)(?:data|bytes|value|pdu|packet|text)\[")
POINTERS = re.compile(r"const (?:uint8_t|char|void) \*(?:const )?(\w+)(?=[,;)= ])|[(,]\s*const uint8_t (\w+)\[")
FUNCTION = re.compile(r"^(?!static\b)\w[\w *]*?\b(\w+)\([^;{]*\) \{$", re.M)
TABLE = re.compile(r"^(?!static\b|extern\b|typedef\b)(?:const )?\w+ \**(\w+)(?:\[[^\]\n]*\])* (?:= \{|=$)", re.M)
BODY = re.compile(r"\) \{$.*?^\}$", re.M | re.S)  # of a function
NOTHING = "nothing decoded"


def bare(text):
    """Without comments; strings are empty."""
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'",
                  lambda m: " " if m[0][0] == "/" else m[0][0] * 2, text, flags=re.S)


@functools.cache
def text_at(path, _):
    return bare(path.read_text())


@functools.cache
def quoted_in(path, _):
    return re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)


def text_of(path):
    return text_at(path, path.stat().st_mtime_ns)


@functools.cache
def names_in(text, header):
    """The names that a file uses. What a header declares is not used by that; its inline functions are."""
    text = "".join(BODY.findall(text)) if header else text
    return frozenset(re.findall(r"\b\w+\b", text)), frozenset(re.findall(r"\b(\w+_)##\w+##(_\w+)", text))


@functools.cache
def defined_in(text):
    return FUNCTION.findall(text) + TABLE.findall(text)


@functools.cache
def reads(text):
    """Why a file counts as one that reads bytes; empty: it does not."""
    why = [what for what, pattern in (("reader", READER), ("calls", CALLS), ("views", VIEWS)) if pattern.search(text)]
    names = {name for groups in POINTERS.findall(text) for name in groups if name}
    why += sorted(name for name in names if re.search(
        rf"(?<![\w.>]){name}\[|(?<![\w)])\*{name}\b(?! *[=;,)])|mem(?:cmp\(|cpy\([^,]+, ){name}\b", text))
    return why


class Tree:
    """The sources, and which of them a program links."""

    def __init__(self, root):
        self.root = root
        self.files = sorted([*root.glob("CSources/**/*.[ch]"), *root.glob("Sources/CObviousCloud/*.c")])
        self.owner = {name: path for path in self.files if path.suffix == ".c"
                      for name in defined_in(text_of(path))
                      if name.startswith(("tendon_", "hci_"))}  # names that other files can use

    def name(self, path):
        return str(path.relative_to(self.root))

    @functools.cache
    def headers(self, path):
        found = [header for quoted in quoted_in(path, path.stat().st_mtime_ns)
                 for header in (path.parent / quoted, self.root / "include" / quoted)]
        return [header.resolve() for header in found if header.exists()]

    def uses(self, path, name):
        """Whether a file uses the name of a function; its own once more than where it is defined."""
        if path == self.owner[name]:
            return len(re.findall(rf"\b{name}\b", text_of(path))) > 1
        return name in names_in(text_of(path), path.suffix == ".h")[0]

    @functools.cache
    def linked(self, programs):
        """The files that a program of these files links, and the headers that they include."""
        found, open_ends = set(), list(programs)
        while open_ends:
            path = open_ends.pop()
            if path in found:
                continue
            found.add(path)
            open_ends += self.headers(path)
            names, parts = names_in(text_of(path), path.suffix == ".h")
            open_ends += {self.owner[name] for name in names if name in self.owner}
            for before, after in parts:  # of names that a macro puts together
                open_ends += {owner for name, owner in self.owner.items() if re.fullmatch(rf"{before}\w+{after}", name)}
        return found


def targets(root):
    """Fuzz targets whose corpora Meson replays: name to their own files."""
    build = "\n".join(line.partition("#")[0] for line in (root / "Tests/Fuzz/meson.build").read_text().splitlines())
    listed = re.findall(r"'(\w+)'", " ".join(re.findall(r"fuzz_targets \+?= \[(.*?)\]", build, re.S)))
    worlds = dict(re.findall(r"^  '(\w+)': \[(.*?)\]", build, re.M | re.S))
    listed += [*worlds, *re.findall(r"'fuzz_(\w+)\.c'", build)]
    return {name: (root / f"Tests/Fuzz/fuzz_{name}.c",
                   *(root / "Tests/C" / file for file in re.findall(r"'([\w./]+)'", worlds.get(name, ""))))
            for name in listed if (root / f"Tests/Fuzz/fuzz_{name}.c").exists()}


def table_of(path):
    return [[field.strip() for field in line.split("|")] for line in path.read_text().splitlines()
            if line and not line.startswith("#")]


def problems_of_files(root, rows, table):
    """Files that read bytes and are in no table, and lines of the table that are not true."""
    tree, fuzzed = Tree(root), targets(root)
    proven = {path for row in rows for path in row.own}
    reading = {tree.name(path): reads(text_of(path)) for path in tree.files if path.name != "reader.c"} # the reader itself
    found, listed = [], {}
    for line in table:
        if len(line) not in (2, 3):
            found.append(f"{line} is no line: FILE | TARGET, or FILE | {NOTHING} | WHY")
            continue
        name, target = line[:2]
        path = root / name
        if name in listed:
            found.append(f"{name} is listed twice")
        listed[name] = target
        if not reading.get(name):
            found.append(f"{name} reads nothing, or does not exist")
        elif path in proven:
            found.append(f"{name} is an own source of a proof")
        elif target == NOTHING:
            if len(line) != 3 or not line[2] or "reader" in reading[name]:
                found.append(f"{name} decodes with a reader, or no word says why nothing is decoded")
        elif target not in fuzzed:
            found.append(f"{name}: {target} is no fuzz target")
        elif path not in tree.linked(fuzzed[target]):
            found.append(f"{name}: fuzz target {target} does not link it")
    found += [f"{name} reads bytes ({', '.join(why)}): no proof has it as an own source, and by_fuzzing does not list it"
              for name, why in reading.items() if why and root / name not in proven and name not in listed]
    return found


def problems_of_functions(root, rows, table):
    """Functions of without_row that what their line names does not reach."""
    tree, fuzzed = Tree(root), targets(root)
    harnesses = {row.name: row.program for row in rows}
    found = []
    for line in table:
        if len(line) != 3 or not all(line):
            found.append(f"{line} is no line: FUNCTION | row:ROW, fuzz:TARGET or {NOTHING} | WHY")
            continue
        name, (kind, _, what) = line[0], line[1].partition(":")
        if name not in tree.owner:
            found.append(f"{name} does not exist")
        elif kind == "row":
            sources = {tree.root / "CSources" / source for row in rows if row.name == what for source in row.sources}
            if what not in harnesses or tree.owner[name] not in {source.resolve() for source in sources}:
                found.append(f"{name}: no row {what} has its file")
        elif kind == "fuzz":
            users = tree.linked(fuzzed[what]) if what in fuzzed else set()
            if not any(tree.uses(path, name) for path in users):
                found.append(f"{name}: fuzz target {what} does not call it")
        elif line[1] != NOTHING:
            found.append(f"{name}: {line[1]} is none of row:ROW, fuzz:TARGET, {NOTHING}")
    return found

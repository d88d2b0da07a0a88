#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Frama-C Eva on the decoders of Tests/Proof/decoders; TAP on standard output, logs in $BUILD/proof.

Usage: run.sh [--quick] [decoder ...]
       prove.py --list    whether each decoder has a row or a fuzz target, without a proof
"""

import concurrent.futures
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import threading
import typing

import listing
import test_listing

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SOURCES = ROOT / "CSources"
CLOUD = ROOT / "Sources/CObviousCloud"  # C beside the core: what stands between the cloud's answers and the parser
LOGS = pathlib.Path(os.environ.get("BUILD", ".build")).resolve() / "proof"
SECONDS = int(os.environ.get("PROOF_SECONDS", "900"))
DOMAINS = "equality"
PIECE = 600  # lengths of one run
QUICK_BUGS = 8  # with --quick, the seeded bug of every eighth row
# Takes bytes and a length, but they are the program's own: nothing is decoded.
SENDERS = re.compile(r"encode|_command|_send$|_set_static$|_gatt_(write|write_long|write_value|notify|indicate)$|_join_uuid$|"
                     r"_named$|_ad_put|_send_text$")
DEFINITION = re.compile(r"^\w[\w *]*?\b(\w+)\([^;{]*\) \{$", re.M)

failed = False
output = threading.Lock()


def say(good, name, notes=()):
    global failed
    with output:
        failed = failed or not good
        print(("ok" if good else "not ok") + f" - {name}")
        for note in notes:
            print(f"#   {note}")
        sys.stdout.flush()


class Span(typing.NamedTuple):
    low: int
    high: int
    piece: int  # lengths of one run
    ends: bool  # one run on the ends of an input, which are all lengths at once: see harness/ends.h

    def __str__(self):
        return f"0..{self.high} at once" if self.ends else f"{self.low}..{self.high}"


def span_of(text):
    """0-512, 0-512/8 (in runs of eight lengths), *512 (all lengths up to 512 at once)."""
    if text.startswith("*"):
        return Span(int(text[1:]), int(text[1:]), 1, True)
    span, _, piece = text.partition("/")
    low, _, high = span.rpartition("-")
    return Span(int(low or 0), int(high), int(piece or PIECE), False)


class Row:
    harness = "harness"

    def __init__(self, line, root=ROOT):
        self.name, lengths, short, precision, sources, self.bug_file, self.bug = line.split("|", 6)
        self.short = [span_of(span) for span in short.split(",")]
        self.lengths = [span_of(span) for span in lengths.split(",")]
        slevel, *self.options = shlex.split(precision)
        # slevel 0: states of one length are merged at once, which is quick; else they are kept apart so many times.
        if slevel != "0":
            self.options += ["-eva-slevel", slevel, "-eva-split-return", "full"]
        own, _, helpers = sources.partition("+")
        self.own = [(root / "CSources" / source).resolve() for source in own.split()]
        self.sources = own.split() + helpers.split()

    def log(self, suffix):
        return LOGS / f"{self.name}{suffix}"

    @property
    def program(self):
        return HERE / self.harness / f"{self.name}.c"

    @property
    def functions(self):
        """Names of the functions that the row's own files define. Of two static ones Frama-C calls one NAME_0."""
        files = [set(DEFINITION.findall(path.read_text())) for path in (self.program, *(SOURCES / s for s in self.sources))]
        own = sorted({name for path in self.own for name in DEFINITION.findall(path.read_text())})
        return own + [f"{name}_0" for name in own if sum(name in names for names in files) > 1]


class View(Row):
    """What a decoder returns is read: both ends of each view. The reads of the decoder itself have a Row."""

    harness = "views"

    def log(self, suffix):
        return LOGS / f"{self.name}.view{suffix}"


@functools.cache
def libc():
    return subprocess.run(["frama-c", "-print-share-path"], capture_output=True, text=True).stdout.strip() + "/libc"


def frama_c(log, span, row, replaced, *more):
    """Runs the analysis on the lengths of a span; `replaced` maps a source to the file that stands in for it."""
    include = " ".join(f"-I{path}" for path in
                       (HERE / "harness", ROOT / "include", CLOUD / "include", *{(SOURCES / s).parent for s in row.sources}, libc()))
    ends = f"-include {HERE / 'harness' / 'ends.h'}" if span.ends else ""
    # The compiler defines __SSE2__ by itself; only the rows of the vector path have a model of its operations.
    vector = f"-D__SSE2__ -I{HERE / 'model'}" if row.name.endswith("_vector") else "-U__SSE2__"
    command = ["frama-c", "-c11", "-machdep", "gcc_x86_64", "-eva", "-eva-split-limit", str(2 * PIECE), "-eva-domains", DOMAINS,
               *row.options, f"-cpp-extra-args={ends} {vector} -DMIN={span.low} -DN={span.high} {include}", str(row.program),
               *[str(replaced.get(source, SOURCES / source)) for source in row.sources], *more]
    with open(log, "w") as file:
        process = subprocess.Popen(["bash", "-c", f'ulimit -t {SECONDS}; exec "$@"', "-", *command], stdout=file, stderr=subprocess.STDOUT, cwd=ROOT)
        _, code, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
    text = log.read_text(errors="replace")
    if code != 0 or not re.search(r"alarms? generated by the analysis", text):
        return None, text, usage.ru_utime
    # Eva's own sum leaves out preconditions of library functions that are not proven (memcpy): every warning is counted.
    return len(re.findall(r"^\[eva:alarm\]", text, re.M)), text, usage.ru_utime


def flat(tree):
    return tree if isinstance(tree, str) else "".join(flat(item) for item in tree[1:])


def statements_of(tree, found):
    """The statements of a printed function: marker to text."""
    if isinstance(tree, list) and tree:
        if isinstance(tree[0], str) and re.fullmatch(r"#s\d+", tree[0]):
            found[tree[0]] = " ".join(flat(tree).split())
        for item in tree:
            statements_of(item, found)
    return found


def answers_of(script):
    """What Frama-C's server has written to the file beside its script; None: nothing."""
    answers = script.with_suffix(".out.json")
    if not answers.exists():
        return None
    found = [answer.get("data") for answer in json.loads(answers.read_text())]
    answers.unlink()
    return found


def requests_of(row):
    """What the coverage of a row is made from; the list of all functions comes first, that of all places last."""
    return [("kernel.ast.fetchFunctions", 100000),
            *(r for name in row.functions
              for r in (("kernel.ast.printFunction", name), ("plugins.eva.general.getDeadCode", name))),
            ("kernel.ast.fetchMarkerInfo", 1000000)]


def coverage(row, answers, log):
    """How many statements the functions of the row's own files have that can be called; those not reached, by name."""
    before, _, listed = log.rpartition("Statements analyzed by Eva")
    entered = {name for name in re.findall(r"^  (\w+): \d+ stmts out of", listed, re.M)}
    referenced = set(re.findall(r"\w+", before.partition("References to non-analyzed functions")[2]))
    if answers is None or answers[0] is None:  # Frama-C does not answer: as if nothing was reached
        return 0, {}
    own = {f["name"] for f in answers[0]["updated"] if f.get("defined") and f["name"] in entered | referenced
           and pathlib.Path(f["sloc"]["file"]).resolve() in row.own}
    if own - set(row.functions):  # DEFINITION does not find them: not counted would be as if they were reached
        return 0, {}
    markers = answers[-1]["updated"] if answers[-1] else []
    places = {m["key"]: f"{m['sloc']['base']}:{m['sloc']['line']}" for m in markers if "sloc" in m}
    total, missed = 0, {}
    for i, name in enumerate(row.functions):
        if name not in own:
            continue
        tree, dead_code = answers[1 + 2 * i], answers[2 + 2 * i]
        statements = statements_of(tree or [], {})
        # Blocks and jumps that Frama-C adds are none of the program's statements.
        counted = {marker for marker, text in statements.items() if not text.startswith(("{", "goto return_label"))}
        dead = set(dead_code["unreachable"]) if name in entered else set(statements)
        if tree is None:  # only what is not reached has a name
            counted = dead or {"#s0"}
        total += len(counted)
        for marker in counted & dead:
            missed[int(marker[2:])] = f"{places.get(marker, '?')} {name}: {statements.get(marker, '?')[:70]}"
    return total, missed


def prove_span(row, span):
    """Alarms (None: no result), what to say of them, seconds, number of statements, those not reached."""
    name = f"{row.name}.{'ends' if span.ends else span.low}-{span.high}"
    script = LOGS / f"{name}.coverage.json"
    script.write_text(json.dumps([{"id": str(i), "request": r, "data": d} for i, (r, d) in enumerate(requests_of(row))]))
    # The coverage is read in the same process: another one would take as long as most analyses. Frama-C 25 prints the
    # comparison of a pointer to a function with NULL in a form that it then rejects, and would end over that.
    alarms, log, seconds = frama_c(LOGS / f"{name}.log", span, row, {}, "-then", "-metrics-eva-cover", "-then",
                                   "-kernel-warn-key", "annot-error=active", "-server-batch", str(script))
    if alarms is None:
        return None, log.splitlines()[-5:], seconds, 0, {}
    notes = [" ".join(note.split()) for note in re.findall(r"^(\[eva:alarm\].*(?:\n  .*)*)", log, re.M)[:10]]
    if "NON TERMINATING" in log:
        alarms, notes = alarms + 1, notes + ["some function never returns"]
    total, missed = coverage(row, answers_of(script), log)
    return alarms, notes, seconds, total, missed


def prove_view(row, span):
    """Alarms (None: no result), what to say of them, seconds."""
    alarms, log, seconds = frama_c(row.log(f".{span.low}-{span.high}.log"), span, row, {})
    if alarms is None:
        return None, log.splitlines()[-5:], seconds
    return alarms, [" ".join(note.split()) for note in re.findall(r"^(\[eva:alarm\].*(?:\n  .*)*)", log, re.M)[:10]], seconds


def conclude_view(row, spans, results):
    lengths = " and ".join(map(str, spans))
    alarms = None if any(result[0] is None for result in results) else sum(result[0] for result in results)
    say(alarms == 0, f"{row.name}: the views lie within the input, {alarms} alarms, lengths {lengths}, "
        f"{sum(result[2] for result in results):.0f} s", [note for result in results for note in result[1]])


def conclude(row, spans, results):
    lengths = " and ".join(map(str, spans))
    notes = [note for result in results for note in result[1]]
    seconds = sum(result[2] for result in results)
    if any(result[0] is None for result in results):
        say(False, f"{row.name}: no result, lengths {lengths}, {seconds:.0f} s", notes)
        return
    alarms, total = sum(result[0] for result in results), results[0][3]
    missed = set.intersection(*(set(result[4]) for result in results))
    percent = 100 * (total - len(missed)) // max(total, 1)
    say(alarms == 0 and percent >= 90,
        f"{row.name}: {alarms} alarms, lengths {lengths}, {percent} % of {total} statements, {seconds:.0f} s",
        notes + [f"not reached: {results[0][4][statement]}" for statement in sorted(missed)])


def pieces_of(spans):
    for span in spans:
        for low in range(span.low, span.high + 1, span.piece):
            yield span._replace(low=low, high=min(low + span.piece - 1, span.high))


def find_bug(row):
    """The same proof over a copy with one bug; it must not succeed."""
    original = SOURCES / row.bug_file
    copy = row.log(".seeded") / original.name
    copy.parent.mkdir(exist_ok=True)
    copy.write_text(seeded(row))
    # The first alarm decides: Frama-C ends there, which it calls an abortion.
    _, log, _ = frama_c(row.log(".seeded.log"), row.short[0], row, {row.bug_file: copy}, "-eva-stop-at-nth-alarm", "1")
    found = re.search(r"^\[eva:alarm\]", log, re.M)
    say(found, f"{row.name}: the seeded bug is found", [] if found else log.splitlines()[-5:])


def public_functions(root):
    """Public functions that take a peer's bytes, with their headers."""
    for folder in [root / "include/tendon" / name for name in ("host", "devices", "linux", "tools")] + [root / CLOUD.relative_to(ROOT) / "include"]:
        for path in sorted(folder.glob("*.h")):
            for match in re.finditer(r"^\w[\w *]*?\b(tendon_\w+)\(([^;{]*)\);", listing.text_of(path), re.M):
                if re.search(r"const (?:uint8_t|char) \*\w+, size_t", " ".join(match[2].split())) and not SENDERS.search(match[1]):
                    yield match[1], path.name


def problems_of_files(root):
    return listing.problems_of_files(root, rows_of(root), listing.table_of(root / "Tests/Proof/by_fuzzing"))


def problems_of_functions(root):
    without_row = listing.table_of(root / "Tests/Proof/without_row")
    harnesses = "".join(listing.text_of(path) for path in (root / "Tests/Proof/harness").glob("*.c"))
    listed = {line[0] for line in without_row}
    missing = [f"{header}: {name}" for name, header in public_functions(root)
               if not re.search(rf"\b{name}\(", harnesses) and name not in listed]
    return missing + listing.problems_of_functions(root, rows_of(root), without_row)


def seeded(row):
    """The text of the file of the bug, with the bug."""
    path = SOURCES / row.bug_file
    return subprocess.run(["sed", row.bug, str(path)], capture_output=True, text=True, check=True).stdout


def problems_of_rows(rows):
    """Rows whose files are gone, or whose bug changes nothing: the long run alone would find it."""
    found = [f"{row.name}: {path} does not exist" for row in rows
             for path in (row.program, *(SOURCES / source for source in row.sources)) if not path.exists()]
    found += [f"{row.name}: the bug is in {row.bug_file}, which is no source of it" for row in rows if row.bug_file not in row.sources]
    return found or [f"{row.name}: the seeded bug changes nothing" for row in rows if seeded(row) == (SOURCES / row.bug_file).read_text()]


def check_rows(rows, also_the_list):
    """Every row can be run; every file that reads bytes has a row or a fuzz target; every public function that takes some is called by one."""
    files, functions, broken = problems_of_files(ROOT), problems_of_functions(ROOT), problems_of_rows(rows)
    say(not broken, "every row has its files, and its bug changes one", broken)
    say(not files, "every file that reads bytes is an own source of a row, or is linked into a fuzz target", files)
    say(not functions, "every public function that takes a peer's bytes is called by a harness, or is reached as without_row says",
        functions)
    if not also_the_list:
        return 3
    cases = list(test_listing.cases(ROOT, lambda root: problems_of_files(root) + problems_of_functions(root)))
    for good, name, notes in cases:
        say(good, name, [] if good else notes)
    return 3 + len(cases)


def rows_of(root):
    return [Row(line, root) for line in (root / "Tests/Proof/decoders").read_text().splitlines() if line and not line.startswith("#")]


def main():
    arguments = sys.argv[1:]
    quick = "--quick" in arguments
    wanted = [argument for argument in arguments if argument not in ("--quick", "--list")]
    LOGS.mkdir(parents=True, exist_ok=True)
    rows = rows_of(ROOT)
    views = [View(line) for line in (HERE / "views/table").read_text().splitlines() if line and not line.startswith("#")]
    unknown = set(wanted) - {row.name for row in rows + views}
    if unknown:
        sys.exit(f"run.sh: no such decoder: {' '.join(sorted(unknown))}")
    rows = [row for row in rows if not wanted or row.name in wanted]
    views = [row for row in views if not wanted or row.name in wanted]
    listed = 0 if wanted else check_rows(rows + views, "--list" not in arguments)
    if "--list" in arguments:
        sys.exit(failed)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        proofs = [(row, spans, [pool.submit(prove_span, row, span) for span in pieces_of(spans)])
                  for row in rows for spans in [row.short if quick else row.lengths]]
        looks = [(row, spans, [pool.submit(prove_view, row, span) for span in pieces_of(spans)])
                 for row in views for spans in [row.short if quick else row.lengths]]
        tried = [row for number, row in enumerate(rows + views) if not quick or wanted or number % QUICK_BUGS == 0]
        bugs = [pool.submit(find_bug, row) for row in tried]
        for row, spans, pieces in proofs:
            conclude(row, spans, [piece.result() for piece in pieces])
        for row, spans, pieces in looks:
            conclude_view(row, spans, [piece.result() for piece in pieces])
        for bug in bugs:
            bug.result()
    print(f"1..{len(rows + views) + len(tried) + listed}")
    sys.exit(failed)


if __name__ == "__main__":
    main()

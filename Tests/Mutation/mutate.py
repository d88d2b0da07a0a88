#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seeds faults into a copy of the sources and counts how many the tests catch.

Usage: scripts/mutate.sh [--c N] [--swift N] [--sample] [--seed TEXT] [--only PREFIX] [--list]
  --c N, --swift N  number of faults in C (default 400) and in Swift (default 100)
  --sample          30 in C, as `make test` does; TAP output
  --seed TEXT       another choice of faults
  --only PREFIX     only in files below PREFIX, for example CSources/host
  --list            print the chosen faults and end

All faults are compiled in at once, each behind a switch, so that one build serves all. A test is run for a fault only
if it reaches it. A fault is caught if a test fails, crashes or exceeds its time limit.
Exit status 0 if at least 95 % were caught; a fault listed with its reason in Tests/Mutation/explained counts as caught.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", ".build")).resolve() / "mutate"
TREE = BUILD / "tree"
JOBS = max(1, os.cpu_count() or 1)
WANTED_SHARE = 0.95

Fault = collections.namedtuple("Fault", "number file line kind before after span")


# ---- finding faults -------------------------------------------------------------------------------------------------


def balanced(text):
    depth = 0
    for mark in re.sub(r"'\\?.'|\"(\\.|[^\"\\])*\"", "", text):
        depth += (mark in "([{") - (mark in ")]}")
        if depth < 0:
            return False
    return depth == 0


def without_comment(line):
    return re.sub(r"\s*/\*[^*]*\*/\s*$", "", line.rstrip())


def operands(condition):
    """The operator that joins the whole condition, and what it joins; None: there is none, or there are two."""
    depth, cuts, found = 0, [0], set()
    for at, mark in enumerate(condition):
        depth += (mark in "([{") - (mark in ")]}")
        if depth == 0 and condition[at:at + 4] in (" && ", " || "):
            found.add(condition[at:at + 4])
            cuts += [at, at + 4]
    if len(found) != 1 or "'" in condition or '"' in condition:
        return None, []
    cuts.append(len(condition))
    return found.pop(), [condition[start:end] for start, end in zip(cuts[::2], cuts[1::2])]


def variants(condition):
    """Other forms of a condition: (kind, text)."""
    yield "condition", f"!({condition})"
    for old, new in ((" <= ", " < "), (" >= ", " > "), (" < ", " <= "), (" > ", " >= ")):
        if condition.count(old) == 1 and not re.search(r"\b\w*fd" + old + "0", condition):
            yield "bound", condition.replace(old, new)
            break
    for old, new in ((" && ", " || "), (" || ", " && ")):
        if condition.count(old) == 1 and not (" && " in condition and " || " in condition):
            yield "operator", condition.replace(old, new)
    number = re.search(r"(?<![\w.\[\\'])(\d+)(u?)(?![\w.'])", condition)
    if number and not re.search(r"fd (<|>=|>) 0", condition):  # 0 is a descriptor that no test has free
        start, end = number.span()
        yield "constant", condition[:start] + str(int(number[1]) + 1) + number[2] + condition[end:]
    joint, parts = operands(condition)
    for dropped in range(len(parts)):
        yield "operand", joint.join(part for at, part in enumerate(parts) if at != dropped)


def equal_at_the_bound(condition, choices):
    """True for a minimum, a maximum or a difference that is not below 0: both choices are the same at the bound."""
    bare = [re.sub(r"\([a-z]\w*\)", "", text).replace("(", "").replace(")", "").strip() for text in choices.split(" : ", 1)]
    sides = [re.sub(r"\([a-z]\w*\)", "", side).strip() for side in re.split(r" [<>]=? ", condition, maxsplit=1)]
    if len(bare) != 2 or len(sides) != 2:
        return False
    return set(bare) <= set(sides) or (bare[1] == "0" and bare[0] in (f"{sides[0]} - {sides[1]}", f"{sides[1]} - {sides[0]}"))


def c_value_faults(value):
    """Other forms of an expression, with @ in the place of the switch."""
    choice = re.fullmatch(r"([^?:\"'{]+) \? ([^?\"'{]+ : .+)", value)
    if choice and balanced(choice[1]) and not re.search(r" [-+*/|&^]?= ", choice[1]):
        for kind, other in variants(choice[1]):
            if kind == "bound" and equal_at_the_bound(choice[1], choice[2]):
                continue
            yield kind, f"(@ ? ({other}) : ({choice[1]})) ? {choice[2]}"
    elif re.search(r" (==|!=|<|>|<=|>=|&&|\|\|) ", value) and " ? " not in value and "{" not in value:
        for kind, other in variants(value):
            yield kind, f"@ ? ({other}) : ({value})"


def c_assignment_faults(indent, target, value):
    yield from ((kind, f"{indent}{target} = {after};") for kind, after in c_value_faults(value))
    number = re.search(r"(?<![\w.])(\d+)(u?)(?![\w.xX])", value)
    if number and "{" not in value and '"' not in value and " ? " not in value:
        start, end = number.span()
        other = value[:start] + str(int(number[1]) + 1) + number[2] + value[end:]
        yield "constant", f"{indent}{target} = @ ? ({other}) : ({value});"


def c_return_faults(indent, value):
    yield from (("return " + kind, f"{indent}return {after};") for kind, after in c_value_faults(value))
    if re.fullmatch(r"\d+u?", value):
        yield "return constant", f"{indent}return @ ? {int(value.rstrip('u')) + 1} : {value};"
    elif value in ("true", "false"):
        yield "return constant", f"{indent}return @ ? {'false' if value == 'true' else 'true'} : {value};"
    elif re.fullmatch(r"TENDON_\w*ERROR\w*(\(.*\))?", value) and balanced(value):
        yield "return error", f"{indent}return @ ? 0 : {value};"


def c_line_faults(line):
    """(kind, the statement with @ in the place of the switch)."""
    text = without_comment(line)
    indent = re.match(r"\s*", text)[0]
    body = text[len(indent):]
    if not indent or not body or '"' in body and "//" in body:
        return
    found = re.fullmatch(r"((?:\} else )?(?:if|while)) \((.*)\) \{", body)
    if found and balanced(found[2]):
        for kind, other in variants(found[2]):
            yield kind, f"{indent}{found[1]} (@ ? ({other}) : ({found[2]})) {{"
        return
    found = re.fullmatch(r"for \(([^;]*); ([^;]+); ([^;]*)\) \{", body)
    if found and balanced(found[1]) and balanced(found[2]):
        for kind, other in variants(found[2]):
            if kind == "operand":
                yield "loop", f"{indent}for ({found[1]}; @ ? ({other}) : ({found[2]}); {found[3]}) {{"
        less = re.fullmatch(r"(.*\w) < ([\w.\->]+)(.*)", found[2])
        if less and not re.search("BATCH|ROUNDS", less[2]):  # the last one is missed; a batch goes on in the next
            yield "loop", f"{indent}for ({found[1]}; {less[1]} + (@ ? 1 : 0) < {less[2]}{less[3]}; {found[3]}) {{"
        return
    found = re.fullmatch(r"return (.+);", body)
    if found and balanced(found[1]):
        yield from c_return_faults(indent, found[1])
        return
    found = re.fullmatch(r"((?:const )?(?:bool|int|size_t|ssize_t|u?int\d+_t|tendon_status) \w+) = (.+);", body)
    if found and balanced(body):
        yield from c_assignment_faults(indent, found[1], found[2])
        return
    found = re.fullmatch(r"(\*?[\w.\->\[\]]+) ([-+|&]?=) (.+);", body)
    if found and balanced(body):
        state = re.search(r"(state|phase|step)$", found[1])
        yield "state" if state else "statement", f"{indent}if (!@) {{ {body} }}"
        if found[2] == "=":
            yield from c_assignment_faults(indent, found[1], found[3])
        return
    if re.fullmatch(r"[\w.\->\[\]]+(\+\+|--);", body):
        yield "statement", f"{indent}if (!@) {{ {body} }}"
        return
    found = re.fullmatch(r"(\(void\))?([\w.\->\[\]]+)\(.*\);", body)
    if found and balanced(body) and found[2] not in ("return", "assert", "va_end", "va_start"):
        yield "statement", f"{indent}if (!@) {{ {body} }}"
        return
    if body == "continue;":
        yield "statement", f"{indent}if (!@) {{ continue; }}"


def c_statements(lines):
    """(number of the first line, how many, text) of the statements that begin a line inside of functions."""
    inside, signature, number = False, False, 0
    while number < len(lines):
        line, first = lines[number], number
        number += 1
        if re.match(r"\w", line):
            signature = line.endswith((",", "("))
        if (signature or re.match(r"\w", line)) and line.endswith(") {"):
            inside, signature = True, False
            continue
        signature = signature and not line.endswith(";")
        if line.startswith("}"):
            inside = False
        if not inside or not line.strip() or line.lstrip().startswith(("#", "/*", "*", "//")) or line.endswith("\\"):
            continue
        text = without_comment(line)
        if text.endswith(("= {", ":")) or re.match(r"\s*(case .*|default):", text):
            depth = text.count("{") - text.count("}")
            while depth > 0 and text.endswith("= {") and number < len(lines):  # an initializer of several lines
                depth += lines[number].count("{") - lines[number].count("}")
                number += 1
            continue
        while not (balanced_round(text) and text.endswith((";", "{", "}"))) and number < min(first + 8, len(lines)):
            more = lines[number].strip()
            if not more or more.startswith(("#", "/*", "case ", "default:")) or "//" in more:
                break
            text += ("" if text.endswith(("(", "{")) else " ") + without_comment(more)
            number += 1
        yield first, number - first, text


def balanced_round(text):
    bare = re.sub(r"'\\?.'|\"(\\.|[^\"\\])*\"", "", text)
    return bare.count("(") == bare.count(")") and bare.count("[") == bare.count("]")


def c_faults(path, lines):
    for number, span, text in c_statements(lines):
        for kind, after in c_line_faults(text):
            yield number, kind, text, after, span


def swift_faults(path, lines):
    text_block = False
    initializer = None  # how far it is indented: what a statement there sets must be set
    other_build = False  # compiled with the trait MainActorLoop alone; scripts/test_phone.sh tests it
    for number, line in enumerate(lines):
        if line.lstrip().startswith("#"):
            other_build = line.strip() == "#if MainActorLoop" or other_build and not re.match(r"\s*#(else|endif)", line)
        if other_build:
            continue
        opening = re.match(r"(\s+)(?:\w+(?:\(\w+\))? )*init[?(<]", line)
        if opening and not line.rstrip().endswith("}"):
            initializer = opening[1]
        elif initializer is not None and line.rstrip() == initializer + "}":
            initializer = None
        if line.count('"""') % 2:
            text_block = not text_block
        if text_block or not line.startswith("    "):
            continue
        text = re.sub(r"\s+//.*$", "", line.rstrip())
        indent = re.match(r"\s*", text)[0]
        body = text[len(indent):]
        before = lines[number - 1].rstrip()
        behind = lines[number + 1].strip() if number + 1 < len(lines) else ""
        if before.endswith((",", "(", "[", "=", "?", ":", "&&", "||", "->", "+", "??")) and not re.match(
            r"\s+(case .*|default):$", before
        ):
            continue
        if behind.startswith((".", "?", ":", "&&", "||", "+ ", "??", "{")):
            continue
        found = re.fullmatch(r"((?:\} else )?if|while|guard) (.+?) (else \{.*|\{.*)", body)
        if found and found[2] != "true" and balanced(found[2]) and not re.search(
            r"\b(let|var|case|try|await)\b|#available|,", found[2]
        ):
            for kind, other in variants(found[2]):
                yield number, kind, line, f"{indent}{found[1]} (@ ? ({other}) : ({found[2]})) {found[3]}", 1
            continue
        found = re.fullmatch(r"return (.+ (?:==|!=|<|>|<=|>=|&&|\|\|) .+)", body)
        if found and balanced(found[1]) and not re.search(r"[?{]|\btry\b|\bawait\b", found[1]):
            yield number, "return condition", line, f"{indent}return @ ? !({found[1]}) : ({found[1]})", 1
            continue
        if re.match(r"(let|var|return|throw|case|default|func|init|public|private|package|static|self\.init|super|@|#|//)", body):
            continue
        assigned = re.fullmatch(r"[\w.\[\]?!]+ [-+|&]?= [^{]+", body)
        called = re.fullmatch(r"(?:_ = )?(?:try )?[\w.?!]+\(.*\)", body)
        is_value = behind == "}" and before.endswith("{") and re.search(r"->|\bvar\b|\bget \{$|^\s*\) .*\{$", before)
        if (assigned and initializer is None or called and not is_value) and balanced(body):
            yield number, "statement", line, f"{indent}if !@ {{ {body} }}", 1


def candidates(only):
    listed = subprocess.run(["git", "ls-files", "CSources", "Sources"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.split():
        if not name.startswith(only):
            continue
        if name.startswith("CSources/") and name.endswith(".c"):
            finder = c_faults
        elif re.match(r"Sources/Tendon(?!Command|Conformance)\w*/", name) and name.endswith(".swift"):
            finder = swift_faults
        else:
            continue
        lines = (ROOT / name).read_text().split("\n")
        for line, kind, before, after, span in finder(name, lines):
            yield name, line, kind, before, after, span


def choose(found, count, seed):
    """At most `count`, spread over the folders by their size; unrelated edits do not change the choice."""

    def order(item):
        return hashlib.sha256("|".join((seed, item[0], item[2], item[3].strip(), item[4].strip())).encode()).digest()

    rooms = collections.defaultdict(list)
    for item in sorted(found, key=order):
        rooms[os.path.dirname(item[0])].append(item)
    total = sum(len(items) for items in rooms.values())
    chosen, lines = [], set()
    for share in (1, 4):
        for room in sorted(rooms):
            wanted = max(1, round(count * share * len(rooms[room]) / max(total, 1)))
            taken = sum(1 for item in chosen if os.path.dirname(item[0]) == room)
            for item in rooms[room]:
                if taken >= wanted or len(chosen) >= count:
                    break
                if (item[0], item[1]) not in lines:
                    lines.add((item[0], item[1]))
                    chosen.append(item)
                    taken += 1
    return chosen


# ---- the copy -------------------------------------------------------------------------------------------------------


def copy_tree():
    if TREE.exists():
        kept = {name: TREE / name for name in (".build",)}
        for child in TREE.iterdir():
            if child.name not in kept:
                shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()
    TREE.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        target = TREE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            shutil.copy2(ROOT / name, target, follow_symlinks=False)
    shutil.copy2(HERE / "hit.c", TREE / "CSources/base/mutant.c")
    header = "_Bool tendon_mutant(int number);\n"
    (TREE / "include/tendon/mutant.h").write_text(f"#ifndef TENDON_MUTANT_H\n#define TENDON_MUTANT_H\n{header}#endif\n")
    build = TREE / "CSources/base/meson.build"
    build.write_text(build.read_text() + "core_sources += files('mutant.c')\n")
    umbrella = TREE / "include/tendon/base.h"  # how Swift sees it
    umbrella.write_text(umbrella.read_text() + '\n#include "tendon/mutant.h"\n')


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
        text = first + "\n".join(lines)
        target = TREE / name
        if not target.exists() or target.read_text() != text:
            target.write_text(text)


def run(command, **options):
    return subprocess.run(command, cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def drop_what_does_not_compile(faults, build, complaint):
    """Builds until it succeeds; faults on lines that the compiler rejects are given up."""
    for attempt in range(12):
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
            shutil.copy2(ROOT / name, TREE / name)
        faults = kept
    sys.exit("mutate: the copy does not build")


# ---- running --------------------------------------------------------------------------------------------------------


def outcome(command, environment, limit, directory):
    """The exit status, or "timeout"; nothing that the command started is left running."""
    process = subprocess.Popen(command, env={**os.environ, **environment}, cwd=directory, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
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
        sys.exit(f"mutate: {name} fails twice without any fault")
    data = trace.read_bytes() if trace.exists() else b""
    return {number for number, byte in enumerate(data) if byte}, spent


def judge(faults, tests, jobs=JOBS, confirms=False):
    """tests: (name, command, environment, directory). Returns {fault: name of the test that caught it, or None}."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        traces = list(pool.map(lambda test: reached_by(test[1], test[2], test[3], test[0]), tests))

    def one(fault):
        order = sorted((spent, test) for (numbers, spent), test in zip(traces, tests) if fault.number in numbers)
        for spent, (name, command, environment, directory) in order:
            fault_environment = {**environment, "TENDON_MUTANT": str(fault.number)}
            if outcome(command, fault_environment, 8 + 10 * spent, directory) != 0:
                # On a busy machine a test may fail by itself: the fault has to fail it twice.
                if not confirms or outcome(command, fault_environment, 8 + 10 * spent, directory) != 0:
                    return name
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


def judge_c(faults):
    build = TREE / ".build/c"
    environment = {**os.environ, "CFLAGS": "-w -O0"}
    described = []

    def compile_all():
        if not (build / "build.ninja").exists():
            made = run(["meson", "setup", str(build), ".", "-Dbuildtype=plain", "-Dwerror=false"], env=environment)
            if made.returncode != 0:
                return made
        described[:] = json.loads(run(["meson", "introspect", str(build), "--tests"]).stdout)
        programs = {os.path.relpath(word, build) for test in described for word in test["cmd"] if word.startswith(f"{build}/")}
        return run(["ninja", "-k", "0", "-C", str(build), *sorted(programs)])

    faults = drop_what_does_not_compile(faults, compile_all, r"(?m)^(\S+?\.c):(\d+):\d+: error")
    tests = [(test["name"].replace("/", "_").replace(" ", ""), test["cmd"], test["env"], test["workdir"] or str(build))
             for test in described]
    return judge(faults, tests)


def judge_swift(faults):
    scratch = TREE / ".build/swift"
    # The tests' program alone: without the command and the benchmarks.
    base = ["swift", "build", "--scratch-path", str(scratch), "--product", "tendonPackageTests", "-j", str(JOBS)]
    faults = drop_what_does_not_compile(faults, lambda: run(base), r"(?m)^(\S+?\.swift):(\d+):\d+: error")
    program = [str(scratch / "debug/tendonPackageTests.xctest"), "--testing-library", "swift-testing"]
    return judge(faults, swift_tests(program), 4 * JOBS, confirms=True)  # most of their time they wait


def swift_tests(program):
    """One function of a suite each, so that a fault runs only those that reach it."""
    listed = subprocess.run([*program, "--list-tests"], cwd=TREE, capture_output=True, text=True, check=True).stdout
    names = sorted({line.split()[0] for line in listed.splitlines() if re.match(r"\w+\.\S*/\w+\(", line)})
    if not names:
        sys.exit("mutate: there are no Swift tests")
    return [(name.replace("/", "."), [*program, "--filter", "^" + re.escape(name)], {}, str(TREE)) for name in names]


# ---- the report -----------------------------------------------------------------------------------------------------


def explained():
    rows = {}
    for line in (HERE / "explained").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, kind, text, reason = (part.strip() for part in line.split(" | ", 3))
            before, _, other = text.partition(" => ")
            rows.setdefault((name, kind, before), []).append((other, reason))
    return rows


def reason_of(rows, fault):
    """Why no test can catch this fault; None: there is no reason."""
    for other, reason in rows.get((fault.file, fault.kind, fault.before.strip()), []):
        if not other or f"@ ? ({other}) :" in fault.after:
            return reason
    return None


def report(language, verdicts, tap):
    reasons, caught, open_ones = explained(), 0, []
    for fault, test in sorted(verdicts.items()):
        if test or reason_of(reasons, fault):
            caught += 1
        else:
            open_ones.append((fault, test))
    for fault, test in open_ones:
        print(f"# survived: {fault.file}:{fault.line + 1} {fault.kind}{'' if test is None else ' (no test reaches it)'}\n"
              f"#   - {fault.before.strip()}\n#   + {fault.after.strip()}")
    rooms = collections.defaultdict(lambda: [0, 0])
    for fault, test in verdicts.items():
        rooms[os.path.dirname(fault.file)][0] += 1
        rooms[os.path.dirname(fault.file)][1] += bool(test) or reason_of(reasons, fault) is not None
    for room, (seeded, found) in sorted(rooms.items()):
        print(f"#   {room}: {found} of {seeded}")
    share = caught / max(1, len(verdicts))
    line = f"{language}: {caught} of {len(verdicts)} seeded faults are caught or explained ({share:.1%})"
    good = share >= WANTED_SHARE
    print(f"{'ok' if good else 'not ok'} - {line}" if tap else line, flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(add_help=True, usage=__doc__)
    parser.add_argument("--c", type=int, default=400)
    parser.add_argument("--swift", type=int, default=100)
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.sample:
        options.c, options.swift = 30, 0  # Swift's survivors are not dealt with yet
    found = list(candidates(options.only))
    in_c = choose([item for item in found if item[0].endswith(".c")], options.c, options.seed)
    in_swift = choose([item for item in found if item[0].endswith(".swift")], options.swift, options.seed)
    faults = [Fault(number, *item) for number, item in enumerate(in_c + in_swift)]
    print(f"# {len(faults)} faults of {len(found)} possible ones; seed {options.seed}", flush=True)
    if options.list:
        for fault in faults:
            print(f"{fault.file}:{fault.line + 1} {fault.kind}\n  - {fault.before.strip()}\n  + {fault.after.strip()}")
        return 0
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / "results.jsonl").write_text("")
    copy_tree()
    good = True
    c, swift = faults[:len(in_c)], faults[len(in_c):]
    if c:
        good = report("C", judge_c(c), options.sample) and good
    if swift:
        good = report("Swift", judge_swift(swift), options.sample) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

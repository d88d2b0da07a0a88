#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rules for words that a script can check. Usage: check_words.py

Prose is: comments and strings of headers, C and Swift sources and examples; the Markdown documents; the comments and
messages of the scripts. Prints TAP lines.
"""

import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# (name, pattern of what is avoided, what to write instead). Whole words, any case.
EVERYWHERE = [
    ("disconnect, not 'hang up'", r"hang(s|ing)? up|hung up", "disconnect"),
    ("fix or resolve, not 'mend'", r"mend(s|ed|ing)?", "fix, resolve"),
    ("permanently, not 'for good'", r"for good", "permanently"),
    ("again or restart, not 'anew'", r"anew", "again, restart"),
    ("timeout is one word", r"time-outs?", "timeout"),
    ("in progress, not 'under way'", r"under way|underway", "in progress, pending"),
    ("corrupted, not 'spoilt'", r"spoilt", "corrupted"),
    ("synthesized, not 'made up'", r"made up", "synthesized"),
    ("received, not 'told'", r"told", "is notified, is reported"),
    ("in range, not 'in reach'", r"in reach", "in range"),
    ("endless, not 'for ever'", r"for ever", "endless, permanently"),
    ("ignored silently, not 'in silence'", r"in silence", "silently"),
    ("release, not 'let go'", r"(let|lets|letting) go|(give|gives|given|giving) back", "release, free"),
    ("actors have names", r"whoever|somebody|everybody|nobody|whom", "the application, the caller, the owner"),
    ("only, not 'thread alone'", r"thread alone", "only on the thread"),
    ("requested, not 'as asked'", r"as asked|as wanted", "as requested"),
    ("disconnected, not 'has gone'", r"(has|have) gone", "disconnected, released, removed"),
    ("expires, not 'strikes'", r"strikes?|struck", "expires, fires, applies"),
    ("US spelling", r"(recognis|authoris|normalis|initialis|synchronis|serialis|synthesis(e|ed|es|ing)\b|summaris)\w*|"
                    r"behaviours?|colours?|neighbours?|honours?|licences?|centimetres?|grey", "US spelling"),
]
# Words that only public prose must not use: headers, documents, README, help texts.
PUBLIC = [
    ("no component is a 'room'", r"rooms? (base|host|motion|devices|simulate|linux)|(base|host|motion|devices|simulate|"
                                 r"linux|bluez) room", "component"),
    ("north has a small letter", r"(?-i:magnetic North|the North)", "north"),
    ("a device reports, it does not tell", r"tells (nothing|the|its|no)", "reports, contains"),
]
# Words that the C side is free of: its headers and comments.
C_SIDE = [
    ("skip or discard, not 'pass over'", r"pass(es|ed)? over (a|the|and|its|as|in)|passed over", "skip, discard"),
    ("pending, not 'on its way'", r"on (its|their) way", "pending, in progress"),
    ("again, not 'once more'", r"once more", "again"),
    ("requested, not 'asked for'", r"asked for", "requested"),
    ("immediately, not 'at once'", r"at once", "immediately; in the same call; at the same time"),
    ("outstanding, not 'on the air'", r"on the air", "outstanding, transmitted"),
    ("required, not 'wants'", r"wants", "requires, requests"),
    ("hears is received", r"hears?|heard", "receives, received"),
    ("truncated, not 'cut off'", r"cut off", "truncated"),
    ("except, not 'but for'", r"but for", "except"),
    ("slot, not 'place' of a table", r"(free|frees|takes a|no) places?", "slot, table entry"),
]
# Command help: a summary is an imperative clause; these are its first words.
SUMMARY = re.compile(r'\bsummary: "([^"]+)"')
NO_VERB = {"a", "an", "the", "what", "who", "which", "one", "all", "this", "these", "every", "each", "how", "where",
           "same", "its", "values", "devices", "events", "sensors"}
results = []


def report(name, problems):
    results.append(not problems)
    print(("ok" if not problems else "not ok") + f" - words: {name}")
    for problem in problems:
        print(f"#   {problem}")


def tracked(*patterns):
    names = subprocess.run(["git", "ls-files", *patterns], check=True, capture_output=True, text=True, cwd=ROOT).stdout
    return [ROOT / name for name in names.split("\n") if name and (ROOT / name).exists()]


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def prose_of_code(text):
    """Comments and strings, in their lines; of everything else only the ends of lines are left."""
    token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
    out, end = [], 0
    for match in token.finditer(text):
        out += [" ", "\n" * text.count("\n", end, match.start()), match.group()]
        end = match.end()
    return "".join(out)


def prose_of_script(text):
    return "\n".join(line if "#" in line or "echo" in line or "print" in line else "" for line in text.split("\n"))


def prose_of_document(text):
    return re.sub(r"`[^`\n]*`", blank, text)


@functools.cache
def prose(path):
    text = path.read_text()
    if path.suffix in (".c", ".h", ".swift"):
        return prose_of_code(text)
    return prose_of_document(text) if path.suffix == ".md" else prose_of_script(text)


def find(paths, pattern):
    """Problems as "file:line: words". A phrase may continue on the next line of a comment."""
    flexible = pattern.replace(" ", r"(?:[ \t]+|[ \t]*\n[ \t]*(?:\*|///?|#)?[ \t]*)")
    expression = re.compile(rf"\b(?:{flexible})\b", re.I)
    problems = []
    for path in paths:
        text = prose(path)
        for match in expression.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            problems.append(f"{path.relative_to(ROOT)}:{line}: {' '.join(match.group().split())}")
    return problems


def check_summaries(paths):
    problems = []
    for path in paths:
        for match in SUMMARY.finditer(path.read_text()):
            first = match.group(1).split()[0]
            if first.lower() in NO_VERB or first != first.lower():
                problems.append(f"{path.relative_to(ROOT)}: summary: {match.group(1)}")
    report("help summaries begin with an imperative verb", problems)


def main():
    code = tracked("include/*.h", "CSources/*.[ch]", "Sources/*.swift", "examples/*.c", "examples/*.swift")
    documents = [p for p in tracked("*.md") if "Tests" not in p.parts]
    public = tracked("include/*.h") + [p for p in documents]
    scripts = [p for p in tracked("scripts/*.sh", "scripts/*.py", "Makefile") if p.name != "check_words.py"]
    for name, pattern, better in EVERYWHERE:
        report(name, [f"{p} (better: {better})" for p in find(code + documents + scripts, pattern)])
    for name, pattern, better in PUBLIC:
        report(name, [f"{p} (better: {better})" for p in find(public, pattern)])
    c_side = tracked("include/*.h", "CSources/*.[ch]")
    for name, pattern, better in C_SIDE:
        report(name, [f"{p} (better: {better})" for p in find(c_side, pattern)])
    check_summaries([p for p in tracked("Sources/TendonCommand/*.swift") if "Values" not in p.name])
    sys.exit(0 if all(results) else 1)


main()

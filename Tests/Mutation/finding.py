# SPDX-License-Identifier: MIT
"""Finds the places where a fault can be seeded, and chooses among them."""

import collections
import hashlib
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

Fault = collections.namedtuple("Fault", "number file line kind before after span")


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


# 0 is a descriptor that no test has free.
DESCRIPTOR = r"\b(?:\w*fd|descriptor|\w*[fF]ile|leases\[\d\])"


def variants(condition):
    """Other forms of a condition: (kind, text)."""
    yield "condition", f"!({condition})"
    bound = None
    for old, new in ((" <= ", " < "), (" >= ", " > "), (" < ", " <= "), (" > ", " >= ")):
        if condition.count(old) == 1 and not re.search(DESCRIPTOR + old + "0", condition):
            yield "bound", condition.replace(old, new)
            bound = old
            break
    for old, new in ((" && ", " || "), (" || ", " && ")):
        if condition.count(old) == 1 and not (" && " in condition and " || " in condition):
            yield "operator", condition.replace(old, new)
    number = re.search(r"(?<![\w.\[\\'])(\d+)(u?)(?![\w.'])", condition)
    # "< 1" is "<= 0", and ">= 1" is "> 0": the bound above.
    is_bound = number and bound in (" < ", " >= ") and condition[:number.start()].endswith(bound)
    if number and not is_bound and not re.search(DESCRIPTOR + " (<|>=|>) 0", condition):
        start, end = number.span()
        yield "constant", condition[:start] + str(int(number[1]) + 1) + number[2] + condition[end:]
    joint, parts = operands(condition)
    for dropped in range(len(parts)):
        yield "operand", joint.join(part for at, part in enumerate(parts) if at != dropped)


def equal_at_the_bound(condition, other, choices):
    """True for a minimum, a maximum or a difference that is not below 0: both choices are the same at the bound, whatever
    else the condition consists of."""
    _, parts = operands(condition)
    condition = next((part for part in parts if part not in other), condition)
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
            if kind == "bound" and equal_at_the_bound(choice[1], other, choice[2]):
                continue
            yield kind, f"(@ ? ({other}) : ({choice[1]})) ? {choice[2]}"
    elif re.search(r" (==|!=|<|>|<=|>=|&&|\|\|) ", value) and " ? " not in value and "{" not in value:
        for kind, other in variants(value):
            yield kind, f"@ ? ({other}) : ({value})"


def c_assignment_faults(indent, target, value):
    yield from ((kind, f"{indent}{target} = {after};") for kind, after in c_value_faults(value))
    number = re.search(r"(?<![\w.])(\d+)(u?)(?![\w.xX])", value)
    if number and "{" not in value and '"' not in value and " ? " not in value and not re.search(DESCRIPTOR + " >= 0", value):
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
            stride = re.search(r" \+= (\d+)$", found[3])
            last = stride[1] if stride else 1
            yield "loop", f"{indent}for ({found[1]}; {less[1]} + (@ ? {last} : 0) < {less[2]}{less[3]}; {found[3]}) {{"
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
    if found and balanced(body) and found[2] not in ("return", "assert", "_Static_assert", "va_end", "va_start"):
        yield "statement", f"{indent}if (!@) {{ {body} }}"
        return
    if body == "continue;":
        yield "statement", f"{indent}if (!@) {{ continue; }}"


def c_statements(lines):
    """(number of the first line, how many, text) of the statements that begin a line inside of functions."""
    inside, signature, number = False, False, 0
    branches = []  # of the #ifs around the line: True in an #else of what this build has
    while number < len(lines):
        line, first = lines[number], number
        number += 1
        if re.match(r"#\s*if", line):
            branches.append((bool(re.search(r"__SSE2__|__GNUC__|TENDON_HAVE_BLUEZ", line)), "__OPTIMIZE_SIZE__" in line))
        elif re.match(r"#\s*else", line) and branches:
            branches[-1] = (branches[-1][0], branches[-1][0])
        elif re.match(r"#\s*endif", line) and branches:
            branches.pop()
        if any(skipped for _, skipped in branches):
            continue  # other stages of `make test-all` build it
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


def keeps_the_least(text, kind, after, body):
    """if (a < b) { b = a; }: at the bound both are the same."""
    found = re.fullmatch(r"\s*if \((.*)\) \{", text)
    assigned = re.fullmatch(r"\s*(\S+) = (.+);", body[0]) if len(body) == 2 and body[1].strip() == "}" else None
    if kind != "bound" or not found or not assigned:
        return False
    other = after[after.index("@ ? (") + 5:].split(") : (")[0]
    return equal_at_the_bound(found[1], other, f"{assigned[1]} : {assigned[2]}")


def c_faults(path, lines):
    for number, span, text in c_statements(lines):
        for kind, after in c_line_faults(text):
            if keeps_the_least(text, kind, after, lines[number + span:number + span + 2]):
                continue
            yield number, kind, text, after, span


def time_faults(path, lines):
    """Each use of a constant in milliseconds or microseconds, one more."""
    for number, span, text in c_statements(lines):
        for name in sorted(set(re.findall(r"\b[A-Z][A-Z0-9_]*_(?:MS|US)\b", text))):
            yield number, "time", text, re.sub(rf"\b{name}\b", f"({name} + (@ ? 1 : 0))", text), span


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


def candidates(only, times=False):
    listed = subprocess.run(["git", "ls-files", "CSources", "Sources"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.split():
        if not name.startswith(only):
            continue
        if name.startswith("CSources/") and name.endswith(".c"):
            finder = time_faults if times else c_faults
        elif not times and re.match(r"Sources/Tendon(?!Command|Conformance)\w*/", name) and name.endswith(".swift"):
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

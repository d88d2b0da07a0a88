#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What check_readme.py and page_blocks.py take from a page: blocks, commands in lines for a shell, outputs. Prints TAP."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"))

import check_readme  # noqa: E402
import page_blocks  # noqa: E402

failed = False


def check(name, got, expected):
    global failed
    failed |= got != expected
    print(("ok - " if got == expected else "not ok - ") + name)
    if got != expected:
        print(f"#   got {got!r}\n#   expected {expected!r}")


def blocks(name, text, expected, wrong=()):
    found, problems = page_blocks.blocks_of("page", text)
    check(name, ([(block.line, block.language, block.text) for block in found], problems), (expected, list(wrong)))


def commands(name, text, *expected):
    check(name, [" ".join(words) for words in check_readme.commands_of_tendon(text)], list(expected))


blocks("blocks with their lines and languages", "a\n```sh\nls\n\n```\nb\n```text\nc\n```\n",
       [(2, "sh", "ls\n\n"), (7, "text", "c\n")])
blocks("a fence without a language", "```\na\n```\n", [], ["page:1: ```", "page:3: ```"])
blocks("an unknown language", "```rust\na\n```\n", [], ["page:1: ```rust", "page:3: ```"])
blocks("an indented fence", "- a\n  ```sh\n  b\n  ```\n", [], ["page:2:   ```sh", "page:4:   ```"])
blocks("other fences", "~~~sh\na\n~~~\n", [], ["page:1: ~~~sh", "page:3: ~~~"])
blocks("a block without an end", "```sh\na\n", [], ["page:1: the block has no end"])
blocks("a fence in a block", "```sh\na\n```text\n```\n", [(1, "sh", "a\n```text\n")], ["page:3: ```text"])

commands("a line", "tendon scan --for 2\n", "scan --for 2")
commands("lists, pipes, groups and substitutions",
         "cd a && tendon a; (tendon b | tee c) || tendon d & x=$(tendon e)\n! tendon f\nif tendon g; then tendon h; fi\n",
         "a", "b", "d", "e", "f", "g", "h")
commands("variables and other words before it", "A=1 B='2 3' sudo tendon a\nenv C=d tendon b\necho tendon c\n", "a", "b")
commands("words in quotes, one of them with a line's end", "tendon run --rule 'a => b, c' --x \"d\ne\"\n",
         "run --rule a => b, c --x d\ne")
commands("comments, also with tendon in them", "# tendon a\ntendon b # tendon c\ntendon d 'e/#'\n", "b", "d e/#")
commands("lines that continue", "tendon a \\\n    --b\ntendon c\n", "a --b", "c")
commands("redirections", "tendon a >b --c 2>&1 </dev/null\ntendon d >>e\n", "a --c 2", "d")
commands("a text for the standard input", "cat >a <<'END'\ntendon b\nEND\ntendon c <<END >d\ntendon e\nEND\ntendon f\n", "c", "f")

check("what is typed on a terminal", check_readme.shell_lines("$ a \\\n    b\nprinted\n# c\n"), "a \\\n    b\nc\n")
for name, text, output, fits in (
        ("an output", "a.b\nc\n", "a.b\nc\n", True), ("another output", "a.b\n", "a,b\n", False),
        ("an output with another line", "a\n", "a\nb\n", False), ("an output that ends early", "a\nb\n", "a\n", False),
        ("the rest of a line", "a …\n", "a b c\n", True), ("a part of a line", "a … c\n", "a b d\n", False),
        ("the rest of a line ends with it", "a …\n", "a b\nc\n", False),
        ("any number of lines", "a\n…\nd\n", "a\nb\nc\nd\n", True), ("no line", "a\n…\nd\n", "a\nd\n", True),
        ("nothing", "", "a\n", False)):
    check(f"compared: {name}", bool(check_readme.as_printed(text).fullmatch(output)), fits)
sys.exit(failed)

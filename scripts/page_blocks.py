# SPDX-License-Identifier: MIT
"""The code blocks of the README and of docs/, as check_readme.py and check_docs.py take them from the pages.

docs/testing.md says what is checked of each language, and lists the blocks that are not checked.
"""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
LANGUAGES = ("sh", "console", "c", "swift", "ini", "json", "python", "scenario", "text")


@dataclasses.dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    text: str

    def __str__(self):
        return f"{self.page}:{self.line}"


def pages():
    return ["README.md"] + sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))


def blocks_of(page, text):
    """The blocks of a page, and what is wrong with its fences."""
    blocks, problems, begun, language = [], [], 0, None
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        fence = re.match(r"\s*(?:```|~~~)", line)
        if not fence:
            continue
        if begun and line == "```":
            body = "".join(text + "\n" for text in lines[begun:number - 1])
            blocks.append(Block(page, begun, language, body))
            begun = 0
        elif not begun and re.fullmatch(r"```[a-z]+", line) and line[3:] in LANGUAGES:
            begun, language = number, line[3:]
        else:
            problems.append(f"{page}:{number}: {line}")
    if begun:
        problems.append(f"{page}:{begun}: the block has no end")
    return blocks, problems


def exemptions():
    """The list of docs/testing.md: page and first line of a block to the reason why the block is not checked."""
    section = (ROOT / "docs/testing.md").read_text().split("\n## Code blocks\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| \[[^\]]*\]\(([^)]*)\) \| `(.*?)` \| (.+) \|$", section, re.M)
    return {(str((ROOT / "docs" / page).resolve().relative_to(ROOT)), first): reason for page, first, reason in rows}


def is_exempt(block, rows):
    return (block.page, block.text.splitlines()[0].strip()) in rows

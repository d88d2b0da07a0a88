#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the samples "after" of docs/porting.md with the programs in Tests/Phone, which are built and run."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    page = (ROOT / "docs/porting.md").read_text()
    samples = dict(re.findall(r"After \(`Tests/Phone/(\w+)`\):\n\n```swift\n(.*?)\n```", page, re.S))
    failed = False
    for folder in sorted((ROOT / "Tests/Phone").glob("*App")):
        program = (folder / "App.swift").read_text()
        part = re.search(r"// porting\.md: \w+\n(.*?)\n// porting\.md: end", program, re.S)
        sample = samples.pop(folder.name, "")
        imports, _, body = sample.partition("\n\n")
        good = part is not None and body == part[1] and set(imports.split("\n")) <= set(program.split("\n"))
        print(("ok" if good else "not ok") + f" - docs/porting.md shows {folder.name} as it is built")
        failed = failed or not good
    for name in samples:
        print(f"not ok - docs/porting.md shows {name}, which is not in Tests/Phone")
        failed = True
    sys.exit(failed)


main()

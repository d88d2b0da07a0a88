#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the changes to shared files that docs/adding-a-device.md asks for, for the family of its example.

Usage: apply_steps.py [--check] TREE       --check: nothing is written
Reads the table whose columns are file, the line after which something is added, and what is added.
"""
import pathlib
import sys


def rows(document):
    """(file, anchor, line) of each row."""
    for line in document.splitlines():
        cells = [cell.strip() for cell in line.strip().strip('|').split(' | ')]
        if line.startswith('| `') and len(cells) == 3 and all(cell.startswith('`') for cell in cells):
            yield [cell.strip('`').rstrip() for cell in cells]


def main():
    tree = pathlib.Path(sys.argv[-1])
    changes = list(rows((tree / 'docs/adding-a-device.md').read_text()))
    if not changes:
        sys.exit('docs/adding-a-device.md has no table of changes')
    for name, anchor, added in changes:
        path = tree / name
        lines = path.read_text().split('\n')
        places = [index for index, line in enumerate(lines) if anchor in line]
        if len(places) != 1:
            sys.exit(f'{name}: "{anchor}" is in {len(places)} lines')
        lines.insert(places[0] + 1, added)
        if '--check' not in sys.argv:
            path.write_text('\n'.join(lines))
    print(f'ok - the documented changes apply: {len(changes)} lines in {len({name for name, _, _ in changes})} files')


if __name__ == '__main__':
    main()

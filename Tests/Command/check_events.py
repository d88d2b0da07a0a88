#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_events.py FILE...: whether all lines of JSON follow docs/events.schema.json.

Lines of the same shape (the same event, members and types) are checked up to 50 times each.
"""
import json
import pathlib
import sys

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def shape(value):
    if isinstance(value, dict):
        return tuple((key, type(item).__name__) for key, item in value.items()) + (value.get("event"),)
    return type(value).__name__


def main():
    schema = json.loads((ROOT / "docs/events.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    seen, problems, lines = {}, 0, 0
    for name in sys.argv[1:]:
        for line in open(name, encoding="utf-8"):
            if not line.startswith("{"):
                continue
            lines += 1
            try:
                value = json.loads(line)
            except ValueError as error:
                # The last line of a program that was killed may be cut.
                if line.endswith("\n"):
                    problems += 1
                    print(f"{error}: {line.strip()[:200]}")
                continue
            kind = shape(value)
            seen[kind] = seen.get(kind, 0) + 1
            if seen[kind] > 50:
                continue
            for error in validator.iter_errors(value):
                problems += 1
                print(f"{'.'.join(map(str, error.path))}: {error.message[:200]}: {line.strip()[:300]}")
                break
    print(f"{lines} lines of {len(seen)} shapes, {problems} problems")
    sys.exit(1 if problems else 0)


main()

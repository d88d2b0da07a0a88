#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py PROGRAM FILE...: what `tendon-conformance` computes against what vectors expect.

Vectors are JSON lines. Numbers compare with the vector's tolerance (relative, 1e-6 where none is given), all else
exactly. The answer may have more keys; `error` and `rejected` only where they are expected. `or_hex` is a second
encoding that is equally right. Answers of the family obvious are equal as JSON values: no key more.
"""
import json
import subprocess
import sys


def difference(expected, actual, tolerance, path):
    """Where the two first differ, as text; None where they do not."""
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return f"{path}: not an object: {actual}"
        for key in ("error", "rejected"):
            if key in actual and key not in expected:
                return f"{path}.{key}: not expected: {actual[key]}"
        for key, value in expected.items():
            if key == "or_hex":
                continue
            if key not in actual:
                return f"{path}.{key}: missing"
            if key == "hex" and actual[key] == expected.get("or_hex"):
                continue
            found = difference(value, actual[key], tolerance, f"{path}.{key}")
            if found:
                return found
        return None
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(expected) != len(actual):
            return f"{path}: expected {expected}, got {actual}"
        for index, (one, other) in enumerate(zip(expected, actual)):
            found = difference(one, other, tolerance, f"{path}[{index}]")
            if found:
                return found
        return None
    numbers = not any(isinstance(value, bool) for value in (expected, actual)) and all(
        isinstance(value, (int, float)) for value in (expected, actual))
    if numbers and abs(expected - actual) <= max(tolerance * max(abs(expected), abs(actual)), 1e-12):
        return None
    if type(expected) is type(actual) and expected == actual:
        return None
    return f"{path}: expected {expected!r}, got {actual!r}"


def main():
    program, files = sys.argv[1], sys.argv[2:]
    vectors = [json.loads(line) for name in files for line in open(name, encoding="utf-8") if line.strip()]
    inputs = [{k: v for k, v in vector.items() if k not in ("expect", "note")} for vector in vectors]
    text = "".join(json.dumps(value) + "\n" for value in inputs)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    failures = 0
    if len(answers) != len(vectors):
        sys.exit(f"{len(vectors)} vectors, {len(answers)} answers")
    for vector, answer in zip(vectors, answers):
        found = difference(vector["expect"], answer, vector.get("tolerance", vector.get("tol", 1e-6)), "")
        if not found and vector["family"] == "obvious" and answer != vector["expect"]:
            found = f": expected {vector['expect']}, got {answer}"
        if found:
            failures += 1
            print(f"{vector['id']} {vector['kind']} ({vector.get('note', '')}) {found}")
    print(f"{len(vectors) - failures} of {len(vectors)} vectors agree")
    sys.exit(1 if failures else 0)


main()

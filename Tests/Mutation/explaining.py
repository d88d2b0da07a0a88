# SPDX-License-Identifier: MIT
"""The list of faults that no test can catch, with reasons."""

import pathlib

HERE = pathlib.Path(__file__).resolve().parent


def explained():
    rows = {}
    for line in (HERE / "explained").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, kind, rest = (part.strip() for part in line.split(" | ", 2))
            text, reason = (part.strip() for part in rest.rsplit(" | ", 1))  # the line itself may have an or of bits
            before, _, other = text.partition(" => ")
            rows.setdefault((name, kind, before), []).append((other, reason))
    return rows


def reason_of(rows, fault):
    """Why no test can catch this fault; None: there is no reason."""
    for name in (fault.file, "*"):
        for other, reason in rows.get((name, fault.kind, fault.before.strip()), []):
            if not other or f"@ ? ({other}) :" in fault.after:
                return reason
    return None

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_power_cut.py RECORDINGS CONSOLE: what is left of a recording whose machine lost its power, beside the times of the
samples that its program had printed (`# received SECONDS`). Prints results as the cases do."""

import json
import pathlib
import re
import sys

WRITTEN, SYNCHRONIZED = 0.25, 1.0  # seconds, docs/recording.md
SLOW = 0.75  # of an emulated machine: from the sample to its line on the console, and of the disk


def main():
    folders = sorted(path for path in pathlib.Path(sys.argv[1]).iterdir() if path.is_dir())
    console = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8", errors="replace")
    printed = [float(text) for text in re.findall(r"^# received (\d+\.\d+)\r?$", console, re.M)]
    good = True

    def result(is_good, text):
        nonlocal good
        good &= bool(is_good)
        print(f"{'ok' if is_good else 'not ok'} - power cut: {text}")

    result(len(folders) == 2, f"the recording of before and that of the next run: {len(folders)}")
    session = json.loads((folders[0] / "session.json").read_text(encoding="utf-8"))
    wide = next(folders[0].glob("*.rotation.csv")).read_text(encoding="utf-8")
    rows = [row.split(",") for row in wide.splitlines()]
    result(len(rows) > 1 and wide.endswith("\n") and len({len(row) for row in rows}) == 1, "each row is whole")
    received = [float(row[1]) for row in rows[1:]]
    lost = printed[-1] - (received[-1] if received else printed[0])
    result(lost <= WRITTEN + SYNCHRONIZED + SLOW,
           f"{len(received)} rows; of {printed[-1] - printed[0]:.2f} s that were printed the last {lost:.2f} s are lost (less than 0: not printed yet)")
    # Each sample has its number: the device counts milliseconds.
    steps = {int(other[4]) - int(one[4]) for one, other in zip(rows[1:], rows[2:])}
    result(steps == {20}, f"none is missing before that: steps of {sorted(steps)} ms")
    long = (folders[0] / "samples.csv").read_text(encoding="utf-8").splitlines()
    result(abs((len(long) - 1) / 7 - len(received)) <= 50 * (WRITTEN + SYNCHRONIZED), f"the long form has as much: {len(long) - 1} rows")
    gap = session["gaps"][-1] if session["gaps"] else {}
    result(gap.get("reason") == "killed" and gap.get("to") is None, f"session.json says what is missing: {gap}")
    result(session["ended"] is not None, f"and when it ended: {session['ended']}")
    counted = [sensor["samples"] for device in session["devices"] for sensor in device["sensors"]]
    result(counted == [len(received)], f"and how many samples there are: {counted}")
    sys.exit(not good)


if __name__ == "__main__":
    main()

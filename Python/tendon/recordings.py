# SPDX-License-Identifier: MIT
"""Samples as pandas data frames; only here is pandas used, if it is installed."""

from __future__ import annotations

import io
import json
import pathlib
from typing import TYPE_CHECKING, Any, Iterable

from .events import Event

if TYPE_CHECKING:
    import pandas


def frame(events: Iterable[Event]) -> pandas.DataFrame:
    """Events as rows, with a column for each member that one of them has; lists are split: quaternion_0, quaternion_1 ..."""
    import pandas

    rows = []
    for event in events:
        row: dict[str, Any] = {}
        for name, value in vars(event).items():
            if isinstance(value, list):
                row.update((f"{name}_{index}", part) for index, part in enumerate(value))
            else:
                row[name] = value
        rows.append(row)
    table = pandas.DataFrame(rows)
    if "time" in table:
        table["time"] = pandas.to_datetime(table["time"])
    return table


def read_recording(folder: str | pathlib.Path) -> dict[str, pandas.DataFrame]:
    """The sensors of a folder of `tendon run --record`: {"left-C00000000010.rotation": ...}. `attrs` has what its session.json says of
    each: units, gaps, clock. Columns of words, texts, bytes and times of device files are texts, whatever they look like."""
    import pandas

    folder = pathlib.Path(folder)
    if not (folder / "session.json").exists():
        raise FileNotFoundError(f"{folder} is no recording: it has no session.json")
    session = json.loads((folder / "session.json").read_text())
    tables = {}
    for device in session["devices"]:
        for sensor in device["sensors"]:
            # pandas takes the bytes 12e5 for a number, and the text NA for nothing. Only a cell that is empty is nothing.
            texts = {channel["column"]: str for channel in sensor["channels"]
                     if channel.get("kind", "number") not in ("number", "flag")}
            # Of a program that was killed the last row may be a part of one.
            rows = (folder / sensor["file"]).read_bytes()
            rows = rows[:rows.rfind(b"\n") + 1]
            if not rows:  # the disk was full from the beginning
                table = pandas.DataFrame(columns=["time", *(channel["column"] for channel in sensor["channels"])])
            else:
                table = pandas.read_csv(io.BytesIO(rows), parse_dates=["time"], dtype=texts, keep_default_na=False, na_values=[""])
            table.attrs = {"device": {key: value for key, value in device.items() if key != "sensors"}, "sensor": sensor,
                           "gaps": session["gaps"]}
            tables[sensor["file"].removesuffix(".csv")] = table
    return tables

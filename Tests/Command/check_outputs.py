#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What every output of one run has, for all_outputs.sh. The reference are the lines of the run, read by this program.

  check_outputs.py page PORT FILE                     the live data of the page, a message a line, until the connection ends
  check_outputs.py compare FOLDER BEGIN END NUMBER    "ok" lines of this run, between these times of CLOCK_MONOTONIC

FOLDER has lines.NUMBER (JSON lines), csv.NUMBER (a folder), mqtt.NUMBER (of mosquitto_sub), page.NUMBER, osc (of check_osc.py) and
lsl (of check_lsl.py): the last two receive both runs."""

import csv
import json
import pathlib
import sys
import urllib.request

# Device, sensor: the member of a line, and its number there; the channel.
SENSORS = {
    ("head", "rotation"): ("quaternion", 0, "x"),
    ("head", "accelerometer"): ("acceleration_g", 0, "x"),
    ("waist", "orientation"): ("heading_deg", None, "heading"),
    ("hand", "force"): ("force_n", None, "force"),
    ("strap", "heart_rate"): ("heart_rate_bpm", None, "heart_rate_bpm"),
}
# A line has the digits that the sensor resolves, OSC has float32.
CLOSE = 6e-3
MICROSECONDS = 1.1e-6


def objects(path):
    with open(path) as file:
        for line in file:
            if line.endswith("\n"):
                yield json.loads(line)


def page(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/events") as stream, open(path, "w", buffering=1) as out:
        for line in stream:
            if line.startswith(b"data: "):
                out.write(line[6:].decode())


def of(lines):
    """The samples of lines: by device and sensor, time and number; events of the grip by their time."""
    found = {key: [] for key in SENSORS}
    found["camera", "events"] = []
    for line in lines:
        if line.get("event") == "grip":
            found["camera", "events"].append((line["received_at"], line["grip_event"]))
        # An event of a device file is its own sensor.
        key = (line.get("name"), line.get("sensor", line.get("event")))
        if key in SENSORS:
            member, number, _ = SENSORS[key]
            value = line[member] if number is None else line[member][number]
            found[key].append((line.get("sampled_at", line["received_at"]), value))
    return found


def between(pairs, begin, end):
    return [pair for pair in pairs if begin <= pair[0] <= end]


def agree(one, other):
    """The same times and values, in the same order."""
    return len(one) == len(other) and all(
        abs(a[0] - b[0]) <= MICROSECONDS and (a[1] == b[1] if isinstance(a[1], str) else abs(a[1] - b[1]) < CLOSE)
        for a, b in zip(one, other))


def report(good, name, detail):
    print(f"ok {name}" if good else f"not ok {name}: {detail}")


def of_csv(folder):
    found = {}
    for (device, sensor), (_, _, channel) in SENSORS.items():
        found[device, sensor] = []
        for path in pathlib.Path(folder).glob(f"{device}-*.{sensor}.csv"):
            for row in csv.DictReader(path.open()):
                column = next(name for name in row if name == channel or name.startswith(channel + "_"))
                found[device, sensor].append((float(row["sampled_at"] or row["received_at"]), float(row[column])))
    events = of(objects(pathlib.Path(folder) / "events.jsonl"))
    found["camera", "events"] = events["camera", "events"]
    return found


def of_mqtt(path):
    lines = []
    for message in objects(path):
        payload = message["t"].get("payload")
        if "/stream/" in message["t"]["topic"] or message["t"]["topic"].endswith("/event"):
            payload = json.loads(payload) if isinstance(payload, str) else payload
            lines += payload if isinstance(payload, list) else [payload]
    return of(lines)


def of_lsl(folder):
    import xml.etree.ElementTree

    found = {}
    for (device, sensor), (_, _, channel) in SENSORS.items():
        root = xml.etree.ElementTree.parse(pathlib.Path(folder) / f"{device} {sensor}.xml").getroot()
        labels = [each.findtext("label") for each in root.iterfind("desc/channels/channel")]
        index = labels.index(channel)
        rows = objects(pathlib.Path(folder) / f"{device} {sensor}.jsonl")
        found[device, sensor] = [(row["time"], row["values"][index]) for row in rows]
    markers = objects(pathlib.Path(folder) / "camera markers.jsonl")
    found["camera", "events"] = [(row["time"], row["values"][0].split()[1]) for row in markers
                               if row["values"][0].startswith("grip ")]
    return found


def of_osc(path, labels):
    """Numbers only: OSC has no times."""
    found = {key: [] for key in SENSORS}
    for message in objects(path):
        key = tuple(message["address"].split("/")[2:4])
        if key in SENSORS:
            found[key].append(message["args"][labels[key]])
    return found


def labels_of_csv(folder):
    places = {}
    for (device, sensor), (_, _, channel) in SENSORS.items():
        for path in pathlib.Path(folder).glob(f"{device}-*.{sensor}.csv"):
            columns = path.open().readline().rstrip("\n").split(",")[5:]
            places[device, sensor] = next(i for i, name in enumerate(columns)
                                          if name == channel or name.startswith(channel + "_"))
    return places


def contains(numbers, part):
    """Whether the part is in the numbers without a gap."""
    for start in range(len(numbers) - len(part) + 1):
        if all(abs(a - b) < CLOSE for a, b in zip(numbers[start:], part)):
            return True
    return False


def compare(folder, begin, end, number):
    folder, begin, end = pathlib.Path(folder), float(begin), float(end)
    sent = {key: between(pairs, begin, end) for key, pairs in of(objects(folder / f"lines.{number}")).items()}
    for (device, sensor), pairs in sent.items():
        report(len(pairs) > 0, f"run {number}, {device} {sensor}, there is something to compare", "")
    outputs = {"CSV": of_csv(folder / f"csv.{number}"), "MQTT": of_mqtt(folder / f"mqtt.{number}"), "LSL": of_lsl(folder / "lsl")}
    for output, found in outputs.items():
        for (device, sensor), pairs in sent.items():
            got = between(found[device, sensor], begin, end)
            report(agree(pairs, got), f"run {number}, {output}, {device} {sensor}, each with its time and number",
                   f"{len(pairs)} lines, {len(got)} there")
    found = of_osc(folder / "osc", labels_of_csv(folder / f"csv.{number}"))
    for key, pairs in sent.items():
        if key in SENSORS:
            report(contains(found[key], [value for _, value in pairs]), f"run {number}, OSC, {key[0]} {key[1]}, each number in order",
                   f"{len(pairs)} lines, {len(found[key])} messages in both runs")
    shown = of(objects(folder / f"page.{number}"))
    for (device, sensor), pairs in sent.items():
        got = between(shown[device, sensor], begin, end)
        # The page draws 30 pictures per second; events it has all.
        some = len(got) == len(pairs) if sensor == "events" else 0 < len(got) <= len(pairs)
        known = {round(time, 6): value for time, value in pairs}
        right = all(round(time, 6) in known and known[round(time, 6)] == value for time, value in got)
        report(some and right, f"run {number}, page, {device} {sensor}, shown with its time and number",
               f"{len(pairs)} lines, {len(got)} shown")
    print("# " + ", ".join(f"{device} {sensor}: {len(pairs)}" for (device, sensor), pairs in sent.items()))


if __name__ == "__main__":
    {"page": page, "compare": compare}[sys.argv[1]](*sys.argv[2:])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What every output of one run has, for all_outputs.sh. The reference are the lines of the run, read by this program.

  check_outputs.py page PORT FILE                     the live data of the page, a message a line, until the connection ends
  check_outputs.py package FILE DEFINITION ADDRESS... what the Python package receives of these devices, until SIGTERM
  check_outputs.py compare FOLDER BEGIN END NUMBER    "ok" lines of this run, between these times of CLOCK_MONOTONIC

FOLDER has lines.NUMBER (JSON lines), csv.NUMBER (a folder), mqtt.NUMBER (of mosquitto_sub), page.NUMBER, osc (what Pure Data
printed), package and lsl (of check_lsl.py): the last three receive both runs."""

import asyncio
import csv
import json
import math
import pathlib
import signal
import sys
import urllib.request

# Device, sensor: its values as CSV has them, from the members of its line.
SENSORS = {
    ("head", "rotation"): lambda line: [*line["quaternion"], line["pitch_deg"], line["roll_deg"], line["yaw_deg"]],
    ("head", "accelerometer"): lambda line: line["acceleration_g"],
    ("waist", "orientation"): lambda line: [line["heading_deg"], line["accurate"], line["accuracy_deg"]],
    ("hand", "force"): lambda line: [line["force_n"]],
    ("strap", "heart_rate"): lambda line: [line.get("contact"), line["heart_rate_bpm"], line.get("energy_kj")],
}
# Recordings have these columns behind them.
ACCURACIES = ["unreliable", "low", "medium", "high"]
RECORDED = {
    ("head", "rotation"): lambda line: [line.get("accuracy_rad")],
    ("head", "accelerometer"): lambda line: [ACCURACIES.index(line["accuracy"])],
}
# OSC and LSL have one of these in the place of a word.
WORDS = {"unsupported": (0, 1), "no": (2,), "yes": (3,)}
# Devices that two programs are connected to, as they have names in this run. A belt has one connection.
SHARED = {"bose": "head", "activ5": "hand", "fjorden": "camera", "heart_rate": "strap"}
# A line has the digits that the sensor resolves, OSC has float32, and Pure Data prints six digits.
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


async def receive(path, definition, addresses):
    import tendon

    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    async with tendon.Gateway(radio="virtual", pair=60, sensors=["rotation", "accelerometer"], device_files=[definition],
                              address=addresses) as gateway:
        async def write():
            with open(path, "w", buffering=1) as out:
                async for event in gateway.events():
                    print(json.dumps(vars(event)), file=out)

        writer = asyncio.create_task(write())
        await asyncio.wait([writer, asyncio.create_task(over.wait())], return_when=asyncio.FIRST_COMPLETED)
    await writer


def package(path, definition, *addresses):
    asyncio.run(receive(path, definition, addresses))


def of(lines, more={}):
    """The samples of lines: by device and sensor, time and numbers; events of the grip by their time."""
    found = {key: [] for key in SENSORS}
    found["camera", "events"] = []
    for line in lines:
        if line.get("event") == "grip":
            found["camera", "events"].append((line["received_at"], [line["grip_event"]]))
        # An event of a device file is its own sensor.
        key = (line.get("name"), line.get("sensor", line.get("event")))
        if key in SENSORS:
            values = SENSORS[key](line) + (more[key](line) if key in more else [])
            found[key].append((line.get("sampled_at", line["received_at"]), values))
    return found


def between(pairs, begin, end):
    return [pair for pair in pairs if begin <= pair[0] <= end]


def is_nothing(value):
    return value is None or value == "" or value != value


def numbers(values):
    return [WORDS[value] if isinstance(value, str) else value for value in values]


def same(one, other):
    """The same numbers, or words."""
    return len(one) == len(other) and all(
        is_nothing(b) if is_nothing(a) else b in a if isinstance(a, tuple) else a == b if isinstance(a, str)
        else not is_nothing(b) and abs(a - float(b)) < CLOSE
        for a, b in zip(one, other))


def agree(one, other):
    """The same times and values, in the same order."""
    return len(one) == len(other) and all(
        abs(a[0] - b[0]) <= MICROSECONDS and same(a[1], b[1]) for a, b in zip(one, other))


def report(good, name, detail):
    print(f"ok {name}" if good else f"not ok {name}: {detail}")


def of_csv(folder):
    found = {key: [] for key in SENSORS}
    for device, sensor in SENSORS:
        for path in pathlib.Path(folder).glob(f"{device}-*.{sensor}.csv"):
            with path.open() as file:
                for row in list(csv.reader(file))[1:]:
                    found[device, sensor].append((float(row[2] or row[1]), row[5:]))
    events = of(objects(pathlib.Path(folder) / "events.jsonl"))
    found["camera", "events"] = events["camera", "events"]
    return found


def of_recording(folder):
    """The same by the Python package."""
    import tendon

    found = {key: [] for key in SENSORS}
    for name, table in tendon.read_recording(folder).items():
        key = (name.split("-")[0], name.rpartition(".")[2])
        if key in SENSORS:
            times = table["sampled_at"].fillna(table["received_at"])
            found[key] = list(zip(times, table.iloc[:, 5:].to_numpy(dtype=object).tolist()))
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
    found = {}
    for device, sensor in SENSORS:
        rows = objects(pathlib.Path(folder) / f"{device} {sensor}.jsonl")
        found[device, sensor] = [(row["time"], row["values"]) for row in rows]
    markers = objects(pathlib.Path(folder) / "camera markers.jsonl")
    found["camera", "events"] = [(row["time"], [row["values"][0].split()[1]]) for row in markers
                               if row["values"][0].startswith("grip ")]
    return found


def of_osc(path):
    """The numbers that Pure Data printed, "osc: list tendon head rotation 0.5 ...": OSC has no times."""
    found = {key: [] for key in SENSORS}
    for line in pathlib.Path(path).read_text().splitlines():
        words = line.split()
        if words[:3] == ["osc:", "list", "tendon"] and tuple(words[3:5]) in SENSORS:
            found[tuple(words[3:5])].append([float(word) for word in words[5:]])
    return found


def of_package(lines):
    """By device and sensor: its own clock, time, bound of the time's error, numbers."""
    found = {key: [] for key in SENSORS}
    found["camera", "events"] = []
    for line in lines:
        if line.get("event") == "grip":
            found["camera", "events"].append((line["device_time_ms"], line["received_at"], None, [line["grip_event"]]))
        key = (SHARED.get(line.get("family")), line.get("sensor", line.get("event")))
        if key in SENSORS:
            found[key].append((line.get("device_time_ms"), line.get("sampled_at", line["received_at"]), line.get("error_ms"),
                               SENSORS[key](line)))
    return found


def places(numbers, part):
    """Where the part is in the numbers without a gap."""
    return [start for start in range(len(numbers) - len(part) + 1)
            if all(same(a, b) for a, b in zip(part, numbers[start:]))]


def in_order(found, sent, what):
    """OSC. Pure Data has 0 for what is not a number."""
    for key, pairs in sent.items():
        if key in SENSORS:
            part = [[0 if is_nothing(value) else value for value in numbers(values)] for _, values in pairs]
            report(places(found[key], part), f"{what}, {key[0]} {key[1]}, each number in order",
                   f"{len(pairs)} lines, {len(found[key])} messages in both runs")


def compare_package(received, lines, begin, end, what):
    """The package has connections of its own to the same devices, and its own models of their clocks. What has no such time
    has that of its arrival in each of the two programs, which depends on the load of the machine: it finds the place, and is shown."""
    worst = {}
    for key, own in of_package(objects(received)).items():
        sent = [sample for sample in lines[key] if begin <= sample[1] <= end]
        if key[0] not in SHARED.values():
            continue
        starts = places([[each[0], *each[3]] for each in own], [[each[0], *each[3]] for each in sent])
        start = min(starts, key=lambda start: abs(own[start][1] - sent[0][1]), default=None) if sent else None
        report(start is not None, f"{what}, {key[0]} {key[1]}, each with its numbers, in order",
               f"{len(sent)} lines, {len(own)} received in both runs")
        pairs = list(zip(sent, own[start:])) if start is not None else []
        worst[key] = max((abs(a[1] - b[1]) * 1000 for a, b in pairs), default=math.inf)
        if sent and sent[0][2] is not None:
            report(pairs and all(abs(a[1] - b[1]) * 1000 <= a[2] + b[2] for a, b in pairs),
                   f"{what}, {key[0]} {key[1]}, times within their errors", f"{worst[key]} ms")
    print(f"# {what}, largest difference of times in ms: " +
          ", ".join(f"{device} {sensor} {most:.3f}" for (device, sensor), most in worst.items()))


def compare(folder, begin, end, number):
    folder, begin, end = pathlib.Path(folder), float(begin), float(end)
    lines = list(objects(folder / f"lines.{number}"))
    sent, recorded = ({key: between(pairs, begin, end) for key, pairs in of(lines, more).items()} for more in ({}, RECORDED))
    for (device, sensor), pairs in sent.items():
        report(len(pairs) > 0, f"run {number}, {device} {sensor}, there is something to compare", "")
    outputs = {"CSV": of_csv(folder / f"csv.{number}"), "MQTT": of_mqtt(folder / f"mqtt.{number}"), "LSL": of_lsl(folder / "lsl"),
               "the recording in Python": of_recording(folder / f"csv.{number}")}
    for output, found in outputs.items():
        for key, pairs in (sent if output in ("MQTT", "LSL") else recorded).items():
            if key in found:
                got = between(found[key], begin, end)
                if output == "LSL" and key in SENSORS:
                    pairs = [(time, numbers(values)) for time, values in pairs]
                report(agree(pairs, got), f"run {number}, {output}, {key[0]} {key[1]}, each with its time and numbers",
                       f"{len(pairs)} lines, {len(got)} there")
    in_order(of_osc(folder / "osc"), sent, f"run {number}, Pure Data")
    compare_package(folder / "package", of_package(lines), begin, end, f"run {number}, Python")
    shown = of(objects(folder / f"page.{number}"))
    for (device, sensor), pairs in sent.items():
        got = between(shown[device, sensor], begin, end)
        # The page draws 30 pictures per second; events it has all.
        some = len(got) == len(pairs) if sensor == "events" else 0 < len(got) <= len(pairs)
        known = {round(time, 6): values for time, values in pairs}
        right = all(known.get(round(time, 6)) == values for time, values in got)
        report(some and right, f"run {number}, page, {device} {sensor}, shown with its time and numbers",
               f"{len(pairs)} lines, {len(got)} shown")
    print("# " + ", ".join(f"{device} {sensor}: {len(pairs)}" for (device, sensor), pairs in sent.items()))


if __name__ == "__main__":
    {"page": page, "package": package, "compare": compare}[sys.argv[1]](*sys.argv[2:])

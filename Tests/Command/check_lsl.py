#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A receiver of the Lab Streaming Layer for lsl.sh, by pylsl; and its samples beside the lines of the same run.

  check_lsl.py receive FOLDER COUNT      receives COUNT streams until SIGTERM: FOLDER/NAME.jsonl has a line for each sample, and
                                         FOLDER/NAME.xml the header; FOLDER/ready once all are open
  check_lsl.py headers FOLDER ADDRESS    "ok" lines
  check_lsl.py compare FOLDER LINES SENSOR FROM TO    between these times of CLOCK_MONOTONIC
  check_lsl.py residual FOLDER SENSOR    milliseconds between times and the line through them: mean square, largest
"""

import json
import math
import pathlib
import signal
import sys
import threading
import time
import xml.etree.ElementTree


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


# --- Receiving. Times are as they were sent: both ends have one clock here.

def receive(folder, count):
    import pylsl

    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    apart = min(abs(pylsl.local_clock() - time.monotonic()) for _ in range(10))
    (folder / "clock").write_text(f"{apart:.6f}\n")
    inlets = {}
    # A device connects when it likes, and each of its streams comes with its first sample.
    while len(inlets) < int(count) and not over.is_set():
        for info in pylsl.resolve_streams(1.0):
            if info.name() in inlets:
                continue
            inlet = pylsl.StreamInlet(info, recover=True)
            inlet.open_stream(10)
            (folder / (info.name() + ".xml")).write_text(inlet.info(10).as_xml())
            inlets[info.name()] = (inlet, open(folder / (info.name() + ".jsonl"), "w", buffering=1))
    (folder / "ready").touch()
    while not over.wait(0.05):
        for inlet, out in inlets.values():
            samples, times = inlet.pull_chunk(timeout=0.0, max_samples=1024)
            for sample, stamp in zip(samples, times):
                print(json.dumps({"time": stamp, "values": sample}), file=out)


# --- The headers.

def header(folder, name):
    root = xml.etree.ElementTree.parse(pathlib.Path(folder) / (name + ".xml")).getroot()
    channels = [tuple(channel.findtext(part) for part in ("label", "unit", "type")) for channel in root.iterfind("desc/channels/channel")]
    return root, channels


def headers(folder, address):
    root, channels = header(folder, "studio rotation")
    got = {part: root.findtext(part) for part in ("type", "channel_format", "source_id", "channel_count")}
    expected = {"type": "MoCap", "channel_format": "double64", "source_id": f"tendon/{address}/random/rotation",
                "channel_count": "7"}
    print("ok the header of a sensor" if got == expected else f"not ok the header of a sensor: {got}")
    rate = float(root.findtext("nominal_srate"))
    print("ok its rate" if rate == 50 else f"not ok its rate: {rate}")
    labels = [label for label, _, _ in channels]
    print("ok its channels" if labels == ["x", "y", "z", "w", "pitch", "roll", "yaw"] else f"not ok its channels: {channels}")
    print("ok units and types" if channels[3:5] == [("w", None, "OrientationA"), ("pitch", "deg", "OrientationPitch")]
          else f"not ok units and types: {channels}")
    maker = root.findtext("desc/acquisition/manufacturer"), root.findtext("desc/device/address")
    print("ok maker and device" if maker == ("Bose", address) else f"not ok maker and device: {maker}")
    root, channels = header(folder, "studio accelerometer")
    print("ok the header of another sensor" if channels == [(axis, "g", "Acceleration" + axis.upper()) for axis in "xyz"]
          else f"not ok the header of another sensor: {channels}")
    root, channels = header(folder, "studio markers")
    got = root.findtext("type"), root.findtext("channel_format"), float(root.findtext("nominal_srate")), len(channels)
    print("ok the header of markers" if got == ("Markers", "string", 0.0, 1) else f"not ok the header of markers: {got}")


# --- The samples: every one that was sent while the stream was open, once, in their order.

def numbers(line):
    if "quaternion" in line:
        return [*line["quaternion"], line["pitch_deg"], line["roll_deg"], line["yaw_deg"]]
    return line["acceleration_g"]


def compare(folder, lines_path, sensor, begin, end):
    begin, end = float(begin), float(end)
    received = [s for s in lines(pathlib.Path(folder) / f"studio {sensor}.jsonl") if begin <= s["time"] <= end]
    sent = [line for line in lines(lines_path) if line["event"] == "sample" and line["sensor"] == sensor]
    # What was sent before the receiver had opened the stream it cannot have.
    first = received[0]["time"] - 1e-6 if received else math.inf
    sent = [line for line in sent if max(begin, first) <= line.get("sampled_at", line["received_at"]) <= end]
    name = f"{sensor}: every sample, once, in order"
    times = [line.get("sampled_at", line["received_at"]) for line in sent], [s["time"] for s in received]
    # Lines have microseconds.
    same = len(times[0]) == len(times[1]) and all(abs(a - b) < 1.1e-6 for a, b in zip(*times))
    print(f"ok {name}" if same and received else f"not ok {name}: {len(sent)} lines, {len(received)} received")
    worst = max((abs(a - b) for line, s in zip(sent, received) for a, b in zip(numbers(line), s["values"])), default=math.inf)
    # A line has the digits that the sensor resolves.
    print(f"ok {sensor}: their numbers" if worst < 6e-3 else f"not ok {sensor}: their numbers: {worst}")
    print(f"# {len(received)} samples of {sensor}")


# --- What is left when the times are fitted by a line, as importers of recordings do with a stream that has a rate.

def fitted(times):
    count = len(times)
    middle, mean = (count - 1) / 2, sum(times) / count
    slope = sum((i - middle) * (t - mean) for i, t in enumerate(times)) / sum((i - middle) ** 2 for i in range(count))
    return [t - (mean + slope * (i - middle)) for i, t in enumerate(times)]


def residual(folder, sensor):
    times = [s["time"] for s in lines(pathlib.Path(folder) / f"studio {sensor}.jsonl")]
    # Parts without an interruption, without the first seconds of each: the model of the device's clock begins there.
    parts, part = [], []
    for stamp in times:
        if part and stamp - part[-1] > 0.5:
            parts.append(part)
            part = []
        part.append(stamp)
    parts = [[t for t in part if t - part[0] > 3] for part in [*parts, part]]
    rest = [r for part in parts if len(part) > 50 for r in fitted(part)]
    if not rest:
        print("not ok times: too few")
        return
    square, largest = (1000 * v for v in (math.sqrt(sum(r * r for r in rest) / len(rest)), max(map(abs, rest))))
    print(f"# {len(rest)} times of {sensor}: root mean square {square:.3f} ms, largest {largest:.3f} ms from the line through them")
    print("ok times are regular within 1 ms" if square < 1 else f"not ok times are regular within 1 ms: {square:.3f} ms")


if __name__ == "__main__":
    {"receive": receive, "headers": headers, "compare": compare, "residual": residual}[sys.argv[1]](*sys.argv[2:])

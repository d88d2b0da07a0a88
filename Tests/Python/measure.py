#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processor time for each orientation of a Bose wearable, through this package or through bleak.

Usage: measure.py tendon|callback|bleak ADAPTER SAMPLES FOUND [PID ...]; prints one JSON object: of this process, and with that of
the processes that work for it. FOUND: a file that bleak makes once it is connected; "" for none. The work is the same: angles of each sample in degrees. `tendon` reads events in a task, `callback`
takes them in a function, as users of bleak do."""

import asyncio
import json
import math
import os
import pathlib
import sys
import time


class Meter:
    """From the first sample to the last one."""

    def __init__(self, samples, found, helpers):
        self.wanted, self.count, self.sum = samples, 0, 0.0
        self.found, self.helpers = found, helpers

    def of_helpers(self):
        """Their processor time in seconds: user and system, fields 14 and 15 of proc_pid_stat(5)."""
        stats = [pathlib.Path(f"/proc/{helper}/stat").read_text().rpartition(")")[2].split() for helper in self.helpers]
        return sum(int(fields[11]) + int(fields[12]) for fields in stats) / os.sysconf("SC_CLK_TCK")

    def take(self, yaw):
        if self.count == 0:
            self.began, self.helped = time.process_time(), self.of_helpers()
        self.count += 1
        self.sum += yaw
        return self.count > self.wanted

    def report(self, name):
        used = time.process_time() - self.began
        helped = self.of_helpers() - self.helped
        print(json.dumps({"client": name, "samples": self.wanted, "us_per_sample": round(used / self.wanted * 1e6),
                          "us_with_helpers": round((used + helped) / self.wanted * 1e6)}))


async def through_tendon(adapter, meter):
    import tendon

    async with tendon.Gateway(adapters=adapter, families="bose", sensors="rotation", gestures="none", period=20) as gateway:
        async for event in gateway.events():
            if event.event == "sample" and meter.take(event.yaw_deg or 0):
                break
    meter.report("tendon")


async def through_callback(adapter, meter):
    import tendon

    done = asyncio.Event()
    gateway = tendon.Gateway(adapters=adapter, families="bose", sensors="rotation", gestures="none", period=20)

    def on_event(event):
        if event.event == "sample" and not done.is_set() and meter.take(event.yaw_deg or 0):
            done.set()

    gateway.on_event(on_event)
    async with gateway:
        await done.wait()
        meter.report("callback")


async def through_bleak(adapter, meter):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Peers"))
    import struct

    import bleak_bose

    client = await bleak_bose.connected(adapter, meter.found)
    done = asyncio.Event()

    def on_data(_, value):
        for _, _, payload in bleak_bose.records(bytes(value)):
            x, y, z, w = (part / 16383 for part in struct.unpack(">4h", payload[:8]))
            yaw = math.degrees(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
            math.degrees(math.asin(max(-1, min(1, 2 * (w * y - z * x)))))
            math.degrees(math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)))
            if meter.take(yaw):
                done.set()

    await client.start_notify(bleak_bose.SENSOR_DATA, on_data)
    configuration = bytes(await client.read_gatt_char(bleak_bose.SENSOR_CONFIGURATION))
    entries = [configuration[at:at + 3] for at in range(0, len(configuration), 3)]
    await client.write_gatt_char(bleak_bose.SENSOR_CONFIGURATION, b"".join(
        struct.pack(">BH", entry[0], 20 if entry[0] == bleak_bose.ROTATION else 0) for entry in entries), response=True)
    await done.wait()
    meter.report("bleak")
    await client.disconnect()


asyncio.run(asyncio.wait_for(
    {"tendon": through_tendon, "callback": through_callback, "bleak": through_bleak}[sys.argv[1]](sys.argv[2], Meter(int(sys.argv[3]), sys.argv[4], sys.argv[5:])), 120))

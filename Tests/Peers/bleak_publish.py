#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a gateway without Tendon is: bleak over bluetoothd, paho for MQTT. Publishes every rotation of a Bose wearable as
JSON, until it is stopped. Only to compare what it costs: bleak_bose.py tests.

  bleak_publish.py ADAPTER PORT FOUND
"""
import asyncio
import json
import struct
import sys
import time

import paho.mqtt.client

from bleak_bose import ROTATION, SENSOR_CONFIGURATION, SENSOR_DATA, connected, records


def publish(broker, value):
    for sensor, timestamp, payload in records(value):
        if sensor == ROTATION:
            x, y, z, w = (part / 16383 for part in struct.unpack(">4h", payload[:8]))
            broker.publish("cost/rotation", json.dumps(
                {"time": time.time(), "timestamp_ms": timestamp, "w": w, "x": x, "y": y, "z": z}))


async def run(adapter, port, found):
    broker = paho.mqtt.client.Client(paho.mqtt.client.CallbackAPIVersion.VERSION2)
    broker.connect("127.0.0.1", port)
    broker.loop_start()
    client = await connected(adapter, found)
    await client.start_notify(SENSOR_DATA, lambda _, value: publish(broker, bytes(value)))
    configuration = bytes(await client.read_gatt_char(SENSOR_CONFIGURATION))
    await client.write_gatt_char(SENSOR_CONFIGURATION, b"".join(
        struct.pack(">BH", sensor, 20 if sensor == ROTATION else 0) for sensor in configuration[0::3]), response=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1], int(sys.argv[2]), sys.argv[3]))

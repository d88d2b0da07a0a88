#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An independent client for a Bose wearable: bleak over bluetoothd. Knows docs/protocols/bose.md, shares no code with us.

Discovers by service UUID, checks the attribute table, configures the rotation sensor, streams, and checks that the stream
is loss-free by the device's own timestamps. Prints TAP lines. No wait is without a limit.
"""

import argparse
import asyncio
import math
import struct
import sys

from bleak import BleakClient, BleakScanner

SERVICE = "0000fdd2-0000-1000-8000-00805f9b34fb"
DEVICE_INFORMATION = "7b61ad83-041c-4333-a0ab-efb2ab7bdd43"
SENSOR_INFORMATION = "855cb3e7-98ff-42a6-80fc-40b32a2221c1"
SENSOR_CONFIGURATION = "5af38af6-000e-404b-9b46-07f77580890b"
SENSOR_DATA = "56a72ab8-4988-4cc8-a752-fbd1d54a953d"
GESTURE_INFORMATION = "a0384f52-f95a-4bcd-b898-7b9ceec92dad"
GESTURE_CONFIGURATION = "21e550af-f780-477b-9334-1f983296f1d7"
GESTURE_DATA = "9014dd4e-79ba-4802-a275-894d3b85ac74"
FIRMWARE = "00002a26-0000-1000-8000-00805f9b34fb"
ALL_SEVEN = {DEVICE_INFORMATION, SENSOR_INFORMATION, SENSOR_CONFIGURATION, SENSOR_DATA, GESTURE_INFORMATION,
             GESTURE_CONFIGURATION, GESTURE_DATA}
ROTATION = 2
# Payload bytes of the sensors that are streamed here, without the three bytes of the record's header.
PAYLOAD = {0: 7, 1: 7, 2: 10, 3: 8}
ATTEMPTS = 3


def report(good, text):
    print(("ok" if good else "not ok") + f" - {text}", flush=True)
    if not good:
        sys.exit(1)


async def within(seconds, what, awaitable):
    try:
        return await asyncio.wait_for(awaitable, seconds)
    except asyncio.TimeoutError:
        raise TimeoutError(f"{what}: nothing within {seconds} s") from None


async def connected(adapter, found, service=SERVICE):
    """At most three attempts; each failure is printed with its reason. Once it is, the file found is made."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            # bleak 0.22 takes the adapter as an argument of its own; without it, it takes any that is on.
            device = await within(20, "scan", BleakScanner.find_device_by_filter(
                lambda _, advertisement: service in advertisement.service_uuids, timeout=15, adapter=adapter))
            if device is None:
                raise TimeoutError("no advertisement with the service")
            client = BleakClient(device, timeout=20, adapter=adapter)
            await within(25, "connect", client.connect())
            if found:
                open(found, "w").close()  # pylint: disable=consider-using-with
            return client
        except Exception as error:  # pylint: disable=broad-except
            print(f"# attempt {attempt} of {ATTEMPTS}: {type(error).__name__}: {error}", flush=True)
    report(False, f"connected within {ATTEMPTS} attempts")


def records(value):
    at = 0
    while at < len(value):
        sensor, timestamp = struct.unpack_from(">BH", value, at)
        end = at + 3 + PAYLOAD[sensor]
        if end > len(value):
            raise ValueError(f"a record is cut at {at} of {value.hex()}")
        yield sensor, timestamp, value[at + 3:end]
        at = end


async def stream(client, wanted, period):
    received = []
    enough = asyncio.Event()

    def on_data(_, value):
        received.append(bytes(value))
        if len(received) >= wanted:
            enough.set()

    await within(10, "subscribe", client.start_notify(SENSOR_DATA, on_data))
    configuration = bytes(await within(10, "read", client.read_gatt_char(SENSOR_CONFIGURATION)))
    entries = [configuration[i:i + 3] for i in range(0, len(configuration), 3)]
    changed = b"".join(struct.pack(">BH", e[0], period if e[0] == ROTATION else 0) for e in entries)
    await within(10, "write", client.write_gatt_char(SENSOR_CONFIGURATION, changed, response=True))
    after = bytes(await within(10, "read", client.read_gatt_char(SENSOR_CONFIGURATION)))
    report(after == changed, f"the configuration reads back as written: {after.hex()}")
    await within(wanted * period / 1000 * 4 + 30, f"{wanted} notifications", enough.wait())
    await within(10, "write", client.write_gatt_char(
        SENSOR_CONFIGURATION, b"".join(struct.pack(">BH", e[0], 0) for e in entries), response=True))
    await asyncio.sleep(0.2)
    return received


def check_stream(received, period):
    samples = [record for value in received for record in records(value)]
    steps = [(later[1] - earlier[1]) % 65536 for earlier, later in zip(samples, samples[1:])]
    lost = sum(step // period - 1 for step in steps if step > period)
    report(all(step == period for step in steps),
           f"{len(samples)} samples, {period} ms apart by the device's clock, {lost} lost")
    norms = []
    for _, _, payload in samples:
        quaternion = [part / 16383 for part in struct.unpack(">4h", payload[:8])]
        norms.append(math.sqrt(sum(part * part for part in quaternion)))
    report(all(abs(norm - 1) < 1e-3 for norm in norms), "every quaternion has norm 1")


async def run(arguments):
    client = await connected(arguments.adapter, arguments.found)
    try:
        service = client.services.get_service(SERVICE)
        found = {characteristic.uuid for characteristic in service.characteristics}
        report(found == ALL_SEVEN, "the service has its seven characteristics")
        information = bytes(await within(10, "read", client.read_gatt_char(DEVICE_INFORMATION)))
        report(len(information) == 19 and information[2:4] == b"\x40\x2c", f"device information {information.hex()}")
        sensors = bytes(await within(10, "read", client.read_gatt_char(SENSOR_INFORMATION)))
        report(len(sensors) == 48 and sensors[0::12] == bytes([0, 1, 2, 3]), "four sensors (a long read)")
        gestures = bytes(await within(10, "read", client.read_gatt_char(GESTURE_INFORMATION)))
        report(gestures == bytes.fromhex("810100820100830100c00100c10100c20100"), f"gestures {gestures.hex()}")
        firmware = bytes(await within(10, "read", client.read_gatt_char(FIRMWARE)))
        report(len(firmware) > 0, f"firmware {firmware.decode()}")
        try:
            await within(10, "write", client.write_gatt_char(SENSOR_CONFIGURATION, b"\x00\x00", response=True))
            report(False, "a configuration of the wrong length is refused")
        except TimeoutError:
            raise
        except Exception as error:  # pylint: disable=broad-except
            report(True, f"a configuration of the wrong length is refused ({error})")
        received = await stream(client, arguments.notifications, arguments.period)
        check_stream(received, arguments.period)
    finally:
        try:
            await within(10, "disconnect", client.disconnect())
        except Exception as error:  # pylint: disable=broad-except
            print(f"# disconnect: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--adapter", default="hci0")
    parser.add_argument("--found", metavar="FILE", help="made when the device is connected")
    parser.add_argument("--notifications", type=int, default=250)
    parser.add_argument("--period", type=int, default=20, help="milliseconds")
    arguments = parser.parse_args()
    limit = 120 + arguments.notifications * arguments.period / 250
    try:
        asyncio.run(asyncio.wait_for(run(arguments), limit))
    except (TimeoutError, asyncio.TimeoutError) as error:
        report(False, f"within the time: {error}")


if __name__ == "__main__":
    main()

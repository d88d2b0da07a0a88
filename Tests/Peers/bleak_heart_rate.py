#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An independent client for examples/c/heart_rate.c: bleak over bluetoothd. Knows the Heart Rate Service 1.0.

Reads, writes, is rejected, subscribes and receives the notifications. Prints TAP lines. No wait is without a limit.
"""

import asyncio
import sys

from bleak.exc import BleakError

from bleak_bose import connected, report, within


def sig(number):
    return f"0000{number}-0000-1000-8000-00805f9b34fb"


async def receive(client, last):
    """The values up to the last one. bluetoothd drops one that arrives before it has registered its client."""
    values = []
    enough = asyncio.Event()

    def on_value(_, value):
        values.append(bytes(value))
        if values[-1] == last:
            enough.set()

    await within(10, "subscribe", client.start_notify(sig("2a37"), on_value))
    await within(20, f"value {last.hex()}", enough.wait())
    return values


async def main(adapter, found):
    client = await connected(adapter, found, sig("180d"))
    services = {service.uuid for service in client.services}
    report(sig("180d") in services and sig("1801") in services, "the services are discovered")
    report(await within(10, "read", client.read_gatt_char(sig("2a38"))) == b"\x01", "the location is read: chest")
    try:
        await within(10, "write", client.write_gatt_char(sig("2a39"), b"\x02", response=True))
        report(False, "a command that is not defined is rejected")
    except BleakError as error:
        report("0x80" in str(error), f"a command that is not defined is rejected: {error}")
    await within(10, "write", client.write_gatt_char(sig("2a39"), b"\x01", response=True))
    values = await receive(client, bytes([0, 81]))
    wanted = [bytes([0, beats]) for beats in range(72, 82)]
    report(values in (wanted, wanted[1:]), f"after a reset {len(values)} values arrive in order")


asyncio.run(within(100, "all", main(sys.argv[1], sys.argv[2])))

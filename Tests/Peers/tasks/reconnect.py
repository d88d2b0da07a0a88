# SPDX-License-Identifier: MIT
# A heart rate before the connection is lost, and one afterwards.
import asyncio

from bleak import BleakClient, BleakScanner
from bleak.exc import BleakError

SERVICE = "0000180d-0000-1000-8000-00805f9b34fb"
MEASUREMENT = "00002a37-0000-1000-8000-00805f9b34fb"


def rate_of(value):
    return int.from_bytes(value[1:3] if value[0] & 1 else value[1:2], "little")


async def main():
    losses = 0
    while True:
        try:
            device = await BleakScanner.find_device_by_filter(lambda _, seen: SERVICE in seen.service_uuids, timeout=30)
            if device is None:
                continue
            lost, values = asyncio.Event(), asyncio.Queue()
            async with BleakClient(device, disconnected_callback=lambda _: lost.set()) as client:
                await client.start_notify(MEASUREMENT, lambda _, value: values.put_nowait(bytes(value)))
                print(rate_of(await values.get()))
                if losses:
                    break
                await lost.wait()
            print("lost")
            losses += 1
        except (BleakError, TimeoutError):
            await asyncio.sleep(1)


asyncio.run(main())

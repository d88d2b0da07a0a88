# SPDX-License-Identifier: MIT
# Ten heart rates.
import asyncio

from bleak import BleakClient, BleakScanner

SERVICE = "0000180d-0000-1000-8000-00805f9b34fb"
MEASUREMENT = "00002a37-0000-1000-8000-00805f9b34fb"


async def main():
    values = asyncio.Queue()
    device = await BleakScanner.find_device_by_filter(lambda _, seen: SERVICE in seen.service_uuids, timeout=30)
    async with BleakClient(device) as client:
        await client.start_notify(MEASUREMENT, lambda _, value: values.put_nowait(bytes(value)))
        for _ in range(10):
            value = await values.get()
            is_wide = value[0] & 1
            print(int.from_bytes(value[1:3] if is_wide else value[1:2], "little"))


asyncio.run(main())

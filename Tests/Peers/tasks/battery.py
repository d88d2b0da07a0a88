# SPDX-License-Identifier: MIT
# The battery level of a heart rate strap.
import asyncio

from bleak import BleakClient, BleakScanner

SERVICE = "0000180d-0000-1000-8000-00805f9b34fb"
BATTERY = "00002a19-0000-1000-8000-00805f9b34fb"


async def main():
    device = await BleakScanner.find_device_by_filter(lambda _, seen: SERVICE in seen.service_uuids, timeout=30)
    async with BleakClient(device) as client:
        print((await client.read_gatt_char(BATTERY))[0])


asyncio.run(main())

# SPDX-License-Identifier: MIT
# The firmware of a head.
import asyncio

from bleak import BleakClient, BleakScanner

SERVICE = "0000fdd2-0000-1000-8000-00805f9b34fb"
FIRMWARE = "00002a26-0000-1000-8000-00805f9b34fb"


async def main():
    device = await BleakScanner.find_device_by_filter(lambda _, seen: SERVICE in seen.service_uuids, timeout=30)
    async with BleakClient(device) as client:
        print(bytes(await client.read_gatt_char(FIRMWARE)).decode())


asyncio.run(main())

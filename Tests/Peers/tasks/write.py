# SPDX-License-Identifier: MIT
# The energy that a heart rate strap has counted is set to 0.
import asyncio

from bleak import BleakClient, BleakScanner

SERVICE = "0000180d-0000-1000-8000-00805f9b34fb"
CONTROL_POINT = "00002a39-0000-1000-8000-00805f9b34fb"


async def main():
    device = await BleakScanner.find_device_by_filter(lambda _, seen: SERVICE in seen.service_uuids, timeout=30)
    async with BleakClient(device) as client:
        await client.write_gatt_char(CONTROL_POINT, b"\x01", response=True)


asyncio.run(main())

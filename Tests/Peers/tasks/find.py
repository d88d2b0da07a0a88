# SPDX-License-Identifier: MIT
# A wearable that is in range: a head.
import asyncio

from bleak import BleakScanner

SERVICE = "0000fdd2-0000-1000-8000-00805f9b34fb"


async def main():
    async with BleakScanner() as scanner:
        async for device, advertisement in scanner.advertisement_data():
            if SERVICE in advertisement.service_uuids:
                print(device.name, device.address, advertisement.rssi)
                break


asyncio.run(main())

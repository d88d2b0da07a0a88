# SPDX-License-Identifier: MIT
# Where a head looks, a hundred times.
import asyncio
import math
import struct

from bleak import BleakClient, BleakScanner

SERVICE = "0000fdd2-0000-1000-8000-00805f9b34fb"
CONFIGURATION = "5af38af6-000e-404b-9b46-07f77580890b"
DATA = "56a72ab8-4988-4cc8-a752-fbd1d54a953d"
ROTATION, PERIOD_MS, RECORD_BYTES = 2, 20, 13


def yaw_of(record):
    x, y, z, w = (part / 16383 for part in struct.unpack(">4h", record[3:11]))
    return math.degrees(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


async def main():
    values = asyncio.Queue()
    count = 0
    device = await BleakScanner.find_device_by_filter(lambda _, seen: SERVICE in seen.service_uuids, timeout=30)
    async with BleakClient(device) as client:
        await client.start_notify(DATA, lambda _, value: values.put_nowait(bytes(value)))
        entries = bytes(await client.read_gatt_char(CONFIGURATION))
        await client.write_gatt_char(CONFIGURATION, b"".join(
            struct.pack(">BH", sensor, PERIOD_MS if sensor == ROTATION else 0) for sensor in entries[::3]), response=True)
        while count < 100:
            value = await values.get()
            for at in range(0, len(value), RECORD_BYTES):
                print(yaw_of(value[at:at + RECORD_BYTES]))
                count += 1


asyncio.run(main())

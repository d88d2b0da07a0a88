# SPDX-License-Identifier: MIT
# The quaternions of a head as CSV, a hundred of them, with the time when each arrived: nothing says when it was measured.
import asyncio
import csv
import struct
import sys
import time

from bleak import BleakClient, BleakScanner

SERVICE = "0000fdd2-0000-1000-8000-00805f9b34fb"
CONFIGURATION = "5af38af6-000e-404b-9b46-07f77580890b"
DATA = "56a72ab8-4988-4cc8-a752-fbd1d54a953d"
ROTATION, PERIOD_MS, RECORD_BYTES = 2, 20, 13


async def main():
    values = asyncio.Queue()
    count = 0
    out = csv.writer(sys.stdout)
    device = await BleakScanner.find_device_by_filter(lambda _, seen: SERVICE in seen.service_uuids, timeout=30)
    async with BleakClient(device) as client:
        await client.start_notify(DATA, lambda _, value: values.put_nowait((time.monotonic(), bytes(value))))
        entries = bytes(await client.read_gatt_char(CONFIGURATION))
        await client.write_gatt_char(CONFIGURATION, b"".join(
            struct.pack(">BH", sensor, PERIOD_MS if sensor == ROTATION else 0) for sensor in entries[::3]), response=True)
        while count < 100:
            received_at, value = await values.get()
            for at in range(0, len(value), RECORD_BYTES):
                out.writerow([received_at, *(part / 16383 for part in struct.unpack(">4h", value[at + 3:at + 11]))])
                count += 1


asyncio.run(main())

# SPDX-License-Identifier: MIT
# The quaternions of a head as CSV, a hundred of them, with the time when each was measured.
import asyncio
import csv
import sys

import tendon


async def main():
    count = 0
    out = csv.writer(sys.stdout)
    async with tendon.Gateway(sensors="rotation", period=20) as gateway:
        async for event in gateway.events():
            if event.sample:
                out.writerow([event.sampled_at, *event.quaternion])
                count += 1
                if count == 100:
                    break


asyncio.run(main())

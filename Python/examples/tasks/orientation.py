# SPDX-License-Identifier: MIT
# Where a head looks, a hundred times.
import asyncio

import tendon


async def main():
    count = 0
    async with tendon.Gateway(sensors="rotation", period=20) as gateway:
        async for event in gateway.events():
            if event.sample:
                print(event.yaw_deg)
                count += 1
                if count == 100:
                    break


asyncio.run(main())

# SPDX-License-Identifier: MIT
# Ten heart rates.
import asyncio
import pathlib

import tendon

FILE = pathlib.Path(__file__).parents[3] / "packaging/devices/heart_rate.json"


async def main():
    count = 0
    async with tendon.Gateway(families="heart_rate", device_files=[FILE]) as gateway:
        async for event in gateway.events():
            if event.event == "heart_rate":
                print(event.heart_rate_bpm)
                count += 1
                if count == 10:
                    break


asyncio.run(main())

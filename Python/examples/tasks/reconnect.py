# SPDX-License-Identifier: MIT
# A heart rate before the connection is lost, and one afterwards.
import asyncio
import pathlib

import tendon

FILE = pathlib.Path(__file__).parents[3] / "packaging/devices/heart_rate.json"


async def main():
    losses = 0
    async with tendon.Gateway(families="heart_rate", device_files=[FILE]) as gateway:
        async for event in gateway.events():
            if event.event == "disconnected":
                print("lost")
                losses += 1
            elif event.event == "heart_rate":
                print(event.heart_rate_bpm)
                if losses:
                    break


asyncio.run(main())

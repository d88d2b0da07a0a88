# SPDX-License-Identifier: MIT
# The battery level of a heart rate strap.
import asyncio
import pathlib

import tendon

FILE = pathlib.Path(__file__).parents[3] / "packaging/devices/heart_rate.json"


async def main():
    async with tendon.Gateway(families="heart_rate", device_files=[FILE]) as gateway:
        async for event in gateway.events():
            if event.event == "battery":
                print(event.battery_percent)
                break


asyncio.run(main())

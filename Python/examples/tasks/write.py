# SPDX-License-Identifier: MIT
# The energy that a heart rate strap has counted is set to 0.
import asyncio
import pathlib

import tendon

FILE = pathlib.Path(__file__).parents[3] / "packaging/devices/heart_rate.json"


async def main():
    async with tendon.find("heart_rate", device_files=[FILE]) as strap:
        await strap.reset_energy()


asyncio.run(main())

# SPDX-License-Identifier: MIT
# A belt vibrates on the right.
import asyncio

import tendon


async def main():
    async with tendon.find("feelspace", pair=60) as belt:
        await belt.vibrate(90)


asyncio.run(main())

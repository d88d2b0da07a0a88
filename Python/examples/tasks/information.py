# SPDX-License-Identifier: MIT
# The firmware of a head.
import asyncio

import tendon


async def main():
    async with tendon.find("bose") as head:
        print(head.information.firmware)


asyncio.run(main())

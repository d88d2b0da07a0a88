# SPDX-License-Identifier: MIT
# A button of a belt is pressed.
import asyncio

import tendon


async def main():
    async with tendon.Gateway(families="feelspace", pair=60) as gateway:
        async for event in gateway.events():
            if event.event == "button":
                print(event.button, event.press)
                break


asyncio.run(main())

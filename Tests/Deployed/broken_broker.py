#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Something on the broker's port that is no good. Usage: broken_broker.py PORT closes|silent|refuses|dies

closes: ends each connection at once. silent: never answers. refuses: "not authorized" to each login. dies: accepts the login, and
ends the connection after six seconds. Prints a line for each connection: seconds since the first one."""

import asyncio
import sys
import time

ACCEPTED, REFUSED = bytes([0x20, 3, 0, 0x00, 0]), bytes([0x20, 3, 0, 0x87, 0])  # CONNACK of MQTT 5
first = None


async def serve(mode, reader, writer):
    global first
    first = first or time.monotonic()
    print(f"{time.monotonic() - first:.1f}", flush=True)
    if mode != "closes":
        await reader.read(1)
    if mode in ("refuses", "dies"):
        writer.write(REFUSED if mode == "refuses" else ACCEPTED)
        await writer.drain()
    if mode == "dies":
        await asyncio.sleep(6)
    if mode == "silent":
        await reader.read()
    writer.close()


async def run(port, mode):
    server = await asyncio.start_server(lambda reader, writer: serve(mode, reader, writer), "localhost", port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(run(int(sys.argv[1]), sys.argv[2]))

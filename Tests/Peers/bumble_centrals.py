#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An adapter on /dev/vhci and three centrals in its reach, all of them bumble's: controllers, hosts, GATT clients.

Shares no code with us. Each central connects to the adapter's device, writes its own number to the characteristic FFF1 and
subscribes to it: each value then has that number, and the next number of a value. After the first values one central hangs
up and connects again. Prints "ready", and for each connection of each central how many values came and how many of them were
wrong.
"""

import argparse
import asyncio
import sys

from bumble.controller import Controller
from bumble.core import UUID
from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.host import Host
from bumble.transport import open_transport
from bumble.transport.common import AsyncPipeSink

from bumble_many import Link, log_nothing
from bumble_vhci import VirtualAdapter

ADAPTER = "00:53:00:5E:02:01"
VALUE = UUID.from_16_bits(0xFFF1)


def say(*words):
    print(*words, flush=True)


class Central:
    def __init__(self, link, number):
        self.number = number
        controller = Controller(f"central {number}", link=link)
        self.device = Device(name=f"Central {number}", address=Address(f"F0:F1:F2:F3:F6:{number:02X}"),
                             host=Host(controller, AsyncPipeSink(controller)))
        self.began = asyncio.Event()

    async def connection(self, wanted, others):
        """Until so many values have come, and the event of the others."""
        connection = await self.device.connect(Address(ADAPTER, Address.PUBLIC_DEVICE_ADDRESS), timeout=30)
        ended = asyncio.Event()
        connection.on("disconnection", lambda _: ended.set())
        peer = Peer(connection)
        await peer.discover_service(UUID.from_16_bits(0xFFF0))
        await peer.discover_characteristics(service=peer.services[0])
        value = peer.get_characteristics_by_uuid(VALUE)[0]
        values, enough = [], asyncio.Event()

        def came(data):
            values.append(bytes(data))
            self.began.set()
            if len(values) >= wanted:
                enough.set()

        await peer.write_value(value, bytes([self.number]), with_response=True)
        await peer.subscribe(value, came)
        await enough.wait()
        await others.wait()
        wrong = sum(data[0] != self.number or (i > 0 and data[1] != (values[i - 1][1] + 1) % 256)
                    for i, data in enumerate(values))
        lost = ended.is_set()
        if not lost:
            await connection.disconnect()
        say(f"central {self.number} got {len(values)} wrong {wrong} lost {int(lost)}")


async def run(arguments):
    log_nothing()
    link = Link()
    async with await open_transport("vhci") as transport:
        VirtualAdapter(link, ADAPTER).attach(transport)
        say("ready")
        await asyncio.to_thread(sys.stdin.readline)  # the device advertises
        centrals = [Central(link, number) for number in (1, 2, 3)]
        for central in centrals:
            await central.device.power_on()
        back = asyncio.Event()

        async def comes_back():
            await centrals[0].connection(arguments.values, centrals[-1].began)
            await centrals[0].connection(arguments.values, centrals[-1].began)
            back.set()

        async def stays(before, central):
            # bumble's controllers answer every advertisement: of two that answer the same one, one is connected to nobody.
            await before.began.wait()
            await central.connection(arguments.values, back)

        await asyncio.gather(comes_back(), *map(stays, centrals, centrals[1:]))
        say("done")
        await asyncio.sleep(arguments.limit)  # the adapter stays until it is stopped


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--values", type=int, default=40)
    parser.add_argument("--limit", type=float, default=120, help="seconds until it gives up")
    arguments = parser.parse_args()
    try:
        asyncio.run(asyncio.wait_for(run(arguments), arguments.limit))
    except asyncio.TimeoutError:
        say("gave up")
        sys.exit(1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adapters on /dev/vhci that can be unplugged, and as many Bose wearables in the reach of each, all of them bumble's.

Shares no code with us. Reads commands from standard input, a line each: "unplug N" and "plug N", of the adapter N, from 0. A
device whose adapter is unplugged loses its connection, and advertises again. Each device streams as long as it is
connected and configured. Prints "ready", and "done COMMAND" after each command.
"""

import argparse
import asyncio
import sys

from bumble import hci, ll
from bumble.controller import Controller
from bumble.core import AdvertisingData
from bumble.device import Device
from bumble.hci import Address
from bumble.host import Host
from bumble.transport import open_transport
from bumble.transport.common import AsyncPipeSink

from bumble_bose import Bose, serve
from bumble_many import Link, log_nothing
from bumble_vhci import VirtualAdapter


class Adapter:
    """A controller of a link, as an adapter of this machine while it is plugged in."""

    def __init__(self, link, number):
        self.link, self.number = link, number
        self.controller = self.transport = None

    async def plug(self):
        self.controller = VirtualAdapter(self.link, f"00:53:00:5E:03:{self.number:02X}")
        self.transport = await open_transport("vhci")
        self.controller.attach(self.transport)

    async def unplug(self):
        # A peer would notice after the supervision timeout; here at once.
        for connection in list(self.controller.le_connections.values()):
            connection.send_ll_control_pdu(ll.TerminateInd(hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR))
        await asyncio.sleep(0)
        self.link.remove_controller(self.controller)
        # What is still delivered to it goes nowhere.
        self.controller.set_packet_sink(None)
        await self.transport.close()


class Wearable:
    """A Bose wearable that streams at the configured period."""

    def __init__(self, link, number):
        controller = Controller(f"device {number}", link=link)
        self.device = Device(name=f"Device {number}", address=Address(f"F0:F1:F2:F3:F5:{number:02X}"),
                             host=Host(controller, AsyncPipeSink(controller)))
        self.bose = Bose()
        serve(self.device, [self.bose.service, self.bose.texts])
        self.device.on("connection", self.connected)

    def connected(self, connection):
        self.bose.restart()
        task = asyncio.create_task(self.stream())
        connection.on("disconnection", lambda _: task.cancel())

    async def start(self):
        await self.device.power_on()
        data = AdvertisingData([(AdvertisingData.FLAGS, b"\x06"),
                                (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, b"\xd2\xfd")])
        await self.device.start_advertising(auto_restart=True, advertising_data=bytes(data),
                                            advertising_interval_min=200, advertising_interval_max=200)

    async def stream(self):
        while True:
            period = self.bose.period()
            await asyncio.sleep(period / 1000 if period else 0.05)
            if period:
                await self.device.notify_subscribers(self.bose.data, self.bose.next_value(period))
                self.bose.sent += 1


async def lines():
    """Lines of standard input."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield line.decode().strip()


async def run(arguments):
    log_nothing()
    link = Link()
    adapters = [Adapter(link, number) for number in range(arguments.adapters)]
    wearables = [Wearable(link, number) for number in range(arguments.devices)]
    for adapter in adapters:
        await adapter.plug()
    for wearable in wearables:
        await wearable.start()
    print("ready", flush=True)
    async for line in lines():
        command, number = line.split()
        await {"plug": Adapter.plug, "unplug": Adapter.unplug}[command](adapters[int(number)])
        print(f"done {line}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--adapters", type=int, default=2)
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--limit", type=float, default=240, help="seconds until it gives up")
    arguments = parser.parse_args()
    try:
        asyncio.run(asyncio.wait_for(run(arguments), arguments.limit))
    except asyncio.TimeoutError:
        print("gave up", flush=True)
        sys.exit(1)


main()

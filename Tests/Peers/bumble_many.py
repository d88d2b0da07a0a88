#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An adapter on /dev/vhci and several devices in its reach, all of them bumble's: controllers, hosts, GATT servers.

Shares no code with us. Each device has one characteristic; once its notifications are enabled it sends numbered values at
a fixed rate: the number (16 bits, little endian), the device's own number, filler up to 12 bytes. Prints the handle of the
value when all advertise, and for each device how many it has sent and how late the latest of them was.
"""

import argparse
import asyncio
import struct
import sys

import bumble.controller
import bumble.host
from bumble import att, hci
from bumble.controller import Controller
from bumble.core import UUID, AdvertisingData, PhysicalTransport
from bumble.device import Device
from bumble.gatt import Characteristic, Service
from bumble.hci import Address
from bumble.host import Host
from bumble.link import LocalLink
from bumble.transport import open_transport
from bumble.transport.common import AsyncPipeSink

from bumble_vhci import VirtualAdapter


def log_nothing():
    """bumble makes the text of every packet, in colours, also when it logs nothing: more than half of its time."""
    kinds = [hci.HCI_Packet, att.ATT_PDU]
    while kinds:
        kind = kinds.pop()
        kind.__str__ = lambda _: ""
        kinds += kind.__subclasses__()
    for module in (bumble.controller, bumble.host):
        module.color = lambda text, *_: text


class Link(LocalLink):
    """bumble 0.0.236 delivers data as from the sender's random address, whichever the connection was made with."""

    def send_acl_data(self, sender_controller, destination_address, transport, data):
        receiver = self.find_le_controller(destination_address)
        connection = sender_controller.le_connections.get(destination_address)
        if receiver and connection:
            asyncio.get_running_loop().call_soon(
                receiver.on_link_acl_data, connection.self_address, PhysicalTransport.LE, data)


class Peer:
    def __init__(self, link, number, arguments):
        self.number, self.arguments = number, arguments
        self.sent, self.late = 0, 0.0
        controller = Controller(f"device {number}", link=link)
        self.device = Device(name=f"Device {number}", address=Address(f"F0:F1:F2:F3:F4:{number:02X}"),
                             host=Host(controller, AsyncPipeSink(controller)))
        self.value = Characteristic("0000FFF1-0000-1000-8000-00805F9B34FB", Characteristic.Properties.NOTIFY, 0, b"")
        self.value.on("subscription", self.subscribed)
        self.device.add_service(Service(UUID.from_16_bits(0xFFF0), [self.value]))
        self.task = None

    async def start(self):
        await self.device.power_on()
        await self.device.start_advertising(advertising_data=bytes(AdvertisingData([(AdvertisingData.FLAGS, b"\x06")])),
                                            advertising_interval_min=400, advertising_interval_max=400)

    def subscribed(self, connection, notify, _indicate):
        if notify and self.task is None:
            self.task = asyncio.create_task(self.stream(connection))

    async def stream(self, connection):
        loop = asyncio.get_running_loop()
        start = loop.time()
        while self.sent < self.arguments.values:
            due = start + self.sent / self.arguments.rate
            await asyncio.sleep(due - loop.time())
            self.late = max(self.late, loop.time() - due)
            await self.device.notify_subscriber(
                connection, self.value, struct.pack("<HB9x", self.sent, self.number), force=True)
            self.sent += 1


async def run(arguments):
    log_nothing()
    link = Link()
    async with await open_transport("vhci") as transport:
        VirtualAdapter(link, "00:53:00:5E:02:01").attach(transport)
        peers = [Peer(link, number, arguments) for number in range(arguments.devices)]
        for peer in peers:
            await peer.start()
        print(f"ready {peers[0].value.handle}", flush=True)
        while any(peer.sent < arguments.values for peer in peers):
            await asyncio.sleep(0.2)
        for peer in peers:
            print(f"device {peer.number} sent {peer.sent}, at most {1000 * peer.late:.0f} ms late", flush=True)
        await asyncio.sleep(arguments.limit)  # the adapter stays until it is stopped


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--values", type=int, default=500)
    parser.add_argument("--rate", type=float, default=50, help="values in a second")
    parser.add_argument("--limit", type=float, default=120, help="seconds until it gives up")
    arguments = parser.parse_args()
    try:
        asyncio.run(asyncio.wait_for(run(arguments), arguments.limit))
    except asyncio.TimeoutError:
        print("gave up", flush=True)
        sys.exit(1)


if __name__ == "__main__":
    main()

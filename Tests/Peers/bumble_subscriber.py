#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An independent central that relies on its subscriptions: bumble's own host, Security Manager and GATT client.

Pairs, subscribes to the Battery Level and to Service Changed, and hangs up. Each further connection is encrypted with the key
of the bond, and nothing is written. Prints a line for each thing that happens: "paired", "subscribed", "encrypted",
"notified N", "changed FIRST LAST", "disconnected". Between connections it waits for a line on standard input. Shares no code
with us.
"""

import argparse
import asyncio
import struct
import sys

from bumble.core import UUID
from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig
from bumble.transport import open_transport

BATTERY_LEVEL, SERVICE_CHANGED = UUID.from_16_bits(0x2A19), UUID.from_16_bits(0x2A05)


def say(*words):
    print(*words, flush=True)


class Central:
    def __init__(self, device, peer):
        self.device = device
        self.address = Address(peer, Address.PUBLIC_DEVICE_ADDRESS)
        self.values = asyncio.Queue()
        self.changes = asyncio.Queue()

    async def connect(self):
        connection = await self.device.connect(self.address, timeout=20)
        say("connected")
        connection.on("disconnection", lambda _: say("disconnected"))
        return connection

    async def first(self):
        connection = await self.connect()
        peer = Peer(connection)
        await connection.pair()
        say("paired")
        await peer.discover_all()
        level = peer.get_characteristics_by_uuid(BATTERY_LEVEL)[0]
        changed = peer.get_characteristics_by_uuid(SERVICE_CHANGED)[0]
        self.handles = {level.handle: self.values, changed.handle: self.changes}
        await peer.subscribe(changed, prefer_notify=False)
        await peer.subscribe(level)
        say(f"subscribed {level.handle} {changed.handle}")
        await connection.disconnect()

    async def again(self):
        """Nothing is discovered or written: what comes, comes because the device remembers."""
        connection = await self.connect()
        client = Peer(connection).gatt_client
        client.on_att_handle_value_notification = lambda pdu: say(f"notified {pdu.attribute_handle} {pdu.attribute_value[0]}")
        confirm = client.on_att_handle_value_indication

        def indicated(pdu):
            say("changed", *(f"{handle:04x}" for handle in struct.unpack("<HH", pdu.attribute_value)))
            confirm(pdu)

        client.on_att_handle_value_indication = indicated
        connection.gatt_client = client
        await connection.encrypt()
        say("encrypted")
        await asyncio.sleep(1.5)
        await connection.disconnect()


async def run(arguments):
    async with await open_transport(arguments.transport) as transport:
        device = Device.with_hci("Independent", Address("F0:F1:F2:F3:F4:F7"), transport.source, transport.sink)
        device.keystore = MemoryKeyStore()
        device.pairing_config_factory = lambda _: PairingConfig(sc=True, mitm=False, bonding=True)
        await device.power_on()
        central = Central(device, arguments.peer)
        await central.first()
        while await asyncio.to_thread(sys.stdin.readline):
            await central.again()
            say("done")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--transport", default="hci-socket:0")
    options.add_argument("peer", help="the public address of the device")
    asyncio.run(run(options.parse_args()))


if __name__ == "__main__":
    main()

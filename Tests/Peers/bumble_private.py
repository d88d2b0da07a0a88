#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An independent central with private addresses: bumble's own host, Security Manager and GATT client.

Connects, pairs on the first connection and uses the key of the bond on each further one, reads the characteristic that needs
encryption, hangs up, and takes another address. Prints "address A", "paired" or "encrypted", "read N" (bytes), "refused E"
(what the device answered to a request without encryption), "failed ..." and "done". Between connections it waits for a line
on standard input. Shares no code with us.
"""

import argparse
import asyncio
import sys

from bumble.att import ATT_Error
from bumble.core import UUID
from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig
from bumble.transport import open_transport

from bumble_pairing import renew_address, say

SECRET = UUID("855cb3e7-98ff-42a6-80fc-40b32a2221c1")


async def read(peer):
    """Of the characteristic; None if the device refuses."""
    await peer.discover_characteristics(uuids=[SECRET], service=peer.services[0])
    try:
        return await peer.read_value(peer.get_characteristics_by_uuid(SECRET)[0])
    except ATT_Error as error:
        say(f"refused {int(error.error_code)}")
        return None


async def use(device, address, bonded):
    connection = await device.connect(address, timeout=20)
    peer = Peer(connection)
    await peer.discover_service(UUID.from_16_bits(0xFDD2))
    await read(peer)
    if bonded:
        await connection.encrypt()
        say("encrypted")
    else:
        await connection.pair()
        say("paired")
    value = await read(peer)
    say(f"read {-1 if value is None else len(value)}")
    await connection.disconnect()


async def run(arguments):
    async with await open_transport(arguments.transport) as transport:
        identity = Address(arguments.identity)
        device = Device.with_hci("Private", identity, transport.source, transport.sink)
        device.keystore = MemoryKeyStore()
        device.pairing_config_factory = lambda _: PairingConfig(
            sc=True, mitm=False, bonding=True, identity_address_type=Address.RANDOM_DEVICE_ADDRESS)
        await device.power_on()
        device.irk = bytes.fromhex(arguments.key)
        address = Address(arguments.peer, Address.PUBLIC_DEVICE_ADDRESS)
        bonded = False
        say("ready")
        while await asyncio.to_thread(sys.stdin.readline):
            await renew_address(device)
            try:
                await use(device, address, bonded)
                bonded = True
            except Exception as error:  # whatever it is, the case has to see it
                say("failed", type(error).__name__, error)
            say("done")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--transport", default="hci-socket:1")
    options.add_argument("--identity", default="F0:F1:F2:F3:F4:F5")
    options.add_argument("key", help="its identity resolving key, in hexadecimal digits")
    options.add_argument("peer", help="the public address of the device")
    asyncio.run(run(options.parse_args()))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An independent device that wants pairing: bumble's own host, Security Manager and GATT server.

A service FDD2 with two characteristics; reading the second one needs encryption. Prints "ready", "show N" and
"compare N" as they come, "paired LEVEL" or "failed REASON", "encrypted", and "att OPCODE encrypted 0|1" for each ATT
request. Shares no code with us.
"""

import argparse
import asyncio
import os
import sys

from bumble.att import ATT_Error
from bumble.core import AdvertisingData
from bumble.device import Device
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.hci import Address, HCI_LE_Set_Random_Address_Command
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport import open_transport

INSUFFICIENT_AUTHENTICATION = 0x05
IO = {
    "display": PairingDelegate.IoCapability.DISPLAY_OUTPUT_ONLY,
    "yes-no": PairingDelegate.IoCapability.DISPLAY_OUTPUT_AND_YES_NO_INPUT,
    "keyboard": PairingDelegate.IoCapability.KEYBOARD_INPUT_ONLY,
    "none": PairingDelegate.IoCapability.NO_OUTPUT_NO_INPUT,
    "both": PairingDelegate.IoCapability.DISPLAY_OUTPUT_AND_KEYBOARD_INPUT,
}


def say(*words):
    print(*words, flush=True)


class User(PairingDelegate):
    """The user of the device."""

    def __init__(self, arguments):
        super().__init__(io_capability=IO[arguments.io], maximum_encryption_key_size=arguments.key_size)
        self.arguments = arguments

    async def accept(self):
        say("asked")
        return not self.arguments.rejects

    async def confirm(self, auto=False):
        return True

    async def compare_numbers(self, number, digits=6):
        say(f"compare {number:06}")
        return not self.arguments.denies

    async def get_number(self):
        """What the other side shows, from the file that --enter names: question: show N."""
        for _ in range(200):
            if os.path.exists(self.arguments.enter or ""):
                with open(self.arguments.enter, encoding="utf-8") as file:
                    shown = [line.split()[2] for line in file if line.startswith("question: show ")]
                if shown:
                    say(f"enter {shown[-1]}")
                    return (int(shown[-1]) + self.arguments.wrong) % 1000000
            await asyncio.sleep(0.05)
        return None

    async def display_number(self, number, digits=6):
        say(f"show {number:06}")
        if self.arguments.show:
            with open(self.arguments.show + ".new", "w", encoding="utf-8") as file:
                file.write(f"{number:06}\n")
            os.rename(self.arguments.show + ".new", self.arguments.show)

    async def generate_passkey(self):
        return self.arguments.passkey if self.arguments.passkey is not None else await super().generate_passkey()


def shorten_keys(device, latest):
    """Bytes of a key above its size are zero (Core Spec Vol 3 Part H 2.3.4), which bumble leaves to its user."""
    find = device.get_long_term_key

    async def find_shortened(*link):
        key = await find(*link)
        size = latest().key_size
        return key if key is None else key[:size] + bytes(len(key) - size)

    device.host.long_term_key_provider = find_shortened


async def renew_address(device):
    """Another resolvable private address (Core Spec Vol 6 Part B 1.3.2.2); the identity address stays the one of --address."""
    device.random_address = Address.generate_private_address(device.irk)
    await device.send_sync_command(HCI_LE_Set_Random_Address_Command(random_address=device.random_address))
    say(f"address {device.random_address.to_string(False)}")


async def run(arguments):
    async with await open_transport(arguments.transport) as transport:
        device = Device.with_hci("Independent", Address(arguments.address), transport.source, transport.sink)
        device.keystore = MemoryKeyStore()
        read = Characteristic.Properties.READ

        def latest():
            """The options in the file of --options, if there is one, in place of our own."""
            if arguments.options:
                with open(arguments.options, encoding="utf-8") as file:
                    return parser().parse_args(file.read().split())
            return arguments

        authenticated = {}  # by the address of the peer: whether the latest pairing was

        async def secret(connection):
            now = latest()
            if now.authenticated:
                await asyncio.sleep(0.2)  # the report of a pairing follows the last key
            if now.never or not connection.encryption or (
                    now.authenticated and not authenticated.get(str(connection.peer_address))):
                raise ATT_Error(INSUFFICIENT_AUTHENTICATION)
            return b"secret"

        device.add_service(Service("FDD2", [
            Characteristic("7b61ad83-041c-4333-a0ab-efb2ab7bdd43", read, Characteristic.READABLE, b"open"),
            Characteristic("855cb3e7-98ff-42a6-80fc-40b32a2221c1", read, Characteristic.READABLE,
                           CharacteristicValue(read=secret))]))

        serve = device.gatt_server.on_gatt_pdu

        def noted(connection, pdu):
            say(f"att {pdu.op_code:02x} encrypted {int(bool(connection.encryption))}")
            serve(connection, pdu)

        device.gatt_server.on_gatt_pdu = noted

        def configuration(_):
            now = latest()
            return PairingConfig(sc=not now.legacy, mitm=now.mitm, bonding=True, delegate=User(now),
                                 identity_address_type=Address.RANDOM_DEVICE_ADDRESS if arguments.private else None)

        device.pairing_config_factory = configuration
        shorten_keys(device, latest)
        await device.power_on()
        if arguments.private:
            device.irk = bytes.fromhex(arguments.private)
            await renew_address(device)

        def connected(connection):
            def paired(keys):
                key = keys.ltk or keys.ltk_central or keys.ltk_peripheral
                authenticated[str(connection.peer_address)] = key.authenticated
                say("paired")

            say("connected")
            if latest().early:
                device.send_l2cap_pdu(connection.handle, 4, bytes.fromhex("1b030001"))  # a notification
                device.send_l2cap_pdu(connection.handle, 4, bytes.fromhex("020002"))  # Exchange MTU Request
            connection.on("pairing", paired)
            connection.on("pairing_failure", lambda reason: say(f"failed {int(reason)}"))
            connection.on("connection_encryption_change", lambda *_: say(f"encrypted {int(bool(connection.encryption))}"))
            connection.on("disconnection", lambda reason: say(f"disconnected {reason}"))
            if arguments.private:
                connection.on("disconnection", lambda reason: asyncio.create_task(advertise_anew()))

        async def advertise():
            await device.start_advertising(auto_restart=not arguments.private, advertising_data=bytes(AdvertisingData([
                (AdvertisingData.FLAGS, b"\x06"),
                (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, b"\xd2\xfd")])))

        async def advertise_anew():
            await renew_address(device)
            await advertise()

        device.on("connection", connected)
        await advertise()
        say("ready")
        await asyncio.sleep(arguments.limit)


def parser():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--transport", default="hci-socket:1")
    options.add_argument("--address", default="F0:F1:F2:F3:F4:F5")
    options.add_argument("--io", choices=IO, default="none")
    options.add_argument("--never", action="store_true", help="no pairing is good enough for the second value")
    options.add_argument("--authenticated", action="store_true", help="the second value needs an authenticated key")
    options.add_argument("--early", action="store_true", help="sends ATT PDUs as soon as it is connected")
    options.add_argument("--key-size", type=int, default=16, help="longest key that it can have, in bytes")
    options.add_argument("--mitm", action="store_true")
    options.add_argument("--legacy", action="store_true", help="no LE Secure Connections")
    options.add_argument("--rejects", action="store_true", help="the user rejects the pairing")
    options.add_argument("--denies", action="store_true", help="the user says that the numbers differ")
    options.add_argument("--passkey", type=int, help="the one that it shows")
    options.add_argument("--show", help="file into which the shown passkey is written")
    options.add_argument("--enter", help="file with the output of the side that shows a passkey")
    options.add_argument("--wrong", type=int, default=0, help="added to what is entered")
    options.add_argument("--options", help="file with the options of the pairings to come")
    options.add_argument("--private", metavar="IRK", help="advertise with a private address, another one after each connection")
    options.add_argument("--limit", type=float, default=90)
    return options


def main():
    asyncio.run(run(parser().parse_args()))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An independent Bose wearable: bumble's own host and GATT server with the table of docs/protocols/bose.md.

Shares no code with us. Streams rotation samples that turn at a constant rate about the vertical: sample n is a yaw of
n degrees at device time n * period. Prints one line when ready and one with its counters at the end.
"""

import argparse
import asyncio
import math
import struct
import sys

from bumble.att import ATT_Error, ATT_Error_Response, ATT_Read_By_Type_Request
from bumble.core import UUID, AdvertisingData
from bumble.device import AdvertisingEventProperties, AdvertisingParameters, Device
from bumble.gatt import GATT_DATABASE_HASH_CHARACTERISTIC, Characteristic, CharacteristicValue, Service
from bumble.gatt_server import Server as GattServer
from bumble.hci import Address, Phy
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport import open_transport
from bumble_pairing import renew_address

OUT_OF_SYNC = 0x12  # the ATT error
WITH_HANDLE = (0x0A, 0x0C, 0x12)  # Read, Read Blob and Write Request
ALL_HANDLES = struct.pack("<HH", 0x0001, 0xFFFF)
PERIODS = {320, 160, 80, 40, 20}
SENSORS = bytes.fromhex(
    "00fff800088001" "7fff001f07"
    "01f83007d08001" "7fff001f07"
    "02ffff0001c001" "3fff001f0a"
    "03ffff0001c001" "3fff001f08")
GESTURES = bytes.fromhex("810100820100830100c00100c10100c20100")
DEVICE = bytes.fromhex("0400402c010000000f0007000e08002f04")  # then its status
PAIRING_ENABLED, PAIRING_REQUIRED = 1, 2


class Bose:
    """The seven characteristics and the stream."""

    def __init__(self, long_uuids=False, pairing=False):
        # Some servers declare what is assigned with 16 bits in all its 128.
        def short(number):
            return UUID(f"0000{number:04X}-0000-1000-8000-00805F9B34FB") if long_uuids else UUID.from_16_bits(number)

        self.configuration = bytes.fromhex("000000010000020000030000")
        self.gesture_configuration = bytes.fromhex("810082008300c000c100c200")
        self.sent = 0
        self.wake = asyncio.Event()
        properties = Characteristic.Properties
        read, notify, write = properties.READ, properties.NOTIFY, properties.WRITE

        permissions = Characteristic.READABLE | Characteristic.WRITEABLE
        information = Characteristic(
            "7b61ad83-041c-4333-a0ab-efb2ab7bdd43", read | notify, permissions,
            DEVICE + struct.pack(">H", PAIRING_ENABLED | PAIRING_REQUIRED if pairing else 0))
        if pairing:
            permissions |= Characteristic.READ_REQUIRES_ENCRYPTION | Characteristic.WRITE_REQUIRES_ENCRYPTION

        def characteristic(uuid, kind, value=b""):
            return Characteristic(uuid, kind, permissions, value)

        self.data = characteristic("56a72ab8-4988-4cc8-a752-fbd1d54a953d", notify)
        self.configured = characteristic(
            "5af38af6-000e-404b-9b46-07f77580890b", read | write | notify,
            CharacteristicValue(read=lambda _: self.configuration, write=self.configure))
        self.service = Service(short(0xFDD2), [
            information,
            characteristic("855cb3e7-98ff-42a6-80fc-40b32a2221c1", read, SENSORS),
            self.configured,
            self.data,
            characteristic("a0384f52-f95a-4bcd-b898-7b9ceec92dad", read, GESTURES),
            characteristic("21e550af-f780-477b-9334-1f983296f1d7", read | write | notify,
                           CharacteristicValue(read=lambda _: self.gesture_configuration,
                                               write=self.configure_gestures)),
            characteristic("9014dd4e-79ba-4802-a275-894d3b85ac74", notify),
        ])
        texts = {0x2A24: b"Frames", 0x2A25: b"075120Z90000000AZ", 0x2A26: b"2.0.1", 0x2A29: b"Independent"}
        self.texts = Service(short(0x180A), [
            Characteristic(short(number), read, Characteristic.READABLE, text)
            for number, text in texts.items()])

    def configure(self, _, value):
        if len(value) != len(self.configuration):
            raise ATT_Error(0x80)
        if value[0::3] != self.configuration[0::3]:
            raise ATT_Error(0x85)
        periods = {struct.unpack_from(">H", value, i + 1)[0] for i in range(0, len(value), 3)} - {0}
        if not periods <= PERIODS:
            raise ATT_Error(0x81)
        if len(periods) > 1:
            raise ATT_Error(0x82)
        self.configuration = bytes(value)
        self.wake.set()

    def configure_gestures(self, _, value):
        if len(value) != len(self.gesture_configuration):
            raise ATT_Error(0x80)
        self.gesture_configuration = bytes(value)

    def restart(self):
        self.configuration = bytes.fromhex("000000010000020000030000")
        self.sent = 0

    def period(self):
        return struct.unpack_from(">H", self.configuration, 7)[0]

    def next_value(self, period):
        """Yaw of `sent` degrees to the right, level head: (x, y, z, w) = (cos(yaw/2), -sin(yaw/2), 0, 0)."""
        half = math.radians(self.sent % 360) / 2
        parts = [round(16383 * math.cos(half)), round(-16383 * math.sin(half)), 0, 0]
        return struct.pack(">BH4hh", 2, self.sent * period % 65536, *parts, 164)


def serve(device, services):
    """Another table for the same device, as after an update of its firmware. Counts the requests to it."""
    server = GattServer(device)
    device.gatt_server = server
    device.add_default_services()
    device.add_services(services)
    answer = server.on_gatt_pdu
    server.requests = server.confirmed = 0
    server.move = None  # to be called before the first request with a handle that follows the reading of the hash
    hash_read = False

    def count(bearer, pdu):
        # Vol 3 Part F 3.3: bit 6 marks a command; 0x1E is the confirmation of an indication.
        nonlocal hash_read
        is_request = not pdu.op_code & 0x40 and pdu.op_code != 0x1E
        server.requests += is_request
        server.confirmed += pdu.op_code == 0x1E
        if pdu.op_code in WITH_HANDLE and hash_read and server.move:
            server.move()
            device.gatt_server.requests = server.requests
            print(f"out of sync: request {pdu.op_code:02x}", flush=True)
            server.send_response(bearer, ATT_Error_Response(
                request_opcode_in_error=pdu.op_code, attribute_handle_in_error=0, error_code=OUT_OF_SYNC))
            return
        hash_read = hash_read or (isinstance(pdu, ATT_Read_By_Type_Request)
                                  and pdu.attribute_type == GATT_DATABASE_HASH_CHARACTERISTIC)
        answer(bearer, pdu)

    server.on_gatt_pdu = count


class Table:
    """The wearable behind the attribute table of the moment."""

    def __init__(self, device, *options):
        self.device, self.options = device, options
        self.bose = Bose(*options)
        self.moved = False
        serve(device, [self.bose.service, self.bose.texts])

    def move(self):
        """All handles are others from now on, for connections that are there as well."""
        self.bose = Bose(*self.options)
        self.moved = not self.moved
        first = [Service(UUID.from_16_bits(0x1815), []), self.bose.texts] if self.moved else []
        serve(self.device, first + [self.bose.service] + ([] if self.moved else [self.bose.texts]))
        for connection in self.device.connections.values():
            connection.gatt_server = self.device.gatt_server

    async def change(self):
        """A new firmware while a central is connected: it is told, and then the device hangs up."""
        server = self.device.gatt_server
        await server.indicate_subscribers(self.device.gatt_service.service_changed_characteristic, ALL_HANDLES)
        print(f"service changed: {server.confirmed} confirmed", flush=True)
        self.move()
        for connection in list(self.device.connections.values()):
            await connection.disconnect()


async def run(arguments):
    async with await open_transport(arguments.transport) as transport:
        device = Device.with_hci("Independent", Address(arguments.address), transport.source, transport.sink)
        table = Table(device, arguments.long_uuids, arguments.pairing)
        if arguments.pairing:
            device.keystore = MemoryKeyStore()
            device.pairing_config_factory = lambda _: PairingConfig(
                sc=True, mitm=False, bonding=True, delegate=PairingDelegate(PairingDelegate.NO_OUTPUT_NO_INPUT),
                identity_address_type=Address.RANDOM_DEVICE_ADDRESS if arguments.private else None)
        await device.power_on()
        if arguments.private:
            device.irk = bytes.fromhex(arguments.private)
            await renew_address(device)
        gone = asyncio.Event()
        device.on("connection", lambda connection: connection.on("disconnection", lambda _: gone.set()))
        flags, service = (AdvertisingData.FLAGS, b"\x06"), (
            AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, b"\xd2\xfd")
        name = (AdvertisingData.COMPLETE_LOCAL_NAME, b"Independent")
        if arguments.coded:
            await device.create_advertising_set(
                AdvertisingParameters(
                    advertising_event_properties=AdvertisingEventProperties(is_connectable=True),
                    primary_advertising_phy=Phy.LE_CODED, secondary_advertising_phy=Phy.LE_CODED),
                random_address=Address(arguments.address), auto_restart=True,
                advertising_data=bytes(AdvertisingData([flags, service, name])))
        else:
            advertise = lambda: device.start_advertising(
                auto_restart=not arguments.private, advertising_data=bytes(AdvertisingData([flags, service])),
                scan_response_data=bytes(AdvertisingData([name])))
            await advertise()
        print("ready", flush=True)
        for connection in range(1, arguments.connections + 1):
            if connection == arguments.move_at:
                table.move()
            if connection == arguments.out_of_sync_at:
                device.gatt_server.move = table.move
            wanted = arguments.notifications // (2 if connection == arguments.change_at else 1)
            requests = 0
            while requests == 0:  # else the radio took it for one that another program has left (Tests/Kernel/README.md)
                gone.clear()
                table.bose.restart()
                device.gatt_server.requests = 0
                await stream(device, table, gone, wanted, arguments.flat_out, connection == arguments.change_at)
                bose, requests = table.bose, device.gatt_server.requests
                if requests == 0 and arguments.private:
                    await advertise()
            if connection == arguments.change_at:
                await table.change()
                await gone.wait()
            print(f"connection {connection}: sent {bose.sent} requests {requests}", flush=True)
            if arguments.private and connection < arguments.connections:
                await renew_address(device)
                await advertise()
        print(f"sent {bose.sent}", flush=True)


async def stream(device, table, gone, wanted, flat_out, returns):
    """Until the central of one connection has gone; or, if it returns, until so many values are sent."""
    while not gone.is_set() or table.bose.period():
        bose = table.bose
        period = bose.period()
        if not period or bose.sent >= wanted:
            if gone.is_set() or (returns and period):
                break
            bose.wake.clear()
            try:
                await asyncio.wait_for(bose.wake.wait(), 0.2)
            except asyncio.TimeoutError:
                pass
            continue
        try:
            await device.notify_subscribers(bose.data, bose.next_value(period))
        except Exception as error:  # pylint: disable=broad-except
            print(f"# notify: {error}", flush=True)
            break
        bose.sent += 1
        if not flat_out:
            await asyncio.sleep(period / 1000)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--transport", default="hci-socket:1", help="bumble's name of the controller")
    parser.add_argument("--address", default="F0:F1:F2:F3:F4:F5")
    parser.add_argument("--notifications", type=int, default=500)
    parser.add_argument("--long-uuids", action="store_true", help="declare 16-bit UUIDs in their 128-bit form")
    parser.add_argument("--flat-out", action="store_true")
    parser.add_argument("--coded", action="store_true", help="advertise on LE Coded only, with extended PDUs")
    parser.add_argument("--pairing", action="store_true", help="values need an encrypted connection; pairs with everybody")
    parser.add_argument("--private", metavar="IRK", help="with a private address, another one after each connection")
    parser.add_argument("--connections", type=int, default=1, help="ends after so many")
    parser.add_argument("--move-at", type=int, default=0, metavar="N",
                        help="from connection N on, all handles are others (a new firmware)")
    parser.add_argument("--change-at", type=int, default=0, metavar="N",
                        help="in connection N, after half of the notifications: other handles, Service Changed, and it hangs up")
    parser.add_argument("--out-of-sync-at", type=int, default=0, metavar="N",
                        help="in connection N, once the hash is read: other handles, and Database Out Of Sync once")
    parser.add_argument("--limit", type=float, default=90, help="seconds until it gives up")
    arguments = parser.parse_args()
    try:
        asyncio.run(asyncio.wait_for(run(arguments), arguments.limit))
    except asyncio.TimeoutError:
        print("gave up", flush=True)
        sys.exit(1)


if __name__ == "__main__":
    main()

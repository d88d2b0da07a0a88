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

from bumble.att import ATT_Error
from bumble.core import UUID, AdvertisingData
from bumble.device import AdvertisingEventProperties, AdvertisingParameters, Device
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.gatt_server import Server as GattServer
from bumble.hci import Address, Phy
from bumble.transport import open_transport

PERIODS = {320, 160, 80, 40, 20}
SENSORS = bytes.fromhex(
    "00fff800088001" "7fff001f07"
    "01f83007d08001" "7fff001f07"
    "02ffff0001c001" "3fff001f0a"
    "03ffff0001c001" "3fff001f08")
GESTURES = bytes.fromhex("810100820100830100c00100c10100c20100")
DEVICE = bytes.fromhex("0400402c010000000f0007000e08002f040000")


class Bose:
    """The seven characteristics and the stream."""

    def __init__(self, long_uuids=False):
        # Some servers declare what is assigned with 16 bits in all its 128.
        def short(number):
            return UUID(f"0000{number:04X}-0000-1000-8000-00805F9B34FB") if long_uuids else UUID.from_16_bits(number)

        self.configuration = bytes.fromhex("000000010000020000030000")
        self.gesture_configuration = bytes.fromhex("810082008300c000c100c200")
        self.sent = 0
        self.wake = asyncio.Event()
        properties = Characteristic.Properties
        read, notify, write = properties.READ, properties.NOTIFY, properties.WRITE

        def characteristic(uuid, kind, value=b""):
            return Characteristic(uuid, kind, Characteristic.READABLE | Characteristic.WRITEABLE, value)

        self.data = characteristic("56a72ab8-4988-4cc8-a752-fbd1d54a953d", notify)
        self.configured = characteristic(
            "5af38af6-000e-404b-9b46-07f77580890b", read | write | notify,
            CharacteristicValue(read=lambda _: self.configuration, write=self.configure))
        self.service = Service(short(0xFDD2), [
            characteristic("7b61ad83-041c-4333-a0ab-efb2ab7bdd43", read | notify, DEVICE),
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
    server.requests = 0

    def count(bearer, pdu):
        # Vol 3 Part F 3.3: bit 6 marks a command; 0x1E is the confirmation of an indication.
        server.requests += not pdu.op_code & 0x40 and pdu.op_code != 0x1E
        answer(bearer, pdu)

    server.on_gatt_pdu = count


async def run(arguments):
    async with await open_transport(arguments.transport) as transport:
        device = Device.with_hci("Independent", Address(arguments.address), transport.source, transport.sink)
        bose = Bose(arguments.long_uuids)
        serve(device, [bose.service, bose.texts])
        await device.power_on()
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
            await device.start_advertising(
                auto_restart=True, advertising_data=bytes(AdvertisingData([flags, service])),
                scan_response_data=bytes(AdvertisingData([name])))
        print("ready", flush=True)
        for connection in range(1, arguments.connections + 1):
            if connection == arguments.move_at:
                bose = Bose(arguments.long_uuids)
                serve(device, [Service(UUID.from_16_bits(0x1815), []), bose.texts, bose.service])
            gone.clear()
            bose.restart()
            device.gatt_server.requests = 0
            await stream(device, bose, gone, arguments)
            print(f"connection {connection}: sent {bose.sent} requests {device.gatt_server.requests}", flush=True)
        print(f"sent {bose.sent}", flush=True)


async def stream(device, bose, gone, arguments):
    """Until the central of one connection has gone."""
    while not gone.is_set() or bose.period():
        period = bose.period()
        if not period or bose.sent >= arguments.notifications:
            if gone.is_set():
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
        if not arguments.flat_out:
            await asyncio.sleep(period / 1000)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--transport", default="hci-socket:1", help="bumble's name of the controller")
    parser.add_argument("--address", default="F0:F1:F2:F3:F4:F5")
    parser.add_argument("--notifications", type=int, default=500)
    parser.add_argument("--long-uuids", action="store_true", help="declare 16-bit UUIDs in their 128-bit form")
    parser.add_argument("--flat-out", action="store_true")
    parser.add_argument("--coded", action="store_true", help="advertise on LE Coded only, with extended PDUs")
    parser.add_argument("--connections", type=int, default=1, help="ends after so many")
    parser.add_argument("--move-at", type=int, default=0, metavar="N",
                        help="from connection N on, all handles are others (a new firmware)")
    parser.add_argument("--limit", type=float, default=90, help="seconds until it gives up")
    arguments = parser.parse_args()
    try:
        asyncio.run(asyncio.wait_for(run(arguments), arguments.limit))
    except asyncio.TimeoutError:
        print("gave up", flush=True)
        sys.exit(1)


if __name__ == "__main__":
    main()

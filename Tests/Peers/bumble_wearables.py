#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An adapter on /dev/vhci and a wearable of each of the five families in its reach, all of bumble's controllers, hosts and
GATT servers, with the tables and messages of docs/protocols/*.md; and a heart rate sensor, which a device file describes. Shares no
code with us.

Each wearable sends numbered values, so that a receiver's record can be compared with the sender's. Commands come from
standard input, a line each:

    plug           the adapter appears; unplug: it is removed
    mute           the adapter answers nothing more, and its connections are dead, until it is reset
    start NAME     a wearable is switched on: bose, feelspace, activ5, fjorden, obvious, heart_rate, mouse; stop NAME: off

`mouse` is nothing of ours: a HID mouse that another program is bonded with. Prints JSON lines: "done" after each command,
what the wearables receive as they receive it, and once a second how many values each has sent.
"""

import asyncio
import json
import math
import struct
import sys
import time

from bumble import hci
from bumble.att import ATT_Error
from bumble.controller import Controller
from bumble.core import UUID, AdvertisingData
from bumble.device import Device
from bumble.gatt import GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR as CCCD
from bumble.gatt import Characteristic, CharacteristicValue, Descriptor, Service
from bumble.hci import Address
from bumble.host import Host
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig
from bumble.transport import open_transport
from bumble.transport.common import AsyncPipeSink

import bumble_ogp
from bumble_bose import Bose
from bumble_many import Link, log_nothing
from bumble_vhci import VirtualAdapter
from ogp import device as ogp_device
from ogp import payload, signed, text
from ogp.air import Rates
from ogp.frame import event as ogp_event

READ, NOTIFY, WRITE, INDICATE = (Characteristic.Properties[name] for name in ("READ", "NOTIFY", "WRITE", "INDICATE"))
PLAIN = Characteristic.READABLE | Characteristic.WRITEABLE
ENCRYPTED = PLAIN | Characteristic.READ_REQUIRES_ENCRYPTION | Characteristic.WRITE_REQUIRES_ENCRYPTION
SUPERVISION_TIMEOUT = 2  # s, of the wearables


def say(event, **members):
    print(json.dumps({"event": event, "time": round(time.time(), 3), **members}), flush=True)


def short(number):
    return UUID.from_16_bits(number)


class Adapter(VirtualAdapter):
    """What HCI and the link carry stops while it is muted; HCI Reset ends that."""

    RESET = bytes([1, 0x03, 0x0C, 0x00])

    def __init__(self, link):
        super().__init__(link, "00:53:00:5E:04:01")
        self.muted = False
        self.transport = None

    async def plug(self):
        self.link.add_controller(self)
        self.transport = await open_transport("vhci")
        self.attach(self.transport)

    async def unplug(self):
        self.le_connections.clear()
        self.link.remove_controller(self)
        self.set_packet_sink(None)
        await self.transport.close()

    async def mute(self):
        self.muted = True
        self.le_connections.clear()

    def on_packet(self, packet):
        if bytes(packet) == self.RESET:  # bumble's own changes nothing
            self.muted = self.le_scan_enable = False
            self.pending_le_connection = None
            self.le_connections.clear()
            say("reset")
        if not self.muted:
            super().on_packet(packet)

    def send_hci_packet(self, packet):
        if not self.muted:
            super().send_hci_packet(packet)

    def on_link_acl_data(self, *arguments):
        if not self.muted:
            super().on_link_acl_data(*arguments)


class Wearable:
    """Switched on it advertises while nobody is connected. Its subclass says what it serves."""

    NUMBER = NAME = UUIDS = None
    APPEARANCE = None
    ENCRYPTED = False
    INTERVAL = 160  # ms

    def __init__(self, link):
        self.family = type(self).__name__.lower()
        self.controller = Controller(self.family, link=link)
        self.device = Device(name=self.NAME, address=Address(f"F0:F1:F2:F3:F6:{self.NUMBER:02X}"),
                             host=Host(self.controller, AsyncPipeSink(self.controller)))
        self.heard = 0  # the adapter, by the connection
        self.device.keystore = MemoryKeyStore()
        self.device.pairing_config_factory = lambda _: PairingConfig(
            sc=True, mitm=False, bonding=True, identity_address_type=PairingConfig.AddressType.RANDOM)
        self.is_on = self.powered = False
        self.connection = None
        self.tasks = []
        self.sent = 0
        self.device.on("connection", self._connected)

    def characteristic(self, uuid, properties, value=b"", write=None):
        rights = ENCRYPTED if self.ENCRYPTED else PLAIN
        if write is not None:
            value = CharacteristicValue(read=lambda _: b"", write=lambda _, data: self._wrote(uuid, write, bytes(data)))
        return Characteristic(uuid, properties, rights, value)

    def _wrote(self, uuid, write, data):
        say("written", device=self.family, characteristic=uuid.to_hex_str(), bytes=data.hex())
        write(data)

    def serve(self, *services):
        server = self.device.gatt_server
        first = len(server.attributes)
        self.device.add_services(services)
        for attribute in server.attributes[first:] if self.ENCRYPTED else ():
            if attribute.type == CCCD:
                attribute.permissions = ENCRYPTED

    def subscribed(self, characteristic):
        if self.connection is None or (self.ENCRYPTED and not self.connection.is_encrypted):
            return False
        return any(self.device.gatt_server.subscribers.get(self.connection, {}).get(characteristic.handle, b""))

    def _connected(self, connection):
        self.connection = connection
        say("connected", device=self.family, peer=str(connection.peer_address))
        connection.on("disconnection", self._disconnected)
        connection.on("pairing", lambda keys: say("paired", device=self.family))
        connection.on("pairing_failure", lambda reason: say("pairing_failed", device=self.family, reason=int(reason)))
        connection.on("connection_encryption_change",
                      lambda *_: say("encrypted", device=self.family, on=bool(connection.is_encrypted)))
        self.begin(connection)
        if connection.handle not in self.device.connections:  # bumble has told its end before its begin
            self._disconnected(hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)

    def supervise(self, adapter):
        """What the adapter has no connection for any more ends after the supervision timeout."""
        now = time.monotonic()
        connection = next(iter(self.controller.le_connections.values()), None)
        if connection is None or self.device.random_address in adapter.le_connections:
            self.heard = now
        elif now - self.heard >= SUPERVISION_TIMEOUT:
            self.controller.on_le_disconnected(connection, hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)

    def _disconnected(self, reason):
        self.connection = None
        for task in self.tasks:
            task.cancel()
        self.tasks = []
        self.end()
        say("disconnected", device=self.family, reason=int(reason))
        if self.is_on:
            asyncio.create_task(self._advertise())

    async def _advertise(self):
        parts = [(AdvertisingData.FLAGS, b"\x06")]
        for kind, size in ((AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, 2),
                           (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, 16)):
            uuids = b"".join(bytes(uuid) for uuid in self.UUIDS if len(bytes(uuid)) == size)
            if uuids:
                parts.append((kind, uuids))
        if self.APPEARANCE:
            parts.append((AdvertisingData.APPEARANCE, struct.pack("<H", self.APPEARANCE)))
        await self.device.start_advertising(
            advertising_data=bytes(AdvertisingData(parts)),
            scan_response_data=bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, self.NAME.encode())])),
            advertising_interval_min=self.INTERVAL / 0.625, advertising_interval_max=self.INTERVAL / 0.625)

    async def switch(self, on):
        self.is_on = on
        if on and not self.powered:
            await self.device.power_on()
            self.powered = True
        if on:
            await self._advertise()
        elif self.connection is not None:
            await self.connection.disconnect()
        else:
            await self.device.stop_advertising()

    def every(self, seconds, act):
        """Until the end of the connection."""
        async def repeat():
            while True:
                await asyncio.sleep(seconds)
                await act()
        self.tasks.append(asyncio.create_task(repeat()))

    async def notify(self, characteristic, value):
        if self.connection is not None:
            await self.device.notify_subscribers(characteristic, value)

    # Of the subclass.
    def begin(self, connection):
        pass

    def end(self):
        pass


class BoseFrames(Wearable):
    NUMBER, NAME, UUIDS = 1, "Independent", [short(0xFDD2)]

    def __init__(self, link):
        super().__init__(link)
        self.family = "bose"
        self.bose = Bose()
        self.bose.configure = self._configured(self.bose.configure)
        for characteristic in self.bose.service.characteristics:
            if characteristic is self.bose.configured:
                characteristic.value = CharacteristicValue(read=lambda _: self.bose.configuration, write=self.bose.configure)
        self.serve(self.bose.service, self.bose.texts)

    def _configured(self, configure):
        def told(connection, value):
            configure(connection, value)
            say("written", device=self.family, characteristic="configuration", bytes=bytes(value).hex())
        return told

    def begin(self, connection):
        self.bose.restart()
        self.bose.sent = self.sent
        self.tasks.append(asyncio.create_task(self._stream()))

    async def _stream(self):
        while True:
            period = self.bose.period()
            await asyncio.sleep(period / 1000 if period else 0.05)
            if period:
                await self.notify(self.bose.data, self.bose.next_value(period))
                self.sent = self.bose.sent = self.sent + 1


class Feelspace(Wearable):
    """Annex A of its specification, as far as a gateway needs it. The heading is the number of the value, in degrees."""

    NUMBER, NAME, UUIDS, ENCRYPTED = 2, "naviGuertel 7", [short(0xFE51)], True
    BATTERY = bytes.fromhex("014000f000") + bytes.fromhex("0cfe3c0f")

    def __init__(self, link):
        super().__init__(link)
        self.mode, self.intensity, self.offset, self.signal = 1, 50, 45, 3
        self.unanswered = 0
        self.keep_alive = self.characteristic(short(0xFE02), NOTIFY | WRITE, write=self._answered)
        self.parameter = self.characteristic(short(0xFE06), NOTIFY)
        self.battery = self.characteristic(short(0xFE09), READ | NOTIFY, self.BATTERY)
        self.orientation = self.characteristic(short(0xFE0C), NOTIFY)
        self.serve(
            Service(short(0xFE51), [
                self.characteristic(short(0xFE01), READ, bytes.fromhex("3400")), self.keep_alive,
                self.characteristic(short(0xFE03), WRITE, write=lambda data: None),
                self.characteristic(short(0xFE04), NOTIFY),
                self.characteristic(short(0xFE05), WRITE, write=self._request), self.parameter, self.battery]),
            Service(short(0xFE52), [self.orientation]),
            Service(short(0xFE53), [self.characteristic(short(0xFE13), WRITE, write=lambda data: None),
                                    self.characteristic(short(0xFE14), NOTIFY)]))

    def _answered(self, _):
        self.unanswered = 0

    def _wrote(self, uuid, write, data):
        if uuid == short(0xFE02):  # once a second
            write(data)
        else:
            super()._wrote(uuid, write, data)

    def _request(self, data):
        if data[0] == 0x01 and data[1] & 0x80:
            which = data[1] & 0x7F
            if which == 1:
                self.mode = data[2]
            elif which == 2:
                self.intensity = max(5, min(100, data[2]))
            elif which == 3:
                self.offset = int.from_bytes(data[2:4], "little")
        elif data[0] == 0x01:
            which = data[1]
        elif data[0] in (0x10, 0x11):
            which = data[2] if data[0] == 0x10 else data[1]
            if data[0] == 0x11 and which == 3:
                self.signal = data[3]
            if which == 3:
                asyncio.create_task(self.notify(self.parameter, bytes([0x10, 3, self.signal])))
            return
        value = {1: bytes([self.mode]), 2: bytes([self.intensity]), 3: struct.pack("<H", self.offset)}.get(which)
        if value is not None:
            asyncio.create_task(self.notify(self.parameter, bytes([0x01, which]) + value))

    def begin(self, connection):
        self.unanswered = 0
        self.every(1, self._ask)
        self.every(0.5, self._turn)

    def end(self):
        if self.mode == 3:
            self.mode = 1

    async def _ask(self):
        if not self.subscribed(self.keep_alive):
            return
        self.unanswered += 1
        if self.unanswered > 5:
            await self.connection.disconnect()
            return
        await self.notify(self.keep_alive, bytes([0, self.mode]))

    async def _turn(self):
        heading = self.sent % 360
        if self.subscribed(self.orientation):
            self.sent += 1
            await self.notify(self.orientation, struct.pack("<BhhhhHbbbbB", 2, heading, 0, 0, 0, 5, 3, 3, 3, 3, 0))


class Activ5(Wearable):
    """Of the newer kind: the force is on while it is subscribed. The raw force is the number of the value."""

    NUMBER, NAME, UUIDS = 3, "ACTIV5-AC-0007", [short(0x5000)]

    def __init__(self, link):
        super().__init__(link)
        self.output = self.characteristic(short(0x5A01), NOTIFY)
        self.output.on("subscription", self._subscribed)
        self.force = self.characteristic(short(0xF0FE), NOTIFY)
        self.serve(
            Service(short(0x5000), [self.output, self.characteristic(short(0x5A02), WRITE, write=lambda data: None)]),
            Service(short(0xF0F0), [
                self.force, self.characteristic(short(0xF0F5), NOTIFY),
                self.characteristic(short(0xF0F7), READ, b"0123456789abcdef"),
                self.characteristic(short(0xF0F8), READ, b"0123\0\0"),
                self.characteristic(short(0xF0FA), WRITE, write=lambda data: None)]),
            Service(short(0x180F), [self.characteristic(short(0x2A19), READ | NOTIFY, bytes([75]))]),
            Service(short(0x180A), [self.characteristic(short(0x2A25), READ, b"AC-0007")]))

    def _subscribed(self, _connection, notify, _indicate):
        if notify:
            asyncio.create_task(self.notify(self.output, b"\x12TC5k;1.00;04;BATOK\x13"))

    def begin(self, connection):
        self.every(0.1, self._push)

    async def _push(self):
        if self.subscribed(self.force):
            self.sent += 1
            await self.notify(self.force, struct.pack("<h", self.sent % 30000))


class Fjorden(Wearable):
    """A hand turns its dial, one step a second. The record's sequence is the number of the value."""

    NUMBER, NAME, ENCRYPTED = 4, "Fjorden Grip", True
    BASE = "b3d8{:04x}-92de-4c91-b591-abffcba8daf2"
    UUIDS = [UUID(BASE.format(1)), short(0x1812)]

    def __init__(self, link):
        super().__init__(link)
        self.position = 0
        self.event = self.characteristic(UUID(self.BASE.format(2)), NOTIFY)
        self.state = self.characteristic(UUID(self.BASE.format(3)), READ | NOTIFY, self._state())
        self.control = self.characteristic(UUID(self.BASE.format(4)), WRITE | INDICATE, write=self._request)
        self.serve(
            Service(UUID(self.BASE.format(1)), [self.event, self.state, self.control]),
            Service(short(0x180A), [
                self.characteristic(short(number), READ, value)
                for number, value in ((0x2A29, b"Independent"), (0x2A24, b"Grip"), (0x2A26, b"1.2.0"), (0x2A27, b"1"))]),
            Service(short(0x180F), [self.characteristic(short(0x2A19), READ | NOTIFY, bytes([64]))]))

    def _state(self):
        return struct.pack("<BBbBh", 1, 0, 0, 0, self.position)

    def _request(self, data):
        answer = bytes([0x80 | data[0], data[1], 0])
        if data[0] == 1:
            answer += data[2:]
        elif data[0] == 5:
            answer += self._state()
        elif data[0] != 2:
            answer = answer[:2] + b"\x01"
        asyncio.create_task(self.device.indicate_subscribers(self.control, answer))

    def begin(self, connection):
        self.every(1, self._turn)

    async def _turn(self):
        if self.subscribed(self.event):
            record = struct.pack("<BBHb", self.sent % 256, 0x11, int(time.monotonic() * 1000) % 65536, 1)
            self.sent += 1
            await self.notify(self.event, record)


class Obvious(Wearable):
    """OGP/1 of the package `ogp`. A hand switches feature 17 off and on, once in two seconds: each is a value."""

    NUMBER, NAME, UUIDS, ENCRYPTED = 5, "Obvious", [UUID(text.SERVICE)], True

    def __init__(self, link):
        super().__init__(link)
        key = signed.Key(bytes(range(32)))

        def make_core(host):
            core = ogp_device.Device(host, product=1234, serial=0x1122334455667788, keys={1: key.public})
            core.holder.features = {16: (1, 2, 0), 17: (1, 2, 0)}
            toggle = core._feature_toggle

            def told(fields, now):
                answer = toggle(fields, now)
                say("toggled", device=self.family, features={str(id): row[1] for id, row in core.holder.features.items()})
                return answer

            core._feature_toggle = told
            return core

        self.peripheral = bumble_ogp.Peripheral(self.device, make_core, Rates(), ogp_device.Faults())

    def begin(self, connection):
        self.every(2, self._switch)

    async def _switch(self):
        core = self.peripheral.core
        if not core.helloed:
            return
        enable, toggle, value = core.holder.features[17]
        core.holder.features[17] = (enable, 3 - toggle, value)
        self.sent += 1
        core._send(ogp_event(payload.EVT_FEATURE_CHANGED, payload.answer_payload(
            payload.EVT_FEATURE_CHANGED, features=core._states([17]))), bumble_ogp.now())
        self.peripheral.clock.touch()


class HeartRate(Wearable):
    """Heart Rate Service 1.0. The rate, of 16 bits, is the number of the value."""

    NUMBER, NAME, UUIDS = 6, "Independent Strap", [short(0x180D)]

    def __init__(self, link):
        super().__init__(link)
        self.family = "heart_rate"
        self.measurement = self.characteristic(short(0x2A37), NOTIFY)
        self.serve(Service(short(0x180D), [self.measurement, self.characteristic(short(0x2A38), READ, bytes([1]))]))

    def begin(self, connection):
        self.every(0.5, self._beat)

    async def _beat(self):
        if self.subscribed(self.measurement):
            self.sent += 1
            await self.notify(self.measurement, struct.pack("<BH", 1, self.sent % 60000))


class Mouse(Wearable):
    """HID over GATT: what another program is bonded with. A report a second while it is connected."""

    NUMBER, NAME, UUIDS, APPEARANCE, ENCRYPTED = 9, "Independent Mouse", [short(0x1812)], 0x03C2, True
    REPORT_MAP = bytes.fromhex("05010902a1010901a1000509190129031500250195037501810295017505810305"
                               "01093009311581257f750895028106c0c0")

    def __init__(self, link):
        super().__init__(link)
        self.report = self.characteristic(short(0x2A4D), READ | NOTIFY, bytes(3))
        self.report.descriptors = [Descriptor(short(0x2908), Descriptor.READABLE, bytes([0, 1]))]
        self.serve(
            Service(short(0x1812), [
                self.characteristic(short(0x2A4A), READ, bytes.fromhex("11010002")),
                self.characteristic(short(0x2A4B), READ, self.REPORT_MAP), self.report,
                self.characteristic(short(0x2A4C), Characteristic.Properties.WRITE_WITHOUT_RESPONSE, write=lambda data: None)]),
            Service(short(0x180A), [self.characteristic(short(0x2A50), READ, bytes.fromhex("0100000000000100"))]),
            Service(short(0x180F), [self.characteristic(short(0x2A19), READ | NOTIFY, bytes([64]))]))

    def begin(self, connection):
        self.told = False
        self.every(1, self._move)

    async def _move(self):
        if self.subscribed(self.report):
            if not self.told:
                self.told = True
                say("reports", device=self.family)
            self.sent += 1
            await self.notify(self.report, bytes([0, 1, 0]))


async def lines():
    """Lines of standard input."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield line.decode().strip()


async def each_second(wearables, adapter):
    while True:
        await asyncio.sleep(1)
        for wearable in wearables:
            wearable.supervise(adapter)
        say("sent", **{wearable.family: wearable.sent for wearable in wearables})


async def run():
    log_nothing()
    link = Link()
    adapter = Adapter(link)
    wearables = [kind(link) for kind in (BoseFrames, Feelspace, Activ5, Fjorden, Obvious, HeartRate, Mouse)]
    named = {wearable.family: wearable for wearable in wearables}
    watching = asyncio.create_task(each_second(wearables, adapter))
    say("ready")
    async for line in lines():
        command, _, name = line.partition(" ")
        if command in ("start", "stop"):
            await named[name].switch(command == "start")
        else:
            await getattr(adapter, command)()
        say("done", command=line)
    watching.cancel()


if __name__ == "__main__":
    asyncio.run(run())

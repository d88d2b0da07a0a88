#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The independent Obvious device or client on a radio: bumble's own host and GATT with the OGP/1 of `ogp`.

    bumble_ogp.py device [options]                 advertises, pairs (Just Works, bonds in memory), serves OGP/1
    bumble_ogp.py client --peer ADDRESS STEP...    connects, pairs, and does: info, features, toggle=ID, update,
                                                   upgrade[=VERSION]; air=RATE:SHARE,... sets the faults of what follows

Prints JSON lines: "ready" first, what happens as it happens, a summary at the end. Shares no code with us.

With --plans the device reads what to do from its standard input and ends with it: a JSON object a line with `name`, and
with `air` (shares of ogp.air.Rates) and `faults` (ogp.device.Faults) as wanted. Each makes a new device of it, with the same
bonds, and is answered by "plan"; what became of the one before is told by "outcome".
"""

import argparse
import asyncio
import json
import random
import sys
import time

from bumble.att import ATT_Error
from bumble.core import UUID, AdvertisingData
from bumble.device import Device, Peer
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.hci import Address, OwnAddressType
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig
from bumble.transport import open_transport
from ogp import device as ogp_device
from ogp import operations, segment, signed, text
from ogp.air import Air, Rates
from ogp.client import Client

MTU = 517


def now():
    return int(time.monotonic() * 1000)


def say(event, **members):
    print(json.dumps({"event": event, "ms": now(), **members}), flush=True)


def bonding():
    """Just Works with LE Secure Connections: no input, no output."""
    return PairingConfig(sc=True, mitm=False, bonding=True, identity_address_type=PairingConfig.AddressType.RANDOM)


class Clock:
    """Calls `poll` of a core at its deadlines; `touch` after anything was given to the core."""

    def __init__(self, core):
        self.core = core
        self.timer = None

    def touch(self):
        self.stop()
        due = self.core.deadline()
        if due is not None:
            self.timer = asyncio.get_running_loop().call_later(max(0, due - now()) / 1000, self._fire)

    def stop(self):
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _fire(self):
        self.timer = None
        self.core.poll(now())
        self.touch()


class Outbox:
    """Sends segments in order, after the faults of the air."""

    def __init__(self, air, send):
        self.air, self.send = air, send
        self.queue = asyncio.Queue()
        self.task = asyncio.create_task(self._run())

    def put(self, data):
        for delay, part in self.air.carry(data):
            if delay:
                asyncio.get_running_loop().call_later(delay / 1000, self.queue.put_nowait, part)
            else:
                self.queue.put_nowait(part)
        return True

    async def _run(self):
        while True:
            data = await self.queue.get()
            try:
                await self.send(data)
            except Exception as error:  # pylint: disable=broad-except
                say("not_sent", reason=str(error) or type(error).__name__)


class Peripheral:
    """The device on a radio."""

    def __init__(self, radio, make_core, rates, faults, seed=0):
        self.radio, self.make_core = radio, make_core
        self.connection = None
        self.incoming = self.outbox = self.clock = None
        self.become(rates, faults, seed)
        self.connections = 0
        self.wake = asyncio.Event()
        kinds, rights = Characteristic.Properties, Characteristic.Permissions
        self.data = Characteristic(UUID(text.DATA), kinds.WRITE_WITHOUT_RESPONSE | kinds.NOTIFY, rights.WRITE_REQUIRES_ENCRYPTION,
                                   CharacteristicValue(write=self._written))
        self.status = Characteristic(UUID(text.STATUS), kinds.READ, rights.READ_REQUIRES_ENCRYPTION,
                                     CharacteristicValue(read=lambda _: self.core.status_value()))
        radio.add_services([Service(UUID(text.SERVICE), [self.data, self.status])])
        radio.keystore = MemoryKeyStore()
        radio.pairing_config_factory = lambda connection: bonding()
        radio.on("connection", self._connected)

    def become(self, rates, faults, seed=0):
        """A new device behind the same radio: only the bonds stay."""
        if self.clock is not None:
            self.clock.stop()
        self.core = self.make_core(self)
        self.core.faults = faults
        self.clock = Clock(self.core)
        self.incoming = Air(rates, f"{seed} up")
        air = Air(rates, f"{seed} down")
        if self.outbox is None:
            self.outbox = Outbox(air, self._notify)
        self.outbox.air = air
        self.logged = 0
        self.behind = [0, 0]  # segments behind the first window of their message; those of them that ask for an answer

    def outcome(self):
        self.report()
        core, both = self.core, self.incoming.faults + self.outbox.air.faults
        return {"features": {str(key): list(value) for key, value in core.holder.features.items()},
                "counter": str(core.holder.counter), "provisioned": core.holder.provisioned,
                "firmware": text.version_text(core.active), "confirmed": core.confirmed, "connections": self.connections,
                "segments": self.incoming.carried, "errors": core.link.receiver.errors, "air": both,
                "left": {"bad_crc": core.faults.bad_crc, "reboot_at": core.faults.reboot_at,
                         "disconnect_at": core.faults.disconnect_at},
                "behind": self.behind, "begun": [entry[1:] for entry in core.log if entry[0] == "begin"],
                "refused": [entry[1:] for entry in core.log if entry[0] == "refused"]}

    async def follow(self, stream):
        """Plans from a stream of lines until it ends."""
        name = None
        while line := await stream.readline():
            plan = json.loads(line)
            while self.connection is not None or not self.core.is_up:
                await asyncio.sleep(0.02)
            if name is not None:
                say("outcome", name=name, **self.outcome())
            name = plan["name"]
            self.become(Rates(**plan.get("air", {})), ogp_device.Faults(**plan.get("faults", {})), name)
            say("plan", name=name)
        say("outcome", name=name, **self.outcome())

    def _connected(self, connection):
        self.connection = connection
        self.connections += 1
        self.core.on_connected(now(), connection.att_mtu, connection.is_encrypted)
        connection.on("connection_att_mtu_update", lambda: self._mtu(connection))
        connection.on("connection_encryption_change", lambda: setattr(self.core, "encrypted", connection.is_encrypted))
        connection.on("disconnection", lambda reason: self._disconnected(reason))
        say("connected", peer=str(connection.peer_address))
        self.clock.touch()

    def _mtu(self, connection):
        self.core.link.receiver.mtu = self.core.link.sender.mtu = connection.att_mtu

    def _disconnected(self, reason):
        say("disconnected", reason=int(reason))
        self.connection = None
        if self.core.connected:
            self.core.on_disconnected(now())
        self.clock.touch()
        self.wake.set()

    def _written(self, connection, value):
        if not connection.is_encrypted:
            raise ATT_Error(0x0F)
        for delay, data in self.incoming.carry(bytes(value)):
            asyncio.get_running_loop().call_later(delay / 1000, self._give, data)

    def _give(self, data):
        if not data[0] & segment.CTRL and int.from_bytes(data[2:4], "little") >= self.core.window:
            self.behind[0] += 1
            self.behind[1] += bool(data[0] & segment.ACKREQ)
        self.core.receive(data, now())
        self.report()
        self.clock.touch()

    def report(self):
        for entry in self.core.log[self.logged:]:
            if entry[0] != "data":
                say("device", what=list(entry))
        self.logged = len(self.core.log)

    # What the core does.

    def write(self, data):
        return self.connection is not None and self.outbox.put(data)

    async def _notify(self, data):
        if self.connection is not None:
            await self.radio.notify_subscriber(self.connection, self.data, data)

    def drop(self):
        if self.connection is not None:
            asyncio.create_task(self._drop(self.connection))

    async def _drop(self, connection):
        try:
            await connection.disconnect()
        except Exception as error:  # pylint: disable=broad-except
            say("not_disconnected", reason=str(error))

    async def run(self, name, until):
        """Advertises while it is up and not connected, until `until` connections have ended (0: endlessly)."""
        advertisement = bytes(AdvertisingData([
            (AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
                                               bytes(UUID(text.SERVICE)))]))
        answer = bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, name.encode())]))
        first = True
        while not until or self.connections < until or self.connection is not None:
            while not self.core.is_up:
                await asyncio.sleep(0.05)
            if self.connection is None:
                await self.radio.start_advertising(advertising_data=advertisement, scan_response_data=answer,
                                                   own_address_type=OwnAddressType.RANDOM)
                if first:
                    say("ready", address=str(self.radio.random_address))
                    first = False
            await self.wake.wait()
            self.wake.clear()


class Central:
    """The client on a radio: connects to one address."""

    def __init__(self, radio, address, rates, mtu=MTU, seed=0, **options):
        self.radio, self.address, self.mtu = radio, address, mtu
        self.connection = self.peer = self.data = self.status = None
        self.core = Client(self, **options)
        self.clock = Clock(self.core)
        self.incoming = Air(rates, f"{seed} down")
        self.outbox = Outbox(Air(rates, f"{seed} up"), self._send)
        self.bonded = False
        self.connecting = self.opening = None
        self.connections = 0
        radio.keystore = MemoryKeyStore()
        radio.pairing_config_factory = lambda connection: bonding()

    # What the core does.

    def write(self, data):
        return self.data is not None and self.outbox.put(data)

    async def _send(self, data):
        if self.data is not None:
            await self.data.write_value(data, with_response=False)

    def connect(self):
        if self.connecting is None or self.connecting.done():
            self.connecting = asyncio.create_task(self._connect())

    async def _connect(self):
        for _ in range(10):
            self.opening = asyncio.create_task(self._open())
            try:
                await asyncio.wait_for(self.opening, 20)
                return
            except (Exception, asyncio.CancelledError) as error:  # pylint: disable=broad-except
                say("not_connected", reason=str(error) or type(error).__name__)
                if self.connection is not None:
                    await self._close(self.connection)
                await asyncio.sleep(0.2)
        self.core.on_connect_failed(now())
        self.clock.touch()

    async def _open(self):
        connection = await self.radio.connect(self.address, timeout=15)
        self.connection = connection
        connection.on("disconnection", lambda reason: self._disconnected(connection, reason))
        if self.bonded:
            await connection.encrypt()
        else:
            await connection.pair()
            self.bonded = True
        self.peer = Peer(connection)
        await self.peer.request_mtu(self.mtu)
        await self.peer.discover_services()
        service = self.peer.get_services_by_uuid(UUID(text.SERVICE))[0]
        await service.discover_characteristics()
        self.status = service.get_characteristics_by_uuid(UUID(text.STATUS))[0]
        data = service.get_characteristics_by_uuid(UUID(text.DATA))[0]
        await self.peer.subscribe(data, self._notified)
        self.data = data
        self.connections += 1
        say("connected", mtu=connection.att_mtu, encrypted=bool(connection.is_encrypted))
        self.core.on_connected(now(), connection.att_mtu)
        self.clock.touch()

    def _notified(self, value):
        for delay, data in self.incoming.carry(bytes(value)):
            asyncio.get_running_loop().call_later(delay / 1000, self._give, data)

    def _give(self, data):
        self.core.on_data(data, now())
        self.clock.touch()

    def _disconnected(self, connection, reason):
        if connection is not self.connection:
            return
        was_open = self.data is not None
        self.connection = self.peer = self.data = self.status = None
        say("disconnected", reason=int(reason))
        if not was_open:
            self.opening.cancel()  # nothing would end its requests
        else:
            self.core.on_disconnected(now())
            self.clock.touch()

    def disconnect(self):
        if self.connection is not None:
            asyncio.create_task(self._close(self.connection))

    async def _close(self, connection):
        try:
            await asyncio.wait_for(connection.disconnect(), 5)
        except Exception as error:  # pylint: disable=broad-except
            say("not_disconnected", reason=str(error) or type(error).__name__)

    def read_status(self):
        asyncio.create_task(self._read_status())

    async def _read_status(self):
        try:
            value = bytes(await self.status.read_value())
        except Exception as error:  # pylint: disable=broad-except
            say("not_read", reason=str(error) or type(error).__name__)
            value = None
        self.core.on_status(value, now())
        self.clock.touch()

    async def run(self, operation, limit):
        """One operation; what it called is returned."""
        self.core.calls.clear()
        self.core.start(operation, now())
        self.clock.touch()
        end = now() + limit * 1000
        while self.core.operation is not None:
            if now() > end:
                raise asyncio.TimeoutError
            await asyncio.sleep(0.01)
        return list(self.core.calls)


class LocalCloud:
    """Signs with a key of its own what the device lacks."""

    def __init__(self, key, image_size, version):
        self.key, self.version = key, text.version_code(version)
        self.image = random.Random("image").randbytes(image_size)

    def feature_update(self, info, nonce):
        flags = signed.NONCE_BOUND if nonce else 0
        return signed.build_package(self.key, info["product"], info["serial"], info["counter"] + 1,
                                    [(16, 1, 1, 0), (17, 1, 2, 0), (20, 0, 0, 0)], flags=flags, nonce=nonce or signed.NO_NONCE)

    def provision(self, info, nonce):
        return signed.build_package(self.key, info["product"], info["serial"], info["counter"] + 1, kind=signed.PROVISION)

    def firmware(self, info):
        return signed.build_manifest(self.key, info["product"], self.version, self.image), self.image


def add_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("role", choices=("device", "client"))
    parser.add_argument("steps", nargs="*", metavar="STEP")
    parser.add_argument("--transport", default="hci-socket:1", help="bumble's name of the controller")
    parser.add_argument("--address", default="F0:F1:F2:F3:F4:F6")
    parser.add_argument("--peer", help="address of the device")
    parser.add_argument("--name", default="Obvious")
    parser.add_argument("--seed", default=bytes(range(32)).hex(), help="seed of the key that signs, hex")
    parser.add_argument("--public", help="public key that the device knows, hex; default: that of the seed")
    parser.add_argument("--product", type=int, default=1234)
    parser.add_argument("--serial", type=lambda value: int(value, 16), default=0x1122334455667788, help="hex digits")
    parser.add_argument("--unprovisioned", action="store_true")
    parser.add_argument("--counter", type=int, default=41)
    parser.add_argument("--firmware", default="1.4.0", help="version that the client sends")
    parser.add_argument("--image-size", type=int, default=20000)
    for rate in ("lost", "doubled", "late", "reordered", "changed"):
        parser.add_argument("--" + rate, type=float, default=0, help="share of the segments, both directions")
    parser.add_argument("--bad-crc", type=int, default=0, help="so many of the device's frames")
    parser.add_argument("--credit", type=int, help="announced instead of the window")
    parser.add_argument("--reboot-at", type=int, action="append", default=[], help="offset of a transfer")
    parser.add_argument("--disconnect-at", type=int, action="append", default=[], help="offset of a transfer")
    parser.add_argument("--connections", type=int, default=0, help="the device ends after so many; 0: never")
    parser.add_argument("--plans", action="store_true", help="the device reads its faults from standard input")
    parser.add_argument("--mtu", type=int, default=MTU, help="that the device offers, and the client asks for")
    parser.add_argument("--limit", type=float, default=120, help="seconds until it gives up")
    return parser


def rates_of(arguments):
    return Rates(arguments.lost, arguments.doubled, arguments.late, arguments.reordered, arguments.changed)


def rates_of_text(words):
    """lost:0.1,doubled:0.2"""
    return Rates(**{name: float(share) for name, share in (word.split(":") for word in words.split(",") if word)})


async def run_device(radio, arguments):
    key = signed.Key(bytes.fromhex(arguments.seed))
    public = bytes.fromhex(arguments.public) if arguments.public else key.public

    def make_core(host):
        core = ogp_device.Device(host, product=arguments.product, serial=arguments.serial, keys={1: public})
        core.holder.provisioned, core.holder.counter = not arguments.unprovisioned, arguments.counter
        return core

    faults = ogp_device.Faults(list(arguments.reboot_at), list(arguments.disconnect_at), arguments.bad_crc, arguments.credit)
    radio.gatt_server.max_mtu = arguments.mtu
    peripheral = Peripheral(radio, make_core, rates_of(arguments), faults)
    jobs = [asyncio.create_task(peripheral.run(arguments.name, arguments.connections))]
    if arguments.plans:
        stream = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), sys.stdin)
        jobs.append(asyncio.create_task(peripheral.follow(stream)))
    done, _ = await asyncio.wait(jobs, timeout=arguments.limit, return_when=asyncio.FIRST_COMPLETED)
    for job in done:
        job.result()
    say("summary", **peripheral.outcome())
    return 0


async def run_client(radio, arguments):
    key = signed.Key(bytes.fromhex(arguments.seed))
    keys = {1: key.public}
    cloud = LocalCloud(key, arguments.image_size, arguments.firmware)
    central = Central(radio, arguments.peer, rates_of(arguments), mtu=arguments.mtu)
    say("ready", public=key.public.hex())
    for step in arguments.steps:
        name, _, value = step.partition("=")
        if name == "air":
            central.incoming.rates = central.outbox.air.rates = rates_of_text(value)
            continue
        if name == "upgrade" and value:
            cloud = LocalCloud(key, arguments.image_size, value)
        operation = {
            "info": lambda: operations.device_info(central.core),
            "features": lambda: operations.check_statuses(central.core, [int(i) for i in value.split(",")] if value else [16, 17, 20]),
            "toggle": lambda: operations.toggle(central.core, int(value)),
            "update": lambda: operations.FeatureUpdate(central.core, cloud, keys, arguments.product).run(),
            "upgrade": lambda: operations.Upgrade(central.core, cloud, keys, arguments.product).run(),
        }[name]()
        started = now()
        calls = await central.run(operation, arguments.limit)
        say("step", step=step, calls=[str(call) for call in calls], last=str(calls[-1][1:]), took_ms=now() - started)
    say("summary", connections=central.connections, segments=central.outbox.air.carried, errors=central.core.link.receiver.errors,
        air=central.incoming.faults + central.outbox.air.faults)
    central.disconnect()
    await asyncio.sleep(0.5)
    return 0


async def run(arguments):
    async with await open_transport(arguments.transport) as transport:
        radio = Device.with_hci(arguments.name, Address(arguments.address), transport.source, transport.sink)
        await radio.power_on()
        return await (run_device if arguments.role == "device" else run_client)(radio, arguments)


def main():
    arguments = add_arguments().parse_intermixed_args()
    try:
        sys.exit(asyncio.run(asyncio.wait_for(run(arguments), arguments.limit + 20)))
    except asyncio.TimeoutError:
        say("gave_up")
        sys.exit(1)


if __name__ == "__main__":
    main()

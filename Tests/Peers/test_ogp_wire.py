#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_ogp_wire.py PROGRAM: the C library's link (obvious_wire) against the independent OGP/1, under simulated faults.

Prints TAP lines."""

import hashlib
import heapq
import pathlib
import random
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import tap  # noqa: E402
from ogp import payload as pl  # noqa: E402
from ogp import signed  # noqa: E402
from ogp.air import Air, Rates  # noqa: E402
from ogp.device import Device  # noqa: E402
from ogp.frame import Frame, crc32  # noqa: E402
from ogp.link import Link  # noqa: E402
from ogp.wire import WireEnd  # noqa: E402

PROGRAM = None
FLIGHT_MS = 8
KEY = signed.Key(bytes(range(32)))
PRODUCT, SERIAL = 1234, 0x1122334455667788


class Channel:
    """Both directions between two ends, under simulated time. Ends have receive, poll and deadline."""

    def __init__(self, seed, rates):
        self.now, self.events, self.count = 0, [], 0
        self.airs = [Air(rates, f"{seed} {side}") for side in (0, 1)]
        self.ends = [None, None]

    def put(self, side, part):
        for delay, data in self.airs[side].carry(part):
            self.count += 1
            heapq.heappush(self.events, (self.now + FLIGHT_MS + delay, self.count, 1 - side, data))
        return True

    def step(self):
        due = [end.deadline() for end in self.ends] + ([self.events[0][0]] if self.events else [])
        due = [at for at in due if at is not None]
        if not due:
            return False
        self.now = max(self.now, min(due))
        while self.events and self.events[0][0] <= self.now:
            _, _, side, data = heapq.heappop(self.events)
            self.ends[side].receive(data, self.now)
        for end in self.ends:
            end.poll(self.now)
        return True


class Links(unittest.TestCase):
    """End 0 is the library, end 1 the independent one."""

    def run_pair(self, seed, rates, mtu, windows, sizes):
        air = Channel(seed, rates)
        got, failures = ([], []), [0, 0]

        def failed(side):
            failures[side] += 1

        wire = WireEnd(PROGRAM, lambda part: air.put(0, part), lambda data, now: got[0].append(data),
                       sent=lambda status: status == "OK" or failed(0))
        link = Link(lambda part: air.put(1, part), lambda frame, now: got[1].append(frame.encode()), lambda now: failed(1))
        air.ends = [wire, link]
        dice = random.Random(f"wire {seed}")
        for side, end in enumerate(air.ends):
            end.start(mtu)
            end.limits(4096, windows[side], windows[1 - side])
        sent = [[Frame(0, number + 1, 0x21, 0, dice.randbytes(dice.choice(sizes))).encode() for number in range(4)]
                for _ in range(2)]
        for side, end in enumerate(air.ends):
            for data in sent[side]:
                end.send(data, 0)
        while air.now < 3_600_000 and air.step():
            pass
        self.assertEqual(wire.close(), 0)
        return sent, got, failures, wire, link

    def test_each_message_once_and_whole_or_a_failure(self):
        arrived = [0, 0]
        for seed in range(100):
            dice = random.Random(f"rates {seed}")
            rates = Rates(lost=dice.choice((0, 0, 0.05, 0.2, 0.4)), doubled=0.1, late=0.02, reordered=0.15)
            with self.subTest(seed=seed):
                windows = dice.choice((1, 4, 8, 32)), dice.choice((2, 8, 32))
                sent, got, failures, _, _ = self.run_pair(seed, rates, dice.choice((23, 64, 185, 517)), windows,
                                                          (9, 30, 100, 700, 2000))
                for side in (0, 1):
                    there = got[1 - side]
                    self.assertEqual([data for data in sent[side] if data in there], there)
                    self.assertEqual(len(set(there)), len(there))
                    self.assertTrue(len(there) == 4 or rates.lost and sum(failures), (side, failures))
                    arrived[side] += len(there)
        print(f"# of 400 messages each way {arrived[0]} from the library and {arrived[1]} from the independent end arrived")
        self.assertGreater(min(arrived), 300)

    def test_one_lost_segment_is_repaired_by_its_acknowledgement(self):
        data = Frame(0, 1, 0x21, 0, bytes(14 + 16 * 18)).encode()  # 20 segments
        for lost in range(20):
            air, got = Channel(0, None), []
            wire = WireEnd(PROGRAM, lambda part, a=air: a.put(0, part), sent=lambda status: None)
            link = Link(lambda part, a=air: a.put(1, part), lambda frame, now, g=got: g.append(now), lambda now: None)
            air.ends = [wire, link]
            carry, gone = air.airs[0].carry, []

            def losing(part, carry=carry, gone=gone, lost=lost):
                if part[2] == lost and not gone:
                    gone.append(part)
                    return []
                return carry(part)

            air.airs[0].carry = losing
            for end in air.ends:
                end.start(23)
            wire.send(data, 0)
            while not got and air.step():
                pass
            with self.subTest(lost=lost):
                # The timer runs for the last segment alone: no other follows whose arrival shows the hole.
                self.assertTrue(got and got[0] < (1100 if lost == 19 else 500), got)
                self.assertEqual(link.receiver.errors, ["SEG_DUP"] if lost == 19 else [])
            wire.close()

    def test_no_fault_no_repeat(self):
        for seed, mtu in enumerate((23, 64, 185, 247, 517)):
            for windows in ((8, 8), (1, 1), (32, 32), (3, 5)):
                sent, got, failures, wire, link = self.run_pair(seed, Rates(), mtu, windows, (0, 100, 4082))
                self.assertEqual((got[1], got[0], failures), (sent[0], sent[1], [0, 0]))
                self.assertEqual((set(wire.errors) | set(link.receiver.errors)) - {"SEG_DUP"}, set())

    def test_changed_bits_are_not_delivered(self):
        for seed in range(40):
            sent, got, failures, wire, link = self.run_pair(seed, Rates(changed=0.02), 64, (8, 8), (300, 500))
            with self.subTest(seed=seed):
                for side in (0, 1):
                    self.assertLessEqual(set(got[1 - side]), set(sent[side]))
                    self.assertTrue(len(got[1 - side]) == 4 or sum(failures) or wire.errors or link.errors)


class DeviceEnd:
    """The independent device as an end."""

    def __init__(self, air, mtu, **options):
        self.air = air
        self.device = Device(self, keys={1: KEY.public}, **options)
        self.device.on_connected(0, mtu)
        self.deadline, self.poll, self.receive = self.device.deadline, self.device.poll, self.device.receive

    def write(self, segment):
        return self.air.put(1, segment)

    def drop(self):
        raise AssertionError("the device ended the connection")


class Gateway:
    """The library's requests, one after the other."""

    def __init__(self, seed=0, rates=None, mtu=185, **options):
        self.air = Channel(seed, rates)
        self.end = WireEnd(PROGRAM, lambda part: self.air.put(0, part), ended=self.ended)
        self.peer = DeviceEnd(self.air, mtu, **options)
        self.device = self.peer.device
        self.air.ends = [self.end, self.peer]
        self.end.start(mtu)
        self.result = None

    def ended(self, status, payload, now):
        self.result = (status, payload)

    def ask(self, opcode, **fields):
        """The status, and the fields of an accepted answer."""
        self.result = None
        self.end.request(opcode, pl.request_payload(opcode, **fields), self.air.now)
        started = self.air.now
        while self.result is None and self.air.step():
            if self.air.now - started > 600_000:
                raise AssertionError("no end")
        status, payload = self.result
        return status, pl.ANSWER[opcode].decode(payload) if status == "OK" else payload

    def hello(self):
        status, answer = self.ask(pl.HELLO, proto_min=1, proto_max=1, max_frame=4096, window=8, nonce=bytes(8))
        if status == "OK":
            self.end.limits(min(4096, answer["max_frame"]), 8, answer["window"])
        return status

    def send_object(self, obj, data, manifest=b"", chunk=4000):
        """A transfer by the rules: the status of the last request, and the answer to END."""
        status, answer = self.ask(pl.XFER_BEGIN, obj=obj, flags=0, chunk_max=chunk, size=len(data), crc32=crc32(data),
                                  sha256=hashlib.sha256(data).digest(), manifest=manifest)
        if status != "OK":
            return status, answer
        session, chunk, offset = answer["session"], answer["chunk_max"], answer["offset"]
        while offset < len(data):
            status, answer = self.ask(pl.XFER_DATA, session=session, offset=offset, data=data[offset:offset + chunk])
            if status != "OK":
                return status, answer
            offset = answer["next_offset"]
        return self.ask(pl.XFER_END, session=session)

    def close(self):
        return self.end.close()


class RequestsToTheDevice(unittest.TestCase):
    """The library's requests, sender and receiver against the independent device."""

    def test_update_and_toggle(self):
        gateway = Gateway()
        self.assertEqual(gateway.ask(pl.PING, echo=b"early")[0], "NOT_READY")
        self.assertEqual(gateway.hello(), "OK")
        status, info = gateway.ask(pl.GET_DEVICE_INFO)
        self.assertEqual((status, info["serial"], info["fw"]), ("OK", SERIAL, 1_003_000))
        nonce = gateway.ask(pl.GET_NONCE)[1]["nonce"]
        package = signed.build_package(KEY, PRODUCT, SERIAL, 42, [(16, 1, 1, 0), (17, 0, 2, 0)], flags=signed.NONCE_BOUND, nonce=nonce)
        self.assertEqual(gateway.send_object(pl.FEATURE, package), ("OK", {"result": 0, "flags": 0, "detail": 0}))
        self.assertEqual(gateway.ask(pl.FEATURE_TOGGLE, features=[{"id": 16, "toggle": 2}])[1]["features"],
                         [{"id": 16, "enable": 1, "toggle": 2}])
        self.assertEqual(gateway.ask(pl.FEATURE_TOGGLE, features=[{"id": 17, "toggle": 2}])[0], "FEATURE_DISABLED")
        self.assertEqual(gateway.ask(pl.FEATURE_STATUS, ids=[99, 16])[1]["features"],
                         [{"id": 99, "enable": 255, "toggle": 255}, {"id": 16, "enable": 1, "toggle": 2}])
        self.assertEqual(gateway.end.events, [(pl.EVT_FEATURE_CHANGED, bytes.fromhex("021000010111000002"))])
        self.assertEqual((gateway.end.errors, gateway.close()), ([], 0))

    def test_refused_packages_have_their_status(self):
        gateway = Gateway()
        gateway.hello()
        gateway.device.holder.counter = 41
        other = signed.Key(bytes(32))
        for expected, package in (
                ("SIG_INVALID", signed.build_package(other, PRODUCT, SERIAL, 42)), ("REPLAY", signed.build_package(KEY, PRODUCT, SERIAL, 41)),
                ("WRONG_DEVICE", signed.build_package(KEY, PRODUCT, 7, 42)), ("WRONG_PRODUCT", signed.build_package(KEY, 7, SERIAL, 42)),
                ("FW_TOO_OLD", signed.build_package(KEY, PRODUCT, SERIAL, 42, min_fw=2_000_000)),
                ("NONCE_MISMATCH", signed.build_package(KEY, PRODUCT, SERIAL, 42, flags=1, nonce=bytes(range(16)))),
                ("BAD_FORMAT", signed.build_package(KEY, PRODUCT, SERIAL, 42, kind=signed.PROVISION))):
            self.assertEqual(gateway.send_object(pl.FEATURE, package)[0], expected)
        self.assertEqual((gateway.device.holder.counter, gateway.close()), (41, 0))

    def test_offset_of_the_device(self):
        gateway = Gateway()
        gateway.hello()
        data = bytes(1000)
        answer = gateway.ask(pl.XFER_BEGIN, obj=1, flags=0, chunk_max=100, size=1000, crc32=crc32(data),
                             sha256=hashlib.sha256(data).digest(), manifest=b"")[1]
        self.assertEqual(gateway.ask(pl.XFER_DATA, session=answer["session"], offset=500, data=b"x"), ("BAD_OFFSET", bytes(4)))
        gateway.close()

    def test_firmware_under_faults(self):
        image = random.Random("image").randbytes(12_000)
        manifest = signed.build_manifest(KEY, PRODUCT, 1_004_000, image)
        staged = 0
        for seed in range(20):
            dice = random.Random(f"faults {seed}")
            rates = Rates(lost=dice.choice((0, 0.05, 0.15)), doubled=0.1, late=0.02, reordered=0.15)
            mtu = dice.choice((23, 64, 185, 517))
            gateway = Gateway(seed, rates, mtu)
            gateway.device.faults.bad_crc = dice.choice((0, 2))
            gateway.device.faults.credit = dice.choice((None, 1, 3))
            with self.subTest(seed=seed):
                status = gateway.hello()
                if status == "OK":
                    # The library starts a request's frame again when its time limit passes: chunks that fit into it.
                    status, _ = gateway.send_object(pl.FIRMWARE, image, manifest, min(4000, 10 * mtu))
                self.assertIn(status, ("OK", "LINK_ERROR", "ERROR_TIMEOUT"))
                staged += status == "OK"
                written = [entry[1:] for entry in gateway.device.log if entry[0] == "data"]
                self.assertEqual(written, sorted(set(written)), "each chunk is executed once")
                if status == "OK":
                    self.assertEqual(gateway.device.staged, (1_004_000, 1, image))
                self.assertEqual(gateway.close(), 0)
        print(f"# {staged} of 20 images were staged")
        self.assertGreaterEqual(staged, 18)

    def test_busy_then_free(self):
        gateway = Gateway()
        gateway.hello()
        gateway.device.faults.status = {pl.PING: ["BUSY"] * 10}
        started = gateway.air.now
        self.assertEqual(gateway.ask(pl.PING, echo=b"x"), ("OK", {"echo": b"x"}))
        self.assertGreaterEqual(gateway.air.now - started, 5000)
        gateway.device.faults.status = {pl.PING: ["BUSY"] * 11}
        self.assertEqual(gateway.ask(pl.PING, echo=b"x")[0], "BUSY")
        gateway.close()

    def test_no_answer(self):
        gateway = Gateway()
        gateway.hello()
        gateway.device.faults.silent = {pl.GET_TIME, pl.REBOOT}
        # The limit begins when the device has the frame: its acknowledgement takes a flight there and one back.
        for opcode, fields, tries, limit in ((pl.GET_TIME, {}, 4, 5_000), (pl.REBOOT, {"mode": 0, "reason": 1}, 1, 10_000)):
            started = gateway.air.now
            self.assertEqual(gateway.ask(opcode, **fields)[0], "ERROR_TIMEOUT")
            self.assertEqual(gateway.air.now - started, tries * (limit + 2 * FLIGHT_MS))
        gateway.close()

    def test_a_repeat_is_not_executed_again(self):
        gateway = Gateway()
        gateway.hello()
        gateway.device.holder.features = {16: (1, 1, 0)}
        carry, count = gateway.air.airs[1].carry, [0]

        def lossy(segment):
            count[0] += segment[0] != 0x44
            return carry(segment) if segment[0] == 0x44 or count[0] > 4 else []

        gateway.air.airs[1].carry = lossy
        answers = [gateway.ask(pl.FEATURE_TOGGLE, features=[{"id": 16, "toggle": 2}]) for _ in range(2)]
        self.assertEqual([status for status, _ in answers], ["OK", "OK"])
        self.assertEqual(gateway.device.holder.features[16][1], 2)
        gateway.close()


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    tap.main("ogp wire")

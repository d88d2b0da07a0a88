#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The independent Obvious device by itself: requests by hand, answers as frames. Prints TAP lines."""

import hashlib
import pathlib
import struct
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import tap  # noqa: E402
from ogp import payload as pl  # noqa: E402
from ogp import segment as seg  # noqa: E402
from ogp import signed  # noqa: E402
from ogp.device import Device  # noqa: E402
from ogp.frame import FRAME_MAX, Frame, crc32, request  # noqa: E402

KEY = signed.Key(bytes(range(32)))
KEYS = {1: KEY.public}
PRODUCT, SERIAL = 1234, 0x1122334455667788


class Wire:
    """A device alone: requests as frames, answers as frames."""

    def __init__(self, encrypted=True):
        self.out, self.dropped = [], False
        self.device = Device(self, keys=KEYS)
        self.device.on_connected(0, 517, encrypted)
        self.msgseq = 0
        self.now = 0

    def write(self, segment):
        self.out.append(segment)
        return True

    def drop(self):
        self.dropped = True

    def frame(self, data):
        for part in seg.split(data, 512, self.msgseq, 8):
            self.device.receive(part, self.now)
        self.msgseq = (self.msgseq + 1) % 256
        answers = []
        for part in self.out:
            if part[0] == 0x44:
                continue
            answers.append(Frame.decode(part[6:]))
            self.device.receive(seg.Control(part[1], seg.ACK, 0, 1, 0, 8).encode(), self.now)
        self.out.clear()
        return answers

    def ask(self, corr, opcode, payload=b""):
        return self.frame(request(corr, opcode, payload).encode())

    def hello(self):
        return self.ask(1, pl.HELLO, struct.pack("<BBHBB8s", 1, 1, FRAME_MAX, 8, 0, bytes(8)))


class DeviceRules(unittest.TestCase):
    def status(self, answers):
        self.assertEqual(len(answers), 1)
        return answers[0].status

    def test_unencrypted_and_before_hello(self):
        self.assertEqual(self.status(Wire(encrypted=False).hello()), 23)
        wire = Wire()
        self.assertEqual(self.status(wire.ask(1, pl.PING)), 5)
        self.assertEqual(self.status(wire.ask(2, pl.HELLO, struct.pack("<BBHBB8s", 2, 9, 4096, 8, 0, bytes(8)))), 6)
        self.assertEqual(self.status(wire.hello()), 0)
        self.assertEqual(self.status(wire.ask(3, pl.PING)), 0)

    def test_malformed_requests(self):
        wire = Wire()
        wire.hello()
        for number, (opcode, payload, status) in enumerate((
                (0x7F, b"", 1), (pl.GET_TIME, b"x", 2), (pl.FEATURE_STATUS, b"\0", 3), (pl.FEATURE_STATUS, b"\1\x10\0", 0),
                (pl.XFER_END, bytes(4), 20), (pl.XFER_ABORT, bytes(5), 20), (pl.FW_ACTIVATE, bytes(4) + b"\1\0", 5),
                (pl.FW_CONFIRM, struct.pack("<IB", 7, 1), 3), (pl.XFER_STATUS, b"\1\0\0\0", 20))):
            with self.subTest(opcode=opcode):
                self.assertEqual(self.status(wire.ask(number + 2, opcode, payload)), status)

    def test_a_repeat_gets_the_stored_answer(self):
        wire = Wire()
        wire.device.holder.features = {16: (1, 1, 0)}
        wire.hello()
        flip = struct.pack("<BHB", 1, 16, pl.FLIP)
        first = wire.ask(9, pl.FEATURE_TOGGLE, flip)
        self.assertEqual(wire.ask(9, pl.FEATURE_TOGGLE, flip), first)
        self.assertEqual(wire.device.holder.features[16][1], 2)
        for number in range(4):
            wire.ask(20 + number, pl.PING)
        wire.ask(9, pl.FEATURE_TOGGLE, flip)
        self.assertEqual(wire.device.holder.features[16][1], 1)

    def test_all_or_nothing(self):
        wire = Wire()
        wire.device.holder.features = {16: (1, 1, 0), 17: (0, 1, 0), 18: (1, 0, 0)}
        wire.hello()
        for other, status in ((17, 9), (18, 10), (19, 8)):
            answer = wire.ask(other, pl.FEATURE_TOGGLE, struct.pack("<BHBHB", 2, 16, 2, other, 1))
            self.assertEqual((self.status(answer), wire.device.holder.features[16][1]), (status, 1))

    def test_transfer_by_hand(self):
        wire = Wire()
        wire.hello()
        data = signed.build_package(KEY, PRODUCT, SERIAL, 7, [(16, 1, 1, 0)])
        begin = struct.pack("<BBHII32sH", 1, 0, 50, len(data), crc32(data), hashlib.sha256(data).digest(), 0)
        session, offset, chunk, crc = struct.unpack("<IIHI", wire.ask(2, pl.XFER_BEGIN, begin)[0].payload)
        self.assertEqual((offset, chunk, crc), (0, 50, 0))
        put = lambda corr, at, part: wire.ask(corr, pl.XFER_DATA, struct.pack("<II", session, at) + part)[0]  # noqa: E731
        self.assertEqual(put(3, 0, data[:50]).payload, struct.pack("<I", 50))
        wrong = put(4, 100, data[100:])
        self.assertEqual((wrong.status, wrong.payload), (16, struct.pack("<I", 50)))
        self.assertEqual(wire.ask(5, pl.XFER_END, struct.pack("<I", session))[0].status, 16)
        put(6, 50, data[50:])
        answers = wire.ask(7, pl.XFER_END, struct.pack("<I", session))
        self.assertEqual([(one.opcode, one.payload.hex()) for one in answers], [(0x23, "00000000"), (0x80, "0110000101")])
        self.assertEqual(wire.ask(8, pl.XFER_END, struct.pack("<I", session))[0].payload.hex(), "01000000")
        self.assertEqual(struct.unpack_from("<BB", wire.ask(9, pl.XFER_STATUS, bytes(4))[0].payload), (1, 3))

    def test_kind_and_object_must_agree(self):
        for obj, kind in ((1, signed.PROVISION), (3, signed.FULL)):
            wire = Wire()
            wire.hello()
            data = signed.build_package(KEY, PRODUCT, SERIAL, 7, kind=kind)
            begin = struct.pack("<BBHII32sH", obj, 0, 4000, len(data), crc32(data), hashlib.sha256(data).digest(), 0)
            session = wire.ask(2, pl.XFER_BEGIN, begin)[0].payload[:4]
            wire.ask(3, pl.XFER_DATA, session + bytes(4) + data)
            self.assertEqual(self.status(wire.ask(4, pl.XFER_END, session)), 15)


if __name__ == "__main__":
    tap.main("ogp device")

# SPDX-License-Identifier: MIT
"""Segments: what a frame is cut into, and the control segments that answer."""

import struct
from dataclasses import dataclass

from .frame import require

VERSION, FIRST, LAST, ACKREQ, CTRL = 0x40, 0x20, 0x10, 0x08, 0x04
ACK, NAK, RESET, WAIT = 1, 2, 3, 4
NONE, BAD_INDEX, BAD_SIZE, BAD_LEN, CONFLICT, TIMEOUT, WINDOW, FRAME, BUSY, BAD_VERSION = range(10)
SEGMENT_MAX = 512


def segment_size(mtu):
    return max(20, min(mtu - 3, SEGMENT_MAX))


def count_of(total, size):
    """How many segments a frame of `total` bytes takes when the first has `size` bytes."""
    if total <= size - 6:
        return 1
    return 1 + -(-(total - (size - 6)) // (size - 4))


def ack_interval(window):
    return max(1, window // 2)


def split(frame, size, msgseq, window):
    """All segments of a frame, ACKREQ on the last and at every half window."""
    count = count_of(len(frame), size)
    parts, at = [], 0
    for index in range(count):
        flags = VERSION | (FIRST if index == 0 else 0) | (LAST if index == count - 1 else 0)
        if index == count - 1 or (index + 1) % ack_interval(window) == 0:
            flags |= ACKREQ
        head = struct.pack("<BBH", flags, msgseq, index)
        if index == 0:
            head += struct.pack("<H", len(frame))
        part = frame[at:at + size - len(head)]
        at += len(part)
        parts.append(head + part)
    return parts


@dataclass
class Control:
    msgseq: int
    type: int
    reason: int = 0
    next: int = 0
    bitmap: int = 0
    credit: int = 0

    def encode(self):
        return struct.pack("<BBBBHIH", VERSION | CTRL, self.msgseq, self.type, self.reason, self.next, self.bitmap,
                           self.credit)

    @staticmethod
    def decode(data):
        require(len(data) == 12, "CTL_BAD_LENGTH")
        require(data[0] == VERSION | CTRL, "CTL_BAD_FLAGS")
        _, msgseq, kind, reason, following, bitmap, credit = struct.unpack("<BBBBHIH", data)
        require(ACK <= kind <= WAIT, "CTL_BAD_TYPE")
        return Control(msgseq, kind, reason if reason <= BAD_VERSION else 0, following, bitmap, min(credit, 32))

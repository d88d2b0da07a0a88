# SPDX-License-Identifier: MIT
"""Streams for test vectors: scripted faults, one for each error name, and random ones."""

import random
import struct

from . import segment as seg
from .frame import Frame


def message(length, seed):
    payload = random.Random(f"message {seed}").randbytes(length - 14)
    return Frame(0, 1, 0x21, 0, payload).encode()


def cut(length, msgseq, mtu=23, window=8, seed=0):
    return seg.split(message(length, seed), seg.segment_size(mtu), msgseq, window)


def changed(part, at, value):
    return part[:at] + bytes([value]) + part[at + 1:]


def flagged(part, on=0, off=0):
    return bytes([part[0] & ~off | on]) + part[1:]


class Script:
    """Segments and their times."""

    def __init__(self, add, mtu=23, window=8, frame_max=4096):
        self.add, self.mtu, self.window, self.frame_max = add, mtu, window, frame_max

    def __call__(self, name, *items, step=10, end=None):
        """An item: a segment, `step` ms after the one before it, or (ms, segment) for a time of its own."""
        now, rows = -step, []
        for item in items:
            now, data = item if isinstance(item, tuple) else (now + step, item)
            rows.append({"t": now, "hex": data.hex()})
        self.add("stream", name=name, mtu=self.mtu, window=self.window, frame_max=self.frame_max, end_ms=end, segments=rows)


def sequence_streams(script):
    one, two, three = (cut(54, msgseq, seed=msgseq) for msgseq in (5, 6, 7))
    script("no segment")
    script("one message", *one)
    script("one message, its end at the end", *one, end=20000)
    script("two messages", *one, *two)
    script("the message again, each segment", *one, *one)
    script("its last segment again", *one, one[3])
    script("the first again after two", *one, *two, one[0])
    script("numbers wrap", *cut(54, 255), *cut(54, 0, seed=1))
    script("127 numbers on", *cut(54, 5), *cut(54, 132, seed=1))
    script("128 numbers on is old", *cut(54, 5), *cut(54, 133, seed=1))
    script("the number before is old", *cut(54, 5), *cut(54, 4, seed=1))
    script("a newer message supersedes", one[0], one[1], *two)
    script("an older one does not", two[0], two[1], *one, two[2], two[3])
    script("superseded, then its rest", one[0], one[1], two[0], one[2], one[3], two[1], two[2], two[3])
    script("superseded by a segment beyond the window", one[0], seg_at(two, 8), one[1], one[2], one[3])
    script("a context with nothing held", seg_at(one, 7), *two)
    script("three at once", one[0], two[0], three[0], three[1], three[2], three[3], two[1], one[1])
    script("RESET in the middle", one[0], one[1], seg.Control(0, seg.RESET).encode(), one[2], one[3], end=9000)
    script("RESET forgets what is done", *one, seg.Control(0, seg.RESET).encode(), *one)
    script("RESET forgets what is dead", one[0], changed(one[0], 9, 0), seg.Control(0, seg.RESET).encode(), *one[1:], one[0])
    script("other control segments change nothing", one[0], *[seg.Control(5, kind).encode() for kind in (1, 2, 4)], *one[1:])


def seg_at(parts, index):
    """A middle segment with an index of its own."""
    return flagged(parts[1][:2] + struct.pack("<H", index) + parts[1][4:], off=seg.ACKREQ)


def conflict_streams(script):
    one, two = cut(54, 1), cut(70, 2, seed=2)
    script("duplicate in place", one[0], one[1], one[1], one[2], one[3])
    script("duplicate with another ACKREQ", one[0], one[1], flagged(one[1], on=seg.ACKREQ), one[2], one[3])
    script("conflict in the bytes", one[0], one[1], changed(one[1], 19, 0x40), one[2], one[3])
    script("conflict in the flags", one[0], one[1], flagged(one[1], on=seg.LAST), one[2], one[3])
    script("conflict in the length", one[0], one[1], one[1][:-1], one[2], one[3])
    script("conflict of segment 0 with itself cut", one[0], one[0][:5], one[1])
    script("conflict, then the message again", one[0], one[1], changed(one[1], 19, 0x40), one[2], one[3], *one)
    script("dead, then FIRST alone opens", one[0], changed(one[0], 8, 1), one[3], one[0], one[1], one[2], one[3])
    script("dead, then a newer one, then the dead", one[0], changed(one[0], 8, 1), *two, *one)
    script("dead and older than what is done", *cut(54, 0, seed=9), one[0], changed(one[0], 8, 1), *one)
    script("FIRST with an index", one[0], flagged(one[1], on=seg.FIRST), one[2])
    script("index 0 without FIRST", flagged(one[0], off=seg.FIRST), *one)
    script("LAST too early", one[0], flagged(one[1], on=seg.LAST), one[2])
    script("LAST missing", one[0], one[1], one[2], flagged(one[3], off=seg.LAST))
    script("index beyond N", one[0], seg_at(one, 4))
    script("index beyond N, held before segment 0", seg_at(one, 5), one[0])
    script("wrong index before wrong length", seg_at(one, 5)[:-1], one[0])
    script("lengths are checked in index order", one[1][:-1], seg_at(one, 5), one[0])
    for part in (1, 3):
        script(f"segment {part} a byte short", one[0], one[part][:-1])
        script(f"segment {part} a byte long", one[0], one[part] + b"\0")
    script("a middle segment of 4 bytes", one[0], one[1][:4])
    script("short middle segment held before segment 0", one[2][:10], one[1], one[0], one[3])


def first_streams(script):
    short = cut(14, 3)
    script("one segment", *short)
    script("one segment a byte short", short[0][:-1])
    script("one segment of 20 bytes", *cut(14, 4))
    for length in (4, 5):
        script(f"FIRST of {length} bytes", short[0][:length], *short)
    parts = cut(54, 1)
    for total in (0, 13, 14, 15, 4096, 4097, 65535):
        script(f"total_len {total}", parts[0][:4] + struct.pack("<H", total) + parts[0][6:], *parts[1:])
    for total in (13, 14, 54, 60):
        one = flagged(parts[0], on=seg.LAST)
        script(f"FIRST and LAST with total_len {total}", one[:4] + struct.pack("<H", total) + one[6:])
    script("FIRST of 19 bytes without LAST", parts[0][:19], *parts)
    script("FIRST shorter than it could be", *seg.split(message(54, 0), 20, 1, 8))
    script("bad length before bad size", parts[0][:4] + b"\x05\x00" + parts[0][6:19])


def broken_streams(script):
    parts = cut(54, 1)
    for length in range(4):
        script(f"{length} bytes", parts[0][:length], *parts)
    script("21 bytes", parts[0] + b"\0", *parts)
    for version in (0x00, 0x80, 0xC0):
        script(f"version bits {version:#x}", changed(parts[0], 0, parts[0][0] & 0x3F | version), *parts)
    for bit in (1, 2, 3):
        script(f"reserved bits {bit}", flagged(parts[0], on=bit), *parts)
    script("version before reserved bits", changed(parts[0], 0, 0x03), *parts)
    script("short before version", b"\xff\xff\xff", *parts)
    script("control: version bits first", b"\x84" + bytes(11), *parts)
    script("control: reserved bits first", b"\x45" + bytes(11), *parts)
    good = seg.Control(1, seg.ACK, 0, 2, 1, 8).encode()
    for name, data in (("short", good[:11]), ("long", good + b"\0"), ("4 bytes", good[:4]), ("flags", changed(good, 0, 0x4C)),
                       ("FIRST", changed(good, 0, 0x64)), ("type 0", changed(good, 2, 0)), ("type 5", changed(good, 2, 5))):
        script(f"control: {name}", parts[0], data, *parts[1:])


def timed_streams(script):
    parts = cut(54, 1)
    for at in (3000, 3001):
        script(f"a gap of {at} ms", (0, parts[0]), (at, parts[1]), parts[2], parts[3])
        script(f"a gap of {at} ms at the end", (0, parts[0]), (0, parts[1]), end=at)
    script("a gap, then the message again", (0, parts[0]), (3001, parts[0]), *parts[1:])
    script("a duplicate does not end a gap", (0, parts[0]), (2000, parts[0]), (3001, parts[1]))
    script("a refused segment does not end a gap", (0, parts[0]), (2000, parts[0] + b"\0"), (3001, parts[1]))
    script("what is out of the window neither", (0, parts[0]), (2000, seg_at(parts, 9)), (3001, parts[1]))
    script("a timeout before a control segment", (0, parts[0]), (3001, seg.Control(0, seg.RESET).encode()))
    script("a timeout before a short segment", (0, parts[0]), (3001, b""))
    script("a timeout, then a newer message", (0, parts[0]), (3001, cut(54, 2)[0]), *cut(54, 2)[1:])
    script("a timeout, then an older message", (0, parts[0]), (4000, cut(54, 0)[0]), *cut(54, 0)[1:])
    script("a timeout of a context without FIRST", (0, parts[2]), (3001, parts[2]), parts[0])
    slow = cut(14 + 16 * 7, 1)
    for end in (10000, 10001):
        script(f"all within {end} ms", *[(min(i * 2000, end), part) for i, part in enumerate(slow[:6])], (end, slow[6]), slow[7])
    script("slow, the end by timer", *[(i * 2500, part) for i, part in enumerate(slow[:4])], (10000, slow[4]), end=10001)
    script("time stands still", *[(7, part) for part in slow], end=7)


def window_streams(add):
    for window in (1, 2, 3, 8, 32):
        script = Script(add, window=window)
        parts = cut(14 + 16 * 35, 1, window=window)
        script(f"window {window}: in order", *parts)
        script(f"window {window}: the last in it first", parts[window - 1], *parts[:window - 1])
        script(f"window {window}: the next after it first", parts[window], *parts[:2])
        script(f"window {window}: all but the first", *parts[1:window + 2], parts[0], *parts[window:])
        script(f"window {window}: every other one", *parts[0:20:2], *parts[1:20:2])
        script(f"window {window}: backwards", *reversed(parts[:window]), *parts[window:])


def limit_streams(add):
    for frame_max in (256, 255 + 2, 512):
        script = Script(add, frame_max=frame_max, mtu=185)
        for length in (frame_max, frame_max + 1):
            script(f"frame of {length}, largest {frame_max}", *cut(length, 1, 185))
    for mtu in (20, 23, 24, 185, 247, 515, 517):
        script = Script(add, mtu=mtu)
        size = seg.segment_size(mtu)
        parts = cut(3 * size, 9, mtu)
        script(f"MTU {mtu}", *parts)
        script(f"MTU {mtu}, a byte too long", parts[0] + b"\0", *parts)
        script(f"MTU {mtu}, segments of 20", *cut(60, 3))


def streams(add):
    script = Script(add)
    for part in (sequence_streams, conflict_streams, first_streams, broken_streams, timed_streams):
        part(script)
    window_streams(add)
    limit_streams(add)
    random_streams(add, 60, 2026)


# --- random faults

def faulty(dice, part, flight):
    """What becomes of one segment on its way: a list of segments."""
    fate = dice.random()
    if fate < 0.12:
        return []
    if fate < 0.22:
        return [part, part]
    if fate < 0.26:
        at = dice.randrange(len(part))
        return [part[:at] + bytes([part[at] ^ 1 << dice.randrange(8)]) + part[at + 1:]]
    if fate < 0.28:
        return [part, changed(part, len(part) - 1, dice.randrange(256))]
    if fate < 0.30:
        return [part[:dice.randrange(len(part))]]
    if fate < 0.31:
        return [part, seg.Control(dice.randrange(256), dice.randrange(1, 5)).encode()]
    if fate < 0.33:
        return [part, dice.choice(flight)]
    return [part]


def random_streams(add, count, seed):
    for number in range(count):
        dice = random.Random(f"stream {seed} {number}")
        mtu, window = dice.choice((23, 23, 23, 27, 40)), dice.choice((1, 2, 3, 4, 8, 8, 8, 32))
        msgseq, rows, now = dice.choice((0, 0, 1, 127, 254, 255)), [], 0
        flights = []
        for _ in range(dice.randrange(1, 4)):
            flights.append(cut(dice.randrange(14, 160), msgseq, mtu, window, dice.random()))
            msgseq = (msgseq + dice.choice((1, 1, 1, 1, 0, 2, 127, 128, 255))) % 256
        for flight in flights:
            order = [copy for part in flight for copy in faulty(dice, part, [p for f in flights for p in f])]
            if dice.random() < 0.5:
                order.sort(key=lambda part, d=dice: d.random() * 3 + (part[2] if len(part) > 2 else 0))
            if dice.random() < 0.4:
                order += [part for part in flight if dice.random() < 0.7]
            for part in order:
                now += dice.choice((0, 1, 10, 10, 10, 10, 90, 700, 2999, 3000, 3001)) if dice.random() < 0.25 else 5
                rows.append({"t": now, "hex": part.hex()})
        end = dice.choice((None, now, now + 3000, now + 3001, now + 20000))
        add("stream", name=f"random {seed}/{number}", mtu=mtu, window=window, frame_max=dice.choice((4096, 4096, 128)), end_ms=end,
            segments=rows)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_obvious_vectors.py [--check FILE | --random COUNT --seed N]: test vectors of Obvious, computed by `ogp`.

Prints JSON lines: inputs of every kind at their limits, one for every error name and for its place in the order of
checks, and what the independent implementation computes for them. --check compares them with a committed file;
--random prints COUNT streams of random faults instead.
"""

import argparse
import json
import random
import struct
import sys

from ogp import frame as fr
from ogp import payload as pl
from ogp import segment as seg
from ogp import vectors as own
from ogp.vector_signed import manifests, packages
from ogp.vector_streams import random_streams, streams

lines = []


def add(kind, note=None, **inputs):
    vector = {"family": "obvious", "id": f"op-{len(lines) + 1:04d}", "kind": kind, **inputs}
    expect = own.answer(vector)
    if note is not None:
        vector["note"] = note
    vector["expect"] = expect
    lines.append(vector)


def noise(length, seed):
    return random.Random(f"noise {seed} {length}").randbytes(length)


# --- checksums

def checksums():
    for length in (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000):
        add("crc32", hex=noise(length, "crc").hex())
    for data in (b"123456789", bytes(4), bytes(64), b"\xff" * 4, b"\xff" * 64, b"\x80" + bytes(15)):
        add("crc32", hex=data.hex())
    for split in range(10):
        add("crc32_resume", hex=b"123456789".hex(), split=split)
    for split in (0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 255, 299, 300):
        add("crc32_resume", hex=noise(300, "resume").hex(), split=split)


# --- frames

def raw(flags=0, corr=1, opcode=3, status=0, payload=b"", magic=b"OB", version=1, length=None, crc=None):
    head = struct.pack("<2sBBHBBH", magic, version, flags, corr, opcode, status,
                       len(payload) if length is None else length) + payload
    return head + struct.pack("<I", fr.crc32(head) if crc is None else crc)


def header_checks():
    good = raw(payload=b"ping")
    for length in range(len(good)):
        add("frame", "truncated", hex=good[:length].hex())
    add("frame", "a byte too long", hex=(good + b"\0").hex())
    whole = raw(opcode=pl.XFER_DATA, payload=noise(4082, "long"))
    add("frame", "the longest", hex=whole.hex())
    add("frame", "longer than the longest", hex=raw(opcode=pl.XFER_DATA, payload=noise(4083, "longer")).hex())
    for at in range(len(good)):
        add("frame", f"byte {at} changed", hex=(good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1:]).hex())
    for magic in (b"BO", b"OC", b"\0\0"):
        add("frame", "other magic", hex=raw(magic=magic).hex())
    add("frame", "magic before the payload's length", hex=raw(magic=b"OG", length=9).hex())
    add("frame", "length before the checksum", hex=raw(length=1, crc=0).hex())
    add("frame", "checksum before the version", hex=raw(version=2, crc=0).hex())
    for version in (0, 2, 255):
        add("frame", "other version", hex=raw(version=version).hex())
    add("frame", "version before the flags", hex=raw(version=3, flags=0x80).hex())
    for bit in range(3, 8):
        add("frame", "reserved flag", hex=raw(flags=1 << bit).hex())
    add("frame", "response and event", hex=raw(flags=3).hex())
    add("frame", "response and event, corr 0", hex=raw(flags=3, corr=0).hex())
    add("frame", "flags before corr", hex=raw(flags=0x40, corr=0).hex())
    for flags in range(8):
        for corr in (0, 1, 65535):
            for status in (0, 2):
                add("frame", f"flags {flags} corr {corr} status {status}",
                    hex=raw(flags=flags, corr=corr, status=status).hex())


def status_checks():
    for status in (*range(1, 29), 127, 254, 255):
        payload = struct.pack("<I", 400) if status == fr.CODE["BAD_OFFSET"] else b""
        add("frame", hex=raw(flags=5, opcode=pl.XFER_DATA, status=status, payload=payload).hex())
    for length in (0, 3, 5):
        add("frame", "BAD_OFFSET", hex=raw(flags=5, opcode=pl.XFER_DATA, status=16, payload=bytes(length)).hex())
    add("frame", "BAD_OFFSET to another opcode", hex=raw(flags=5, opcode=pl.PING, status=16, payload=bytes(4)).hex())
    add("frame", "payload beside a status", hex=raw(flags=5, opcode=pl.PING, status=4, payload=b"x").hex())
    add("frame", "status of an unknown opcode", hex=raw(flags=5, opcode=0x7F, status=4).hex())


def opcode_checks():
    for opcode in range(256):
        known = opcode in pl.NAMES
        if not known and opcode not in (0, 7, 0x0F, 0x13, 0x1F, 0x25, 0x2F, 0x34, 0x7F, 0x84, 0x90, 0xFF):
            continue
        for flags, corr in ((0, 1), (1, 1), (2, 0)):
            add("frame", f"opcode {opcode:#x} flags {flags}", hex=raw(flags=flags, corr=corr, opcode=opcode).hex())


# Accepted payloads; each is tried a byte shorter and longer as well. Then (offset, byte values) that BAD_PARAM is for.
def version_bytes(code):
    return struct.pack("<I", code)


MANIFEST = noise(136, "manifest")
INFO = struct.pack("<IQIIIIQBBBB", 1234, 2**64 - 1, 1003000, pl.NO_VERSION, 999_999_999, 0, 2**63, 15, 100, 2, 255)
STATE = struct.pack("<IBIBIIH", 1004000, 2, pl.NO_VERSION, 0, 1003000, 3, 285)


def begin(obj=1, flags=0, chunk=1024, size=148, manifest=b"", length=None):
    return struct.pack("<BBHII32sH", obj, flags, chunk, size, 0xDDA75952, noise(32, "sha"),
                       len(manifest) if length is None else length) + manifest


def xfer_status(obj=1, state=1, offset=5, total=10):
    return struct.pack("<BBIIII32s", obj, state, 0x01020304, offset, total, 0xFFFFFFFF, noise(32, "status"))


def listed(form, *rows):
    return bytes([len(rows)]) + b"".join(struct.pack("<" + form, *row) for row in rows)


def hello(low=1, high=1, frame_max=4096, window=8, reserved=0):
    return struct.pack("<BBHBB8s", low, high, frame_max, window, reserved, bytes(range(1, 9)))


def hello_answer(proto=1, frame_max=4096, window=8):
    return struct.pack("<BHBII", proto, frame_max, window, 0xFF, 0xA1B2C3D4)


REQ, RSP, EVT = (0, 1), (1, 1), (2, 0)
PAYLOADS = [
    (pl.HELLO, REQ, [hello(), hello(1, 255, 256, 1), hello(255, 255, 4095, 32)],
     [hello(0), hello(2, 1), hello(frame_max=255), hello(frame_max=4097), hello(window=0), hello(window=33),
      hello(reserved=1), hello(frame_max=65535), hello(window=255)]),
    (pl.HELLO, RSP, [hello_answer(), hello_answer(255, 256, 32), hello_answer(2, 1000, 1)],
     [hello_answer(0), hello_answer(frame_max=255), hello_answer(frame_max=4097), hello_answer(window=0),
      hello_answer(window=33)]),
    (pl.GET_DEVICE_INFO, REQ, [b""], []),
    (pl.GET_DEVICE_INFO, RSP, [INFO, INFO[:37] + b"\xff" + INFO[38:], INFO[:12] + b"\xff" * 16 + INFO[28:]],
     [INFO[:12 + 4 * i] + version_bytes(code) + INFO[16 + 4 * i:] for i in range(4) for code in (10**9, 0xFFFFFFFE)]
     + [INFO[:36] + bytes([flags]) + INFO[37:] for flags in (16, 32, 64, 128)]
     + [INFO[:37] + bytes([battery]) + INFO[38:] for battery in (101, 200, 254)]),
    (pl.PING, REQ, [b"", b"x", noise(64, "ping")], []),
    (pl.PING, RSP, [b"", noise(63, "ping"), noise(64, "ping")], []),
    (pl.GET_NONCE, REQ, [b""], []),
    (pl.GET_NONCE, RSP, [noise(16, "nonce")], []),
    (pl.GET_TIME, REQ, [b""], []),
    (pl.GET_TIME, RSP, [bytes(4), b"\xff" * 4], []),
    (pl.SET_TIME, REQ, [bytes(4), b"\xff" * 4], []),
    (pl.SET_TIME, RSP, [b""], []),
    (pl.FEATURE_STATUS, REQ, [listed("H", (16,), (17,)), listed("H", (1,)), listed("H", *[(1024,)] * 64)],
     [listed("H", (0,)), listed("H", (1025,)), listed("H", (16,), (0,)), b"\0", b"\x41", b"\xff\x01\x00",
      listed("H", *[(i,) for i in range(1, 66)]), listed("H", (65535,))]),
    (pl.FEATURE_TOGGLE, REQ, [listed("HB", (16, 1), (17, 2), (1024, 0x80)), listed("HB", *[(i, 1) for i in range(1, 65)])],
     [listed("HB", (16, toggle)) for toggle in (0, 3, 0x7F, 0x81, 255)] + [listed("HB", (0, 1)), listed("HB", (1025, 1)), b"\0"]),
    (pl.FEATURE_COUNTER, REQ, [b""], []),
    (pl.FEATURE_COUNTER, RSP, [bytes(16), b"\xff" * 16], []),
    (pl.XFER_BEGIN, REQ, [begin(), begin(3, 1, 1, 1), begin(2, 1, 65535, 16_777_216, MANIFEST)],
     [begin(0), begin(4), begin(255), begin(flags=2), begin(flags=0x80), begin(chunk=0), begin(size=0),
      begin(size=16_777_217), begin(size=0xFFFFFFFF), begin(1, manifest=MANIFEST), begin(3, manifest=b"x"), begin(2),
      begin(2, manifest=MANIFEST[1:]), begin(2, manifest=MANIFEST + b"x")]),
    (pl.XFER_BEGIN, RSP, [struct.pack("<IIHI", 1, 0, 1, 0), struct.pack("<IIHI", 0xFFFFFFFF, 0xFFFFFFFF, 65535, 7)],
     [struct.pack("<IIHI", 0, 0, 1024, 0), struct.pack("<IIHI", 1, 0, 0, 0)]),
    (pl.XFER_DATA, REQ, [bytes(9), b"\xff" * 100], []),
    (pl.XFER_DATA, RSP, [bytes(4), b"\xff" * 4], []),
    (pl.XFER_STATUS, REQ, [bytes(4), b"\xff" * 4], []),
    (pl.XFER_STATUS, RSP, [xfer_status(), xfer_status(0, 0, 0, 0), xfer_status(3, 3, 10, 10), xfer_status(0, 2), xfer_status(2, 0)],
     [xfer_status(4), xfer_status(state=4), xfer_status(offset=11), xfer_status(offset=0xFFFFFFFF, total=0xFFFFFFFE)]),
    (pl.XFER_END, REQ, [bytes(4), b"\xff" * 4], []),
    (pl.XFER_END, RSP, [bytes(4), bytes([1, 1, 0, 0]), bytes([2, 1, 0, 0])],
     [bytes([3, 0, 0, 0]), bytes([0, 2, 0, 0]), bytes([0, 0x81, 0, 0]), bytes([0, 0, 1, 0]), bytes([0, 0, 0, 1])]),
    (pl.XFER_ABORT, REQ, [bytes([1, 2, 3, 4, reason]) for reason in range(4)], [bytes([1, 2, 3, 4, 4]), b"\xff" * 5]),
    (pl.XFER_ABORT, RSP, [b""], []),
    (pl.FW_ACTIVATE, REQ, [version_bytes(1004000) + b"\1\0", version_bytes(999_999_999) + b"\1\xff"],
     [version_bytes(10**9) + b"\1\0", b"\xff" * 4 + b"\1\0", version_bytes(0) + b"\0\0", version_bytes(0) + b"\2\0"]),
    (pl.FW_ACTIVATE, RSP, [b""], []),
    (pl.FW_CONFIRM, REQ, [version_bytes(0) + b"\0", version_bytes(999_999_999) + b"\1"],
     [version_bytes(10**9) + b"\1", b"\xff" * 4 + b"\1", version_bytes(0) + b"\2"]),
    (pl.FW_CONFIRM, RSP, [b""], []),
    (pl.FW_STATE, REQ, [b""], []),
    (pl.FW_STATE, RSP, [STATE, b"\xff" * 4 + b"\1" + b"\xff" * 4 + b"\2" + b"\xff" * 10],
     [STATE[:4] + bytes([state]) + STATE[5:] for state in (0, 3)] + [STATE[:9] + b"\3" + STATE[10:]]
     + [STATE[:at] + version_bytes(10**9) + STATE[at + 4:] for at in (0, 5, 10)]),
    (pl.REBOOT, REQ, [b"\0\1", b"\1\3", b"\0\2"], [b"\2\1", b"\0\0", b"\0\4", b"\xff\xff"]),
    (pl.REBOOT, RSP, [b""], []),
    (pl.EVT_REBOOTING, EVT, [b"\1\0\0", b"\5\xff\xff"], [b"\0\0\0", b"\6\0\0"]),
    (pl.EVT_XFER_PROGRESS, EVT, [struct.pack("<III", 0, 7, 7), b"\xff" * 12], [struct.pack("<III", 1, 8, 7)]),
    (pl.EVT_FW_TRIAL, EVT, [version_bytes(0) + b"\0\0", version_bytes(999_999_999) + b"\xff\xff"],
     [version_bytes(10**9) + b"\0\0", b"\xff" * 6]),
]
STATES = [listed("HBB", *[(i + 1, enable, toggle) for i, (enable, toggle) in
                          enumerate((e, t) for e in (0, 1, 255) for t in (0, 1, 2, 255))]),
          listed("HBB", *[(1024, 1, 0)] * 64)]
NO_STATES = [listed("HBB", row) for row in ((0, 1, 1), (1025, 1, 1), (16, 2, 0), (16, 254, 0), (16, 1, 3), (16, 1, 0x80),
                                            (16, 1, 254))] + [b"\0", b"\x41"]
for _opcode, _way in ((pl.FEATURE_STATUS, RSP), (pl.FEATURE_TOGGLE, RSP), (pl.EVT_FEATURE_CHANGED, EVT)):
    PAYLOADS.append((_opcode, _way, STATES, NO_STATES))


def payload_checks():
    for opcode, (flags, corr), good, bad in PAYLOADS:
        name = pl.NAMES[opcode]

        def put(note, payload):
            add("frame", f"{name}: {note}", hex=raw(flags, corr, opcode, 0, payload).hex())

        for payload in good:
            put("accepted", payload)
        for payload in dict.fromkeys((good[0][:-1], good[0] + b"\0", good[-1] + b"\0")):
            if payload not in good:
                put("another length", payload)
        for payload in bad:
            put("refused", payload)


# --- segments, control segments

def segments():
    cases = [(mtu, length) for mtu in (23, 24, 27, 185, 247) for size in (seg.segment_size(mtu),)
             for length in (14, size - 7, size - 6, size - 5, 2 * size - 10, 2 * size - 9, 3 * size - 14, 3 * size - 13)
             if 14 <= length]
    cases += [(20, 100), (22, 100), (515, 507), (516, 1000), (517, 506), (517, 4096), (247, 4096)]
    for number, (mtu, length) in enumerate(cases):
        data = raw(opcode=pl.XFER_DATA, payload=noise(length - 14, "segment"))
        add("segment", hex=data.hex(), mtu=mtu, msgseq=number * 37 % 256, window=(8, 1, 32, 3, 2, 31)[number % 6])
    data = raw(opcode=pl.XFER_DATA, payload=noise(150, "windows"))
    for window in (1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32):
        add("segment", hex=data.hex(), mtu=23, msgseq=window, window=window)


def controls():
    good = seg.Control(1, seg.ACK, 0, 2, 1, 8).encode()
    for length in range(15):
        if length != 12:
            add("control", hex=(good + bytes(3))[:length].hex())
    for flags in (0x00, 0x04, 0x40, 0x45, 0x46, 0x4C, 0x54, 0x64, 0x84, 0xC4, 0xFF):
        add("control", hex=(bytes([flags]) + good[1:]).hex())
    for kind in (0, 1, 2, 3, 4, 5, 255):
        add("control", hex=(good[:2] + bytes([kind]) + good[3:]).hex())
    for reason in (*range(12), 255):
        add("control", hex=seg.Control(255, seg.NAK, reason, 0, 0, 8).encode().hex())
    for credit in (0, 1, 31, 32, 33, 255, 256, 65535):
        add("control", hex=seg.Control(7, seg.WAIT, 0, 65535, 0xFFFFFFFF, credit).encode().hex())
    add("control", "flags before type", hex=(b"\x64" + good[1:2] + b"\x09" + good[3:]).hex())
    add("control", "length before flags", hex=(b"\x64" + good[1:11]).hex())


# --- texts, profiles

def texts():
    for text in ("1.3.0", "0.0.0", "999.999.999", "001.002.003", "0.12.7", "1.0", "1", "", "1.2.3.4", "1..3", ".1.2", "1.2.",
                 "1000.0.0", "0.1000.0", "0.0.0001", "1.2.3 ", " 1.2.3", "+1.2.3", "-1.2.3", "1.2.a", "1,2,3", "1.2.3\n",
                 "\u0661.2.3", "1.2.\u00b2", "0x1.2.3", "1.2.3\u0000"):
        add("version", text=text)
    for code in (0, 1, 999, 1000, 12007, 999_999, 1_000_000, 1_003_000, 999_999_999, 1_000_000_000, 4_294_967_295):
        add("version_code", code=code)
    for number in ("4242424242424242", "4242 4242 4242 4242", "4242-4242-4242-4242", " -4242424242424242- ", "4242424242424241",
                   "378282246310005", "6011111111111117", "30569309025904", "424242424242", "42424242426", "00000000000",
                   "000000000000", "0000000000000000000", "00000000000000000000", "6304000000000000000", "", "-", "abcd",
                   "4242424242424242x", "4242.4242.4242.4242", "4242\u00a04242424242424", "4242\t424242424242",
                   "\u0664\u0662424242424242424242", "5555555555554444", "5105105105105100", "5105105105105109"):
        add("card_number", number=number)


def profiles():
    base = {"svc": "9c190001-c113-4e20-95f4-2602d4fc9f35", "data": "9c190002-c113-4e20-95f4-2602d4fc9f35",
            "status": "9c190003-c113-4e20-95f4-2602d4fc9f35"}
    plain = {base["svc"]: [base["data"], base["status"]]}

    def put(name, gatt=None, discovered=None, status="4f4750010000"):
        add("profile", name=name, gatt={**base, **(gatt or {})}, discovered=plain if discovered is None else discovered,
            status=status)

    put("as specified")
    for status in ("", "4f", "4f4750", "4f475001", "4f47500100", "4f4750010000", "4f4750010300", "4f475001ffff",
                   "4f475001000001", "4f475000000000", "4f4750020000", "4f4750ff0000", "4f4751010000", "6f6770010000", None):
        put(f"value {status}", status=status)
    put("nothing discovered", discovered={})
    put("service without characteristics", discovered={base["svc"]: []})
    for missing in ("data", "status"):
        other = "status" if missing == "data" else "data"
        put(f"{missing} is missing", discovered={base["svc"]: [base[other]]})
        put(f"{missing} in another service", discovered={base["svc"]: [base[other]], "180a": [base[missing]]})
    put("upper case discovered", discovered={base["svc"].upper(): [base["data"].upper(), base["status"].upper()]})
    put("upper case configured", gatt={key: value.upper() for key, value in base.items()})
    short = {"svc": "FFE0", "data": "ffe1", "status": "0000FFE2"}
    put("short forms", gatt=short, discovered={
        "0000ffe0-0000-1000-8000-00805f9b34fb": ["0000FFE1", "ffe2"], "180F": ["2A19"]})
    put("another base", gatt=short, discovered={"0000ffe0-0000-1000-8000-00805f9b34fc": ["ffe1", "ffe2"]})
    put("others around it", discovered={"1801": ["2A05"], base["svc"]: ["2a19", base["status"], base["data"], "ffe1"]})
    for key in ("svc", "data", "status"):
        for text in ("", "180", "180FF", "0000180f0", "180g", "0x180F", "{" + base[key] + "}", base[key].replace("-", ""),
                     base[key][:-1], base[key] + "0", base[key].replace("-", ":"), " 180F"):
            put(f"{key} is {text!r}", gatt={key: text})
    put("format before the profile", gatt={"status": "xyz"}, discovered={}, status=None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", metavar="FILE")
    parser.add_argument("--random", type=int, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.random is not None:
        random_streams(add, arguments.random, arguments.seed)
    else:
        for part in (checksums, header_checks, status_checks, opcode_checks, payload_checks, segments, controls, texts, profiles):
            part()
        streams(add)
        packages(add)
        manifests(add)
    output = "".join(json.dumps(vector, separators=(",", ":")) + "\n" for vector in lines)
    if arguments.check is None:
        sys.stdout.write(output)
        return
    with open(arguments.check, encoding="utf-8") as file:
        same = file.read() == output
    print(f"{'ok' if same else 'not ok'} - {arguments.check} holds what make_obvious_vectors.py computes ({len(lines)} vectors)")
    sys.exit(not same)


if __name__ == "__main__":
    main()

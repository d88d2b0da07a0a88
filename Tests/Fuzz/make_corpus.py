#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz targets into corpus/: literal bytes, one file per input, the same in every run.

Each target reads its input as fuzz.h says: a choice byte, or a block behind a length byte. Regressions are added by
hand as corpus/TARGET/crash-*; this script leaves them alone."""

import json
import pathlib
import struct
import zlib

ROOT = pathlib.Path(__file__).parent / "corpus"


def h(text):
    return bytes.fromhex(text.replace(" ", ""))


def block(data):
    return bytes([len(data)]) + data if len(data) < 255 else b"\xff" + struct.pack("<H", len(data)) + data


def write(target, seeds):
    folder = ROOT / target
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("seed-*"):
        old.unlink()
    for number, seed in enumerate(seeds):
        (folder / f"seed-{number:02}").write_bytes(seed)


ATT = [h(text) for text in (
    "01 08 0100 0a", "02 f700", "03 f700", "04 0100 ffff", "05 01 0300 0229 0400 0129",
    "05 02 0300 000102030405060708090a0b0c0d0e0f", "06 0100 ffff 0028 d2fd", "07 0100 0500 0600 0900",
    "08 0100 ffff 0328", "10 0100 ffff fb349b5f8000008000100000 00280000", "09 07 0200 10 0300 002a 0400 10 0500 012a",
    "0a 0300", "0b 414243", "0c 0300 1600", "0d 4445", "0e 0300 0500 0700", "0f 4142",
    "11 06 0100 0500 0018 0600 0900 0118", "12 0300 aabb", "13", "16 0300 1200 aabb", "17 0300 1200 aabb", "18 01",
    "19", "1b 0300 0102", "1d 0300 0102", "1e", "20 0300 0500", "21 0100 aa 0200 bbcc", "21 0100 aa 0500 bb",
    "23 0300 0100 aa 0500 0200 bbcc", "52 0300 aabb", "d2 0300 aa 000102030405060708090a0b",
    "", "1b", "05", "11 03 010203", "09 00 02", "23 0300 0200 aa")]

ADVERTISEMENTS = [h(text) for text in (
    "020106 0303d2fd 0609426f736521 05ff9e000109", "00", "020106 00 0303d2fd", "ff0941", "0416d2fd01 0620d2fd000001",
    "1107 000102030405060708090a0b0c0d0e0f", "0d17 010203040506 111213141516", "081b 01020304050601", "0512 0600ffff",
    "020af4 0319c103", "0909 1b5b324a41c280", "05 09 f09f8ea7", "0303febe 05ff9e000109", "01ff 02ff9e 0116")]

EVENTS = [h(text) for text in (
    "0504 00 4000 13", "0804 00 4000 01", "5905 00 4000 01 10", "0c08 00 4000 0b 0f00 3412", "0e04 01 030c 00",
    "0f04 0c 01 0620", "1001 42", "1309 02 4000 0300 4100 0100", "1a01 01", "3003 00 4000",
    "3e13 01 00 4000 00 01 665544332211 1800 0000 4800 05", "3e0a 03 00 4000 1800 0000 4800",
    "3e0c 04 00 4000 0102030405060708", "3e0d 05 4000 0102030405060708090a", "3e0b 06 4000 0600 0c00 0000 c800",
    "3e1f 0a 00 4000 01 01 665544332211 060504030241 262524232261 1800 0000 4800 05", "3e06 0c 00 4000 02 02",
    "3e01 11", "3e06 12 00 01 4000 02", "3e09 13 01 01 665544332211", "3e04 14 4000 01",
    "3e22 29 00 4000 01 01 665544332211 060504030241 262524232261 1800 0000 4800 05 01 ffff",
    "3e19 02 02 00 01 665544332211 03 020106 c4 04 00 060504030201 00 7f",
    "3e1d 0d 01 0100 01 665544332211 01 02 05 f4 c4 0000 00 000000000000 03 020106", "ff00", "3e00")]


def acl(choice, handle, flags, data):
    return bytes([choice]) + block(struct.pack("<HH", handle | flags << 12, len(data)) + data)


def frame(payload, cid=4):
    return struct.pack("<HH", len(payload), cid) + payload


def chains():
    part = lambda who, more, length: bytes([who | more << 3]) + block(bytes(length))
    yield part(1, 1, 229) + part(1, 1, 229) + part(1, 0, 10)
    yield part(1, 1, 100) + part(2, 1, 50) + part(1, 2, 10) + part(2, 0, 5)
    yield b"".join(part(1, 1, 229) for _ in range(9)) + part(1, 0, 1)
    yield part(1, 1, 9) + bytes([0x81 | 0]) + block(bytes(4))


def acl_streams():
    att = frame(h("1b 0300 0102"))
    yield acl(1, 0x40, 2, att)
    yield acl(1, 0x40, 2, att[:3]) + acl(1, 0x40, 1, att[3:6]) + acl(1, 0x40, 1, att[6:])
    yield acl(1, 0x40, 2, att[:5]) + acl(0, 0x41, 0, att) + acl(1, 0x42, 2, att[:6]) + acl(1, 0x40, 1, att[5:])
    yield acl(1, 0x40, 2, struct.pack("<HH", 0xFFFF, 4)) + acl(1, 0x40, 1, bytes(50)) + acl(1, 0x40, 2, att)
    yield acl(1, 0x40, 3, att) + acl(1, 0x40, 1, att) + bytes([1]) + block(b"\x40\x20\x09")


def server_sessions():
    pdu = lambda text, choice=0: bytes([choice]) + block(h(text))
    yield pdu("02 f700") + pdu("10 0100 ffff 0028") + pdu("08 0100 ffff 0328") + pdu("04 0100 ffff")
    yield pdu("06 0100 ffff 0028 d2fd") + pdu("0a 0300") + pdu("0c 0300 1000") + pdu("0e 0300 0300")
    yield pdu("12 0400 0100") + bytes([0x3F]) + h("0300 0300") + pdu("1e") + pdu("12 0400 0200")
    yield pdu("16 0300 0000 aabb") + pdu("16 0300 0200 ccdd") + pdu("18 01") + pdu("16 0300 0000 aa") + pdu("18 00")
    yield pdu("52 0300 aabb") + pdu("d2 0300 aa 000102030405060708090a0b") + pdu("20 0300 0300", 0x80) + pdu("3f")
    yield pdu("08 0100 ffff 0228") + pdu("0a 0600", 0x08) + pdu("0a 0600") + pdu("0a")


def client_sessions():
    start = lambda which, a=0, b=0: bytes([0x20 | which]) + struct.pack("<HH", a, b)
    pdu = lambda text, choice=0: bytes([choice]) + block(h(text))
    end = "01 10 0a00 0a"
    yield start(0) + pdu("03 f700") + start(1) + pdu("11 06 0100 0900 d2fd") + pdu(end)
    yield start(2) + pdu("07 0100 0900") + pdu("01 06 0a00 0a") + start(3, 1, 9) + pdu("09 08 0200 0500 0900 0a18")
    yield start(4, 1, 9) + pdu("09 07 0200 10 0300 002a") + pdu("01 08 0400 0a") + start(6, 4, 9) + pdu("05 01 0400 0229")
    yield start(5, 1, 9) + pdu("09 15 0200 10 0300 000102030405060708090a0b0c0d0e0f") + pdu("01 08 0400 0a")
    yield start(8, 3, 0) + pdu("0b" + "41" * 22) + pdu("0d" + "42" * 22) + pdu("0d 43")
    yield start(9, 1, 9) + pdu("09 04 0300 4142") + start(10) + pdu("0f 414243") + start(11) + pdu("21 0100 41 0200 42")
    yield start(13, 3, 0) + pdu("17 0300 0000" + "01" * 18) + pdu("01 16 0300 09") + pdu("19")
    yield start(14) + pdu("17 0300 0000 010203" + "00" * 15) + pdu("17 0300 1200" + "00" * 12) + pdu("17 0500 0200 01") + pdu("19")
    yield start(15, 3, 4) + pdu("13") + pdu("1b 0300 0102") + pdu("23 0300 0100 aa") + start(16, 3) + pdu("13")
    yield start(15, 3, 5) + pdu("13") + pdu("1d 0300 0102") + start(19, 3) + pdu("1d 0300 0100ffff")
    yield start(7, 3) + start(18, 1) + pdu("0b 41") + start(12, 3, 4) + bytes([0x40]) + block(b"") * 1 + pdu("13", 0x40)
    yield start(7, 3) + b"".join(pdu("1b 0300 01", 0x40) for _ in range(6)) + pdu("0b 41")
    yield start(17, 3, 4) + pdu("0a 0300") + pdu("3f") + pdu("0b 41") + pdu("02 1700", 0x80)


DEVICE_INFORMATION = h("04 00 402c 01 0000000f 0007000e 08 002f 04 0000")
SENSOR_INFORMATION = h("00fff8000880017fff001f07 01f83007d080017fff001f07 02ffff0001c0013fff001f0a 03ffff0001c0013fff001f08")
SENSOR_DATA = h("00 1234 1000f00010ff03 03 1234 40000000c000e000 02 1235 3fff000000000000 0010")
GESTURE_INFORMATION = h("810100 820100 830100 c00100 c10100 c20100")
GESTURE_CONFIGURATION = h("8100 8200 8301 c000 c100 c200")


def bose_codec():
    two = lambda kind, first, second=b"", rest=b"": bytes([kind]) + block(first) + block(second) + rest
    yield two(0, DEVICE_INFORMATION)
    yield two(0, DEVICE_INFORMATION[:12])
    yield two(1, SENSOR_INFORMATION, SENSOR_DATA)
    yield two(1, SENSOR_INFORMATION[:12], SENSOR_DATA)
    yield two(2, b"", SENSOR_DATA)
    yield two(2, SENSOR_INFORMATION * 5, h("05 0001 000100020003 000000000000 03"))
    yield two(3, h("000000 010014 020014 030000"), b"", h("02 1400 2800 01"))
    yield two(4, GESTURE_INFORMATION, GESTURE_CONFIGURATION, h("82"))
    yield two(4, h("8101 8201"), h("8101 8200"), h("81"))
    yield two(4, h("810300"), h("81 010203"), h("81"))
    yield two(5, h("81 1234"))
    yield two(5, h("81 12"))
    yield two(6, h("020106 0303d2fd"), b"078765P20314100AZ")
    yield two(6, h("0303befe 05ff9e000109"), b"078765P20314100AE")


def bose_sessions():
    calm = bytes(30)
    yield b"\x00" + calm
    yield b"\x01" + calm
    yield b"\x03" + b"\x00" * 60 + b"\x05\x03" + calm
    yield b"\x04" + b"\x00" * 40 + b"\x06" * 3 + calm
    yield b"\x10" + b"\xc1\x02\x81" * 20 + calm
    yield b"\x00" + b"\xc2\x01" * 30 + calm
    yield b"\x00" + b"\xc3" * 20 + b"\x0a" * 10 + calm
    yield b"\x00" + b"\xc5" + block(h("1b 2300 00 1234")) + b"\xc4" * 8 + b"\x0b\x08\x02\x0b\x13\x0b\x03" + calm
    yield b"\x00" + bytes(range(0, 192, 5)) * 3
    # Required: nothing; sensors 0 and 1 at every 20 ms; a sensor, a period and a gesture that no device has.
    yield b"\x20" + bytes(10) + calm
    yield b"\x20" + h("0300 0000 1000 0000 0000") + calm
    yield b"\x20" + h("0000 0080 0080 0000 0080") + calm


def activ5():
    for kind, value in ((1, "5443356b3b312e30303b30343b4241544f4b"), (1, "4953392f4953"), (1, "41534e3141352d313233"),
                        (1, "4149343400"), (1, "e282ac69c2b0"), (1, "4953782f4953"), (1, "3b"), (3, "2c01"),
                        (4, "ff0ffe1fff07ff0ffe1fff0792090907"), (5, "26000100"), (6, "3030"), (7, "00610062"), (9, "4b"),
                        (10, "4ec2b037"), (12, "")):
        yield bytes([kind]) + h(value)
    notification = lambda text, time=0: bytes([time]) + block(h(text))
    yield b"\x80" + notification("124953392f4953133031") + notification("12495331") + notification("30302f495313", 4)
    yield b"\x80" + notification("12415a") + notification("", 10) + notification("12495332302f", 3) + notification("13", 125)
    yield b"\x80" + notification("12" + "5a" * 128) + notification("13") + notification("12" + "5a" * 129)
    yield b"\x80" + b"".join(notification("124953" + raw + "2f13", 25) for raw in ("3330", "31", "3330", "31"))


def activ5_sessions():
    # Traits of the trainer and of the options; then calls (0x00 to 0x5f), the trainer (0x60), presence (0x80), time.
    connect, opened, end = b"\x00", b"\x01", b"\x02"
    early, start, stop, motion, still = b"\x03", b"\x04", b"\x05", b"\x06", b"\x07"
    calm = lambda ms: b"\xe0" + bytes([ms]) + bytes(40)
    second = (calm(255) * 4)
    long = lambda units: b"\xa0" + struct.pack("<H", units) + bytes(60)
    for traits in range(0, 128, 5):
        yield bytes([traits, traits & 7]) + opened + second + start + motion + second + stop + still + second + end + calm(100)
    for lacking in range(10):
        yield b"\x80\x02" + struct.pack("<H", 1 << lacking) + opened + early + second + start + motion + second * 3
    yield b"\x00\x00" + connect + early + second * 3 + b"\x61" + second + b"\x62\x00\x03\x00\x10" + second
    yield b"\x01\x00" + connect + second + early + second + b"".join(bytes([0x60, kind]) + calm(200) * 2 for kind in range(9))
    yield b"\x00\x00" + opened + second + motion + second + b"\x66\xe8\x03" + second * 3 + b"\x67" + second
    yield b"\x00\x00" + opened + second + b"\x08\x09\x19\x04\x0a\x03\x0a\x08\x0b\x05STOP!\x8c\x0d" + second + b"\x80" + calm(50)
    yield b"\x02\x00" + opened + long(400) + b"\x8c" + long(10000) + b"\x65" + long(100) + b"\x6d" + opened + long(500)
    yield b"\x03\x00" + early + connect + early + long(600) + stop + b"\x0a\x08" * 16 + b"\x80" + long(100)
    yield b"\x00\x00" + opened + (b"\xe0\x20" + bytes([0xC0, 1, 2, 0xC1, 3, 0xC2, 4, 1, 2, 3, 4]) * 3) * 8
    yield b"\x00\x00" + opened + second + b"\x0a\x08" * 4 + b"\xe0\x10" + b"\xc1\x00" * 30 + long(700)


def activ5_managers():
    name = lambda text: b"\x10" + block(text)
    value = lambda device, which, text: bytes([0xD0 | device, which]) + block(h(text))
    up = b"\x20\x00" + b"\x80" + b"\x8c\x0a\x01\x02\x03\x05\x04\x06\x07\x08\x09\x0a"
    yield b"\x00\x00" + name(b"a") + b"\x00" + b"\x21\x00" + b"\x81\x00\x00" + value(1, 1, "125443356b3b3113")
    yield b"\x00\x00" + name(b"a") + b"\x00" + up + value(0, 3, "5a00") * 2 + b"\x5f\xff\xff" + b"\x88" + name(b"a")
    yield b"\x30" + b"\x00" + b"\x38" + b"\x00\x00" + name(b"b") + name(b"c") + name(b"d") + name(b"e") + b"\x30\xff\x00"
    report = lambda number, text: bytes([0x70, number, 200]) + block(h(text)) + b"\x00"
    yield b"\x00\x00" + report(1, "03030050 020961") + report(2, "03030050") + report(2, "020962") + report(2, "020106")
    yield b"\x00\x00" + b"".join(report(number, "020963") for number in range(20)) + report(19, "03030050") + b"\x28\x00"
    yield b"\x00\x00" + b"".join(bytes([0xC1, choice]) for choice in range(0, 256, 7)) + bytes(range(256))


def faults():
    pdus = b"".join(bytes([step, 6]) + h("1b0c0001020304") for step in (1, 9, 0x1F, 0x81, 0x82, 0x05, 0x0A, 0x3F) * 6)
    for setting in (b"drop=10%", b"delay=0.5,delay_ms=20", b"duplicate=1", b"truncate=0.5,seed=7", b"garbage=50%",
                    b"disconnect=5%", b"drop=0.1,delay=0.2,duplicate=0.2,truncate=0.2,garbage=0.2,disconnect=0.05",
                    b"garbage=1,notifications_only", b"delay=1,delay_ms=4000000000"):
        yield setting + b"\0" + pdus
    for setting in (b"drop=2", b"drop=60%", b"drop=,", b"drop", b"seed=99999999999", b"delay_ms=-1", b",", b"=1",
                    b"drop=0.0000001", b"drop=1e3", b"notifications_only=1", b"garbage=5%%"):
        yield setting


def fjorden():
    for kind, value in ((0x80, "010300000500"), (0x81, "810100 55"), (0x81, "830100f401900101"), (0x81, "850400 010100000000"),
                        (0x82, "1c"), (0x83, "e900"), (0x84, "0200000600000700a161646268690a"), (0x85, "76312e322d72632e312b37"),
                        (0x85, "312e322e33"), (0x86, "1107f2daa8cbffab91b5914cde920100d8b3"), (0x86, "0d09466a6f7264656e2047726970"),
                        (0x87, "0101e803000202600400"), (0x87, "14312c010018352c0100"), (0x8F, "010203ff")):
        yield bytes([kind]) + h(value)
    calm = b"\x00" * 60
    yield b"\x00" + calm + b"\x13\x01\x09\x13\x00\x09\x43\x01\x09\x01\x09\x11\x09\x21\x09\x31\x09\x41\x09\x51\x09\x61\x09\x02\x09"
    yield b"\x00" + calm + b"\x13\x02\x14\x13\x00\x33\x01\x09\x09\x05\x07\x15\x07\x06\x16\x26\x36\x46\x09"
    yield b"\x00" + b"\xc0\x05\x41" * 20 + calm
    yield b"\x00" + b"\xc1\x03" * 30 + calm
    yield b"\x00" + calm + b"\x09\xc2\x08" + h("1b0c000102") + b"\x09" * 20
    for lacking in range(8):
        yield bytes([1 | lacking << 4]) + calm
    yield b"\x04" + calm + b"\x0a\x06\x07\x0a\x84\x07"
    yield b"\x0a" + calm + b"\x13\x02\x09" * 6 + b"\x08\x07\x0a\x85\x07"

    # An action is a byte whose remainder by 10 says what, its high half is an argument. 9 lets time pass, and as a byte
    # of a PDU's way it changes nothing: it fills what the grip's PDUs take.
    def action(what, high=0):
        return bytes(byte for byte in range(high * 16, high * 16 + 16) if byte % 10 == what)[:1]

    rest = b"\x09" * 12
    connected = b"\x02" + b"\x09" * 120  # no encryption is needed: nothing but discovery
    shutter, dial, lever = 1, 4, 5

    def move(control, position):
        return action(3, control) + bytes([position]) + rest

    lose = action(4, 1)
    yield connected + move(shutter, 1) + move(shutter, 2) + move(shutter, 0) + move(dial, 1) + move(dial, 2)
    # A loss, the control state that is read, what is concluded from it; and the same with a state that is malformed.
    yield connected + move(shutter, 2) + lose + move(shutter, 0) + move(dial, 1) + rest
    yield connected + move(lever, 1) + lose + move(lever, 0) + move(dial, 1) + rest
    yield connected + move(shutter, 2) + action(6, 4) + lose + move(shutter, 0) + move(dial, 1) + rest
    for malformation in range(5):
        yield connected + action(6, malformation) + move(dial, 1) + rest
    for opcode in range(1, 8):
        yield connected + action(1, opcode) + rest + action(1, opcode) + action(9) + action(8) + rest
    yield connected + action(2) + rest * 3 + action(2) + action(8)
    # Out of reach and back; the adapter goes and comes; time is up.
    yield connected + action(5) + rest + action(5, 1) + rest + action(7) * 3
    yield connected + action(0) + b"\x08" + rest + action(0) + b"\x88" + rest + action(0) + b"\x85" + rest
    yield b"\x02" + action(5) + action(7) * 4 + action(0) + b"\x85" + action(7) * 4
    # What arrives is replaced by a value of the fuzzer's: an event, a response, a level.
    for pdu in ("1b0c000102030405", "1d12008101000102", "1b2000641b200065"):
        yield connected + move(dial, 1)[:2] + b"\xc2\x08" + h(pdu) + rest


def feelspace():
    for kind, value in ((0x80, "0003aaaa0000020e01000005e80300000001"), (0x80, "0101500000000030010000ffdc05640000 01".replace(" ", "")),
                        (0x80, "4000025a00aa96000301f401dc05000000"), (0x80, "2001"), (0x80, "30ff"), (0x81, "010103"),
                        (0x81, "01032d00"), (0x81, "0104626c7565"), (0x81, "100a0100020003000401"), (0x81, "100302"),
                        (0x82, "0301000105"), (0x82, "02cd5820037800d20f"), (0x82, "0100400010f40168100019aa01aa55ee7f"),
                        (0x82, "02a6ffd3ff0200faff05000303030300"), (0x82, "040004"), (0x83, "a005000000"),
                        (0x83, "0b0100020100000002000000"), (0x83, "0c0100000002000000010001"),
                        (0x83, "0107010100020003000201000200030009"), (0x83, "2b0301010300")):
        yield bytes([kind]) + h(value)
    calm = b"\x00" * 200
    yield b"\x10" + calm + b"\x12\x0b\x13\x0b\x43\x0b\x66\x00\x0b\x26\x01\x0b\x04\x0b\x05\x15\x0b\x99"
    yield b"\x11" + calm + b"\x12\x39\x77\x0b\x27\x0b\x37\x0b\x47\x0b\x67\x0b\x07\x99"
    yield b"\x14" + calm + b"\x32\x0b\x08\x99\x99\x18\x99\x99\x56\x02\x0b"
    yield b"\x18" + calm + b"".join(bytes([0, choice, value, 0x0B]) for choice in range(8) for value in (0, 3, 60, 200))
    yield b"\x10" + b"\xc1\x05\x41" * 60 + calm
    yield b"\x10" + b"\xc0\x03" * 80 + calm
    yield b"\x10" + calm + b"\x9a\x99\xaa\x99\x8a\x99\x5a\x4a\x01\x99\x1a"
    yield b"\x02" + calm
    yield b"\x00" + calm + b"\x99" * 20
    # encoders: 0xF0 vibrations, 0xF1 signals of the navigation, 0xF2 tones; then the capacity
    for signal, degrees in ((0x01, 90.0), (0x81, -45.5), (0x82, 1e300), (0x83, float("nan")), (0x84, float("inf")),
                            (0x85, 359.9), (0x86, 720.0), (0x07, 0.0)):
        yield b"\xf0\x14" + bytes([signal, 1]) + struct.pack("<d", degrees) + b"\x34\x02\x00"
    for signal in range(2, 18):
        yield b"\xf1\x14" + bytes([signal]) + struct.pack("<i", -90 * signal) + b"\x01"
    for capacity, count in ((20, 9), (20, 1), (20, 10), (20, 0), (3, 1)):
        yield b"\xf2" + bytes([capacity, count]) + struct.pack("<f", 0.05) * count + struct.pack("<f", 800) * count
    yield b"\xf2\x14\x04" + struct.pack("<8f", float("nan"), -1, 1e9, 2.55, 440, float("inf"), -5, 1e30)


def record(data, flags, original=None):
    return struct.pack(">IIIIQ", original or len(data), len(data), flags, 0, 0x00E03AB44A676000) + data


def captures():
    head = lambda link: b"btsnoop\0" + struct.pack(">II", 1, link)
    connect = b"\x04" + h("3e13 01 00 4000 00 01 665544332211 1800 0000 4800 05")
    att = struct.pack("<HH", 0x2040, 9) + frame(h("1b 0300 0102"))
    report = b"\x04" + h("3e0c 02 01 00 01 665544332211 00 c4".replace("3e0c", "3e0d") + "00")
    end = b"\x04" + h("0504 00 4000 13")
    yield head(1002) + record(connect, 3) + record(b"\x02" + att, 1) + record(report, 3) + record(end, 3)
    yield head(1001) + record(connect[1:], 3) + record(att, 1)
    yield head(2001) + record(connect[1:], 3) + record(att, 5) + record(att, 4) + record(b"", 0) + record(end[1:], 3)
    yield head(1002) + record(b"\x02" + att[:7], 1, 14) + record(b"", 0)
    yield head(1002) + struct.pack(">II", 9, 0xFFFFFFFF) + bytes(16)
    yield head(1003)
    yield head(1002)[:9]


def management():
    pdu = lambda code, data, index=0: struct.pack("<HHH", code, index, len(data)) + data
    yield pdu(1, struct.pack("<HB", 0x0003, 0) + struct.pack("<HHH", 2, 0, 1), 0xFFFF)
    yield pdu(1, struct.pack("<HB", 0x0004, 0) + h("060504030201 09 0f00 ffff0100 81020000 000000") + bytes(260))
    yield pdu(2, struct.pack("<HB", 0x0005, 0x12))
    yield pdu(6, struct.pack("<I", 0x281))
    yield pdu(0xB, h("060504030201 02 00000000 0300 020106"))
    yield pdu(0xC, h("060504030201 01 03"))
    yield pdu(0xD, h("060504030201 02 04"))
    yield pdu(4, b"") + b"\0"
    yield pdu(3, b"\x01")[:-1]


PEERS = [h(text) for text in ("05040302 01c0 02", "05040302 01c0 01", "06040302 014a 02")]  # as the management interface has them


def bluez():
    """What comes out of the kernel's sockets, see fuzz_bluez.c: two bytes of beginning, then what and how."""
    event = lambda code, data, how=0x41: bytes([2, how, code]) + block(data)
    events = lambda *all_of_them: b"".join(event(data[0], data[2:]) for data in all_of_them)
    command = lambda opcode, data: b"\x02\x42" + struct.pack("<H", opcode) + block(data)
    respond = lambda data: b"\x02\x43" + block(data)
    management = lambda code, data, how=1: bytes([0, how, code]) + block(data)
    reply = lambda opcode, data, status=0: bytes([0, 2, opcode, status]) + block(data)
    about = lambda code, peer, after=b"", before=b"": bytes([0, 3 | len(before) << 2, code, peer]) + before + block(after)
    owner = lambda which, link=0, more=b"": bytes([4, which << 2 | link << 6]) + more
    peer = lambda link, data: bytes([5, link << 2]) + block(data)
    wait = lambda count, how=0xC0: bytes([6, how, count])
    key = h("02 01 10 3412 0102030405060708") + bytes(range(16))
    paired = about(10, 0, key, b"\x01") + reply(0x19, PEERS[0]) + events(h("0804 00 4000 01"))
    legacy = h("3e19 02 02 00 01 665544332211 03 020106 c4 04 00 060504030201 00 7f")
    connect = h("6000 6000 00 01 060504030201 00 1800 2800 0000 2a00 0000 0000")
    extended = h("00 00 01 060504030201 01 6000 6000 1800 2800 0000 2a00 0000 0000")
    yield b"\0\0" + paired + wait(3)
    yield b"\0\1" + events(*EVENTS[:14])
    yield b"\0\2" + events(*EVENTS[14:])
    yield b"\0\0" + events(legacy, h("0504 00 4000 13")) + wait(2) + peer(0, h("1b 0300 01")) + peer(0, b"")
    yield b"\0\0" + about(0x0F, 0, h("00 40e20100")) + owner(7, 0, b"\5") + about(0x0F, 0, h("01 40e20100"))
    yield b"\0\x28" + about(0x0F, 0, h("00 40e20100")) + about(0x17, 0, h("40e20100 00")) + about(0x10, 0) + wait(9)
    yield b"\0\0" + about(0x11, 0, b"\5") + about(0x0C, 0, b"\3") + about(0x0D, 1, b"\4") + about(0x0B, 0, bytes(6))
    yield b"\0\0" + reply(0x19, PEERS[0], 5) + management(2, h("1900 0a")) + reply(0x1A, PEERS[0])
    yield b"\0\0" + about(0x18, 0, bytes(16) + bytes(range(16)), b"\x01" + h("060504030241")) + paired
    yield b"\0\0" + reply(0x31, PEERS[0] + h("c4 00 7f")) + reply(0x31, PEERS[1] + h("c4 00 7f"), 2) + owner(6)
    yield b"\0\5" + reply(0x44, h("ff7f0000 00600000 01060000")) + reply(0x45, b"") + events(h("3e06 0c 00 4000 03 03"))
    yield b"\0\0" + management(6, h("01020000")) + management(6, h("00020000")) + wait(50) + management(6, h("01020000"))
    yield b"\0\0" + management(0x13, h("06 01")) + management(0x13, h("06 00")) + reply(0x24, b"\6") + management(5, b"")
    yield b"\0\0" + management(5, b"", 0x81) + management(0x13, h("06")) + b"\0\0" + block(h("0600 0700 0300 01"))
    yield b"\0\0" + command(0x200D, connect) + event(0x3E, EVENTS[10][2:]) + command(0x200E, b"") + wait(5)
    yield b"\0\1" + command(0x2043, extended) + event(0x3E, EVENTS[15][2:]) + command(0x2043, extended[:5])
    yield b"\0\0" + command(0x200C, h("00 00")) + event(0x0E, h("01 0c20 00")) + command(0x200C, h("01 00")) + wait(4)
    yield b"\0\1" + command(0x2042, h("00 00 0000 0000")) + event(0x0E, h("01 4220 00")) + command(0x2041, h("00 00 01 00 6000 3000"))
    yield b"\0\0" + command(0x200B, h("01 6000 3000 00 00")) + command(0x200B, b"\1") + event(0x10, b"\x42") + wait(9)
    yield b"\0\0" + owner(3) + respond(b"\x0c") + owner(3) + respond(b"") + respond(b"\0") + wait(20)
    yield b"\0\0" + owner(4) + respond(b"\0") * 5 + owner(5) + peer(3, h("02 0002")) + event(0x3E, h("12 00 01 4000 02"))
    yield b"\0\0" + owner(0, 1, b"\x3c") + wait(1) + event(0x3E, h("01 3e 4100 00 01 0504030201c0 1800 0000 2a00 00"))
    yield b"\0\0" + event(0x0E, h("01 3020 00 4000 02 02")) + event(0x0E, h("01 0514 00 4000 c4")) + event(0x0E, h("01 3020 00"))
    yield b"\0\0" + b"\7\0" + b"".join(map(block, map(h, ("00 1900000000000000", "00 fb00 08", "00 0c", "00 ff3f000000000000",
                                                         "00 10", "00 7206", "00 04"))))
    yield b"\0\0" + b"\7\4" + block(h("0200 0000 0100")) + block(h("060504030201 09 0f00 ffff0100 81020000 000000") + bytes(260)) + b"\0"
    yield b"\0\0" + b"\7\4" + block(h("ffff 0000")) + block(h("060504030201 09")) + b"\x0a"
    yield b"\0\0" + b"\7\x08" + block(h("0300 0700 0300 0e01 00")) + block(h("0200 0800 0100 00")) + block(h("0200 0700"))
    yield b"\0\0" + b"\7\x10" + block(h("0400 0800 0000")) + block(h("0100 ffff 0500 0300 00 0000")) + block(h("0400 0700 0000"))
    yield b"\0\0" + b"\7\x30" + block(h("0400 0800 0000")) + block(h("0100 ffff 0700 0300 00 0100 0700")) + block(b"")
    yield b"\0\0" + b"\7\0" + block(b"\0" + bytes(range(40))) * 7 + b"\7\0" + block(b"\0") * 7
    information = h("060504030201 09 0f00 81ae0000 81020000 000000") + bytes(260)
    yield b"\0\0" + b"\7\x0c" + b"".join(map(block, (information, h("81020000"), b"\0" + bytes(37) + b"\x60" + bytes(26), h("00 1900000000000000"), h("00 fb00 08"), h("00 7206"))))
    yield b"\0\0" + b"\7\x0c" + b"".join(map(block, (bytes(6) + information[6:9] + h("80820000 00000000") + bytes(263), h("01028000"), b"\1", b"", b"", b"")))
    yield b"\0\0" + event(0x3E, h("0d01 0100 01 665544332211 01 02 05 f4 c4 0000 00 000000000000 ff 020106"), 1) + b"\2\x40" + block(b"\4\x3e\x05\1")


def obvious_devices():
    """A simulated Obvious device, see fuzz_obvious_device.c: what and how, then a block."""
    pdu = lambda text, which=0: bytes([0, which << 6]) + block(h(text))
    segment = lambda text: b"\1\0" + block(h(text))
    frame = lambda opcode, text, flags=0: b"\2\0" + block(h(text)) + bytes([flags, opcode])
    transfer = lambda how, data: bytes([3, how]) + block(data)
    end = lambda how, more=b"": bytes([5, how]) + more
    entry = h("1000 01 00 00000000 1100 00 00 05000000")
    yield frame(1, "01 01 00 10 08 00 01 02 03 04 05 06 07 08") + frame(2, "") + frame(3, "") + frame(0x10, "") + frame(0x7F, "")
    yield pdu("02 0502") + pdu("0a 0100") + pdu("10 0100 ffff 0028") + segment("00") + segment("c0 01 00") + segment("80 4f42 01")
    yield transfer(0, entry) + transfer(0, entry[:8]) + transfer(0, b"") + end(0x10) + frame(2, "")
    yield transfer(8, bytes(range(200))) + end(8) + transfer(9, bytes(300)) + end(0x10)
    yield transfer(0x10, bytes(100)) + transfer(0x14, bytes(100)) + transfer(0x18, b"") + frame(0x22, "0000 0000") + frame(0x24, "")
    yield transfer(0, entry) + end(0x1A, h("0000 01 8000 ff")) + frame(2, "") + end(0x1F, bytes(range(21)))
    yield transfer(0, entry) + end(0x1B, h("0100 ff 0200 0f 0300 ff")) + end(0x1F) + frame(2, "")
    yield end(0x40) + pdu("12 0300 0100", 1) + end(0x41) + b"\4\x60" + block(b"") + frame(0x11, "1000 01", 3) + end(0x11)


def virtual():
    """Datagrams and messages of the virtual radio, see fuzz_virtual.c."""
    datagram = lambda data: b"\x00" + block(data)
    framed = lambda data, response=b"", choice=1: bytes([choice]) + bytes([len(data)]) + data + bytes([len(response)]) + response
    device = lambda data: b"\x02" + block(data)
    central = lambda data: b"\x80" + block(data)  # 0x80 % 6 is 2
    key, start = bytes(range(16)), b"\x04"
    yield b"\0" + framed(h("020106"), h("0309 4162")) + framed(h("020106"), b"", 0x43) + framed(bytes(200)) + framed(h("020106"), b"", 0xFD)
    yield b"\x40" + framed(h("020106")) * 2 + datagram(h("5441 01 c102030405d0 01 0000 0000"))
    yield b"\0" + datagram(b"") + datagram(h("5441 03")) + datagram(h("5441 01 c00102030400 01 ffff")) + datagram(h("5441"))
    yield b"\0" + start + device(h("01 02")) + start + device(h("01 03")) + start + device(h("01 09"))
    yield b"\4" + start + device(h("01 07")) + device(h("01 02")) + b"\x45\x40" + device(h("01 06"))
    yield b"\4" + start + device(h("01 07")) + device(h("01 07")) + device(h("01 05"))
    yield b"\0" + central(b"\1\1" + key + b"\0") + central(b"\1\4" + key) + central(b"\1\4" + bytes(16)) + central(h("00 0a0b"))
    yield b"\0" + central(b"\1\1" + key + b"\1") + central(h("01 08 40e20100")) + central(h("01 08 00000000"))
    yield b"\0" + central(b"\1\1" + key + b"\3") + b"\xe5\0" + central(b"\1\1" + key + b"\2") + central(b"\1\1" + key)
    yield b"\1" + central(b"\1\1" + key + b"\1") + central(b"\1") + central(b"\2\1") + central(b"\1\x0a") + device(b"\1\1" + key) + device(b"")



TEXTS = [text.encode() for text in (
    "fdd2", "0xFDD2", "0000fdd2-0000-1000-8000-00805f9b34fb", "C0:FF:EE:01:02:03", "C0:FF:EE:01:02:03/random",
    "# a commuter\nat 3s gesture double_tap\nat 4s malformed cut_payload 3\nat 250ms suspend voice_assistant\n"
    "at 9.5s disconnect\nat 1m advertise off\nat 2m stop\n",
    "at 1s pairing_mode on\nat 1s resume", "at x", "at 1s gesture", "at 86400001ms stop", "at 1s a b c d e f g h",
    "fast", "low-power,phy=coded", "7.5-15,2,400,phy=2m,length=251,links=8", "30-50,500", "1000-8000.75", "-")]


def gatt_cache():
    def record(count, *rows, address="0504030201c0", kind=1):
        body = b"TGAC" + bytes([1, count]) + h(address) + bytes([kind, 0]) + bytes(range(16)) + h("efbeadde")
        for row in rows:
            body += struct.pack("<HHHHB", *row)
        return body + struct.pack("<I", zlib.crc32(body))

    changed, notified, absent = (1, 6, 3, 4, 0x20), (0x10, 0x1F, 0x12, 0x13, 0x10), (0, 0, 0, 0, 0)
    whole = record(3, changed, notified, absent)
    files = [whole, record(0), record(24, *[notified] * 24), record(1, (4, 3, 0, 0, 0)), record(1, (0x10, 0x1F, 0x20, 0, 2)),
             record(2, changed, changed, address="ffeeddccbbaa", kind=0), record(1, changed, kind=2)]
    caches = [b"\0" + value for value in files + [whole[:-1], whole + b"\0", b"TGAC", b""]] + [b"\x01" + whole[:-4] + bytes(4)]

    def subscriptions(values, flags=1, count=None):
        body = b"TSUB" + bytes([1, len(values) if count is None else count, flags, 0]) + bytes(range(24)) + bytes(values)
        return body + struct.pack("<I", zlib.crc32(body))

    files = [subscriptions([0, 1, 2]), subscriptions([]), subscriptions([3] * 64), subscriptions([4]), subscriptions([1], 2),
             subscriptions([1], 0, 2), subscriptions([1] * 65)]
    return caches + [b"\2" + value for value in files] + [b"\3" + files[0][:-4] + bytes(4)]


def gatt_table():
    def uuid(value):
        return bytes([len(value)]) + value

    def answer(kind, count, start, end, asked=b""):
        return struct.pack("<BBHH", kind, count, start, end) + uuid(asked)

    def item(handle, value, end, properties, named):
        return struct.pack("<HHHB", handle, value, end, properties) + uuid(named)

    def record(cache, answers, items):
        body = uuid(cache) + bytes([1, len(answers), len(items)]) + b"".join(answers + items)
        return body + struct.pack("<I", zlib.crc32(body))

    services = [item(1, 0, 6, 0, h("0118")), item(16, 0, 23, 0, bytes(range(16)))]
    whole = record(bytes(47), [answer(1, 2, 1, 0xFFFF), answer(3, 1, 16, 23), answer(4, 1, 19, 23, h("0229"))],
                   services + [item(17, 18, 23, 0x10, h("015a")), item(19, 0, 0, 0, h("0229"))])
    files = [whole, record(b"", [], []), record(bytes(47), [answer(2, 0, 1, 6)], []),
             record(bytes(47), [answer(4, 1, 1, 0xFFFF)] * 40, [item(3, 0, 0, 0, b"")] * 40),
             record(b"", [answer(1, 1, 1, 6)], []), record(b"", [answer(5, 0, 1, 6)], []), b"TGAC" + bytes(52)]
    return [b"\0" + value for value in files + [whole[:-1], whole + b"\0", b""]] + [b"\x01" + whole[:-4] + bytes(4)]


def bonds():
    record = bytes([1, 1, 0, 16]) + h("010203040506 00 112233445566 01 1234 0102030405060708") + bytes(range(16)) + b"\0\0"
    head = b"TENDBOND" + bytes([1, 0])
    file = head + struct.pack("<HI", 1, zlib.crc32(record)) + record
    empty = head + struct.pack("<HI", 0, 0)
    record = record[:-2] + b"\1\0" + bytes(range(16, 32))
    newer = b"TENDBOND" + bytes([2, 0]) + struct.pack("<HI", 1, zlib.crc32(record)) + record
    key = h("01 112233445566 02 01 01 10 1234 0102030405060708") + bytes(range(16))
    identity = h("01 665544332251 112233445566 02") + bytes(range(16))
    faults = [b"drop=0.01,delay_ms=250,seed=7", b"garbage=5%,notifications_only", b"drop=2", b"truncate=1,,"]
    return ([b"\0" + value for value in (file, empty, file[:-1], file + b"\0", head)] + [b"\x80" + file, b"\x80" + head + bytes(6), b"\x80" + newer] +
            [b"\x01" + value for value in (key, key[:-1], b"")] + [b"\x02" + value for value in (identity, identity[:-1])] +
            [b"\x03" + value for value in faults])


OBVIOUS_FRAMES = [h(text) for text in (
    "4f420100010001000e00010100100800010203040506070829059b94", "4f420101010001000c0001001008ff000000d4c3b2a142fbf71b",
    "4f420101020002002800d20400008877665544332211f84d0f0042420f0069915b0050690f002900000000000000015702017ec6def6",
    "4f4201000300100005000210001100e67dfb2a", "4f420101030010000900021000010111000000dcd3ebd0",
    "4f42010004001100040001100002af241de8", "4f42010505001109000025aa7455",
    "4f420100060020002e0001000004940000005259a7dd2cbd783285f299840f1052a9bf36cfcbe7f65c11fc79f7e6189a23a23779001d0000"
    "de6ab82d", "4f420101060020000e000403020100000000000400000000dfc11283",
    "4f42010007002100280004030201000000004f46503101010100d204000088776655443322112a0000000000000000f1536512828d25",
    "4f42010008002300040004030201024e48b7", "4f42010108002300040000010000ef8011bf",
    "4f4201000a0030000600e0510f00010a21a76c45", "4f4201010b0032001400e0510f0002ffffffff00f84d0f00030000001d01a6cf8f2f",
    "4f4201000c0031000500e0510f00019ce0b772", "4f42010200008100030002e803284341e9", "4f4201050d0021100400900100003e425a71",
    "4f4201000201030000001138e8d2")]


def obvious():
    segments = [h(text) for text in (
        "6001000036004f420101020002002800d2040000", "400101008877665544332211f84d0f0042420f00",
        "4001020069915b0050690f002900000000000000", "58010300015702017ec6def6")]
    acks = [h(text) for text in ("440001000400000000000800", "440001000200010000000000", "440002040000000000000800",
                                 "440003050000000000000800", "440002080000000000000800")]
    link = struct.pack("<HHB", 3840, 0, 7)
    part = lambda *items: b"".join(b"\0" + block(item) for item in items)
    yield b"\0" + link + part(*segments)
    yield b"\0" + link + part(*segments[::-1])
    yield b"\0" + link + part(segments[0], segments[1], segments[1][:-1] + b"@", segments[2])
    yield b"\0" + link + part(segments[1]) + b"\x27\x7f" + part(*segments)
    yield b"\0" + struct.pack("<HHB", 0, 300, 31) + part(segments[2], segments[1], segments[0], segments[3])
    for ack in acks:
        yield b"\0" + link + b"\x4e" + part(ack) + b"\x0f\x0f\x17\x05" + part(acks[1], ack, acks[0])
    yield b"\0" + link + b"\xfe" + b"\x3f" * 20
    for frame in OBVIOUS_FRAMES:
        yield b"\x02" + frame
        yield b"\x01" + bytes([frame[3], frame[6], frame[7]]) + frame[10:-4]
    yield b"\x01" + bytes([0, 0x20, 0]) + OBVIOUS_FRAMES[7][10:-6].replace(b"\1", b"\2", 1) + h("8800") + bytes(136)
    yield b"\x02" + OBVIOUS_FRAMES[0][:-1]
    for ack in acks:
        yield b"\x03" + ack
    for text in ("1.3.0", "999.999.999", "1.2.", "4242 4242-4242 4242", "180F", "9c190001-c113-4e20-95f4-2602d4fc9f35"):
        yield b"\x04" + text.encode()
    yield b"\x04" + h("4f4750010300")
    package = h("4f46503101010100d204000088776655443322112a0000000000000000f1536500000000000000000000000000000000000000000000"
                "000000000000") + h("0300080010000101000000001100010200000000") + h("1400000000000000")
    yield b"\x05" + package + bytes(64)
    yield b"\x05" + package + bytes(63) + b"\1"
    yield b"\x05" + package[:7] + b"\1" + package[8:] + bytes(64)
    yield b"\x05" + package[:5] + b"\3" + package[6:56] + h("00000800") + bytes(64)
    yield b"\x05" + h("4f464d3101010000d2040000e0510f0000000000ffc99a3be8030000ffd54a11") + bytes(104)
    yield b"\x05" + h("4f464d3101010000d2040000e0510f0000000000ffc99a3be8030000ffd54a11") + bytes(103)
    hello, info, listed = (OBVIOUS_FRAMES[i][10:-4] for i in (1, 3, 5))
    answer = lambda *payloads: b"".join(b"\0" + block(payload) for payload in payloads)
    update = b"\x06\x25" + answer(hello, info, bytes(16)) + b"\x06" + block(package + bytes(64))
    yield update + answer(h("01000000000000000004") + bytes(4), h("94000000"), bytes(4))
    yield update + answer(h("01000000000000000004") + bytes(4)) + b"\x0f" + answer(h("01000000000000000004") + bytes(4))
    yield update + b"\x90" + block(b"") + b"\x0f"
    yield b"\x06\x0d" + answer(listed, listed)
    yield b"\x06\x05" + answer(info)


def cloud():
    """Answers of the reference cloud's forms, and some that are not."""
    digits, manifest = "0" * 64, "A" * 182 + "=="
    for call, text in (
        (0, '{"features":[{"id":16,"name":"Led","toggleable":true},{"id":17,"name":"Night","toggleable":false}]}'),
        (0, '{"features":[{"id":1,"name":"a","toggleable":true},{"id":1,"name":"b","toggleable":true}]}'),
        (1, '{"items":[{"id":7,"name":"Led","description":"d","itemprice":"4.99","currency":"USD","imageurl":"",'
            '"thumbnailurl":"null","featureIds":[16,17]}]}'),
        (2, '{"package":"AAEC/w==","counter":"18446744073709551615","sha256":"%s"}' % digits),
        (3, '{"versionCode":1004000,"versionName":"1.4.0","releaseNotes":"n","upgradeMessage":"m","size":65536,'
            '"crc32":"114ad5ff","sha256":"%s","manifest":"%s","url":"/v1/firmware/a.bin"}' % (digits, manifest)),
        (4, '{"cartId":991,"totalPrice":499,"currency":"USD"}'),
        (4, '{"status":"action_required","paymentId":"p1","paymentSecret":"s","actionUrl":"https://x"}'),
        (4, '{"status":"failed","code":"card_declined","message":"no"}'),
        (5, '{"code":"NOT_PROVISIONED","inField":true,"message":"\\u00e4\\ud83d\\ude00"}'),
        (5, "[" * 17), (5, '{"code":"' + "x" * 300), (5, "[" + "0," * 300 + "0]"), (6, "Zm9vYmFy"), (6, "Zg=="),
    ):
        yield bytes([call]) + text.encode()


def definitions():
    """The files of packaging/devices with their examples, and a file with everything that a file can have."""
    for path in sorted((ROOT.parent.parent.parent / "packaging/devices").glob("*.json")):
        text = path.read_bytes()
        examples = [h(value) for row in json.loads(text)["characteristics"] for value in row.get("examples", [])]
        yield text + b"\0" + b"".join(block(value) for value in examples)
    layout = ('[{"name":"n","type":"u8","bits":[{"name":"wide","bit":0},{"name":"kind","bit":1,"count":2,'
              '"values":[[1,"a"]]}]},{"name":"x","type":"i24","endian":"big","factor":1.5e-2,"if":"wide","min":-5,"unknown":9},'
              '{"switch":"kind","cases":{"0":{"fields":[{"name":"l","count":"n","records":[{"type":"sfloat"}]}],"exact":true},'
              '"1":[{"name":"t","type":"utf8","length":"n"},{"name":"f","type":"f32","optional":true}]},'
              '"otherwise":[{"name":"b","type":"bytes","at_most":3}]}]')
    yield ('{"name":"t","title":"T\\u00e9","find":{"name":"T*","company":"0x59"},"characteristics":[{"name":"v",'
           '"service":"fff0","uuid":"fff1","value":"w"},{"name":"c","service":"fff0","uuid":"fff2","write":[{"type":"u8",'
           '"equals":1},{"name":"rate","type":"u16","max":500}]},{"name":"d","service":"fff9","uuid":"fff2","value":[{"name":'
           '"day","type":"datetime"},{"name":"at","type":"u32","epoch":"2000-01-01","factor":0.5,"unknown":0,"local":true}],'
           '"write":[{"name":"date","type":"datetime"}]}],"layouts":{"w":' + layout + '},"events":[{"name":"e",'
           '"layout":"w","members":["x","l"],"sample":true},{"name":"g","layout":"w"}],"actions":[{"name":"go",'
           '"characteristic":"c"}]}').encode() + b"\0" + block(h("00")) + block(h("01000002 0000")) + block(h("03fffffb414243"))


def lines():
    """Capacity, whether numbers are exact, the time; then members: a choice, a number as four halves or a block."""
    head = lambda capacity, exact=0: struct.pack("<HBHHH", capacity, exact, 5, 0x1234, 0xFFFF)
    choice = lambda kind, high: next(c for c in range(high << 4, (high << 4) + 16) if c % 10 == kind)
    number = lambda value: bytes([choice(2, 4)]) + struct.pack("<4H", *struct.unpack(">4H", struct.pack(">d", value)))
    text = lambda data: bytes([choice(5, 0)]) + block(data)
    numbers = b"".join(number(value) for value in (
        0.0, -0.0, 0.1, 1 / 3, -2.5, 1e9, 999999999.5, 5e-324, 1.7976931348623157e308, 1e23, 2.0 ** 54, float("nan"),
        float("inf"), 1e-5))
    texts = text(b'a"b\\') + text("\u00e9\U0001f600".encode()) + text(b"\x80\xed\xa0\x80\0\n") + text(b"x" * 300)
    nested = bytes([choice(0, 8), choice(8, 0), 1, 2, choice(0, 0), choice(9, 8), choice(1, 0), choice(1, 0)])
    return [head(2000) + numbers, head(2000, 1) + numbers, head(2000) + texts, head(60) + texts, head(0),
            head(500) + nested + bytes([choice(7, 0)]) + block(h("00ff10")), head(2999) + bytes([choice(0, 8)]) * 40]


OSC = [h(text) for text in (
    "2f6f7363 696c6c61 746f722f 342f6672 65717565 6e637900 2c660000 43dc0000",
    "2f666f6f 00000000 2c696973 66660000 000003e8 ffffffff 68656c6c 6f000000 3f9df3b6 40b5b22d",
    "2f610000 2c685464 465b7462 5d4e5349 63720000 fffffffffffffffe bfe0000000000000 83aa7e8080000000"
    "00000005 41424344 45000000 00000000 00000078 81020304", "2f610000", "2f610000 2c6d0000 00903c7f",
    "2362756e646c6500 0000000000000001 00000008 2f610000 2c540000 00000018 2362756e646c6500 0000000000000003"
    "00000004 2f620000", "2362756e646c6500 0000000000000001 00000004 2f610000 00000005",
    "2362756e646c6500 0000000000000001 00000040 2362756e646c6500 0000000000000002 0000002c 2362756e646c6500"
    "0000000000000003 00000018 2362756e646c6500 0000000000000004 00000004 2f610000")] + [
    b"scene:-yaw, pitch,-roll", b"w,-x,y,-z,0", b"opentrack", b"/Bose 1*"]


def gateway():
    """A choice; of an action the family and a block, of an event its line's capacity, exactness and name, then members."""
    action = lambda family, text: bytes([6, family]) + block(text.encode())
    head = lambda choice: bytes([choice]) + struct.pack("<HB", 2000, 0) + block(b"A \"name\"")
    half = lambda value: struct.pack("<4H", *struct.unpack(">4H", struct.pack(">d", value)))
    texts = [(0, "tare"), (0, "stop now"), (1, "x"), (2, "signal warnign"), (2, "vibrate -90"), (2, "mode compass"),
             (2, "stop"), (3, "led blinkFast 500"), (3, "led on 70000"), (4, "toggle 0x10 flip"), (4, "firmware check"),
             (5, "go on 1.5e2 00ff"), (5, "go onn 1 2"), (5, "go on fast 00"), (6, ""), (5, "goo")]
    sample = h("05 00 03") + b"".join(half(v) for v in (0.1, 0.2, 0.3, 0.9, 0.01))
    bose = [head(0) + sample + bytes([kind]) + h("0107 0100 0200 02 81 03 00 1400 82 01 0000 c0 03 ffff 33")
            for kind in (12, 20, 21, 9, 15, 16, 5, 22)]
    value = lambda data: head(5) + h("01 0000 0100") + block(data)
    return [b"".join(action(*one) for one in texts), *(action(*one) for one in texts[:6]), *bose,
            head(1) + b"".join(half(v) for v in (12.5, 1.0, 0.5, -0.5, 2.0, -2.0, 0.0, 9.8)) + h("50 08 08 09 0000"),
            head(2) + h("02 01 02") + half(55.5) + half(3600.0) + h("1000 07 0000 00"),
            head(3) + h("01 05 11 40 03 02 00 02 40 00"), head(4) + h("03 0700 01 01 0200 00 01 0700 01 02 04 01 00"),
            value(h("82 0100 0000803f 0100 0000c07f ff07 4142")), value(h("00 1027 22 0a ff")), value(h("05"))]


def replays():
    """A family; of each value 0x80 written, 0x40 with a time before it, and the number of its characteristic; a block."""
    def values(family, *all):
        return bytes([family]) + b"".join(bytes([how]) + (b"\x10\x27" if how & 0x40 else b"") + block(h(text)) for how, text in all)

    def segment(sequence, frame):  # a whole message
        return f"70{sequence:02x}0000" + struct.pack("<H", len(frame) // 2).hex() + frame

    frames = [json.loads(line)["hex"] for line in (ROOT.parent.parent / "vectors/obvious.jsonl").read_text().splitlines()
              if '"kind":"frame"' in line and '"hex"' in line]
    frames = [frame for frame in frames if 28 <= len(frame) <= 400]
    bose = [(3, "0003e800000000f00003"), (1, "00fff8000880017fff001f0701f83007d080017fff001f07"), (0x43, "0003f000000000f00003"),
            (3, "0203e820001000000000000000"), (3, "0003"), (0, "0400402c010000000f0007000e08002f041008"),
            (0, "0400402c010000000f0007000e08002f040000"), (2, "000000010014"), (0x82, "000000010000"), (4, "80048104"),
            (5, "8100c101"), (0x85, "8100c1"), (6, "c12710"), (0x1f, "64")]
    belt = [(1, "03"), (0x81, "03"), (2, "30ff"), (0x82, "30ff"), (3, "0401000203"), (3, "09"), (5, "010102"), (5, "010232"),
            (5, "01036701"), (5, "010441ff"), (8, "020064ffff"), (11, "02a6ffd3ff0200faff05000303030300"),
            (11, "01a6ffd3ff0200faff05000303030300"), (0, "2d00")]
    trainer = [(3, "ff7f"), (3, "0000"), (0x43, "ff7f"), (3, "0000"), (3, "00"), (4, "0000" * 8), (0x82, "4154560a4513"),
               (0x82, "41"), (0x88, "6400"), (1, "1254"), (1, "43356b3b312e30303b30343b4241544f4b13"), (9, "64"), (10, "41ff"), (6, "4142")]
    grip = [(0, "0002010000"), (0, "0002010000"), (0, "05800000ff0681000000"), (0, "00"), (1, "010200000100"), (1, "02"),
            (0x82, "0201"), (2, "820100"), (0x1f, "1d"), (0x1f, "ff")]
    toy = [(0, "01000100"), (0, "050003004142"), (0x80, "01"), (0, "01"), (0, "050003000a00")]
    return [values(0, *trainer), values(1, *bose), values(1, *bose[2:]), values(0x81, *bose), values(2, *belt), values(3, *grip),
            *(values(4, (1, "4f47500100000000"), *((how, segment(number, frame)) for number, frame in enumerate(frames[start:start + 12])
              for how in (0, 0x80)), (0x1f, "64")) for start in range(0, len(frames), 12)), values(5, *toy), values(11, *toy)]


def main():
    write("gateway", gateway())
    write("line", lines())
    write("osc", OSC)
    write("replay", replays())
    write("att", ATT)
    write("clock", [  # steps of a steady stream, a clock that jumps in both directions, a reconnection, an interval
        bytes(16) + h("b40a" * 20 + "b8ff" * 20), h("0102030405060708 1112131415161718" + "b404" * 9 + "38ff b404 b404"),
        bytes(16) + h("5400 30 75" + "b408" * 30 + "60 b4ff" * 4), h("ff" * 16 + "0000 0102030405060708" + "98ff" * 12)])
    write("att_items", [seed[:1] + (seed[1:2] if seed[:1] in (b"\x05", b"\x09", b"\x11") else b"\0") +
                        (seed[2:] if seed[:1] in (b"\x05", b"\x09", b"\x11") else seed[1:]) for seed in ATT])
    write("advertisement", ADVERTISEMENTS)
    write("hci_event", EVENTS)
    write("ad_chain", chains())
    write("acl", acl_streams())
    write("activ5", activ5())
    write("activ5_manager", activ5_managers())
    write("activ5_session", activ5_sessions())
    write("feelspace", feelspace())
    write("fault", faults())
    write("fjorden", fjorden())
    write("gatt_server", server_sessions())
    write("gatt_client", client_sessions())
    write("bose_codec", bose_codec())
    write("bose_session", bose_sessions())
    write("bonds", bonds())
    write("gatt_cache", gatt_cache())
    write("gatt_table", gatt_table())
    write("capture", captures())
    write("management", management())
    write("obvious", obvious())
    write("cloud", cloud())
    write("bluez", bluez())
    write("obvious_device", obvious_devices())
    write("virtual", virtual())
    write("text", TEXTS)
    write("definition", definitions())


if __name__ == "__main__":
    main()

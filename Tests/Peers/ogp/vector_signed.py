# SPDX-License-Identifier: MIT
"""Packages and manifests for test vectors: every refusal, and its place in the order of checks."""

import hashlib
import random

from . import signed
from .payload import OBJECT_MAX, VERSION_MAX

ONE = signed.Key(bytes(range(32)), 1)
TWO = signed.Key(hashlib.sha256(b"second key").digest(), 200)
STRANGER = signed.Key(hashlib.sha256(b"no device has this key").digest(), 1)
ABSENT = signed.Key(bytes(range(32)), 7)
PRODUCT, SERIAL = 1234, 0x1122334455667788
NONCE = bytes(range(0xA0, 0xB0))
ENTRIES = [(16, 1, 1, 0), (17, 1, 2, 7), (20, 0, 0, 0xFFFFFFFF)]


def flipped(data, at, bit=0):
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1:]


class Packages:
    def __init__(self, add):
        self.add = add

    def put(self, name, data, **state):
        features = state.pop("features", {16: (1, 2, 5), 30: (0, 1, 0)})
        self.add("package", name=name, hex=data.hex(), state={
            "product": state.get("product", PRODUCT), "serial": str(state.get("serial", SERIAL)),
            "keys": {str(key.key_id): key.public.hex() for key in (ONE, TWO)}, "counter": str(state.get("counter", 41)),
            "last_hash": state.get("last_hash", b"").hex(), "nonce": state.get("nonce", signed.NO_NONCE).hex(),
            "fw": state.get("fw", 1_003_000), "features": {str(key): list(value) for key, value in features.items()}})

    def build(self, name, entries=ENTRIES, state=None, key=ONE, product=PRODUCT, serial=SERIAL, counter=42, **options):
        self.put(name, signed.build_package(key, product, serial, counter, entries, **options), **(state or {}))


def package_contents(make):
    make.build("full set")
    make.build("full set of none", [])
    make.build("second key", key=TWO)
    make.build("delta", kind=signed.DELTA)
    make.build("delta of none", [], kind=signed.DELTA)
    make.build("clear", [], kind=signed.CLEAR)
    make.build("provision", [], kind=signed.PROVISION)
    make.build("reboot flag", flags=signed.REBOOTS)
    make.build("no features before", state={"features": {}})
    make.build("the largest", [(i, i % 2, i % 4, i) for i in range(1, 1025)])
    keep = [(16, 1, 3, 1), (18, 1, 3, 2), (19, 0, 3, 3), (30, 1, 3, 4)]
    for kind, name in ((signed.FULL, "full"), (signed.DELTA, "delta")):
        make.build(f"{name}: toggle keep, known and unknown", keep, kind=kind)
        make.build(f"{name}: toggle keep of a feature without a switch", [(16, 1, 3, 1)], kind=kind,
                   state={"features": {16: (0, 0, 0)}})
    make.build("first and last id", [(1, 1, 0, 0), (1024, 1, 1, 1)])


def package_numbers(make):
    for counter in (0, 1, 41, 42, 43, 2**32, 2**63, 2**64 - 1):
        for stored in (0, 41, 42, 2**64 - 2, 2**64 - 1):
            make.build(f"counter {counter} over {stored}", [(16, 1, 1, 0)], counter=counter, state={"counter": stored})
    same = signed.build_package(ONE, PRODUCT, SERIAL, 42, ENTRIES)
    digest = hashlib.sha256(same).digest()
    make.put("already applied", same, counter=42, last_hash=digest)
    make.put("already applied, other counter stored", same, counter=43, last_hash=digest)
    make.put("its hash with a lower counter stored", same, counter=41, last_hash=digest)
    make.put("same counter, other hash", same, counter=42, last_hash=bytes(32))
    make.put("already applied to another product", same, counter=42, last_hash=digest, product=1235)
    make.put("already applied by another device", same, counter=42, last_hash=digest, serial=SERIAL + 1)
    make.put("already applied before min_fw", signed.build_package(ONE, PRODUCT, SERIAL, 42, min_fw=2_000_000), counter=42,
             last_hash=hashlib.sha256(signed.build_package(ONE, PRODUCT, SERIAL, 42, min_fw=2_000_000)).digest())
    for least in (1_002_999, 1_003_000, 1_003_001, VERSION_MAX, 2**32 - 1):
        make.build(f"min_fw {least}", min_fw=least)


def package_nonces(make):
    bound = signed.NONCE_BOUND
    make.build("nonce", flags=bound, nonce=NONCE, state={"nonce": NONCE})
    make.build("nonce and reboot", flags=bound | signed.REBOOTS, nonce=NONCE, state={"nonce": NONCE})
    make.build("other nonce outstanding", flags=bound, nonce=NONCE, state={"nonce": NONCE[::-1]})
    make.build("last byte of the nonce", flags=bound, nonce=NONCE, state={"nonce": flipped(NONCE, 15)})
    make.build("no nonce outstanding", flags=bound, nonce=NONCE)
    make.build("bound to no nonce", flags=bound, state={"nonce": NONCE})
    make.build("bound to zeros, zeros outstanding", flags=bound)
    make.build("nonce without its flag", nonce=NONCE, state={"nonce": NONCE})
    make.build("one bit of a nonce without its flag", nonce=flipped(bytes(16), 15, 7))
    make.build("not bound while one is outstanding", state={"nonce": NONCE})


def package_refusals(make):
    good = signed.build_package(ONE, PRODUCT, SERIAL, 42, ENTRIES)
    for length in (0, 1, 60, 123, 124, len(good) - 1):
        make.put(f"cut to {length}", good[:length])
    make.put("a byte too long", good + b"\0")
    make.put("longer than the largest", good + bytes(8317 - len(good)))
    make.build("provision with the reboot flag", [], kind=signed.PROVISION, flags=signed.REBOOTS)
    make.build("n of 1025", count=1025)
    make.build("n of one more", count=4)
    make.build("n of one less", count=2)
    for size in (0, 7, 9, 65535):
        make.build(f"entry size {size}", entry_size=size)
    make.build("other magic", magic=b"OFM1")
    for version in (0, 2):
        make.build(f"version {version}", version=version)
    make.build("unknown key", key=ABSENT)
    make.build("key id of another key", key=STRANGER)
    for at in (6, 7, 8, 12, 20, 28, 36, 52, 60, 62, 63, 64, 83, 84, 100, 115, 116, 147):
        make.put(f"byte {at} changed", flipped(good, at))
    domain = ONE.sign(signed.MANIFEST_DOMAIN, good[:-64])
    make.put("signed for another use", domain)
    make.put("signed without its name", ONE.sign(b"", good[:-64]))
    for kind in (0, 5, 255):
        make.build(f"kind {kind}", [], kind=kind)
    for flags in (4, 8, 16, 32, 64, 128, 255):
        make.build(f"flags {flags}", flags=flags)
    make.build("product", product=PRODUCT + 1)
    make.build("product, first byte", product=PRODUCT + 2**24)
    make.build("serial", serial=SERIAL + 1)
    make.build("serial, first byte", serial=SERIAL ^ 1 << 56)
    for kind in (signed.CLEAR, signed.PROVISION):
        make.build(f"kind {kind} with entries", kind=kind)
    for name, entries in (("id 0", [(0, 1, 1, 0)]), ("id 1025", [(1025, 1, 1, 0)]), ("ids equal", [(16, 1, 1, 0)] * 2),
                          ("ids descend", [(17, 1, 1, 0), (16, 1, 1, 0)]), ("enable 2", [(16, 2, 1, 0)]),
                          ("enable 255", [(16, 255, 1, 0)]), ("toggle 4", [(16, 1, 4, 0)]), ("toggle 255", [(16, 1, 255, 0)]),
                          ("the last entry", [(16, 1, 1, 0), (17, 1, 9, 0)])):
        make.build(name, entries)
        make.build(f"delta: {name}", entries, kind=signed.DELTA)


def package_order(make):
    """Two faults each: the earlier check decides."""
    make.put("length before magic", b"X" * 100)
    make.build("magic before entry size", magic=b"XXXX", entry_size=9)
    make.build("entry size before length", entry_size=9, count=1)
    make.build("n before length", count=2000)
    make.build("length before key", count=4, key=ABSENT)
    make.put("key before signature", flipped(signed.build_package(ABSENT, PRODUCT, SERIAL, 42), 70))
    make.put("signature before kind", flipped(signed.build_package(ONE, PRODUCT, SERIAL, 42, kind=9), 100))
    make.build("kind before product", kind=9, product=1)
    make.build("product before serial", product=1, serial=1)
    make.build("serial before counter", serial=1, counter=1)
    make.build("counter before nonce", counter=41, flags=signed.NONCE_BOUND, nonce=NONCE)
    make.build("nonce before min_fw", flags=signed.NONCE_BOUND, nonce=NONCE, min_fw=VERSION_MAX)
    make.build("nonce field before min_fw", nonce=NONCE, min_fw=VERSION_MAX)
    make.build("min_fw before entries", [(0, 1, 1, 0)], min_fw=VERSION_MAX)
    make.build("min_fw before entries of a clear", kind=signed.CLEAR, min_fw=VERSION_MAX)


def packages(add):
    make = Packages(add)
    for part in (package_contents, package_numbers, package_nonces, package_refusals, package_order):
        part(make)


IMAGE = random.Random("image").randbytes(300)


class Manifests:
    def __init__(self, add):
        self.add = add

    def put(self, name, data, image=IMAGE, product=PRODUCT, current=1_003_000, epoch=3):
        self.add("manifest", name=name, hex=data.hex(), image=None if image is None else image.hex(), state={
            "product": product, "keys": {str(key.key_id): key.public.hex() for key in (ONE, TWO)}, "current": current,
            "epoch": epoch})

    def build(self, name, version=1_004_000, key=ONE, product=PRODUCT, epoch=3, image=IMAGE, current=1_003_000, tried=IMAGE, **options):
        self.put(name, signed.build_manifest(key, product, version, image, epoch, **options), tried, current=current)


def manifest_accepted(make):
    make.build("accepted")
    make.build("without its image", tried=None)
    make.build("second key", key=TWO)
    make.build("of one byte", image=b"\0", tried=b"\0")
    make.build("the largest image", size=OBJECT_MAX, tried=None)
    make.build("the highest version", VERSION_MAX)
    make.build("a higher epoch", epoch=2**32 - 1)
    make.build("older, allowed", 1_002_000, flags=1)
    make.build("the same, allowed", 1_003_000, flags=1)
    make.build("version 0, allowed", 0, flags=1)
    make.build("closed range, lower end", min_from=1_003_000, max_from=2_000_000)
    make.build("closed range, upper end", min_from=0, max_from=1_003_000)
    make.build("closed range of one", min_from=1_003_000, max_from=1_003_000)
    make.build("range up to any number", max_from=2**32 - 1)


def manifest_refusals(make):
    good = signed.build_manifest(ONE, PRODUCT, 1_004_000, IMAGE, 3)
    for length in (0, 1, 72, 135):
        make.put(f"cut to {length}", good[:length])
    make.put("a byte too long", good + b"\0")
    make.build("other magic", magic=b"OFP1")
    for form in (0, 2):
        make.build(f"version of the form {form}", form=form)
    make.build("unknown key", key=ABSENT)
    make.build("key id of another key", key=STRANGER)
    for at in (6, 8, 12, 16, 20, 24, 28, 32, 63, 64, 68, 71, 72, 103, 104, 135):
        make.put(f"byte {at} changed", flipped(good, at))
    make.put("signed for another use", ONE.sign(signed.PACKAGE_DOMAIN, good[:72]))
    for reserved in (1, 2**31):
        make.build(f"reserved {reserved}", reserved=reserved)
    for bit in range(1, 16):
        make.build(f"flag bit {bit}", flags=1 << bit)
    make.build("version too high", VERSION_MAX + 1)
    make.build("no version", 2**32 - 1)
    make.build("range upside down", min_from=1_003_001, max_from=1_003_000)
    for size in (0, OBJECT_MAX + 1, 2**32 - 1):
        make.build(f"size {size}", size=size)
    make.build("product", product=PRODUCT ^ 1 << 31)
    make.build("epoch", epoch=2)
    make.build("epoch, older allowed", epoch=2, flags=1)
    make.build("current below the range", min_from=1_003_001)
    make.build("current above the range", max_from=1_002_999)
    make.build("older", 1_002_999)
    make.build("the same", 1_003_000)
    make.build("image a byte short", tried=IMAGE[:-1])
    make.build("image a byte long", tried=IMAGE + b"\0")
    make.build("no image", tried=b"")
    make.build("image changed", tried=flipped(IMAGE, 299, 7))
    make.build("other CRC", crc=0)
    make.build("other SHA-256", sha256=bytes(32))


def manifest_order(make):
    """Two faults each: the earlier check decides."""
    make.put("length before magic", b"X" * 135)
    make.build("magic before key", magic=b"XXXX", key=ABSENT)
    make.put("key before signature", flipped(signed.build_manifest(ABSENT, PRODUCT, 1, IMAGE), 100))
    make.put("signature before reserved", flipped(signed.build_manifest(ONE, PRODUCT, 1, IMAGE, reserved=1), 100))
    make.build("reserved before size", reserved=1, size=0)
    make.build("range before size", min_from=9, max_from=8, size=0)
    make.build("size before product", size=0, product=1)
    make.build("product before epoch", product=1, epoch=0)
    make.build("epoch before range", epoch=0, min_from=VERSION_MAX)
    make.build("range before version", 1, min_from=VERSION_MAX)
    make.build("version before image", 1, tried=b"")
    make.build("image length before its hash", tried=IMAGE[1:], crc=0)


def manifests(add):
    make = Manifests(add)
    for part in (manifest_accepted, manifest_refusals, manifest_order):
        part(make)

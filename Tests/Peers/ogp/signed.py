# SPDX-License-Identifier: MIT
"""Feature packages (OFP1) and firmware manifests (OFM1): building, signing, and the order in which they are judged."""

import hashlib
import struct
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from .frame import crc32, require
from .payload import MANIFEST_SIZE, OBJECT_MAX, VERSION_MAX

FULL, DELTA, CLEAR, PROVISION = 1, 2, 3, 4
NONCE_BOUND, REBOOTS = 1, 2
OLDER_ALLOWED = 1
PACKAGE_DOMAIN, MANIFEST_DOMAIN = b"OBVIOUS-OFP1\0", b"OBVIOUS-OFM1\0"
NO_NONCE = bytes(16)


class Key:
    """A signing key made of a 32-byte seed."""

    def __init__(self, seed, key_id=1):
        self.private = Ed25519PrivateKey.from_private_bytes(seed)
        self.key_id = key_id
        self.public = self.private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)

    def sign(self, domain, data):
        return data + self.private.sign(domain + data)


def verify(keys, key_id, domain, data):
    """`keys`: public keys by id. The last 64 bytes are the signature of the others."""
    require(key_id in keys, "UNKNOWN_KEY")
    try:
        Ed25519PublicKey.from_public_bytes(keys[key_id]).verify(data[-64:], domain + data[:-64])
        good = True
    except (InvalidSignature, ValueError):
        good = False
    require(good, "SIG_INVALID")


def build_package(key, product, serial, counter, entries=(), kind=FULL, flags=0, nonce=NO_NONCE, min_fw=0,
                  issued=1_700_000_000, entry_size=8, count=None, magic=b"OFP1", version=1):
    """`entries`: (id, enable, toggle, value). The keywords that no good package needs are for tests."""
    body = struct.pack("<4sBBBBIQQQ16sIHH", magic, version, kind, key.key_id, flags, product, serial, counter, issued, nonce,
                       min_fw, len(entries) if count is None else count, entry_size)
    return key.sign(PACKAGE_DOMAIN, body + b"".join(struct.pack("<HBBI", *entry) for entry in entries))


@dataclass
class Package:
    kind: int
    key_id: int
    flags: int
    product: int
    serial: int
    counter: int
    nonce: bytes
    min_fw: int
    entries: list

    @staticmethod
    def parse(data, keys):
        """The steps that need no state of a device, up to the check of kind and flags; entries are not judged."""
        require(124 <= len(data) <= 8316, "BAD_LENGTH")
        (magic, version, kind, key_id, flags, product, serial, counter, _, nonce, min_fw, count,
         entry_size) = struct.unpack_from("<4sBBBBIQQQ16sIHH", data)
        require(magic == b"OFP1" and version == 1, "BAD_FORMAT")
        require(entry_size == 8 and count <= 1024, "BAD_FORMAT")
        require(len(data) == 124 + 8 * count, "BAD_LENGTH")
        verify(keys, key_id, PACKAGE_DOMAIN, data)
        require(FULL <= kind <= PROVISION and flags & ~(NONCE_BOUND if kind == PROVISION else NONCE_BOUND | REBOOTS) == 0,
                "BAD_FORMAT")
        entries = list(struct.iter_unpack("<HBBI", data[60:60 + 8 * count]))
        return Package(kind, key_id, flags, product, serial, counter, nonce, min_fw, entries)

    def check_entries(self):
        require(self.kind in (FULL, DELTA) or not self.entries, "BAD_FORMAT")
        before = 0
        for feature, enable, toggle, _ in self.entries:
            require(before < feature <= 1024 and enable <= 1 and toggle <= 3, "BAD_FORMAT")
            before = feature


@dataclass
class Holder:
    """What a device keeps of its packages. `features`: (enable, toggle, value) by id."""

    product: int
    serial: int
    keys: dict
    counter: int = 0
    last_hash: bytes = b""
    nonce: bytes = NO_NONCE
    fw: int = 0
    features: dict = field(default_factory=dict)
    provisioned: bool = False

    def accept(self, data, kinds=(FULL, DELTA, CLEAR, PROVISION)):
        """OK or ALREADY_APPLIED; OgpError and no change but of the nonce. Returns the package as well."""
        package = Package.parse(data, self.keys)
        require(package.kind in kinds, "BAD_FORMAT")
        require(package.product == self.product, "WRONG_PRODUCT")
        require(package.serial == self.serial, "WRONG_DEVICE")
        digest = hashlib.sha256(data).digest()
        if package.counter == self.counter and digest == self.last_hash:
            return "ALREADY_APPLIED", package
        require(package.counter > self.counter, "REPLAY")
        outstanding, self.nonce = self.nonce, NO_NONCE
        if package.flags & NONCE_BOUND:
            require(package.nonce == outstanding and package.nonce != NO_NONCE, "NONCE_MISMATCH")
        else:
            require(package.nonce == NO_NONCE, "BAD_FORMAT")
        require(self.fw >= package.min_fw, "FW_TOO_OLD")
        package.check_entries()
        self.features = self._applied(package)
        self.counter, self.last_hash = package.counter, digest
        self.provisioned = self.provisioned or package.kind == PROVISION
        return "OK", package

    def _applied(self, package):
        after = {} if package.kind in (FULL, CLEAR) else dict(self.features)
        for feature, enable, toggle, value in package.entries:
            if toggle == 3:
                present = self.features.get(feature)
                toggle = present[1] if present else (1 if enable else 2)
            after[feature] = (enable, toggle, value)
        return after


def build_manifest(key, product, version, image, epoch=1, min_from=0, max_from=VERSION_MAX, flags=0, reserved=0, size=None,
                   crc=None, sha256=None, magic=b"OFM1", form=1):
    body = struct.pack("<4sBBHIIIIII32sII", magic, form, key.key_id, flags, product, version, min_from, max_from,
                       len(image) if size is None else size, crc32(image) if crc is None else crc,
                       hashlib.sha256(image).digest() if sha256 is None else sha256, epoch, reserved)
    return key.sign(MANIFEST_DOMAIN, body)


@dataclass
class Manifest:
    flags: int
    product: int
    version: int
    min_from: int
    max_from: int
    size: int
    crc: int
    sha256: bytes
    epoch: int

    @staticmethod
    def accept(data, keys, product, current, epoch, image=None):
        """The manifest if it is good for a device with these values; `image` None skips the checks of the image."""
        require(len(data) == MANIFEST_SIZE, "BAD_LENGTH")
        (magic, form, key_id, flags, of_product, version, min_from, max_from, size, crc, sha256, of_epoch,
         reserved) = struct.unpack_from("<4sBBHIIIIII32sII", data)
        require(magic == b"OFM1" and form == 1, "BAD_FORMAT")
        verify(keys, key_id, MANIFEST_DOMAIN, data)
        require(reserved == 0 and flags <= 1 and version <= VERSION_MAX and min_from <= max_from, "BAD_FORMAT")
        require(1 <= size <= OBJECT_MAX, "TOO_LARGE")
        require(of_product == product, "WRONG_PRODUCT")
        require(of_epoch >= epoch, "DOWNGRADE")
        require(min_from <= current <= max_from, "NOT_SUPPORTED")
        require(version > current or flags & OLDER_ALLOWED, "DOWNGRADE")
        if image is not None:
            require(len(image) == size, "BAD_LENGTH")
            require(crc32(image) == crc and hashlib.sha256(image).digest() == sha256, "HASH_MISMATCH")
        return Manifest(flags, of_product, version, min_from, max_from, size, crc, sha256, of_epoch)

# SPDX-License-Identifier: MIT
"""Signed objects: feature packages (OFP1) and firmware manifests (OFM1), from their byte tables."""
import hashlib
import struct
import zlib

FULL, DELTA, CLEAR, PROVISION = 1, 2, 3, 4
NONCE_BOUND, REBOOTS = 1, 2
TOGGLE_NONE, TOGGLE_ON, TOGGLE_OFF, TOGGLE_KEEP = 0, 1, 2, 3
PACKAGE_DOMAIN = b"OBVIOUS-OFP1\0"
MANIFEST_DOMAIN = b"OBVIOUS-OFM1\0"


def version_code(text):
    """"1.3.0" is 1003000."""
    parts = text.split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) <= 3 for part in parts):
        raise ValueError("a version is of the form 1.2.3")
    major, minor, patch = (int(part) for part in parts)
    return major * 1_000_000 + minor * 1000 + patch


def version_text(code):
    return f"{code // 1_000_000}.{code // 1000 % 1000}.{code % 1000}"


def package(sign, key_id, kind, product, serial, counter, issued_at, entries=(), nonce=None, reboots=False, min_fw=0):
    """entries: (id, enable, toggle, value). sign: bytes to 64 bytes. nonce: 16 bytes that the package is bound to."""
    flags = (NONCE_BOUND if nonce else 0) | (REBOOTS if reboots else 0)
    body = struct.pack("<4sBBBBIQQQ16sIHH", b"OFP1", 1, kind, key_id, flags, product, serial, counter, issued_at,
                       nonce or bytes(16), min_fw, len(entries), 8)
    for entry in sorted(entries):
        body += struct.pack("<HBBI", *entry)
    return body + sign(PACKAGE_DOMAIN + body)


def manifest(sign, key_id, product, version, image, min_from=0, max_from=999_999_999, epoch=0, older_allowed=False):
    body = struct.pack("<4sBBHIIIIII32sII", b"OFM1", 1, key_id, 1 if older_allowed else 0, product, version, min_from,
                       max_from, len(image), zlib.crc32(image), hashlib.sha256(image).digest(), epoch, 0)
    return body + sign(MANIFEST_DOMAIN + body)

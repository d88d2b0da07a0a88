# SPDX-License-Identifier: MIT
"""Version codes, card numbers, UUIDs and the choice of a profile."""

import re
import struct

from .frame import require

BASE = "-0000-1000-8000-00805f9b34fb"
SERVICE = "9c190001-c113-4e20-95f4-2602d4fc9f35"
DATA = "9c190002-c113-4e20-95f4-2602d4fc9f35"
STATUS = "9c190003-c113-4e20-95f4-2602d4fc9f35"
RECOVERY, TRIAL = 1, 2


def version_code(text):
    require(re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){2}", text), "VER_FORMAT")
    major, minor, patch = (int(part) for part in text.split("."))
    return major * 1_000_000 + minor * 1000 + patch


def version_text(code):
    require(code <= 999_999_999, "VER_RANGE")
    return f"{code // 1_000_000}.{code // 1000 % 1000}.{code % 1000}"


def card_number(text):
    """The local check of a card's number; OgpError CARD_NUMBER."""
    digits = []
    for character in text:
        if character in " -":
            continue
        require(character in "0123456789", "CARD_NUMBER")
        digits.append(int(character))
    require(12 <= len(digits) <= 19, "CARD_NUMBER")
    total = 0
    for place, digit in enumerate(reversed(digits)):
        if place % 2:
            digit = digit * 2 if digit < 5 else digit * 2 - 9
        total += digit
    require(total % 10 == 0, "CARD_NUMBER")
    return True


def uuid(text):
    """The 128-bit form in lower case; OgpError UUID_FORMAT."""
    lower = text.lower()
    if re.fullmatch(r"[0-9a-f]{4}|[0-9a-f]{8}", lower):
        return lower.rjust(8, "0") + BASE
    require(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", lower), "UUID_FORMAT")
    return lower


def status_flags(value):
    """The flags of an OGP_STATUS value; OgpError UNSUPPORTED_PROFILE."""
    require(value is not None and len(value) >= 6 and value[:4] == b"OGP\x01", "UNSUPPORTED_PROFILE")
    return struct.unpack_from("<H", value, 4)[0]


def profile_flags(configured, discovered, value):
    """`discovered`: characteristics by service, any form of UUID. Returns the flags of a device that speaks OGP/1."""
    service, data, status = (uuid(configured[key]) for key in ("svc", "data", "status"))
    found = set()
    for name, characteristics in discovered.items():
        if uuid(name) == service:
            found |= {uuid(characteristic) for characteristic in characteristics}
    require({data, status} <= found, "UNSUPPORTED_PROFILE")
    return status_flags(value)

# SPDX-License-Identifier: MIT
"""CRC-32 and frames: the 10-byte header, the payload, the checksum."""

import struct
import zlib
from dataclasses import dataclass

FRAME_MAX = 4096
OVERHEAD = 14
MAGIC = b"OB"
RESPONSE, EVENT, ERROR = 1, 2, 4

STATUS = dict(enumerate((
    "OK UNKNOWN_OPCODE BAD_LENGTH BAD_PARAM BUSY NOT_READY NOT_SUPPORTED NOT_PROVISIONED UNKNOWN_FEATURE FEATURE_DISABLED "
    "TOGGLE_UNSUPPORTED SIG_INVALID REPLAY WRONG_DEVICE WRONG_PRODUCT BAD_FORMAT BAD_OFFSET TOO_LARGE HASH_MISMATCH "
    "DOWNGRADE NO_SESSION FLASH_FAILED LOW_POWER UNAUTHORIZED UNKNOWN_KEY NONCE_MISMATCH FW_TOO_OLD").split()))
STATUS[255] = "INTERNAL"
CODE = {name: code for code, name in STATUS.items()}


class OgpError(Exception):
    """A malformed or rejected input; `name` is spelled as in the specification."""

    def __init__(self, name):
        super().__init__(name)
        self.name = name


def require(condition, name):
    if not condition:
        raise OgpError(name)


def crc32(data, before=0):
    """Continues from `before`, the CRC-32 of the bytes in front of `data`."""
    return zlib.crc32(data, before)


@dataclass
class Frame:
    flags: int
    corr: int
    opcode: int
    status: int
    payload: bytes = b""

    @property
    def is_response(self):
        return bool(self.flags & RESPONSE)

    @property
    def is_event(self):
        return bool(self.flags & EVENT)

    def encode(self):
        head = struct.pack("<2sBBHBBH", MAGIC, 1, self.flags, self.corr, self.opcode, self.status, len(self.payload))
        return head + self.payload + struct.pack("<I", crc32(head + self.payload))

    @staticmethod
    def decode(data, frame_max=FRAME_MAX):
        """The checks of a delivered frame, in their order; the payload is not looked at."""
        require(OVERHEAD <= len(data) <= frame_max, "FRAME_BAD_LENGTH")
        magic, version, flags, corr, opcode, status, length = struct.unpack_from("<2sBBHBBH", data)
        require(magic == MAGIC, "FRAME_BAD_MAGIC")
        require(len(data) == OVERHEAD + length, "FRAME_BAD_LENGTH")
        require(struct.unpack_from("<I", data, len(data) - 4)[0] == crc32(data[:-4]), "FRAME_BAD_CRC")
        require(version == 1, "FRAME_BAD_VERSION")
        require(flags & ~7 == 0 and flags & 3 != 3, "FRAME_RESERVED")
        require((corr == 0) == bool(flags & EVENT), "FRAME_BAD_CORR")
        if flags & RESPONSE:
            require(bool(flags & ERROR) == (status != 0), "FRAME_BAD_STATUS")
        else:
            require(status == 0 and not flags & ERROR, "FRAME_BAD_STATUS")
        return Frame(flags, corr, opcode, status, bytes(data[10:-4]))


def request(corr, opcode, payload=b""):
    return Frame(0, corr, opcode, 0, payload)


def response(corr, opcode, payload=b""):
    return Frame(RESPONSE, corr, opcode, 0, payload)


def refusal(corr, opcode, status, payload=b""):
    return Frame(RESPONSE | ERROR, corr, opcode, status if isinstance(status, int) else CODE[status], payload)


def event(opcode, payload):
    return Frame(EVENT, 0, opcode, 0, payload)

# SPDX-License-Identifier: MIT
"""Payloads: the fields of every opcode in each direction, the checks of their length and values."""

import struct

from .frame import CODE, require

HELLO, GET_DEVICE_INFO, PING, GET_NONCE, GET_TIME, SET_TIME = 1, 2, 3, 4, 5, 6
FEATURE_STATUS, FEATURE_TOGGLE, FEATURE_COUNTER = 0x10, 0x11, 0x12
XFER_BEGIN, XFER_DATA, XFER_STATUS, XFER_END, XFER_ABORT = 0x20, 0x21, 0x22, 0x23, 0x24
FW_ACTIVATE, FW_CONFIRM, FW_STATE, REBOOT = 0x30, 0x31, 0x32, 0x33
EVT_FEATURE_CHANGED, EVT_REBOOTING, EVT_XFER_PROGRESS, EVT_FW_TRIAL = 0x80, 0x81, 0x82, 0x83
NAMES = {value: name for name, value in list(globals().items()) if name.isupper() and isinstance(value, int)}
EVENTS = {EVT_FEATURE_CHANGED, EVT_REBOOTING, EVT_XFER_PROGRESS, EVT_FW_TRIAL}

CAP_FEATURES, CAP_TOGGLE, CAP_UPDATE, CAP_OTA, CAP_RESUME, CAP_TRIAL, CAP_PROVISION, CAP_NONCE = (1 << i for i in range(8))
NO_VERSION = 0xFFFFFFFF
VERSION_MAX = 999_999_999
OBJECT_MAX = 16_777_216
FEATURE, PROVISION_KIND, FIRMWARE = 1, 3, 2
MANIFEST_SIZE = 136
ENABLE, TOGGLE = (0, 1, 255), (0, 1, 2, 255)
FLIP = 0x80


def version(value, absent=False):
    return value <= VERSION_MAX or (absent and value == NO_VERSION)


def absentable(value):
    return version(value, True)


def within(low, high):
    return lambda value: low <= value <= high


class Fixed:
    """A payload of one length. A row: name, format of struct, what values are allowed (a predicate, or None)."""

    def __init__(self, *rows, check=None):
        self.rows = rows
        self.size = sum(struct.calcsize("<" + row[1]) for row in rows)
        self.check = check

    def decode(self, data):
        require(len(data) == self.size, "BAD_LENGTH")
        fields, at = {}, 0
        for row in self.rows:
            (value,) = struct.unpack_from("<" + row[1], data, at)
            at += struct.calcsize("<" + row[1])
            fields[row[0]] = value
        for row in self.rows:
            require(len(row) < 3 or row[2](fields[row[0]]), "BAD_PARAM")
        require(self.check is None or self.check(fields), "BAD_PARAM")
        fields.pop("reserved", None)
        return fields

    def encode(self, fields):
        return b"".join(struct.pack("<" + row[1], fields.get("reserved", 0) if row[0] == "reserved" else fields[row[0]])
                        for row in self.rows)


class Listed:
    """A count of 1 to 64, then as many entries."""

    def __init__(self, key, form, names, allowed):
        self.key, self.form, self.names, self.allowed = key, "<" + form, names, allowed

    def decode(self, data):
        require(len(data) > 0, "BAD_LENGTH")
        require(1 <= data[0] <= 64, "BAD_PARAM")
        step = struct.calcsize(self.form)
        require(len(data) == 1 + data[0] * step, "BAD_LENGTH")
        entries = []
        for values in struct.iter_unpack(self.form, data[1:]):
            require(self.allowed(*values), "BAD_PARAM")
            entries.append(dict(zip(self.names, values)) if self.names else values[0])
        return {self.key: entries}

    def encode(self, fields):
        entries = fields[self.key]
        rows = [tuple(entry[name] for name in self.names) if self.names else (entry,) for entry in entries]
        return bytes([len(rows)]) + b"".join(struct.pack(self.form, *row) for row in rows)


class Echo:
    def decode(self, data):
        require(len(data) <= 64, "BAD_LENGTH")
        return {"echo": bytes(data)}

    def encode(self, fields):
        return fields["echo"]


class Begin:
    """The request that opens a transfer: the manifest's length stands in the payload."""

    head = Fixed(("obj", "B"), ("flags", "B"), ("chunk_max", "H"), ("size", "I"), ("crc32", "I"), ("sha256", "32s"))

    def decode(self, data):
        require(len(data) >= 46, "BAD_LENGTH")
        (length,) = struct.unpack_from("<H", data, 44)
        require(len(data) == 46 + length, "BAD_LENGTH")
        fields = self.head.decode(data[:44])
        require(fields["obj"] in (FEATURE, FIRMWARE, PROVISION_KIND) and fields["flags"] <= 1, "BAD_PARAM")
        require(fields["chunk_max"] > 0 and 1 <= fields["size"] <= OBJECT_MAX, "BAD_PARAM")
        require(length == (MANIFEST_SIZE if fields["obj"] == FIRMWARE else 0), "BAD_PARAM")
        fields["manifest"] = bytes(data[46:])
        return fields

    def encode(self, fields):
        return self.head.encode(fields) + struct.pack("<H", len(fields["manifest"])) + fields["manifest"]


class Data:
    def decode(self, data):
        require(len(data) >= 9, "BAD_LENGTH")
        session, offset = struct.unpack_from("<II", data)
        return {"session": session, "offset": offset, "data": bytes(data[8:])}

    def encode(self, fields):
        return struct.pack("<II", fields["session"], fields["offset"]) + fields["data"]


NOTHING = Fixed()
FEATURES = Listed("features", "HBB", ("id", "enable", "toggle"),
                  lambda i, enable, toggle: 1 <= i <= 1024 and enable in ENABLE and toggle in TOGGLE)
SESSION = Fixed(("session", "I"))
INFO = Fixed(("product", "I"), ("serial", "Q"), ("fw", "I", absentable), ("bootloader", "I", absentable),
             ("stack", "I", absentable), ("sdk", "I", absentable), ("counter", "Q"), ("flags", "B", within(0, 15)),
             ("battery", "B", lambda value: value <= 100 or value == 255), ("hw_rev", "B"), ("key_id", "B"))

REQUEST = {
    HELLO: Fixed(("proto_min", "B", within(1, 255)), ("proto_max", "B"), ("max_frame", "H", within(256, 4096)),
                 ("window", "B", within(1, 32)), ("reserved", "B", within(0, 0)), ("nonce", "8s"),
                 check=lambda fields: fields["proto_min"] <= fields["proto_max"]),
    GET_DEVICE_INFO: NOTHING,
    PING: Echo(),
    GET_NONCE: NOTHING,
    GET_TIME: NOTHING,
    SET_TIME: Fixed(("time", "I")),
    FEATURE_STATUS: Listed("ids", "H", None, within(1, 1024)),
    FEATURE_TOGGLE: Listed("features", "HB", ("id", "toggle"),
                           lambda i, toggle: 1 <= i <= 1024 and toggle in (1, 2, FLIP)),
    FEATURE_COUNTER: NOTHING,
    XFER_BEGIN: Begin(),
    XFER_DATA: Data(),
    XFER_STATUS: SESSION,
    XFER_END: SESSION,
    XFER_ABORT: Fixed(("session", "I"), ("reason", "B", within(0, 3))),
    FW_ACTIVATE: Fixed(("version", "I", version), ("mode", "B", within(1, 1)), ("delay_100ms", "B")),
    FW_CONFIRM: Fixed(("version", "I", version), ("verdict", "B", within(0, 1))),
    FW_STATE: NOTHING,
    REBOOT: Fixed(("mode", "B", within(0, 1)), ("reason", "B", within(1, 3))),
}

ANSWER = {
    HELLO: Fixed(("proto", "B", within(1, 255)), ("max_frame", "H", within(256, 4096)), ("window", "B", within(1, 32)),
                 ("caps", "I"), ("boot_id", "I")),
    GET_DEVICE_INFO: INFO,
    PING: Echo(),
    GET_NONCE: Fixed(("nonce", "16s")),
    GET_TIME: Fixed(("time", "I")),
    SET_TIME: NOTHING,
    FEATURE_STATUS: FEATURES,
    FEATURE_TOGGLE: FEATURES,
    FEATURE_COUNTER: Fixed(("counter", "Q"), ("hash8", "8s")),
    XFER_BEGIN: Fixed(("session", "I", lambda value: value != 0), ("offset", "I"),
                      ("chunk_max", "H", lambda value: value != 0), ("crc32", "I")),
    XFER_DATA: Fixed(("next_offset", "I")),
    XFER_STATUS: Fixed(("obj", "B", within(0, 3)), ("state", "B", within(0, 3)), ("session", "I"), ("offset", "I"),
                       ("total", "I"), ("crc32", "I"), ("sha256", "32s"),
                       check=lambda fields: fields["offset"] <= fields["total"]),
    XFER_END: Fixed(("result", "B", within(0, 2)), ("flags", "B", within(0, 1)), ("detail", "H", within(0, 0))),
    XFER_ABORT: NOTHING,
    FW_ACTIVATE: NOTHING,
    FW_CONFIRM: NOTHING,
    FW_STATE: Fixed(("active", "I", absentable), ("active_state", "B", within(1, 2)), ("staged", "I", absentable),
                    ("staged_state", "B", within(0, 2)), ("rollback", "I", absentable), ("epoch", "I"),
                    ("trial_remaining_s", "H")),
    REBOOT: NOTHING,
    EVT_FEATURE_CHANGED: FEATURES,
    EVT_REBOOTING: Fixed(("reason", "B", within(1, 5)), ("delay_ms", "H")),
    EVT_XFER_PROGRESS: Fixed(("session", "I"), ("offset", "I"), ("total", "I"),
                             check=lambda fields: fields["offset"] <= fields["total"]),
    EVT_FW_TRIAL: Fixed(("version", "I", version), ("remaining_s", "H")),
}


def fields_of(frame):
    """The payload's fields; OgpError UNKNOWN_OPCODE, BAD_LENGTH or BAD_PARAM."""
    require(frame.opcode in NAMES and (frame.opcode in EVENTS) == frame.is_event, "UNKNOWN_OPCODE")
    if frame.status:
        if frame.status == CODE["BAD_OFFSET"]:
            require(len(frame.payload) == 4, "BAD_LENGTH")
            return {"expected_offset": struct.unpack("<I", frame.payload)[0]}
        require(not frame.payload, "BAD_LENGTH")
        return {}
    table = REQUEST if not frame.flags & 3 else ANSWER
    return table[frame.opcode].decode(frame.payload)


def request_payload(opcode, **fields):
    return REQUEST[opcode].encode(fields)


def answer_payload(opcode, **fields):
    return ANSWER[opcode].encode(fields)



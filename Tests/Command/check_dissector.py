# SPDX-License-Identifier: MIT
"""What Wireshark shows with the dissector of the table, against what the library decodes, value by value.

Usage: check_dissector.py vectors CONFORMANCE LUA DIRECTORY | live CONFORMANCE LUA CAPTURE REPLAYED
    | again - LUA DIRECTORY TENDON
Prints "ok NAME" and "not ok NAME: DETAIL". vectors: all vectors of values, these cut at every length and made longer, and
random bytes, in captures that are made here. live: a capture of devices and what `tendon replay --att --json` printed.
again: connections of a device that was discovered before; TENDON is the program.
"""
import json
import pathlib
import random
import struct
import subprocess
import sys

import dissected
import dissected_live
from dissected import FAMILIES

VECTORS = dissected.ROOT / "Tests/vectors"
# Kind of a vector: characteristic and how its value is transferred.
VALUES = {
    ("bose", "device_information"): ("device information", "read"),
    ("bose", "sensor_information"): ("sensor information", "read"),
    ("bose", "sensor_configuration"): ("sensor configuration", "notify"),
    ("bose", "sensor_data"): ("sensor data", "notify"),
    ("bose", "gesture_information"): ("gesture information", "read"),
    ("bose", "gesture_configuration"): ("gesture configuration", "write"),
    ("bose", "gesture_data"): ("gesture data", "notify"),
    ("feelspace", "notify_parameter"): ("parameter notification", "notify"),
    ("feelspace", "notify_battery"): ("battery", "notify"),
    ("feelspace", "notify_button"): ("button", "notify"),
    ("feelspace", "notify_orientation"): ("orientation", "notify"),
    ("feelspace", "notify_keep_alive"): ("keep-alive", "notify"),
    ("feelspace", "firmware_info"): ("firmware", "read"),
    ("activ5", "force"): ("force", "notify"),
    ("activ5", "imu"): ("motion", "notify"),
    ("activ5", "timestamp"): ("time", "notify"),
    ("activ5", "legacy_notification"): ("text output", "notify"),
    ("activ5", "legacy_stream"): ("text output", "notify"),
    ("fjorden", "event_notification"): ("events", "notify"),
    ("fjorden", "control_state"): ("control state", "read"),
    ("fjorden", "response"): ("control point", "notify"),
    ("fjorden", "smp_decode"): ("SMP", "notify"),
    ("obvious", "frame"): ("OGP_DATA", "notify"),
    ("obvious", "control"): ("OGP_DATA", "write"),
    ("obvious", "profile"): ("OGP_STATUS", "read"),
}
# What the library encodes is written to these.
WRITTEN = {
    ("feelspace", "channel_config"): "vibration", ("feelspace", "pulse_command"): "vibration",
    ("feelspace", "stop_vibration"): "vibration", ("feelspace", "system_signal"): "vibration",
    ("feelspace", "set_mode"): "parameter request", ("feelspace", "set_default_intensity"): "parameter request",
    ("feelspace", "set_heading_offset"): "parameter request", ("feelspace", "set_accuracy_signal"): "parameter request",
    ("feelspace", "set_pairing_requirement"): "parameter request",
    ("feelspace", "set_orientation_period"): "parameter request", ("feelspace", "set_name_suffix"): "parameter request",
    ("feelspace", "buzzer_tone"): "buzzer", ("activ5", "command"): "text command",
    ("activ5", "sample_rate"): "sample rate", ("fjorden", "command"): "control point",
}
MTU, SEGMENT, SAMPLES, RANDOM = 517, 244, 10, 40


def uuid_wire(text):
    digits = text.replace("-", "")
    return bytes.fromhex(digits)[::-1]


class Capture:
    """A monitor file; all connections are of one adapter and have one handle, one after the other, as on a real one."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.file.write(b"btsnoop\0" + struct.pack(">II", 1, 2001))
        self.frame, self.connections, self.time = 0, 0, 0

    def record(self, opcode, data):
        self.frame += 1
        time = 0x00DCDDB30F2F8000 + 1_700_000_000_000_000 + self.time
        self.file.write(struct.pack(">IIIIQ", len(data), len(data), opcode, 0, time) + data)

    def begin(self, number):
        """A connection of the device with this number, after the end of the one before."""
        peer = struct.pack("<IH", number, 0xC000)
        self.record(3, struct.pack("<BBBHB", 5, 4, 0, 1, 0x13))
        self.time += 1_000_000
        self.record(3, bytes([0x3E, 19, 1, 0]) + struct.pack("<HBB", 1, 0, 1) + peer + struct.pack("<HHHB", 24, 0, 200, 0))
        self.att(False, struct.pack("<BH", 2, MTU))
        self.att(True, struct.pack("<BH", 3, MTU))

    def connect(self, family):
        self.connections += 1
        # The next message can have the number of the last one; what a Bose device states about itself it states for long.
        self.begin(0 if family == "obvious" else self.connections)
        self.discover(family)

    def discover(self, family, first=3):
        self.handles = {}
        entries = b""
        for number, characteristic in enumerate(FAMILIES[family]["characteristics"]):
            self.handles[characteristic["name"]] = handle = first + 2 * number
            entries += struct.pack("<HBH", handle - 1, 0x1A, handle) + uuid_wire(characteristic["uuid"])
        self.att(False, struct.pack("<BHHH", 8, 1, 0xFFFF, 0x2803))
        self.att(True, bytes([9, len(entries) // len(self.handles)]) + entries)

    def discover_service_changed(self, handle):
        self.att(False, struct.pack("<BHHH", 8, 1, 0xFFFF, 0x2803))
        self.att(True, bytes([9, 7]) + struct.pack("<HBHH", handle - 1, 0x20, handle, 0x2A05))

    def read_hash(self, number, length=16):
        self.att(False, struct.pack("<BHHH", 8, 1, 0xFFFF, 0x2B2A))
        self.att(True, bytes([9, 2 + length]) + struct.pack("<H", 0xFFF0) + bytes([number] * length))

    def att(self, incoming, pdu):
        data = struct.pack("<HHHH", 1 | (2 if incoming else 0) << 12, len(pdu) + 4, len(pdu), 4) + pdu
        self.record(5 if incoming else 4, data)

    def value(self, name, how, value):
        """Returns the frame that has the value."""
        handle = struct.pack("<H", self.handles[name])
        if how == "read":
            self.att(False, b"\x0a" + handle)
            self.att(True, b"\x0b" + value)
        else:
            self.att(how == "notify", (b"\x1b" if how == "notify" else b"\x12") + handle + value)
        return self.frame


def segments(frame):
    """A message of Obvious as segments: docs/protocols/obvious.md."""
    first = frame[:SEGMENT - 6]
    rest = [frame[i:i + SEGMENT - 4] for i in range(len(first), len(frame), SEGMENT - 4)]
    last = 0x10 if not rest else 0
    yield struct.pack("<BBHH", 0x60 | last, 0, 0, len(frame)) + first
    for index, part in enumerate(rest, 1):
        yield struct.pack("<BBH", 0x40 | (0x10 if index == len(rest) else 0), 0, index) + part


def vectors_of(names):
    for name in names:
        yield from dissected.lines(VECTORS / name)


def is_control(value):
    """Without the flag it is a segment of a message."""
    return len(value) < 8 or int(value[:2], 16) & 4 != 0


def inputs():
    """Vectors of values, then some of each kind cut, longer, and random."""
    chosen = {}
    for vector in vectors_of(["bose.jsonl", "feelspace.jsonl", "activ5.jsonl", "fjorden.jsonl", "obvious.jsonl",
                              "obvious_peer.jsonl"]):
        key = vector["family"], vector["kind"]
        if key in VALUES:
            if "sequence" in vector and any(item["hex"] is None for item in vector["sequence"]):
                continue  # a timer, not a packet
            if key == ("obvious", "profile") and vector["status"] is None:
                continue  # a read that was rejected
            if key == ("obvious", "profile") and set(vector["discovered"].get(vector["gatt"]["svc"], [])) != {
                    vector["gatt"]["data"], vector["gatt"]["status"]}:
                continue  # not about the value
            plain = {k: v for k, v in vector.items() if k != "expect"}
            chosen.setdefault(key, []).append(plain)
            if key != ("obvious", "control") or is_control(vector["hex"]):
                yield plain
    source = random.Random(1)
    for key, those in chosen.items():
        member = "status" if key == ("obvious", "profile") else "hex"
        those = [vector for vector in those if isinstance(vector.get(member), str)]
        for vector in those[:SAMPLES]:
            whole = vector[member]
            for cut in range(0, min(len(whole), 80), 2):
                if key != ("obvious", "control") or is_control(whole[:cut]):
                    yield dict(vector, **{member: whole[:cut]})
            yield dict(vector, **{member: whole + "a5"})
        for _ in range(RANDOM if those else 0):
            whole = bytes.fromhex(source.choice(those)[member])
            changed = bytearray(whole or b"\0")
            changed[source.randrange(len(changed))] = source.randrange(256)
            for value in (changed, source.randbytes(source.randrange(1, 40))):
                if key != ("obvious", "control") or is_control(value.hex()):
                    yield dict(source.choice(those), **{member: value.hex()})


def put(capture, vector):
    """The vector's value in a connection of its own. Returns the frames that show it."""
    family, kind = vector["family"], vector["kind"]
    name, how = VALUES[family, kind]
    capture.connect(family)
    if "sensor_information_hex" in vector:
        capture.value("sensor information", "read", bytes.fromhex(vector["sensor_information_hex"]))
    if "gesture_information_hex" in vector:
        capture.value("gesture information", "read", bytes.fromhex(vector["gesture_information_hex"]))
    if kind == "frame":
        return [capture.value(name, how, segment) for segment in segments(bytes.fromhex(vector["hex"]))][-1:]
    if kind.startswith("legacy_"):
        frames, start = [], capture.time
        for item in vector.get("sequence") or [{"t_ms": 0, "hex": vector["hex"]}]:
            capture.time = start + item["t_ms"] * 1000
            frames.append(capture.value(name, how, bytes.fromhex(item["hex"])))
        # What is not complete by then ends with the next packet after its time, here the message "A".
        capture.time += 1_000_000
        return [*frames, capture.value(name, how, b"\x12A\x13")]
    return [capture.value(name, how, bytes.fromhex(vector["status" if kind == "profile" else "hex"]))]


def check_vectors(program, lua, directory):
    vectors = list(inputs())
    answers = dissected.conformance(program, vectors)
    path = pathlib.Path(directory) / "vectors.btsnoop"
    capture = Capture(path)
    frames = [put(capture, vector) for vector in vectors]
    encoded = [v for v in vectors_of(["feelspace.jsonl", "activ5.jsonl", "fjorden.jsonl"])
               if (v["family"], v["kind"]) in WRITTEN and "hex" in v["expect"]]
    written = []
    for vector in encoded:
        capture.connect(vector["family"])
        name = WRITTEN[vector["family"], vector["kind"]]
        written.append(capture.value(name, "write", bytes.fromhex(vector["expect"]["hex"])))
    capture.file.close()
    shown = dissected.read(path, lua)
    failures = {}
    for vector, answer, numbers in zip(vectors, answers, frames):
        values = [value for number in numbers for value in shown.get(number, [])]
        problem = dissected.compare(vector, answer, values)
        if problem:
            failures.setdefault((vector["family"], vector["kind"]), []).append((problem, vector))
    for key in VALUES:
        count = sum((v["family"], v["kind"]) == key for v in vectors)
        dissected.report(f"{key[0]} {key[1]}: as the library decodes {count} values", failures.get(key), count)
    failures = {}
    for vector, number in zip(encoded, written):
        problem = dissected.compare_written(vector, shown.get(number, []))
        if problem:
            failures.setdefault((vector["family"], vector["kind"]), []).append((problem, vector))
    for key in WRITTEN:
        count = sum((v["family"], v["kind"]) == key for v in encoded)
        dissected.report(f"{key[0]} {key[1]}: as the library encoded {count} values", failures.get(key), count)


FORCE = bytes.fromhex("1027")


def again(capture):
    """Force values of a trainer in one connection after the other. Yields the frame, whether it is known what it is, and
    why."""
    def force(known, why):
        return capture.value("force", "notify", FORCE), known, why

    def next_connection(number=None):
        capture.begin(1)
        if number is not None:
            capture.read_hash(number)

    next_connection(0xA1)
    yield force(False, "before any discovery")
    capture.discover("activ5")
    capture.discover_service_changed(0x60)
    yield force(True, "discovered")
    next_connection(0xA1)
    yield force(True, "the same hash in the next connection")
    next_connection()
    yield force(True, "no hash is read")
    next_connection()
    capture.read_hash(0xB2, length=15)
    yield force(True, "a hash that is none")
    capture.begin(2)
    yield force(False, "another device")
    next_connection(0xB2)
    yield force(False, "another hash")
    capture.discover("activ5", first=0x21)
    capture.discover_service_changed(0x60)
    yield force(True, "discovered again, with other handles")
    next_connection(0xB2)
    yield force(True, "the other handles in the next connection")
    capture.att(True, struct.pack("<BHHH", 0x1D, 0x60, 1, 0xFFFF))
    next_connection()
    yield force(False, "after Service Changed")
    next_connection(0xB2)
    capture.discover("activ5")
    capture.att(False, struct.pack("<BH", 0x0A, 3))
    capture.att(True, struct.pack("<BBHB", 1, 0x0A, 3, 0x12))
    next_connection()
    yield force(False, "after Database Out Of Sync")
    capture.discover("activ5")
    yield force(True, "discovered at last")


def check_again(lua, directory, tendon):
    path = pathlib.Path(directory) / "again.btsnoop"
    capture = Capture(path)
    capture.handles = {"force": 7}
    rows = list(again(capture))
    capture.file.close()
    shown = dissected.read(path, lua)
    for frame, known, why in rows:
        ok = (frame in shown) == known
        print(("ok" if ok else "not ok") + f" the dissector, {why}: {'shown' if known else 'not shown'}"
              + ("" if ok else f": frame {frame} is otherwise"))
    done = subprocess.run([tendon, "replay", str(path), "--json"], capture_output=True, text=True, check=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    forces = sum(event["event"] == "sample" for event in events)
    left_out = [event["notifications"] for event in events if event["event"] == "undecoded"]
    wanted = sum(known for _, known, _ in rows)
    ok = forces == wanted and left_out == [1] * (len(rows) - wanted)
    print(("ok" if ok else "not ok") + f" tendon replay: {wanted} of {len(rows)} values, the others are reported"
          + ("" if ok else f": {forces}, and {left_out}"))


def main():
    what, program, lua = sys.argv[1:4]
    if what == "again":
        check_again(lua, sys.argv[4], sys.argv[5])
    elif what == "vectors":
        check_vectors(program, lua, sys.argv[4])
    else:
        dissected_live.check_live(program, lua, sys.argv[4], sys.argv[5])


if __name__ == "__main__":
    main()

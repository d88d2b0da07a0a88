#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A device that breaks the rules of L2CAP signalling and pairing, with the controller that it is heard through.

  hostile.py list               the scenarios, in their order
  hostile.py run RESULTS [OPTION of controller.py...]
                                the controller on /dev/vhci; the link of round N plays scenario N
  hostile.py check LOG CLIENT   what came of each (CLIENT: the output of radio_check hostile); prints results as cases do

What the device sends here is the kernel's to decode (L2CAP signalling, Core Spec Vol 3 Part A 4; Security Manager, Vol 3
Part H 3): nothing of it reaches a line of Tendon. A scenario shows that the process sees one end of the link with a
reason, or a pairing that failed, and connects again. On each link the client reads the values of handle 3, which is
answered, and of handle 4: before that answer the device sends what the scenario says. In scenarios of pairing, handle 4
wants authentication, and the client begins to pair.
Scenarios carry the id of the class of malformed input that they are modelled on. Standard library only.
"""
import json
import os
import select
import socket
import struct
import sys
import time

import controller

HANDLE = 0x0040
ATT, SIGNALLING, SECURITY = 4, 5, 6
EVENT = "an event of the controller"  # in place of a channel
OTHER = 0x0041  # handle of a connection that nobody asked for
STRANGER = bytes.fromhex("7753005E0000")
CREATE, CANCEL, DISCONNECT, VERSION, FEATURES, UPDATE, ENCRYPT = 0x200D, 0x200E, 0x0406, 0x041D, 0x2016, 0x2013, 0x2019
DATA_LENGTH = 0x2022
LIMIT_EXCEEDED = 0x09
AUTHENTICATION = 0x05  # the ATT error that begins a pairing
# Security Manager codes (Vol 3 Part H 3.3).
REQUEST, RESPONSE, CONFIRM, RANDOM, FAILED, LTK, EDIV, IRK, IDENTITY, CSRK, SECURITY_REQUEST, PUBLIC_KEY, CHECK, KEYPRESS = (
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
LENGTHS = {REQUEST: 7, RESPONSE: 7, CONFIRM: 17, RANDOM: 17, FAILED: 2, LTK: 17, EDIV: 11, IRK: 17, IDENTITY: 8, CSRK: 17,
           SECURITY_REQUEST: 2, PUBLIC_KEY: 65, CHECK: 17, KEYPRESS: 2}


def signal(code, identifier, *data, length=None):
    """A signalling command; its length field says the truth unless another is given."""
    data = bytes(data)
    return struct.pack("<BBH", code, identifier, len(data) if length is None else length) + data


def words(*values):
    return struct.pack(f"<{len(values)}H", *values)


def on(channel, *frames):
    return [(channel, frame) for frame in frames]


def signals(*frames):
    return on(SIGNALLING, *frames)


def response(key_size=16, authentication=0x01, keys=0x01):
    """Pairing Response: NoInputNoOutput, no out of band data."""
    return bytes([RESPONSE, 3, 0, authentication, key_size, 0, keys])


def events(*pairs):
    return on(EVENT, *pairs)


def complete(opcode, *parameters):
    """Command Complete."""
    return 0x0E, struct.pack("<BH", 1, opcode) + bytes(parameters)


def connection(handle, address, role=0):
    """LE Connection Complete."""
    return 0x3E, struct.pack("<BBHBB", 1, 0, handle, role, 0) + address + struct.pack("<HHHB", 24, 0, 42, 0)


def encryption(status, handle, on_or_off):
    return 0x08, struct.pack("<BHB", status, handle, on_or_off)


def disconnection(handle):
    return 0x05, struct.pack("<BHB", 0, handle, 0x13)


def cmac(key, message):
    """AES-CMAC, by the kernel."""
    with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as algorithm:
        algorithm.bind(("hash", "cmac(aes)"))
        algorithm.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, key)
        operation = algorithm.accept()[0]
        with operation:
            operation.sendall(message)
            return operation.recv(16)


def confirm_value(public_key):
    """The confirm value that fits GENERATOR, a nonce of zeros and the kernel's public key: f4 (Vol 3 Part H 2.2.6)."""
    own_x, other_x = GENERATOR[:32][::-1], public_key[1:33][::-1]
    return bytes([CONFIRM]) + cmac(bytes(16), own_x + other_x + b"\0")[::-1]


class Exchange:
    """A scenario: what is sent within the second read, and the answers to what the kernel sends on channel 6."""

    def __init__(self, name, frames=(), pairs=False, answers=None, fails=True, refused=None, hang_up_at=None, waits=0.6,
                 said=None, survives=True, before=(), after=()):
        self.name, self.frames, self.pairs, self.answers = name, list(frames), pairs, answers or {}
        self.fails = fails  # a pairing that does not succeed
        self.refused = refused  # of a list of answers on channel 5: whether they refuse all that has to be refused
        self.hang_up_at = hang_up_at  # the code at which the device hangs up
        self.said = said  # the reason of the kernel's Pairing Failed, its last command
        self.survives = survives  # the link outlives what was sent
        self.before, self.after = before, after  # events around Connection Complete and Disconnection Complete
        self.waits = waits  # seconds from the last frame of either side to the end


def results(answers, code):
    """Data of the answers with this code."""
    return [answer[4:] for answer in answers if answer[0] == code]


def all_updates_rejected(count):
    return lambda answers: [struct.unpack("<H", data)[0] for data in results(answers, 0x13)] == [1] * count


# What the kernel answers has to be known to be the last: an update that no rule permits, and its rejection.
LAST = signal(0x12, 0x4D, *words(12, 6, 0, 200))
LAST_ANSWER = signal(0x13, 0x4D, *words(1))
NOT_UNDERSTOOD, INVALID_CHANNEL = words(0), words(2)


def answered(*wanted):
    """These answers, and no others."""
    return lambda answers: sorted(answers) == sorted((*wanted, LAST_ANSWER))


def either(*conditions):
    return lambda answers: any(condition(answers) for condition in conditions)


def rejects(identifier, count, reason=NOT_UNDERSTOOD):
    return [signal(0x01, identifier, *reason)] * count


def att_ended(answers):
    """
    Linux takes credits for channel 4, which is ATT, as for any channel: when they overflow it ends that channel, and
    with it the connection.
    """
    return [answer for answer in answers if answer != LAST_ANSWER] in ([signal(0x06, 1, *words(4, 4))], [])


def credits_refused(count):
    """LE Credit Based Connection Responses with a result other than 0, or Command Rejects."""
    return lambda answers: (all(struct.unpack_from("<H", data, 8)[0] != 0 for data in results(answers, 0x15))
                            and len(results(answers, 0x15)) + len(results(answers, 0x01)) == count)


def enhanced_refused(count):
    """Enhanced Credit Based Connection Responses with a result other than 0, or Command Rejects."""
    return lambda answers: (all(struct.unpack_from("<H", data, 6)[0] != 0 for data in results(answers, 0x18))
                            and len(results(answers, 0x18)) + len(results(answers, 0x01)) == count == len(answers))


LEGACY = {REQUEST: [response()]}
SECURE = {REQUEST: [response(authentication=0x09)]}
OFF_CURVE = bytes([1]) + bytes(31) + bytes([1]) + bytes(31)
# Of P-256, least significant byte first: the public key whose private key is 1.
GENERATOR = (bytes.fromhex("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")[::-1]
             + bytes.fromhex("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")[::-1])


def scenarios():
    """In the order of the links."""
    yield Exchange("clean: nothing hostile at all")
    yield Exchange("E06 lengths beyond the frame, identifier 0, two commands in one frame", signals(
        signal(0x12, 1, *words(6, 12, 0, 200), length=9), signal(0x12, 2, length=65535), signal(0x12, 0, *words(6, 12, 0, 200)),
        signal(0x16, 3, *words(0x40, 1)) + signal(0x16, 4, *words(0x40, 1)), b"\x12", b"\x12\x05\x08", b"",
        LAST), refused=answered())
    yield Exchange("E07 Command Reject of every length, codes that LE does not have", signals(
        *(signal(1, 1, *range(length)) for length in range(8)),
        *(signal(code, 9) for code in (0x00, 0x02, 0x03, 0x04, 0x05, 0x06, 0x08, 0x0A, 0x1B, 0x7F, 0xFF)), LAST),
        refused=answered(*rejects(9, 11)))
    updates = [(12, 6, 0, 200), (0, 0, 0, 200), (6, 12, 500, 200), (6, 3200, 499, 10), (6, 6, 0, 9), (3201, 3201, 0, 3200)]
    yield Exchange("E08 connection parameters that no rule permits are rejected", signals(
        *(signal(0x12, 1 + i, *words(*update)) for i, update in enumerate(updates))), refused=all_updates_rejected(len(updates)))
    requests = [(0, 0x40, 64, 64, 1), (0x25, 0x40, 22, 64, 1), (0x25, 0x40, 64, 22, 1), (0x25, 0x40, 64, 65534, 1),
                (0x25, 0x3F, 64, 64, 1), (0x80, 0x40, 64, 64, 1)]
    yield Exchange("E09 credit based channels are refused, whatever they ask for", signals(
        *(signal(0x14, 1 + i, *words(*request)) for i, request in enumerate(requests))), refused=credits_refused(len(requests)))
    yield Exchange("E10 the same source channel twice", signals(
        *(signal(0x14, 1 + i, *words(0x25, 0x40, 64, 64, 1)) for i in range(2))), refused=credits_refused(2))
    credits = (0, 1, 65535)
    yield Exchange("E11 credits 0, and credits that overflow, for a channel that is not there", signals(
        *(signal(0x16, 1, *words(channel, credit)) for channel in (0, 0x40, 0xFFFF) for credit in credits), LAST),
        refused=answered(*rejects(1, 9)))
    yield Exchange("E11 credits 0, and credits that overflow, for the channel of ATT", signals(
        *(signal(0x16, 1, *words(ATT, credit)) for credit in credits), LAST), refused=att_ended, survives=False)
    yield Exchange("E12 frames of a credit based channel without the SDU's length", on(0x40, b"", b"\1") + on(0x7F, b"", b"\1")
                   + signals(LAST), refused=answered())
    yield Exchange("E13 segments that exceed their SDU, on a channel that is not there", on(
        0x40, words(4) + bytes(10), bytes(10), words(65535) + bytes(20), words(0) + bytes(1)) + signals(LAST), refused=answered())
    sources = [(), (0x40,) * 6, (0x40, 0x41)]
    yield Exchange("E14 enhanced requests of 0 and 6 channels, of an odd number of bytes", signals(
        *(signal(0x17, 1 + i, *words(0x27, 64, 64, 1, *source)) for i, source in enumerate(sources)),
        signal(0x17, 9, *words(0x27, 64, 64, 1), 0x40)), refused=enhanced_refused(4))
    yield Exchange("E15 reconfigure responses of 2 and 8 bytes, with and without a request", signals(
        signal(0x1A, 1, 0, 0), signal(0x1A, 1, *bytes(8)), signal(0x1A, 0, 0, 0), signal(0x18, 1, 0, 0), signal(0x19, 2, *words(64, 64)), LAST),
        # A request about no channel changes nothing: Linux 6.1 rejects it, 6.12 accepts it.
        refused=either(answered(*rejects(1, 1), signal(0x1A, 2, *words(0))), answered(*rejects(1, 1), *rejects(2, 1))))
    yield Exchange("E16 one command 300 times", signals(
        *(signal(0x12, 1 + i % 255, *words(12, 6, 0, 200)) for i in range(300))), refused=all_updates_rejected(300))
    yield Exchange("E17 a channel is closed while a segment is on its way", on(0x40, words(40) + bytes(10)) + signals(
        signal(0x06, 1, *words(0x40, 0x40))) + on(0x40, bytes(30)) + signals(LAST),
        refused=answered(*rejects(1, 1, INVALID_CHANNEL + words(0x40, 0x40))))
    yield Exchange("E18 responses of every enhanced kind that nobody asked for", signals(
        signal(0x18, 1, *words(64, 64, 1, 0, 0x40)), signal(0x15, 1, *words(0x40, 64, 64, 1, 0)), signal(0x13, 1, 0, 0),
        signal(0x15, 1, *words(0x40, 64)), signal(0x18, 1), LAST),
        refused=answered(*rejects(1, 1)))
    yield from events_of_a_broken_controller()

    short_and_long = [bytes([code]) + bytes(max(0, length - 1 + by)) for code, length in LENGTHS.items() if code != REQUEST
                      for by in (-1, 1)]
    yield Exchange("H01 every Security Manager command one byte short and one byte long, and codes that are not there", on(
        SECURITY, *short_and_long, b"\0", b"\x0F", b"\xFF", b""), survives=False)
    for by in (-1, 1):
        cut = response()[:-1] if by < 0 else response() + b"\0"
        yield Exchange(f"H01 a Pairing Response with {6 + by} bytes of parameters", pairs=True, answers={REQUEST: [cut]},
                       hang_up_at=CONFIRM, said=0x0A if by < 0 else None)
    for size in (0, 6, 17, 255):
        yield Exchange(f"H02 a key of {size} bytes", pairs=True, said=0x06 if size < 7 else 0x04, answers={
            REQUEST: [response(size)], CONFIRM: [bytes([CONFIRM]) + bytes(16)], RANDOM: [bytes([RANDOM]) + bytes(16)]})
    keys = [bytes([LTK]) + bytes(16), bytes([EDIV]) + bytes(10)]
    yield Exchange("H03 a key of zeros before the pairing", on(SECURITY, *keys))
    yield Exchange("H03 a key of zeros instead of the confirm value", pairs=True, answers={REQUEST: [response(), *keys]}, hang_up_at=CONFIRM)
    yield Exchange("H03 a DHKey check of zeros", pairs=True, said=0x0B, answers={
        **SECURE, PUBLIC_KEY: [bytes([PUBLIC_KEY]) + GENERATOR, confirm_value], RANDOM: [bytes([RANDOM]) + bytes(16)],
        CHECK: [bytes([CHECK]) + bytes(16)]})
    yield Exchange("H04 a public key off the curve", pairs=True, said=0x08, answers={
        **SECURE, PUBLIC_KEY: [bytes([PUBLIC_KEY]) + OFF_CURVE]})
    yield Exchange("H04 our own public key comes back", pairs=True, said=0x0B, answers={
        **SECURE, PUBLIC_KEY: ["reflect", bytes([CONFIRM]) + bytes(16)]})
    yield Exchange("H05 the random value before the confirm value", pairs=True, answers={**LEGACY, CONFIRM: [bytes([RANDOM]) + bytes(16)]}, waits=1)
    yield Exchange("H05 the DHKey check before the public key", pairs=True, answers={**SECURE, PUBLIC_KEY: [bytes([CHECK]) + bytes(16)]}, waits=1)
    yield Exchange("H05 a confirm value that does not match", pairs=True, said=0x04, answers={
        **LEGACY, CONFIRM: [bytes([CONFIRM]) + bytes(16)], RANDOM: [bytes([RANDOM]) + bytes(16)]})
    states = {REQUEST: LEGACY, CONFIRM: LEGACY, RANDOM: {**LEGACY, CONFIRM: [bytes([CONFIRM]) + bytes(16)]}, PUBLIC_KEY: SECURE}
    for code, before in states.items():
        earlier = {key: value for key, value in before.items() if key != code}
        yield Exchange(f"H09 Pairing Failed after the kernel's command {code}", pairs=True, answers={**earlier, code: [bytes([FAILED, 8])]})
        yield Exchange(f"H09 disconnected after the kernel's command {code}", pairs=True, answers=earlier, hang_up_at=code)
    yield Exchange("H09 silence for 30 s", pairs=True, answers={}, waits=60)
    yield Exchange("clean again: the process and the kernel are as before")


def events_of_a_broken_controller():
    """Beside a link that is up and used."""
    yield Exchange("F02 Command Complete twice, of commands never sent, without what it returns", events(
        complete(0x200C, 0), complete(0x200C, 0), complete(0x200C), complete(0x0405, 0), complete(0xFFFF, 0), complete(0x1009, 0),
        complete(0x2003, 0), (0x0E, b"\1"), (0x0E, b"")))
    yield Exchange("F02 Command Status twice, of commands never sent, cut", events(
        *((0x0F, struct.pack("<BBH", status, 1, opcode)) for opcode in (FEATURES, CREATE, ENCRYPT, 0xFFFF) for status in (0, 0x0C)),
        (0x0F, b"\0\1"), (0x0F, b"")))
    yield Exchange("F05 Number Of Completed Packets: more than there are, a handle that is not there, more entries than it has", events(
        (0x13, struct.pack("<BHH", 1, HANDLE, 65535)), (0x13, struct.pack("<BHH", 1, 0x0EFF, 1)),
        (0x13, struct.pack("<BHH", 200, HANDLE, 1)), (0x13, struct.pack("<BHHHH", 2, HANDLE, 65535, HANDLE, 65535)), (0x13, b"\1"), (0x13, b"")))
    yield Exchange("F10 a connection to an address that nobody asked for", events(
        connection(OTHER, STRANGER), disconnection(OTHER)))
    # Linux 6.1 takes it for another connection, and the first one receives nothing more: a request over it times out.
    ignored = tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 12)
    yield Exchange("F10 a second connection with the handle of the first", events(connection(HANDLE, STRANGER)), survives=ignored)
    yield Exchange("F10 the connection once more", events(connection(HANDLE, controller.PEER)), survives=ignored)
    yield Exchange("F10 handles above 0x0EFF, roles that are none", events(
        connection(0x0F00, STRANGER), connection(0xFFFF, STRANGER), connection(OTHER, STRANGER, role=2),
        connection(OTHER, STRANGER, role=0xFF), disconnection(OTHER)))
    yield Exchange("F11 Disconnection Complete of handles that are not there", events(
        disconnection(OTHER), disconnection(0x0000), disconnection(0x0EFF), disconnection(0xFFFF), (0x05, b"\0")))
    yield Exchange("F11 Disconnection Complete before Connection Complete", before=[disconnection(HANDLE)])
    yield Exchange("F11 Disconnection Complete twice", after=[disconnection(HANDLE), disconnection(HANDLE)])
    yield Exchange("F16 Encryption Change that nobody asked for, twice, of handles that are not there", events(
        encryption(0, OTHER, 1), encryption(0, HANDLE, 0), encryption(0, HANDLE, 0), encryption(0, 0xFFFF, 1), (0x08, b"\0")))
    yield Exchange("F16 Encryption Change before Connection Complete", before=[encryption(0, HANDLE, 1), encryption(6, HANDLE, 0)])


class Device(controller.Controller):
    """The controller of the case, and behind it the device."""

    def __init__(self, options, results):
        super().__init__(options)
        self.results = open(results, "w", encoding="utf-8")
        self.plan = list(scenarios())
        self.round = -1
        self.connected = False
        self.ends_at = None
        self.buffer, self.wanted = b"", 0

    # ---- the controller

    def commands(self):
        bits = bytearray(super().commands())
        bits[2] |= 0x80  # Read Remote Version Information
        bits[27] |= 0x24  # LE Connection Update, LE Read Remote Features
        bits[28] |= 0x01  # LE Enable Encryption
        return bytes(bits)

    def features(self):
        features = bytearray(super().features())
        features[0] |= 0x01  # LE Encryption
        return bytes(features)

    def command(self, packet):
        opcode, length = struct.unpack_from("<HB", packet)
        parameters = packet[3 : 3 + length]
        if opcode == DATA_LENGTH and self.options.data_length:
            self.set_length(parameters)
            return
        if opcode not in (CREATE, DISCONNECT, VERSION, FEATURES, UPDATE, ENCRYPT):
            super().command(packet)
            return
        refused = opcode == CREATE and self.connected and self.options.connections == 1
        status = LIMIT_EXCEEDED if refused else 0
        print(f"{opcode:04x} {parameters.hex()} {status:02x}", file=self.log)
        self.event(0x0F, struct.pack("<BBH", status, 1, opcode))
        if refused:
            return
        if opcode == CREATE:
            self.connect()
        elif opcode == DISCONNECT:
            if struct.unpack_from("<H", parameters)[0] == HANDLE:
                self.disconnect(0x16, "the kernel")
            else:
                self.event(0x05, b"\0" + parameters[:2] + b"\x16")
        elif opcode == VERSION:
            self.event(0x0C, b"\0" + parameters[:2] + struct.pack("<BHH", 9, 0xFFFF, 0))
        elif opcode == FEATURES:
            self.event(0x3E, b"\4\0" + parameters[:2] + self.features())
        elif opcode == UPDATE:
            self.event(0x3E, struct.pack("<BBHHHH", 3, 0, HANDLE, *struct.unpack_from("<HHH", parameters, 4)))
        elif opcode == ENCRYPT:
            self.event(0x08, struct.pack("<BHB", 0, HANDLE, 1))

    def set_length(self, parameters):
        """What is asked for, as far as this controller can; of its device, always the longest."""
        octets = min(struct.unpack_from("<H", parameters, 2)[0], self.options.data_length)
        longest = self.options.data_length
        print(f"{DATA_LENGTH:04x} {parameters.hex()} 00", file=self.log)
        self.event(0x0E, struct.pack("<BHBH", 1, DATA_LENGTH, 0, HANDLE))
        self.event(0x3E, struct.pack("<BHHHHH", 7, HANDLE, octets, self.microseconds(octets), longest,
                                     self.microseconds(longest)))

    def connect(self):
        self.round += 1
        self.connected, self.scanning = True, False
        self.talked, self.second, self.buffer = False, False, b""
        self.answers, self.commands_seen = [], []
        self.packets = 0
        stalls = self.round == 0 and self.options.stall_after is not None
        self.ends_at = None if stalls else time.monotonic() + 10  # of a client that reads nothing
        for event in self.plan[self.round].before:
            self.event(*event)
        self.event(*connection(HANDLE, controller.PEER))

    def disconnect(self, reason, who):
        if not self.connected:
            return
        self.connected, self.ends_at = False, None
        self.event(0x05, struct.pack("<BHB", 0, HANDLE, reason))
        for event in self.plan[self.round].after:
            self.event(*event)
        if who == "the kernel" and not self.talked:  # one CPU: the radio has taken it for another program's (README.md)
            self.round -= 1
            return
        print(json.dumps({"round": self.round, "name": self.plan[self.round].name, "ended_by": who,
                          "answers": [answer.hex() for answer in self.answers],
                          "pairing": [command.hex() for command in self.commands_seen]}), file=self.results, flush=True)

    # ---- the device

    def send(self, channel, payload):
        if channel == EVENT:
            self.event(*payload)
            return
        frame = struct.pack("<HH", len(payload), channel) + payload
        for at in range(0, len(frame), 251):
            part = frame[at : at + 251]
            os.write(self.device, struct.pack("<BHH", 2, HANDLE | (0x2000 if at == 0 else 0x1000), len(part)) + part)

    def data(self, packet):
        handle, length = struct.unpack_from("<HH", packet)
        self.packets += 1
        if self.round > 0 or self.options.stall_after is None or self.packets <= self.options.stall_after:
            self.event(0x13, struct.pack("<BHH", 1, HANDLE, 1))
        if not self.connected:
            return
        self.buffer = packet[4 : 4 + length] if handle & 0x1000 == 0 else self.buffer + packet[4 : 4 + length]
        if len(self.buffer) < 4 or len(self.buffer) < 4 + struct.unpack_from("<H", self.buffer)[0]:
            return
        channel, payload = struct.unpack_from("<H", self.buffer, 2)[0], self.buffer[4:]
        {ATT: self.att, SIGNALLING: self.answers.append, SECURITY: self.security}.get(channel, lambda payload: None)(payload)
        if self.second and self.connected:
            self.ends_at = time.monotonic() + self.plan[self.round].waits

    def att(self, pdu):
        plan = self.plan[self.round]
        self.talked = True
        if pdu[0] == 0x02:  # Exchange MTU Request
            self.send(ATT, b"\x03\x17\x00")
        elif pdu[0] == 0x0A and pdu[1:] == b"\3\0":
            self.send(ATT, b"\x0bfirst")
        elif pdu[0] == 0x0A:
            for channel, frame in plan.frames:
                self.send(channel, frame)
            self.send(ATT, bytes([1, 0x0A, 4, 0, AUTHENTICATION]) if plan.pairs else b"\x0bsecond")
            self.second = True
        elif pdu[0] & 0x41 == 0:
            self.send(ATT, bytes([1, pdu[0]]) + pdu[1:3].ljust(2, b"\0") + b"\x0a")

    def security(self, pdu):
        self.commands_seen.append(pdu)
        plan = self.plan[self.round]
        for answer in plan.answers.get(pdu[0], []):
            self.send(SECURITY, pdu if answer == "reflect" else answer(pdu) if callable(answer) else answer)
        if plan.hang_up_at == pdu[0]:
            self.disconnect(0x13, "the device")

    def run(self):
        following = 0
        while self.round + 1 < len(self.plan) or self.connected:
            if select.select([self.device], [], [], 0.02)[0]:
                packet = os.read(self.device, 4096)
                if packet[0] == 1:
                    self.command(packet[1:])
                elif packet[0] == 2:
                    self.data(packet[1:])
            now = time.monotonic()
            if self.ends_at is not None and now >= self.ends_at:
                self.disconnect(0x13, "the device")
            if self.scanning and now >= following:
                following = now + 0.05
                self.report()
        select.select([], [], [], 600)  # the adapter stays until the case ends


def check(log, client):
    with open(log, encoding="utf-8") as file:
        device = {line["round"]: line for line in map(json.loads, file)}
    said = {}
    with open(client, encoding="utf-8") as file:
        for line in file:
            part = line.split()
            if part[:1] == ["round"]:
                said.setdefault(int(part[1]), {})[part[2]] = part[3:]
    for number, plan in enumerate(scenarios()):
        mine, theirs = said.get(number, {}), device.get(number)
        wrong = []
        if mine.get("connects") != ["1", "ends", "1"]:
            wrong.append("not one connection and one end")
        if mine.get("first") != ["OK"]:
            wrong.append("the first value is not read")
        if not mine.get("ended", ["OK"])[0].startswith(("HCI_", "ERROR_", "RADIO_ERROR_", "PAIRING_", "GATT_ERROR_")):
            wrong.append("the end has no reason")
        if plan.pairs and plan.fails and mine.get("paired", ["none"])[0] in ("OK", "none"):
            wrong.append("the pairing did not fail")
        if not plan.pairs and plan.survives and mine.get("second") != ["OK"]:
            wrong.append("the second value is not read")
        if mine.get("bonds") != ["0"]:
            wrong.append("a bond is stored")
        if theirs is None:
            wrong.append("the device did not play it")
        elif plan.refused and not plan.refused([bytes.fromhex(answer) for answer in theirs["answers"]]):
            wrong.append("not refused")
        elif plan.said is not None and theirs["pairing"][-1] != bytes([FAILED, plan.said]).hex():
            wrong.append("the kernel gave another reason")
        print(f"{'not ok' if wrong else 'ok'} {plan.name}: {', '.join(wrong) or ' '.join(mine.get('paired', []) + mine['ended'])}")
        if wrong:
            print("#", mine, theirs)


def main():
    options, rest = controller.parser().parse_known_args()
    what, files = rest[0], rest[1:]
    if what == "check":
        check(*files)
    elif what == "list":
        print("\n".join(plan.name for plan in scenarios()))
    elif what == "run":
        Device(options, files[0]).run()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()

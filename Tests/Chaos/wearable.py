# SPDX-License-Identifier: MIT
"""Grips on the virtual radio, written from docs/protocols/fjorden.md and the Core Specification (Vol 3 Part F, ATT): an
attribute table, and events with a number. Each keeps a log of what it sent while its connection was up; it knows nothing
of the gateway. A device has one central at a time.

An event is a turn of the dial. Its record has the number in its time: `device_time_ms` of the event, modulo 65536."""

import os
import selectors
import socket
import struct
import threading
import time

PDU, CONTROL = 0, 1  # the first byte of a message on the socket of a connection
PAIR, PAIRED, ENCRYPT, ENCRYPTED = 1, 2, 4, 5  # of the virtual radio's pairing
MTU = 247
FJORDEN = bytes.fromhex("b3d8000092de4c91b591abffcba8daf2")


def own(number):
    """Most significant byte first, as on paper; on air it is the other way round."""
    return (FJORDEN[:2] + bytes([0, number]) + FJORDEN[4:])[::-1]


def short(number):
    return struct.pack("<H", number)


class Attribute:
    def __init__(self, kind, value=b"", end=0):
        self.kind, self.value, self.end = kind, value, end


def table():
    """Returns the attributes by handle, and the handle of the events."""
    services = [
        (short(0x180A), [(0x02, short(0x2A29), b"Tendon"), (0x02, short(0x2A26), b"1.2.0")]),
        (short(0x180F), [(0x12, short(0x2A19), bytes([80]))]),
        (own(1), [(0x10, own(2), b""), (0x12, own(3), bytes([1, 0, 0, 0, 0, 0])), (0x28, own(4), b"")]),
    ]
    attributes, events = {}, 0
    handle = 0
    for uuid, characteristics in services:
        handle += 1
        service = attributes[handle] = Attribute(short(0x2800), uuid)
        for properties, kind, value in characteristics:
            attributes[handle + 1] = Attribute(short(0x2803), struct.pack("<BH", properties, handle + 2) + kind)
            attributes[handle + 2] = Attribute(kind, value)
            events = handle + 2 if kind == own(2) else events
            handle += 2
            if properties & 0x30:
                handle += 1
                attributes[handle] = Attribute(short(0x2902), b"\0\0")
        service.end = handle
    return attributes, events


class Grip:
    """One device. The owner of the radio calls its functions."""

    def __init__(self, address):
        self.address = address
        self.attributes, self.events = table()
        self.link = None
        self.number = 0
        self.log = []  # (number, time) of what was sent
        self.connections = 0

    @property
    def is_subscribed(self):
        return self.link is not None and self.attributes[self.events + 1].value != b"\0\0"

    def accepted(self, link):
        self.link = link
        self.connections += 1

    def disconnected(self):
        self.link.close()
        self.link = None
        self.attributes[self.events + 1].value = b"\0\0"

    def send(self, pdu):
        self.link.send(bytes([PDU]) + pdu)

    def turn(self):
        """One event. False: nobody listens."""
        if not self.is_subscribed:
            return False
        number = self.number + 1
        record = struct.pack("<BBHb", number & 0xFF, 0x11, number & 0xFFFF, 1)
        # The clock is read before: what counts as sent before a kill was.
        now = time.time()
        try:
            self.send(struct.pack("<BH", 0x1B, self.events) + record)
        except OSError:
            return False
        self.number = number
        self.log.append((number, now))
        return True

    # ---- ATT

    def receive(self, message):
        if message[0] == CONTROL and message[1] in (PAIR, ENCRYPT):
            # It pairs with everybody, and takes every key.
            self.link.send(bytes([CONTROL, PAIRED if message[1] == PAIR else ENCRYPTED]))
        if message[0] != PDU or len(message) < 2:
            return
        pdu = message[1:]
        answer = {
            0x02: self.exchange, 0x04: self.descriptors, 0x06: self.by_value, 0x08: self.by_type, 0x0A: self.read,
            0x10: self.groups, 0x12: self.write,
        }.get(pdu[0])
        if answer:
            self.send(answer(pdu))
        elif not pdu[0] & 0x40 and pdu[0] not in (0x1E,):
            self.send(struct.pack("<BBHB", 0x01, pdu[0], 0, 0x06))

    @staticmethod
    def error(pdu, handle, code):
        return struct.pack("<BBHB", 0x01, pdu[0], handle, code)

    def exchange(self, pdu):
        return struct.pack("<BH", 0x03, MTU)

    def span(self, pdu):
        start, end = struct.unpack_from("<HH", pdu, 1)
        return start, [handle for handle in sorted(self.attributes) if start <= handle <= end]

    def rows(self, pdu, opcode, rows):
        """Rows of one length, as many as fit."""
        if not rows:
            return self.error(pdu, struct.unpack_from("<H", pdu, 1)[0], 0x0A)
        same = []
        for row in rows:
            if len(row) != len(rows[0]) or 2 + sum(map(len, same)) + len(row) > MTU:
                break
            same.append(row)
        return bytes([opcode, len(rows[0])]) + b"".join(same)

    def groups(self, pdu):
        _, handles = self.span(pdu)
        found = [(handle, self.attributes[handle]) for handle in handles]
        return self.rows(pdu, 0x11, [
            struct.pack("<HH", handle, at.end) + at.value for handle, at in found if at.kind == short(0x2800)])

    def by_value(self, pdu):
        start, handles = self.span(pdu)
        found = [
            struct.pack("<HH", handle, self.attributes[handle].end) for handle in handles
            if self.attributes[handle].kind == pdu[5:7] and self.attributes[handle].value == pdu[7:]]
        return bytes([0x07]) + b"".join(found) if found else self.error(pdu, start, 0x0A)

    def by_type(self, pdu):
        _, handles = self.span(pdu)
        return self.rows(pdu, 0x09, [
            struct.pack("<H", handle) + self.attributes[handle].value for handle in handles
            if self.attributes[handle].kind == pdu[5:]])

    def descriptors(self, pdu):
        start, handles = self.span(pdu)
        rows = [struct.pack("<H", handle) + self.attributes[handle].kind for handle in handles]
        if not rows:
            return self.error(pdu, start, 0x0A)
        same = [row for row in rows if len(row) == len(rows[0])]
        return bytes([0x05, 1 if len(rows[0]) == 4 else 2]) + b"".join(same[:20 if len(rows[0]) == 4 else 8])

    def read(self, pdu):
        handle = struct.unpack_from("<H", pdu, 1)[0]
        at = self.attributes.get(handle)
        return bytes([0x0B]) + at.value[:MTU - 1] if at else self.error(pdu, handle, 0x01)

    def write(self, pdu):
        handle = struct.unpack_from("<H", pdu, 1)[0]
        at = self.attributes.get(handle)
        if at is None:
            return self.error(pdu, handle, 0x01)
        at.value = pdu[3:]
        return bytes([0x13])


class Place:
    """All devices of one directory of the virtual radio."""

    def __init__(self, directory, addresses, events, out, signal=None):
        self.directory, self.events, self.out = directory, events, out
        # What each scanner receives: a function of its file name, in dBm, or None if it is out of range.
        self.signal = signal
        self.grips = [Grip(address) for address in addresses]
        os.makedirs(directory, mode=0o700, exist_ok=True)
        for grip in self.grips:
            server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            server.bind(f"{directory}/dev-{grip.address.hex().upper()}-01.sock")
            server.listen(8)
            server.setblocking(False)
            self.events.register(server, selectors.EVENT_READ, (self, grip, None))

    def advertise(self):
        data = bytes([2, 1, 6, 17, 7]) + own(1)
        free = [grip for grip in self.grips if grip.link is None]
        for name in os.listdir(self.directory) if free else []:
            if not name.startswith("scan-"):
                continue
            strength = self.signal(name) if self.signal else -40
            for grip in free if strength is not None else []:
                head, tail = (b"TA\x02", struct.pack("<b", strength)) if self.signal else (b"TA\x01", b"")
                packet = head + grip.address + b"\x01" + tail
                try:
                    self.out.sendto(packet + struct.pack("<H", len(data)) + data + b"\0\0", f"{self.directory}/{name}")
                except ConnectionRefusedError:
                    os.unlink(f"{self.directory}/{name}")  # its process was killed
                except OSError:
                    pass

    def accept(self, server, grip):
        link = server.accept()[0]
        if grip.link is not None:
            return link.close()
        link.setblocking(False)
        grip.accepted(link)
        self.events.register(link, selectors.EVENT_READ, (self, grip, link))

    def receive(self, grip, link):
        try:
            message = link.recv(1024)
            if message:
                return grip.receive(message)
        except BlockingIOError:
            return None
        except OSError:
            pass
        self.disconnect(grip)
        return None

    def disconnect(self, grip):
        self.events.unregister(grip.link)
        grip.disconnected()

class Radio(threading.Thread):
    """Places on a thread of their own. Their devices advertise without a connection, and turn their dial `rate` times a
    second while there is one."""

    def __init__(self, rate, advertising=0.1):
        super().__init__(daemon=True)
        self.rate, self.advertising = rate, advertising
        self.places = []
        self.is_silent = threading.Event()
        self.is_over = threading.Event()
        self.events = selectors.DefaultSelector()
        self.out = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.out.setblocking(False)

    def add(self, directory, addresses, signal=None):
        """Before the thread starts."""
        self.places.append(Place(directory, addresses, self.events, self.out, signal))

    @property
    def grips(self):
        return [grip for place in self.places for grip in place.grips]

    @staticmethod
    def cut(grip):
        """The connection is lost. From any thread: the radio's own finds its end."""
        grip.link.shutdown(socket.SHUT_RDWR)

    def run(self):
        advertising = turning = time.monotonic()
        grips = self.grips
        while not self.is_over.is_set():
            now = time.monotonic()
            if now >= advertising:
                for place in self.places:
                    place.advertise()
                advertising = now + self.advertising
            if now >= turning:
                for grip in [] if self.is_silent.is_set() else grips:
                    grip.turn()
                # The time that a slow machine lost is not made up for.
                turning = max(turning + 1 / self.rate, now)
            for key, _ in self.events.select(max(0, min(advertising, turning) - time.monotonic())):
                place, grip, link = key.data
                if link is None:
                    place.accept(key.fileobj, grip)
                elif grip.link is link:
                    place.receive(grip, link)

    def stop(self):
        self.is_over.set()
        self.join()

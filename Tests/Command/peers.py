#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Peers of the virtual radio that misbehave, for the tests of the command.

ghosts COUNT SECONDS            wearables that advertise and do not listen
leavers COUNT SECONDS           wearables that advertise, accept every connection and close it immediately
cut REAL OWN SECONDS WHAT       stands at the address OWN before the simulated device at REAL, and passes everything on
                                until a central reads the battery level (WHAT = battery) or writes WHAT: then it
                                disconnects, and the request stays without a response
Addresses are 12 hexadecimal digits, of the type random."""

import glob
import os
import selectors
import socket
import struct
import sys
import time

ROOT = os.environ["XDG_RUNTIME_DIR"] + "/tendon/"
BOSE = bytes([2, 1, 6, 3, 3, 0xD2, 0xFD])  # flags, service FDD2
BATTERY_LEVEL = 0x2A19
PDU = 0  # the first byte of a message


def advertisement(address, data):
    head = b"TA\x01" + address + b"\x01"
    return head + struct.pack("<H", len(data)) + data + struct.pack("<H", 0)


def broadcast(out, packets, but=None):
    for path in glob.glob(ROOT + "scan-*"):
        for index, packet in enumerate(packets):
            if path == but:
                break
            for _ in range(20):
                try:
                    out.sendto(packet, path)
                    break
                except BlockingIOError:
                    time.sleep(0.001)  # the scanner reads in batches
                except OSError:
                    break
            if index % 100 == 99:
                time.sleep(0.01)


def datagrams():
    out = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    out.setblocking(False)
    return out


def listener(address):
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.bind(f"{ROOT}dev-{address.hex().upper()}-01.sock")
    server.listen(8)
    server.setblocking(False)
    return server


def addresses(count):
    return [bytes([0xC0, 0xAA, 0, 0]) + struct.pack(">H", number) for number in range(count)]


def ghosts(count, seconds):
    out, end = datagrams(), time.monotonic() + seconds
    packets = [advertisement(address, BOSE) for address in addresses(count)]
    while time.monotonic() < end:
        broadcast(out, packets)
        time.sleep(0.1)


def leavers(count, seconds):
    out, end, events = datagrams(), time.monotonic() + seconds, selectors.DefaultSelector()
    packets = [advertisement(address, BOSE) for address in addresses(count)]
    for address in addresses(count):
        events.register(listener(address), selectors.EVENT_READ)
    while time.monotonic() < end:
        broadcast(out, packets)
        for key, _ in events.select(0.1):
            try:
                key.fileobj.accept()[0].close()
            except OSError:
                pass


class Cut:
    """One connection that is passed on."""

    def __init__(self, central, real, number, what):
        name = f"\0tendon-central-C0BB000000{number:02X}-01-{os.getpid()}-{number}"
        self.central, self.what, self.battery = central, what, None
        self.device = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.device.bind(name)
        self.device.connect(f"{ROOT}dev-{real.hex().upper()}-01.sock")

    def learn(self, pdu):
        """Read By Type Response of characteristics with 16-bit UUIDs."""
        if pdu[:2] == b"\x09\x07":
            for start in range(2, len(pdu) - 6, 7):
                value, uuid = struct.unpack_from("<HH", pdu, start + 3)
                self.battery = value if uuid == BATTERY_LEVEL else self.battery

    def ends(self, pdu):
        if self.what == b"battery":
            return self.battery is not None and pdu == struct.pack("<BH", 0x0A, self.battery)
        return pdu[:1] in b"\x12\x52" and self.what in pdu[3:]

    def pass_on(self, source):
        """False: the connection ended."""
        message = source.recv(1024)
        if not message:
            return False
        if message[0] == PDU and source is self.device:
            self.learn(message[1:])
        elif message[0] == PDU and self.ends(message[1:]):
            return False
        (self.central if source is self.device else self.device).send(message)
        return True


def cut(real, own, seconds, what):
    ear_path, end = f"{ROOT}scan-cut-{os.getpid()}", time.monotonic() + seconds
    ear, out, events, number = datagrams(), datagrams(), selectors.DefaultSelector(), 0
    ear.bind(ear_path)
    server = listener(own)
    events.register(ear, selectors.EVENT_READ)
    events.register(server, selectors.EVENT_READ)
    while time.monotonic() < end:
        for key, _ in events.select(0.5):
            if key.fileobj is ear:
                packet = ear.recv(2048)
                if packet[3:9] == real:
                    broadcast(out, [packet[:3] + own + packet[9:]], but=ear_path)
            elif key.fileobj is server:
                number += 1
                connection = Cut(server.accept()[0], real, number, what)
                for side in (connection.central, connection.device):
                    events.register(side, selectors.EVENT_READ, connection)
            elif key.fileobj.fileno() >= 0:
                try:
                    goes_on = key.data.pass_on(key.fileobj)
                except OSError:
                    goes_on = False
                if not goes_on:
                    for side in (key.data.central, key.data.device):
                        events.unregister(side)
                        side.close()
    os.unlink(ear_path)


def main(words):
    if words[0] == "cut":
        cut(bytes.fromhex(words[1]), bytes.fromhex(words[2]), float(words[3]), words[4].encode())
    else:
        {"ghosts": ghosts, "leavers": leavers}[words[0]](int(words[1]), float(words[2]))


main(sys.argv[1:])

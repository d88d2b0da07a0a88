#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A controller on /dev/vhci that answers from a script, for what btvirt does not check.

Like real controllers, and other than btvirt, it refuses with Command Disallowed (0x0C) whichever of the legacy and
the extended advertising and scan commands comes second (Core Spec Vol 4 Part E 3.1.1).

  controller.py [--extended] [--silent OPCODE] [--refuse OPCODE=STATUS] [--log FILE] [--count N]
                [--hardware-error SECONDS] [--no-address] [--address ADDRESS] [--no-credits OPCODE]
                [--buffers LENGTH,COUNT] [--reports N --until OPCODE] [--other]
                [--h4] [--data-length N] [--connections N]

  --extended         LE Extended Advertising and its commands are supported
  --silent OPCODE    never answers this command (hexadecimal, e.g. 200c)
  --refuse OP=STATUS answers it with this status
  --count N          the silence or the refusal only the first N times
  --hardware-error S sends Hardware Error, once, S seconds after scanning or advertising was switched on
  --no-address       has no public address: what needs one is refused with Invalid HCI Command Parameters (0x12), and
                     so is a random one before it is set (Core Spec Vol 4 Part E 7.8.5, 7.8.9, 7.8.10, 7.8.53, 7.8.56)
  --unconfigured     waits for a configuration, which no program gives it (drivers/bluetooth/hci_vhci.c)
  --address ADDRESS  its public address, instead of 00:53:00:5E:02:01
  --no-credits OP    from this command on every event says that no further command may be sent
  --buffers L,N      of LE data: N packets of L bytes
  --stall-after N    packets of the first connection: no more of it are reported as completed (hostile.py)
  --data-length N    LE Data Packet Length Extension is supported, N bytes at most (hostile.py has the connections)
  --connections N    so many at the same time (hostile.py has them); one more is refused with Connection Limit Exceeded
                     (0x09), and there is a second device, 00:00:5E:00:53:02
  --reports N        reports N times, then not before the next command --until (hexadecimal, e.g. 200c or 0c03)
  --devices N        of N devices, whose addresses differ by 16
  --other            reports a second device too, 00:00:5E:00:53:02, without a limit and without a service
  --h4               before each report: a packet of each kind that is none, and the report cut at every byte
  --log FILE         one line per command: opcode, parameters, status

While a scan is on it reports one advertisement ten times a second: 00:00:5E:00:53:01, service FDD2, "Scripted" in the
scan response. Standard library only.
"""
import argparse
import errno
import os
import select
import struct
import sys
import time

LEGACY = {0x2006, 0x2007, 0x2008, 0x2009, 0x200A, 0x200B, 0x200C, 0x200D}
EXTENDED = {0x2036, 0x2037, 0x2038, 0x2039, 0x203C, 0x203D, 0x2041, 0x2042, 0x2043}
DISALLOWED = 0x0C
INVALID_PARAMETERS = 0x12
# Where Own_Address_Type stands.
OWN_ADDRESS = {0x2006: 5, 0x200B: 5, 0x2036: 10, 0x2041: 0}
ADDRESS = bytes.fromhex("01025E005300")  # our own, least significant byte first
PEER = bytes.fromhex("0153005E0000")
SECOND = bytes.fromhex("0253005E0000")
ADVERTISEMENT = bytes([2, 1, 6, 3, 3, 0xD2, 0xFD])
RESPONSE = bytes([9, 9]) + b"Scripted"


class Controller:
    def __init__(self, options):
        self.options = options
        self.used = None  # the set of commands that came first
        self.scanning = self.active = False
        self.left = options.count
        self.random_address = self.set_address = False  # of the controller, of an advertising set
        self.error_at = None
        self.erred = options.hardware_error is None
        self.credits = 1
        self.reports = 0  # since the last command --until
        self.address = bytes.fromhex(options.address.replace(":", ""))[::-1] if options.address else ADDRESS
        self.log = open(options.log, "w", buffering=1) if options.log else sys.stdout
        self.device = os.open("/dev/vhci", os.O_RDWR)
        os.write(self.device, bytes([0xFF, 0x40 if options.unconfigured else 0x00]))

    def event(self, code, parameters):
        try:
            os.write(self.device, bytes([4, code, len(parameters)]) + parameters)
        except OSError as error:
            if error.errno != errno.ENXIO:  # the kernel has just switched the adapter off, and hears nothing
                raise

    def commands(self):
        """Read Local Supported Commands: what the kernel looks at."""
        bits = bytearray(64)
        bits[0] = 0x20  # Disconnect
        bits[5] = 0xC0  # Set Event Mask, Reset
        bits[14] = 0xA8  # the Read Local ... commands
        bits[15] = 0x02  # Read BD_ADDR
        bits[25] = 0xF7  # LE Set Event Mask ... LE Set Advertising Parameters and data
        bits[26] = 0x3F  # LE Set Advertising Enable, Scan Parameters, Scan Enable, Create Connection
        if self.options.data_length:
            bits[33], bits[34], bits[35] = 0xC0, 0x01, 0x08  # LE data length
        if self.options.extended:
            bits[36] = 0x7E  # LE extended advertising
            bits[37] = 0xEF
        return bytes(bits)

    def features(self):
        return bytes([0x20 if self.options.data_length else 0, 0x10 if self.options.extended else 0]) + bytes(6)

    @staticmethod
    def microseconds(octets):
        """What so many take on LE 1M (Core Spec Vol 6 Part B 2.1)."""
        return (octets + 14) * 8

    def returned(self, opcode):
        longest = struct.pack("<HH", self.options.data_length, self.microseconds(self.options.data_length))
        return {
            0x1001: bytes([9, 0, 0, 9]) + struct.pack("<HH", 0xFFFF, 0),
            0x1002: self.commands(),
            0x1003: bytes([0, 0, 0, 0, 0x60, 0, 0, 0]),  # LE only
            0x1005: struct.pack("<HBHH", 0, 0, 0, 0),
            0x1009: bytes(6) if self.options.no_address else self.address,
            0x2002: struct.pack("<HB", *map(int, self.options.buffers.split(","))),
            0x2003: self.features(),
            0x2007: b"\0",
            0x200F: b"\4",
            0x201C: bytes([0xFF] * 5) + bytes(3),
            0x2023: struct.pack("<HH", 27, self.microseconds(27)),
            0x202A: b"\0",
            0x202F: longest + longest,
            0x203A: struct.pack("<H", 251),
            0x203B: b"\4",
            0x2036: b"\0",
        }.get(opcode, b"")

    def scripted(self, opcode):
        """The status that the options ask for, "silent", or None."""
        wanted = f"{opcode:04x}"
        if self.left == 0:
            return None
        answer = None
        if self.options.silent == wanted:
            answer = "silent"
        elif self.options.refuse and self.options.refuse.split("=")[0] == wanted:
            answer = int(self.options.refuse.split("=")[1], 16)
        if answer is not None:
            self.left -= 1
        return answer

    def mixes(self, opcode):
        group = "legacy" if opcode in LEGACY else "extended" if opcode in EXTENDED else None
        # The kernel reads the transmit power while it sets a controller up, before it knows.
        if group is None or opcode == 0x2007:
            return False
        self.used = self.used or group
        return group != self.used

    def has_no_address(self, opcode, parameters):
        """True when the command needs an address that this controller does not have."""
        if not self.options.no_address:
            return False
        if opcode in OWN_ADDRESS:
            random = parameters[OWN_ADDRESS[opcode]] & 1 == 1
            return not random or not (self.random_address or opcode == 0x2036)
        return opcode == 0x2039 and parameters[0] == 1 and not self.set_address

    def command(self, packet):
        opcode, length = struct.unpack_from("<HB", packet)
        parameters = packet[3 : 3 + length]
        if opcode == 0x0C03:
            self.used = None
            self.scanning = self.random_address = self.set_address = False
        status = DISALLOWED if self.mixes(opcode) else 0
        if self.has_no_address(opcode, parameters):
            status = INVALID_PARAMETERS
        scripted = self.scripted(opcode)
        if scripted == "silent":
            print(f"{opcode:04x} {parameters.hex()} silent", file=self.log)
            return
        status = status or scripted or 0
        if opcode in EXTENDED and not self.options.extended:
            status = 0x01
        print(f"{opcode:04x} {parameters.hex()} {status:02x}", file=self.log)
        if status == 0:
            self.act(opcode, parameters)
        result = self.returned(opcode) if status == 0 else b""
        if self.options.no_credits == f"{opcode:04x}":
            self.credits = 0
        self.event(0x0E, struct.pack("<BHB", self.credits, opcode, status) + result)

    def act(self, opcode, parameters):
        if opcode == 0x2005:
            self.random_address = True
        elif opcode == 0x2035:
            self.set_address = True
        elif opcode == 0x200B:
            self.active = parameters[0] == 1
        elif opcode == 0x2041:
            self.active = parameters[3] == 1
        elif opcode in (0x200C, 0x2042):
            self.scanning = parameters[0] == 1
        if self.options.until == f"{opcode:04x}":
            self.reports = 0
        if opcode in (0x200A, 0x200C, 0x2039, 0x2042) and parameters[0] == 1 and not self.erred:
            self.erred = True
            self.error_at = time.monotonic() + self.options.hardware_error

    def report(self):
        self.reports += 1
        if self.options.reports is None or self.reports <= self.options.reports:
            for number in range(self.options.devices):
                self.report_of(bytes([PEER[0], PEER[1] + 16 * number]) + PEER[2:])
            if self.options.connections:
                self.report_of(SECOND)
        if self.options.other:
            self.report_of(SECOND, ADVERTISEMENT[:3])

    def report_of(self, peer, advertisement=ADVERTISEMENT):
        parts = [(0x13, 0, advertisement)] + ([(0x1B, 4, RESPONSE)] if self.active else [])
        for properties, kind, data in parts:
            if self.used == "extended":
                body = struct.pack("<BHB", 1, properties, 0) + peer
                body += bytes([1, 0, 0xFF, 127, 0xC4, 0, 0, 0]) + bytes(6) + bytes([len(data)]) + data
                self.event(0x3E, b"\x0d" + body)
            else:
                body = bytes([1, kind, 0]) + peer + bytes([len(data)]) + data + b"\xc4"
                if self.options.h4:
                    self.broken(b"\x02" + body)
                self.event(0x3E, b"\x02" + body)

    def broken(self, parameters):
        """What is no packet, and an event that ends too early."""
        whole = bytes([4, 0x3E, len(parameters)]) + parameters
        for packet in [bytes([kind]) + whole[1:] for kind in (0, 1, 6, 0x7F, 0xFF)] + [whole[:end] for end in range(len(whole))]:
            try:
                os.write(self.device, packet)
                taken = "taken"
            except OSError as error:
                taken = errno.errorcode[error.errno]
            print(f"broken {packet[:1].hex()} {len(packet)} {taken}", file=self.log)

    def run(self):
        following = time.monotonic()
        while True:
            ready, _, _ = select.select([self.device], [], [], 0.1)
            if ready:
                packet = os.read(self.device, 4096)
                if packet and packet[0] == 1:
                    self.command(packet[1:])
            if self.error_at is not None and time.monotonic() >= self.error_at:
                self.error_at = None
                self.scanning = False
                print("hardware error", file=self.log)
                self.event(0x10, b"\x42")
            if self.scanning and time.monotonic() >= following:
                following = time.monotonic() + 0.1
                self.report()


def parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extended", action="store_true")
    parser.add_argument("--silent")
    parser.add_argument("--refuse")
    parser.add_argument("--no-address", action="store_true")
    parser.add_argument("--unconfigured", action="store_true")
    parser.add_argument("--address")
    parser.add_argument("--no-credits")
    parser.add_argument("--buffers", default="251,8")
    parser.add_argument("--stall-after", type=int)
    parser.add_argument("--connections", type=int, default=0)
    parser.add_argument("--data-length", type=int, default=0)
    parser.add_argument("--reports", type=int)
    parser.add_argument("--until")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--other", action="store_true")
    parser.add_argument("--h4", action="store_true")
    parser.add_argument("--log")
    parser.add_argument("--hardware-error", type=float)
    parser.add_argument("--count", type=int, default=-1)
    return parser


def main():
    Controller(parser().parse_args()).run()


if __name__ == "__main__":
    main()

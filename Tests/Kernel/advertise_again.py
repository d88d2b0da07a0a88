#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Switches an adapter's advertising off and on again, about once a second, until a file is there.

btvirt tells a scanner of an advertiser once, when either is switched on, where a real controller would be heard again
and again. Off and on are sent together, so that a central that has just heard it never finds it off.

  advertise_again.py ADAPTER FILE [SET]   SET: an advertising set, where the advertiser has the extended commands
"""
import os
import socket
import struct
import sys
import time

# Core Spec Vol 4 Part E: LE Set Advertising Enable (7.8.9), LE Set Extended Advertising Enable (7.8.56).
ENABLE, EXTENDED_ENABLE = 0x200A, 0x2039
RESTS = (1.0, 1.3, 0.7)  # seconds; never in step with a client that scans by the second


def command(enable, advertising_set):
    if advertising_set is None:
        return struct.pack("<BHBB", 1, ENABLE, 1, enable)
    # One set, without a limit of time or events.
    return struct.pack("<BHBBBBHB", 1, EXTENDED_ENABLE, 6, enable, 1, advertising_set, 0, 0)


def main():
    adapter, found = int(sys.argv[1].removeprefix("hci")), sys.argv[2]
    advertising_set = int(sys.argv[3], 0) if len(sys.argv) > 3 else None
    with socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, socket.BTPROTO_HCI) as commands:
        commands.bind((adapter,))
        turn = 0
        while not os.path.exists(found):
            for enable in (0, 1):
                commands.send(command(enable, advertising_set))
            time.sleep(RESTS[turn % len(RESTS)])
            turn += 1


main()

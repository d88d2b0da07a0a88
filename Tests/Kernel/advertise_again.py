#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Switches an adapter's advertising off and on again, about once a second, until a file is there.

btvirt tells a scanner of an advertiser once, when either is switched on, where a real controller would be heard again
and again. Off and on are sent together, so that a central that has just heard it never finds it off.

  advertise_again.py ADAPTER FILE
"""
import os
import socket
import sys
import time

ENABLE = 0x200A  # LE Set Advertising Enable (Core Spec Vol 4 Part E 7.8.9)
RESTS = (1.0, 1.3, 0.7)  # seconds; never in step with a client that scans by the second


def main():
    adapter, found = int(sys.argv[1].removeprefix("hci")), sys.argv[2]
    with socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, socket.BTPROTO_HCI) as commands:
        commands.bind((adapter,))
        turn = 0
        while not os.path.exists(found):
            for enable in (0, 1):
                commands.send(bytes([1]) + ENABLE.to_bytes(2, "little") + bytes([1, enable]))
            time.sleep(RESTS[turn % len(RESTS)])
            turn += 1


main()

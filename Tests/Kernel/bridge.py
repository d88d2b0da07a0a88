#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A controller behind a TCP port as an adapter of this machine: its HCI packets go to /dev/vhci, and back.

  bridge.py PORT

RootCanal makes a controller for each connection to its HCI port; over TCP packets have the form H4 (Core Spec Vol 4
Part A 2), of which /dev/vhci takes one in each write. Ends when the controller closes the connection."""
import errno
import os
import select
import socket
import struct
import sys

# Bytes of the header after the packet kind, and where and how its length stands there.
HEADERS = {1: (3, 2, "<B"), 2: (4, 2, "<H"), 3: (3, 2, "<B"), 4: (2, 1, "<B"), 5: (4, 2, "<H")}
READY = 0xFF  # a packet of the kernel itself: the adapter has been made


def packets(stream):
    """The whole packets of the stream, and what is left of it."""
    found = []
    while stream:
        header, at, form = HEADERS[stream[0]]
        if len(stream) < 1 + header:
            break
        end = 1 + header + struct.unpack_from(form, stream, 1 + at)[0] % 0x4000
        if len(stream) < end:
            break
        found.append(stream[:end])
        stream = stream[end:]
    return found, stream


def main():
    controller = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    controller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    kernel = os.open("/dev/vhci", os.O_RDWR)
    os.write(kernel, bytes([0xFF, 0x00]))  # a primary controller
    stream = b""
    while True:
        ready, _, _ = select.select([controller, kernel], [], [])
        if kernel in ready:
            packet = os.read(kernel, 4096)
            if packet[0] != READY:
                controller.sendall(packet)
        if controller in ready:
            data = controller.recv(65536)
            if not data:
                return
            found, stream = packets(stream + data)
            for packet in found:
                try:
                    os.write(kernel, packet)
                except OSError as error:
                    if error.errno != errno.ENXIO:  # the adapter has just been switched off, and hears nothing
                        raise


main()

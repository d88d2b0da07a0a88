#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""notify_socket.py SOCKET FILE: takes the messages of a service for its manager, one line of the file for each line."""
import socket
import sys

path, name = sys.argv[1:]
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind("\0" + path[1:] if path.startswith("@") else path)
with open(name, "w", encoding="utf-8") as lines:
    while True:
        lines.write(receiver.recv(4096).decode() + "\n")
        lines.flush()

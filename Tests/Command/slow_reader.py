#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""slow_reader.py SECONDS PROGRAM ARGUMENT...: runs a program whose standard output is a pipe of one page, reads up to the
first sample, then nothing for so long, then all. Prints what it read; ends with the program's status."""
import fcntl
import os
import subprocess
import sys
import time

F_SETPIPE_SZ = 1031

reader, writer = os.pipe()
fcntl.fcntl(reader, F_SETPIPE_SZ, 4096)
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=writer)
os.close(writer)
pending = True
while data := os.read(reader, 4096):
    os.write(sys.stdout.fileno(), data)
    if pending and b'"event":"sample"' in data:
        pending = False
        time.sleep(float(sys.argv[1]))
sys.exit(child.wait())

# SPDX-License-Identifier: MIT
"""OGP/1 a second time, in Python: codec, both ends of a link, a device and a client.

Written from the protocol's specification alone (docs/protocols/obvious.md); it shares no code and no table with the C
library. Nothing here does I/O or reads a clock: bytes and milliseconds in, bytes out.
"""

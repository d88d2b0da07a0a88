# SPDX-License-Identifier: MIT
"""Bluetooth LE wearables on Linux.

>>> import asyncio, tendon
>>> async def main():
...     async for event in tendon.Gateway().events():
...         print(event)
>>> asyncio.run(main())
"""

from . import events
from ._library import StatusError, c
from .devices import ActionError, Belt, DefinedDevice, Device, Grip, Head, ObviousDevice, Trainer
from .events import Event
from .gateway import DeviceFileError, Events, Gateway, find
from .recordings import frame, read_recording

__version__: str = c.tendon_version().decode()
__all__ = ["ActionError", "Belt", "DefinedDevice", "Device", "DeviceFileError", "Event", "Events", "Gateway", "Grip", "Head",
           "ObviousDevice", "StatusError", "Trainer", "events", "find", "frame", "read_recording"]

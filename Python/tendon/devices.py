# SPDX-License-Identifier: MIT
"""Devices of a gateway, and what they can do."""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING, Any, AsyncIterator, Literal

from .events import Connected, Event

if TYPE_CHECKING:
    from .gateway import Gateway


class ActionError(Exception):
    """A device did not carry out an action; the text says why. `error` and `error_number` are those of the event, or None."""

    def __init__(self, text: str, error: str | None = None, error_number: int | None = None) -> None:
        super().__init__(text)
        self.error, self.error_number = error, error_number


class Device:
    """A device that the gateway has connected to. The same object for its next connections."""

    def __init__(self, gateway: Gateway, address: str, address_type: str, family: str, information: Connected) -> None:
        self._gateway = gateway
        self.address = address
        """"AA:BB:CC:DD:EE:FF"."""
        self.address_type = address_type
        """"public", "random" ...; only address and type together identify a device."""
        self.family = family
        """"bose", "feelspace" ..., or the name of a device file."""
        self.name: str | None = None
        """The name that it advertises."""
        self.connected = False
        self.information = information
        """What it said of itself when it was connected the last time: firmware, serial number ..."""

    def __repr__(self) -> str:
        state = "connected" if self.connected else "not connected"
        return f"<{type(self).__name__} {self.name or self.family} {self.address}/{self.address_type}, {state}>"

    def events(self) -> AsyncIterator[Event]:
        """Its events from now on, until the gateway is closed."""
        return self._gateway.events(of=self)

    async def act(self, action: str, *arguments: str | int | float | bytes | datetime.datetime) -> None:
        """Has the device do something by name, as rules of `tendon run` do: `await belt.act("vibrate", 90)`.

        Returns when the device has confirmed it. ActionError: it is no action of the device, it is not connected, or it refused.
        """
        await self._gateway.act(self, action, arguments)


class Head(Device):
    """A Bose wearable."""


class Belt(Device):
    """A feelSpace belt."""

    async def signal(self, signal: Literal["warning", "goal_reached", "battery"]) -> None:
        """Lets it vibrate a system signal."""
        await self.act("signal", signal)

    async def vibrate(self, angle: float) -> None:
        """Lets it vibrate for a second at an angle in degrees, clockwise from the front."""
        if not math.isfinite(angle):
            raise ActionError(f"an angle is a number of degrees, not {angle}")
        await self.act("vibrate", round(angle))

    async def mode(self, mode: str) -> None:
        """Changes its mode: "wait", "compass", "app", "pause" ..."""
        await self.act("mode", mode)

    async def stop(self) -> None:
        """Ends all vibration."""
        await self.act("stop")


class Trainer(Device):
    """An Activ5 trainer."""

    async def tare(self) -> None:
        """The present force becomes zero."""
        await self.act("tare")

    async def start(self) -> None:
        """Starts its measurement of force."""
        await self.act("start")

    async def stop(self) -> None:
        """Ends the measurement."""
        await self.act("stop")


class Grip(Device):
    """A Fjorden grip."""

    async def led(self, mode: Literal["off", "on", "blinkSlow", "blinkFast"], duration_ms: int = 0) -> None:
        """Lights its LED; 0: until the next request."""
        await self.act("led", mode, *([duration_ms] if duration_ms else []))


class ObviousDevice(Device):
    """An Obvious device."""

    async def toggle(self, feature: int, state: Literal["on", "off", "flip"]) -> None:
        """Switches a feature that is unlocked."""
        await self.act("toggle", feature, state)


class DefinedDevice(Device):
    """A device of a device file. Its actions are methods, by the names of the file: `await lamp.set("on", 12.5)`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        async def call(*arguments: str | int | float | bytes | datetime.datetime) -> None:
            await self.act(name, *arguments)

        return call


CLASSES: dict[str, type[Device]] = {
    "bose": Head, "feelspace": Belt, "activ5": Trainer, "fjorden": Grip, "obvious": ObviousDevice}

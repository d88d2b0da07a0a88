# SPDX-License-Identifier: MIT
"""A gateway: finds wearables, connects to them, connects again, and reports what they send."""

from __future__ import annotations

import asyncio
import collections
import ctypes
import datetime
import json
import pathlib
import time
import warnings
import weakref
from typing import Any, AsyncIterator, Callable, Generic, Iterable, Iterator, Literal, TypeVar, overload

from . import devices, events
from ._library import MISTAKE_SIZE, ON_LINE, Address, Mistake, StatusError, c, check, options
from .devices import ActionError, Belt, Device, Grip, Head, ObviousDevice, Trainer
from .events import Event

__all__ = ["DeviceFileError", "Events", "Gateway", "find"]

_NEVER = 2**64 - 1
_REPEATED = ("address", "allow")  # options whose lists are not separated by commas
_parsed = json.JSONDecoder().raw_decode
_D = TypeVar("_D")
_OVERLAPS = -3  # TENDON_ERROR_MALFORMED
_TYPES = {"public": 0, "random": 1, "public_identity": 2, "random_identity": 3}


def _quoted(word: str) -> bytes:
    """A word in the text of an action, in quotation marks if it would not be one otherwise."""
    text = word.encode()
    out = ctypes.create_string_buffer(2 * len(text) + 2)
    length = c.tendon_act_quote(text, len(text), out)
    return out.raw[:length]


def _text(argument: str | int | float | bytes | datetime.datetime) -> str:
    """As actions take it; bytes are hexadecimal digits, True and False are 1 and 0, times have whole seconds."""
    if isinstance(argument, bytes):
        return argument.hex()
    if isinstance(argument, datetime.datetime):
        return argument.isoformat(timespec="seconds")
    if argument is None:
        raise TypeError("an argument is a text, a number or bytes, not None")
    return str(int(argument)) if isinstance(argument, bool) else str(argument)


class DeviceFileError(Exception):
    """A device file is wrong: `path:line:column: why`."""


def _mistake(name: str, text: bytes | None) -> ValueError:
    """Why the value of an option is not possible."""
    mistake = ctypes.create_string_buffer(MISTAKE_SIZE)
    c.tendon_fleet_option_mistake(name.encode(), text, mistake)
    return ValueError(f"{name.replace('-', '_')} {mistake.value.decode(errors='replace')}")


class _Wanted:
    """What a program looks for; what is None is not compared."""

    def __init__(self, family: str | None, name: str | None, address: str | None) -> None:
        known = c.tendon_family_find(family.encode()) if family else None
        self.family, self.name, self.address = known[0].decode() if known else family, name, None
        self.text = " ".join(word for word in (family, name, address) if word) or "device"
        self.obstacle = ""
        """The last reason why it has not connected."""
        if address is not None:
            parsed = Address()
            if c.tendon_address_parse(address.encode(), len(address.encode()), ctypes.byref(parsed), None) < 0:
                raise _mistake("address", address.encode())
            self.address = bytes(parsed.bytes).hex(":").upper()
            self.types = (parsed.type,) if "/" in address else _TYPES.values()

    def matches(self, one: Device | Event) -> bool:
        return (self.family in (None, one.family) and self.name in (None, one.name)
                and (self.address is None or self.address == one.address and _TYPES.get(one.address_type or "") in self.types))

    def note(self, event: Event) -> None:
        """A device that another program looks for has reasons of its own; what an adapter lacks concerns all of them."""
        if isinstance(event, (events.ConnectFailed, events.RadioWaiting, events.RadioLost)):
            if not event.address:
                self.obstacle = event.text
            elif self.matches(event):
                self.obstacle = f"{event.name or event.address}: {event.text}"


class Events:
    """Events as they come: an asynchronous iterator for one task. If it is not read, 65,536 events wait; then the oldest one is dropped."""

    LIMIT = 65536

    def __init__(self, gateway: Gateway, of: Device | None) -> None:
        self._gateway = gateway
        self._of = of
        self._waiting: collections.deque[Event] = collections.deque()
        self._future: asyncio.Future[None] | None = None
        self.dropped = 0
        """Events that were dropped."""

    def _put(self, event: Event) -> None:
        if len(self._waiting) == self.LIMIT:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(event)
        self._wake()

    def _wake(self) -> None:
        if self._future is not None and not self._future.done():
            self._future.set_result(None)

    def __aiter__(self) -> Events:
        return self

    async def __anext__(self) -> Event:
        if not self._waiting:
            await self._gateway.open()
        while not self._waiting:
            if self._gateway._error is not None:
                raise self._gateway._error
            if not self._gateway.is_open:
                raise StopAsyncIteration
            if self._future is not None:
                raise RuntimeError("another task waits for these events: each needs events() of its own")
            self._future = asyncio.get_running_loop().create_future()
            try:
                await self._future
            finally:
                self._future = None
        return self._waiting.popleft()


class Gateway:
    """Serves every wearable in range.

    >>> async with Gateway(sensors="rotation", period=20) as gateway:
    ...     async for event in gateway.events():
    ...         if event.event == "sample":
    ...             print(event.name, event.yaw_deg)

    Arguments beside those below are the options of `tendon-gateway --help`, with underscores: sensors, gestures, period, measure,
    rate, orientation_period ... Lists may be lists; True stands for an option without a value.

    radio: "virtual" for simulated devices, "bluez" for adapters; default: the environment variable TENDON_RADIO, else "bluez".
    adapters: names of adapters, such as "hci0"; default: the first one. One that is missing is waited for.
    families: those that are served; default: all.
    device_files: paths of device files (docs/device-files.md), or one path.

    It is for one event loop, and one time: `async with`, or `close()`, ends its connections. Until then the loop keeps it.
    """

    def __init__(self, *, radio: str | None = None, adapters: str | Iterable[str] = (), families: str | Iterable[str] = (),
                 device_files: str | pathlib.Path | Iterable[str | pathlib.Path] = (), **options: Any) -> None:
        self.devices: dict[str, Device] = {}
        """Devices that it has connected to, by "ADDRESS/TYPE"."""
        self._streams: tuple[weakref.ref[Events], ...] = ()  # one that nobody reads any more takes no events
        self._calls: list[tuple[Callable[[Event], object], Device | None]] = []
        self._acting: dict[str, collections.deque[asyncio.Future[None]]] = {}
        self._refusal: str | None = None  # text: during a call that may be refused
        self._is_open = self._has_ended = False
        self._has_filters = False  # streams of single devices
        self._error: BaseException | None = None
        self._async: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due = _NEVER  # the deadline that the timer is for
        self._ended: asyncio.Future[None] | None = None
        self._directly: collections.deque[Event] | None = None
        self._options = ctypes.create_string_buffer(c.tendon_fleet_options_size())
        c.tendon_fleet_options_init(self._options)
        files = [device_files] if isinstance(device_files, (str, pathlib.PurePath)) else device_files
        self._definitions = [self._define(pathlib.Path(path)) for path in files]
        if radio is not None:
            self._set("radio", radio)
        for adapter in [adapters] if isinstance(adapters, str) else adapters:
            self._set("adapter", adapter)
        if families:
            self._set("families", families)
        for name, value in options.items():
            self._set(name.replace("_", "-"), value)
        mistake = ctypes.create_string_buffer(MISTAKE_SIZE)
        if c.tendon_fleet_options_mistake(self._options, mistake):
            raise ValueError(mistake.value.decode(errors="replace"))

    def _set(self, name: str, value: Any) -> None:
        if value is None or value is False:
            return
        if value is True:
            text = None
        elif isinstance(value, str):
            text = value.encode()
        elif isinstance(value, Iterable) and name in _REPEATED:
            for one in value:
                self._set(name, one)
            return
        elif isinstance(value, Iterable):
            text = ",".join(str(one) for one in value).encode()
        else:
            text = str(value).encode()
        if c.tendon_fleet_options_set(self._options, name.encode(), text) < 0:
            known = options()
            if name not in known:
                raise TypeError(f"Gateway() has no option {name.replace('-', '_')!r}; it has {', '.join(one.replace('-', '_') for one in known)}")
            raise _mistake(name, text)

    def _define(self, path: pathlib.Path) -> ctypes.Array[ctypes.c_char]:
        text = path.read_bytes()
        definition = ctypes.create_string_buffer(c.tendon_definition_size())
        scratch = ctypes.create_string_buffer(c.tendon_definition_scratch_size())
        mistake = Mistake()
        if c.tendon_definition_parse(text, len(text), definition, scratch, ctypes.byref(mistake)) < 0:
            raise DeviceFileError(f"{path}:{mistake.line}:{mistake.column}: {mistake.text.decode()}")
        status = c.tendon_fleet_options_define(self._options, definition)
        if status == _OVERLAPS:
            raise DeviceFileError(f"{path}: its 'find' means devices that a file before it means as well")
        check(str(path), status)
        return definition

    # ---- life

    @property
    def is_open(self) -> bool:
        return self._is_open

    def _begin(self) -> None:
        self._loop = ctypes.create_string_buffer(c.tendon_loop_size())
        self._address = ctypes.addressof(self._loop)
        check("the event loop", c.tendon_loop_init(self._loop))
        self._fleet = ctypes.create_string_buffer(c.tendon_fleet_size())
        self._callback = ON_LINE(self._take)
        self._is_open = True
        status = c.tendon_fleet_open(self._fleet, self._loop, self._options, self._callback, None)
        if status < 0:
            self._is_open = False
            c.tendon_loop_close(self._loop)
            raise StatusError("no radio", status, 'radio="virtual" is for simulated devices')

    async def open(self) -> Gateway:
        """Opens the radio and begins to search. Without effect if it is open, or was."""
        if self._is_open or self._has_ended:
            self._check_loop()
            return self
        self._async = asyncio.get_running_loop()
        self._begin()
        self._async.add_reader(c.tendon_loop_descriptor(self._loop), self._turn)
        self._arm()
        return self

    async def close(self) -> None:
        """Ends the connections, in at most five seconds, and closes the radio."""
        if not self._is_open or self._async is None:
            return
        self._check_loop()
        if self._ended is None:
            self._ended = self._async.create_future()
            c.tendon_fleet_end(self._fleet)
            self._turn()
        await asyncio.shield(self._ended)

    def _check_loop(self) -> None:
        """In another loop nothing would ever come, without a word."""
        if self._is_open and self._async is not asyncio.get_running_loop():
            raise RuntimeError("the gateway was opened in another event loop: each needs a Gateway of its own")

    def __del__(self) -> None:
        """Its event loop has ended without close(): connections and descriptors would stay as long as the program."""
        if getattr(self, "_is_open", False):
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self)
            self._is_open = False
            c.tendon_fleet_close(self._fleet)
            c.tendon_loop_close(self._loop)

    async def __aenter__(self) -> Gateway:
        if self._has_ended:
            raise RuntimeError("the gateway was closed: make another one")
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _finish(self) -> None:
        c.tendon_fleet_summarize(self._fleet)
        self._is_open, self._has_ended = False, True
        if self._async is not None:
            self._async.remove_reader(c.tendon_loop_descriptor(self._loop))
        if self._timer is not None:
            self._timer.cancel()
        c.tendon_fleet_close(self._fleet)
        c.tendon_loop_close(self._loop)
        for waiting in self._acting.values():
            for future in waiting:
                if not future.done():
                    future.set_exception(ActionError("the gateway was closed"))
        self._wake()
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    # ---- the C library's loop in that of Python

    def _turn(self) -> None:
        if not self._is_open:
            return
        status = c.tendon_loop_step(self._address, 0)
        if status < 0 and self._error is None:
            self._error = StatusError("the event loop", status)
        if self._ended is not None and c.tendon_fleet_has_ended(self._fleet):
            self._finish()
        else:
            self._arm()

    def _arm(self) -> None:
        """The next deadline of the C library. A timer that is earlier stays: most deadlines move with each value."""
        due = c.tendon_loop_deadline(self._address)
        if due >= self._due:
            return
        if self._timer is not None:
            self._timer.cancel()
        assert self._async is not None
        self._due = due
        # Its clock counts whole milliseconds: a millisecond too early, and it would not see that the time has come.
        delay = max(0, (due + 1) / 1000 - time.monotonic())
        self._timer = self._async.call_at(self._async.time() + delay, self._expired)

    def _expired(self) -> None:
        self._timer, self._due = None, _NEVER
        self._turn()

    def _take(self, _: Any, line: Any) -> bool:
        try:
            self._event(_parsed(str(line.contents.text, "utf-8"))[0])
        except BaseException as error:  # ctypes would print it and go on
            self._error = self._error or error
            self._wake()
        return True

    def _wake(self) -> None:
        for reference in self._streams:
            stream = reference()
            if stream is not None:
                stream._wake()

    def _event(self, members: dict[str, Any]) -> None:
        event = events.from_members(members)
        device = None
        if event.event != "sample" or self._has_filters:
            key = f"{event.address}/{event.address_type}"
            device = self.devices.get(key)
            if event.event != "sample":
                device = self._note(event, key, device)
        for reference in self._streams:
            stream = reference()
            if stream is not None and (stream._of is None or stream._of is device):
                stream._put(event)
        for function, of in self._calls:
            if of is None or of is device:
                self._call(function, event)
        if self._directly is not None:
            self._directly.append(event)

    def _call(self, function: Callable[[Event], object], event: Event) -> None:
        try:
            function(event)
        except Exception as error:
            if self._async is None:
                raise
            self._async.call_exception_handler({"message": f"on_event({function!r})", "exception": error})

    def _note(self, event: Event, key: str, device: Device | None) -> Device | None:
        if isinstance(event, events.Connected) and event.address and event.address_type and event.family:
            if device is None:
                kind = devices.CLASSES.get(event.family, devices.DefinedDevice)
                device = self.devices[key] = kind(self, event.address, event.address_type, event.family, event)
            device.connected, device.information, device.name = True, event, event.name
        elif isinstance(event, events.Disconnected) and device is not None:
            device.connected = False
        elif isinstance(event, events.ActionFailed) and self._refusal is not None:
            self._refusal = event.text
        elif isinstance(event, (events.Action, events.ActionFailed)) and self._acting.get(key):
            future = self._acting[key].popleft()
            if not future.done():
                if isinstance(event, events.ActionFailed):
                    future.set_exception(ActionError(event.text, event.error, event.error_number))
                else:
                    future.set_result(None)
        return device

    # ---- what programs call

    def events(self, of: Device | None = None) -> Events:
        """The events from now on, of all devices or of one. It opens the gateway, if that is not open."""
        stream = Events(self, of)
        self._streams += (weakref.ref(stream, self._forget),)
        self._has_filters = self._has_filters or of is not None
        return stream

    def _forget(self, reference: weakref.ref[Events]) -> None:
        self._streams = tuple(one for one in self._streams if one is not reference)

    def on_event(self, function: Callable[[Event], object], of: Device | None = None) -> None:
        """Calls a function with each event from now on, of all devices or of one, when it arrives; `events()` wakes a task for each,
        which costs more. The gateway has to be opened. What the function raises goes to the exception handler of the asyncio loop."""
        self._calls.append((function, of))
        self._has_filters = self._has_filters or of is not None

    # Type checkers know the actions of a device that is named by its family; of another word anything is possible.
    @overload
    async def device(self, family: Literal["bose"], *, name: str | None = None, address: str | None = None) -> Head: ...

    @overload
    async def device(self, family: Literal["feelspace", "belt"], *, name: str | None = None, address: str | None = None) -> Belt: ...

    @overload
    async def device(self, family: Literal["activ5"], *, name: str | None = None, address: str | None = None) -> Trainer: ...

    @overload
    async def device(self, family: Literal["fjorden", "grip"], *, name: str | None = None, address: str | None = None) -> Grip: ...

    @overload
    async def device(self, family: Literal["obvious"], *, name: str | None = None, address: str | None = None) -> ObviousDevice: ...

    @overload
    async def device(self, family: str | None = None, *, name: str | None = None, address: str | None = None) -> Any: ...

    async def device(self, family: str | None = None, *, name: str | None = None, address: str | None = None) -> Any:
        """The first device that is connected, or will be, of a family, with a name or an address. The address is in any case, with
        or without a type: "c0:7e:02:00:77:d2", "C0:7E:02:00:77:D2/random"."""
        if family is not None:
            self._check_family(family)
        return await self._device(_Wanted(family, name, address))

    def _check_family(self, family: str) -> None:
        """A device of one that there is not would never come."""
        copy = ctypes.create_string_buffer(self._options.raw, len(self._options))
        if c.tendon_fleet_options_set(copy, b"families", family.encode()) < 0:
            raise _mistake("families", family.encode())

    async def _device(self, wanted: _Wanted) -> Any:
        stream = self.events()
        try:
            await self.open()
            while True:
                for device in self.devices.values():
                    if device.connected and wanted.matches(device):
                        return device
                wanted.note(await anext(stream))
        except StopAsyncIteration:
            raise RuntimeError("the gateway was closed") from None

    async def act(self, device: Device, action: str, arguments: Iterable[str | int | float | bytes | datetime.datetime]) -> None:
        """See Device.act()."""
        if not self._is_open or self._async is None:
            raise ActionError("the gateway is not open")
        self._check_loop()
        words = [_quoted(word) for word in [action, *map(_text, arguments)]]
        key = f"{device.address}/{device.address_type}"
        address = Address((ctypes.c_uint8 * 6)(*bytes.fromhex(device.address.replace(":", ""))),
                          _TYPES[device.address_type])
        text = b" ".join(words)
        # A refusal is reported as an event within the call: that has the reason, and is not the end of an action before.
        self._refusal = ""
        status = c.tendon_fleet_act(self._fleet, ctypes.byref(address), text, len(text))
        refusal, self._refusal = self._refusal, None
        if status < 0:
            raise ActionError(refusal or str(StatusError(action, status)))
        future: asyncio.Future[None] = self._async.create_future()
        self._acting.setdefault(key, collections.deque()).append(future)
        self._arm()
        await future

    def listen(self, seconds: float | None = None) -> Iterator[Event]:
        """The same events for programs without asyncio: an iterator that ends after a time, and then closes the gateway."""
        if self._is_open or self._has_ended:
            raise RuntimeError("the gateway was opened before")
        self._begin()
        waiting = self._directly = collections.deque()
        end = None if seconds is None else time.monotonic() + seconds
        try:
            while end is None or time.monotonic() < end:
                check("the event loop", c.tendon_loop_step(self._loop, _NEVER if end is None else int(end * 1000) + 1))
                if self._error is not None:
                    raise self._error
                while waiting:
                    yield waiting.popleft()
        finally:
            c.tendon_fleet_end(self._fleet)
            while not c.tendon_fleet_has_ended(self._fleet):
                c.tendon_loop_step(self._loop, c.tendon_loop_deadline(self._loop))
            self._finish()


class _Found(Generic[_D]):
    """A device with a gateway of its own."""

    def __init__(self, gateway: Gateway, wanted: _Wanted, seconds: float) -> None:
        self._gateway, self._wanted, self._seconds = gateway, wanted, seconds

    async def __aenter__(self) -> _D:
        try:
            return await asyncio.wait_for(self._gateway._device(self._wanted), self._seconds)
        except BaseException as error:
            await self._gateway.close()
            if isinstance(error, (TimeoutError, asyncio.TimeoutError)):  # of Python 3.10 it is another class
                reason = f"; {self._wanted.obstacle}" if self._wanted.obstacle else ""
                raise TimeoutError(f"no {self._wanted.text} was connected within {self._seconds:g} s{reason}") from None
            raise

    async def __aexit__(self, *_: object) -> None:
        await self._gateway.close()


@overload
def find(family: Literal["bose"], *, name: str | None = None, address: str | None = None, timeout: float = 30,
         **options: Any) -> _Found[Head]: ...


@overload
def find(family: Literal["feelspace", "belt"], *, name: str | None = None, address: str | None = None, timeout: float = 30,
         **options: Any) -> _Found[Belt]: ...


@overload
def find(family: Literal["activ5"], *, name: str | None = None, address: str | None = None, timeout: float = 30,
         **options: Any) -> _Found[Trainer]: ...


@overload
def find(family: Literal["fjorden", "grip"], *, name: str | None = None, address: str | None = None, timeout: float = 30,
         **options: Any) -> _Found[Grip]: ...


@overload
def find(family: Literal["obvious"], *, name: str | None = None, address: str | None = None, timeout: float = 30,
         **options: Any) -> _Found[ObviousDevice]: ...


@overload
def find(family: str | None = None, *, name: str | None = None, address: str | None = None, timeout: float = 30,
         **options: Any) -> _Found[Any]: ...


def find(family: str | None = None, *, name: str | None = None, address: str | None = None, timeout: float = 30,
         **options: Any) -> _Found[Any]:
    """One device, found and connected.

    >>> async with find("feelspace") as belt:
    ...     await belt.vibrate(90)

    TimeoutError: none has connected; its text has the last reason that the gateway reported of such a device. Options are those of
    Gateway. Only devices of the family, or with the address, are connected, and pair; of a name it is known too late.
    """
    wanted = _Wanted(family, name, address)
    return _Found(Gateway(families=[family] if family else (), address=address, **options), wanted, timeout)

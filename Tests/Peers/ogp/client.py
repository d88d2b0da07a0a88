# SPDX-License-Identifier: MIT
"""A gateway's side of one device: requests with repeats, and operations as generators that yield what they wait for."""

from collections import deque
from dataclasses import dataclass

from . import payload as pl
from . import text
from .frame import FRAME_MAX, STATUS, OgpError, request
from .link import Link

LIMIT_MS = {pl.XFER_BEGIN: 15_000, pl.XFER_END: 30_000, pl.FW_ACTIVATE: 10_000, pl.REBOOT: 10_000}
ONCE = {pl.FW_ACTIVATE, pl.FW_CONFIRM, pl.REBOOT}
REPEATS, BUSIES, BUSY_MS, STATUS_MS = 3, 10, 500, 5000
PASSED_ERRORS = {"SEG_DUP", "SEG_STALE", "SEG_WINDOW", "SEG_SUPERSEDED"}


class Failure(Exception):
    """Why an operation could not go on: TIMEOUT, LINK_ERROR, DISCONNECTED, UNSUPPORTED_PROFILE, PROTOCOL, or DEVICE with the
    status of the device."""

    def __init__(self, name, status=None, expected=None):
        super().__init__(f"{name} {status}" if status else name)
        self.name, self.status, self.expected = name, status, expected


# What an operation can yield.
@dataclass
class Ask:
    """A request; the result is the answer's fields, or a Failure is raised."""

    opcode: int
    fields: dict


@dataclass
class ReadStatus:
    """The value of OGP_STATUS; None if it cannot be read."""


@dataclass
class Connected:
    """Connects if need be. Failure TIMEOUT after `limit` ms."""

    limit: int


@dataclass
class Disconnected:
    """True once disconnected, false after `limit` ms."""

    limit: int


@dataclass
class Sleep:
    duration: int


class Client:
    """`host` has write(segment) -> bool, connect(), disconnect(), read_status(). What it reports comes back through the methods
    that begin with on_. `calls` is what a listener would have received."""

    def __init__(self, host, window=8, frame_max=FRAME_MAX, nonce=bytes(range(1, 9))):
        self.host, self.window, self.frame_max, self.nonce = host, window, frame_max, nonce
        self.link = Link(self.host.write, self._frame, lambda now: self._fail(Failure("LINK_ERROR"), now))
        self.calls, self.held_back = [], deque(maxlen=16)
        self.now = 0
        self.corr = 0
        self.connected = False
        self.operation = self.waits = self.due = None
        self.asked = None  # [frame, bytes, opcode, repeats left, refusals for being busy]
        self.ignored = 0
        self.rebooting = False
        self._forget()

    def _forget(self):
        """What is known of a connection."""
        self.flags = None
        self.hello = None
        self.errors_seen = 0
        self.error_times = deque()

    # --- operations

    def start(self, operation, now):
        """False if one runs already."""
        self.now = now
        if self.operation is not None:
            return False
        self.operation = operation
        self._resume(None)
        return True

    def call(self, name, *arguments):
        self.calls.append((name, *arguments))

    def _resume(self, value, failure=None):
        """Runs the operation up to what it waits for next. Answers that are there already do not recurse."""
        while self.operation is not None:
            self.waits = self.due = self.asked = None
            try:
                self.waits = self.operation.throw(failure) if failure else self.operation.send(value)
            except StopIteration:
                self.operation = None
                while self.held_back:
                    self.call("didToggleFeatureStatuses", self.held_back.popleft())
                return
            failure, value, ready = None, None, True
            kind = type(self.waits)
            if kind is Connected and self.connected:
                value = True
            elif kind is Connected:
                self.due, ready = self.now + self.waits.limit, False
                self.host.connect()
            elif kind is Disconnected and not self.connected:
                value = True
            elif kind is Disconnected:
                self.due, ready = self.now + self.waits.limit, False
            elif kind is Sleep:
                self.due, ready = self.now + self.waits.duration, False
            elif not self.connected:
                failure = Failure("DISCONNECTED")
            elif kind is ReadStatus:
                self.due = self.now + STATUS_MS
                ready = self.host.read_status() is False
            else:
                self._ask(self.waits)
                ready = False
            if not ready:
                return

    def _fail(self, failure, now):
        self.now = now
        if type(self.waits) in (Ask, ReadStatus):
            self._resume(None, failure)

    # --- requests

    def _ask(self, ask):
        self.corr = self.corr % 65535 + 1
        frame = request(self.corr, ask.opcode, pl.request_payload(ask.opcode, **ask.fields))
        flips = ask.opcode == pl.FEATURE_TOGGLE and any(row["toggle"] == pl.FLIP for row in ask.fields["features"])
        busies = self.asked[4] if self.asked else 0
        self.asked = [frame, frame.encode(), ask.opcode, 0 if ask.opcode in ONCE or flips else REPEATS, busies]
        self.due = self.now + LIMIT_MS.get(ask.opcode, 5000)
        self.link.send(self.asked[1], self.now)

    def _frame(self, frame, now):
        self.now = now
        try:
            fields = pl.fields_of(frame)
        except OgpError as error:
            fields = error
        if frame.is_event:
            if not isinstance(fields, OgpError):
                self._event(frame.opcode, fields)
            else:
                self.ignored += 1
            return
        asked = self.asked
        if not frame.is_response or asked is None or asked[0] is None or (frame.corr, frame.opcode) != (asked[0].corr, asked[2]):
            self.ignored += 1
            return
        if isinstance(fields, OgpError):
            self._resume(None, Failure("PROTOCOL", fields.name))
        elif frame.status and STATUS.get(frame.status) == "BUSY" and asked[4] < BUSIES:
            asked[0] = None
            asked[4] += 1
            self.due = now + BUSY_MS
        elif frame.status:
            self._resume(None, Failure("DEVICE", STATUS.get(frame.status, "INTERNAL"), fields.get("expected_offset")))
        else:
            if asked[2] == pl.HELLO:
                self._helloed(fields)
            self._resume(fields)

    def _helloed(self, fields):
        self.hello = fields
        if fields["proto"] == 1:
            self.link.limits(min(self.frame_max, fields["max_frame"]), self.window, fields["window"])

    def _event(self, opcode, fields):
        if opcode == pl.EVT_FEATURE_CHANGED:
            states = {row["id"]: (row["enable"], row["toggle"]) for row in fields["features"]}
            if self.operation is None:
                self.call("didToggleFeatureStatuses", states)
            else:
                self.held_back.append(states)
        elif opcode == pl.EVT_REBOOTING:
            self.rebooting = True

    # --- what the host reports

    def on_connected(self, now, mtu=23):
        self.now = now
        self.connected, self.rebooting = True, False
        self._forget()
        self.link.start(mtu)
        if type(self.waits) is Connected:
            self._resume(True)

    def on_connect_failed(self, now):
        self.now = now
        if type(self.waits) is Connected:
            self._resume(None, Failure("DISCONNECTED"))

    def on_disconnected(self, now):
        self.now = now
        self.connected = False
        self._forget()
        self.link.start(23)
        if type(self.waits) is Disconnected:
            self._resume(True)
        else:
            self._fail(Failure("DISCONNECTED"), now)

    def on_status(self, value, now):
        self.now = now
        if type(self.waits) is ReadStatus:
            self._resume(value)

    def on_data(self, segment, now):
        self.now = now
        if self.connected:
            self.link.receive(segment, now)
            self._count_errors(now)

    def _count_errors(self, now):
        """100 protocol errors within 10 s end the connection."""
        errors = [name for name in self.link.receiver.errors if name not in PASSED_ERRORS]
        total = len(errors) + len(self.link.errors)
        for _ in range(total - self.errors_seen):
            self.error_times.append(now)
        self.errors_seen = total
        while self.error_times and now - self.error_times[0] > 10_000:
            self.error_times.popleft()
        if len(self.error_times) >= 100:
            self.error_times.clear()
            self.host.disconnect()

    # --- time

    def deadline(self):
        due = [self.due, self.link.deadline() if self.connected else None]
        return min((at for at in due if at is not None), default=None)

    def poll(self, now):
        self.now = now
        if self.connected:
            self.link.poll(now)
        if self.due is None or now < self.due:
            return
        kind = type(self.waits)
        if kind is Sleep:
            self._resume(True)
        elif kind is Disconnected:
            self._resume(False)
        elif kind is ReadStatus:
            self._resume(None)
        elif kind is Ask and self.asked[0] is None:
            self._ask(self.waits)  # the device was busy: again, with a new number
        elif kind is Ask and self.asked[3]:
            self.asked[3] -= 1
            self.due = now + LIMIT_MS.get(self.asked[2], 5000)
            if not self.link.sender.busy:
                self.link.send(self.asked[1], now)
        else:
            self._resume(None, Failure("TIMEOUT"))

    # --- the beginning of every operation

    def session(self, hello=True):
        """Sub-operation: the profile, and HELLO if it is wanted or none was answered."""
        if self.flags is None:
            value = yield ReadStatus()
            try:
                self.flags = text.status_flags(value)
            except OgpError as error:
                raise Failure(error.name) from None
        if hello or self.hello is None:
            yield Ask(pl.HELLO, {"proto_min": 1, "proto_max": 1, "max_frame": self.frame_max, "window": self.window,
                                 "nonce": self.nonce})
        if self.hello["proto"] != 1:
            raise Failure("PROTOCOL")

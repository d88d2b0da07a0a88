# SPDX-License-Identifier: MIT
"""The sender of one message at a time: window, credit, selective repeats, back-off."""

from . import segment as seg

ACK_MS, EXPIRIES, REPEAT_MS = 1000, 5, 200
RESTARTS, BUSIES, BUSY_MS, WINDOW_MS = 3, 10, 500, 100
PROBE_MS, PAUSE_MS = 1000, 30000
REFUSED_WRITES = 5


class Message:
    def __init__(self, frame, parts, msgseq):
        self.frame, self.parts, self.msgseq = frame, parts, msgseq
        self.restarts = self.busies = 0
        self.begin()

    def begin(self):
        """Back to index 0: nothing is sent, nothing acknowledged."""
        self.next = 0
        self.upcoming = 0
        self.acked = set()
        self.repeated = {}


class Sender:
    """`write` takes a segment and returns false if it could not be sent. `done` and `failed` are called when a message ends;
    after `failed` the owner sends RESET."""

    def __init__(self, write, done, failed):
        self.write, self.done, self.failed = write, done, failed
        self.mtu, self.window = 23, 8
        self.reset()

    def reset(self):
        self.message = None
        self.last = None  # the message that ended before: its frame may still be refused
        self.msgseq = 0
        self.credit = None
        self.timer = self.hold = self.paused = self.probe = None
        self.interval, self.expiries = ACK_MS, 0
        self.refused = 0

    @property
    def busy(self):
        return self.message is not None

    def start(self, frame, now, restarts=0):
        parts = seg.split(frame, seg.segment_size(self.mtu), self.msgseq, self.window)
        self.message = Message(frame, parts, self.msgseq)
        self.message.restarts = restarts
        self.msgseq = (self.msgseq + 1) % 256
        self.timer = self.hold = None
        self.interval, self.expiries = ACK_MS, 0
        self._pump(now)

    # --- sending

    def _limit(self):
        return self.window if self.credit is None else min(self.window, self.credit)

    def _put(self, index, now, ackreq=False):
        part = self.message.parts[index]
        if ackreq:
            part = bytes([part[0] | seg.ACKREQ]) + part[1:]
        if part[0] & seg.ACKREQ:
            self.timer = now + self.interval
        self.refused = 0 if self.write(part) is not False else self.refused + 1
        if self.refused >= REFUSED_WRITES:
            self._give_up()

    def _pump(self, now):
        if self.hold is not None or self.paused is not None:
            return
        message = self.message
        while message is self.message and message.upcoming < min(len(message.parts), message.next + self._limit()):
            index = message.upcoming
            message.upcoming += 1
            if index not in message.acked:
                # A credit below half a window would otherwise end before a segment that asks for an answer.
                ends = self._limit() < self.window and message.upcoming == message.next + self._limit()
                self._put(index, now, ackreq=ends)

    def _give_up(self):
        self.message = None
        self.timer = self.hold = self.paused = self.probe = None
        self.failed()

    # --- control segments

    def control(self, control, now):
        if self.message is None or control.msgseq != self.message.msgseq:
            if control.type == seg.NAK and control.reason == seg.FRAME and self.last and control.msgseq == self.last.msgseq:
                self._frame_refused(self.last, now)
            return
        if control.type == seg.ACK:
            self._ack(control, now)
        elif control.type == seg.NAK:
            self._nak(control, now)
        elif control.type == seg.WAIT:
            self._pause(now)

    def _ack(self, control, now):
        message = self.message
        if control.next > message.upcoming:
            return  # acknowledges what was never sent
        held = {control.next + 1 + bit for bit in range(32) if control.bitmap >> bit & 1}
        if control.next > message.next or held - message.acked:
            self.interval, self.expiries = ACK_MS, 0
            if self.timer is not None:
                self.timer = now + ACK_MS
        message.next = max(message.next, control.next)
        message.acked |= held
        self.credit = control.credit
        if message.next == len(message.parts):
            self.message, self.last = None, message
            self.timer = self.paused = self.probe = None
            self.done()
            return
        if control.credit == 0:
            self._pause(now)
            return
        self.paused = self.probe = None
        for index in range(control.next, message.upcoming):
            if index in message.acked or now - message.repeated.get(index, now - REPEAT_MS) < REPEAT_MS:
                continue
            message.repeated[index] = now
            self._put(index, now)
            if self.message is not message:
                return
        self._pump(now)

    def _nak(self, control, now):
        message = self.message
        if control.reason == seg.BAD_VERSION:
            self._give_up()
        elif control.reason == seg.FRAME:
            self._frame_refused(message, now)
        elif control.reason == seg.WINDOW:
            message.upcoming = message.next
            self.hold = now + WINDOW_MS
        elif control.reason == seg.BUSY:
            message.busies += 1
            message.begin()
            self.hold = now + BUSY_MS
            if message.busies > BUSIES:
                self._give_up()
        else:
            message.restarts += 1
            if message.restarts > RESTARTS:
                self._give_up()
                return
            message.begin()
            self.paused = self.probe = None
            self._pump(now)

    def _frame_refused(self, message, now):
        if self.message is not None and self.message is not message:
            return  # another one is in progress; the request is repeated by its own timer
        self.message = self.last = None
        if message.restarts >= RESTARTS:
            self._give_up()
        else:
            self.start(message.frame, now, message.restarts + 1)

    def _pause(self, now):
        self.timer = None
        if self.paused is None:
            self.paused = now
            self.probe = now + PROBE_MS

    # --- time

    def deadline(self):
        due = [at for at in (self.timer, self.hold, self.probe) if at is not None]
        return min(due) if due and self.message is not None else None

    def poll(self, now):
        if self.message is None:
            return
        if self.hold is not None and now >= self.hold:
            self.hold = None
            self._pump(now)
        if self.message is not None and self.probe is not None and now >= self.probe:
            self._send_probe(now)
        if self.message is not None and self.paused is None and self.timer is not None and now >= self.timer:
            self._expire(now)

    def _send_probe(self, now):
        if now - self.paused >= PAUSE_MS:
            self._give_up()
            return
        self.probe = now + PROBE_MS
        self._put(self.message.next, now, ackreq=True)
        if self.message is not None:
            self.message.upcoming = max(self.message.upcoming, self.message.next + 1)
        self.timer = None

    def _expire(self, now):
        self.expiries += 1
        if self.expiries > EXPIRIES:
            self._give_up()
            return
        self.interval *= 2
        self.message.upcoming = max(self.message.upcoming, self.message.next + 1)
        self._put(self.message.next, now, ackreq=True)

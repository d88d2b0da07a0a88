# SPDX-License-Identifier: MIT
"""The receiver: segments at their times in; whole messages, error names and control segments out."""

import struct

from . import segment as seg
from .frame import FRAME_MAX, OgpError

GAP_MS, WHOLE_MS, HOLE_ACK_MS = 3000, 10000, 100
REASON = {"SEG_BAD_INDEX": seg.BAD_INDEX, "SEG_BAD_SIZE": seg.BAD_SIZE, "SEG_SHORT": seg.BAD_SIZE, "SEG_BAD_LEN": seg.BAD_LEN,
          "SEG_CONFLICT": seg.CONFLICT, "SEG_TIMEOUT": seg.TIMEOUT}


class Context:
    """The one message in progress."""

    def __init__(self, msgseq, now):
        self.msgseq = msgseq
        self.held = {}
        self.started = self.last = now
        self.since_ack = 0

    @property
    def next(self):
        index = 0
        while index in self.held:
            index += 1
        return index

    @property
    def bitmap(self):
        base = self.next + 1
        return sum(1 << (index - base) for index in self.held if base <= index < base + 32)

    def total(self):
        """Frame length, first segment's length and number of segments; None until segment 0 is held."""
        first = self.held.get(0)
        if first is None:
            return None
        length = struct.unpack_from("<H", first, 4)[0]
        count = 1 if first[0] & seg.LAST else seg.count_of(length, len(first))
        return length, len(first), count


class Receiver:
    """`feed` returns a complete frame or None. Control segments go to `send`, those received to `on_control`."""

    def __init__(self, send, on_control=lambda control, now: None):
        self.send = send
        self.on_control = on_control
        self.mtu, self.window, self.frame_max = 23, 8, FRAME_MAX
        self.credit = None  # what is announced instead of the window, to slow a sender down
        self.errors = []
        self.reset()

    def reset(self):
        self.context = None
        self.done = self.dead = None
        self.done_count = 0
        self.hole_ack = None

    def announced(self):
        return self.window if self.credit is None else self.credit

    def _ack(self, msgseq, following, bitmap):
        self.send(seg.Control(msgseq, seg.ACK, 0, following, bitmap, self.announced()).encode())

    def ack_segment(self):
        """The acknowledgement of the open context; None if none is open."""
        if self.context is None:
            return None
        return seg.Control(self.context.msgseq, seg.ACK, 0, self.context.next, self.context.bitmap,
                           self.announced()).encode()

    def _ack_context(self):
        self.context.since_ack = 0
        self.send(self.ack_segment())

    def nak(self, msgseq, reason):
        self.send(seg.Control(msgseq, seg.NAK, reason, 0, 0, self.announced()).encode())

    def _forget(self, name):
        self.errors.append(name)
        self.dead = self.context.msgseq
        self.context = None

    def _drop(self, name):
        msgseq = self.context.msgseq
        self._forget(name)
        self.nak(msgseq, REASON[name])

    def deadline(self):
        if self.context is None:
            return None
        return min(self.context.last + GAP_MS, self.context.started + WHOLE_MS) + 1

    def expire(self, now):
        """Step 0 of the algorithm."""
        context = self.context
        if context is not None and (now - context.last > GAP_MS or now - context.started > WHOLE_MS):
            self._drop("SEG_TIMEOUT")

    def feed(self, data, now):
        self.expire(now)
        if len(data) < 4:
            self.errors.append("SEG_SHORT")
        elif len(data) > seg.segment_size(self.mtu):
            self.errors.append("SEG_OVERSIZE")
        elif data[0] & 0xC0 != seg.VERSION:
            self.errors.append("SEG_BAD_VERSION")
        elif data[0] & 3:
            self.errors.append("SEG_RESERVED")
        elif data[0] & seg.CTRL:
            self._control(data, now)
        else:
            flags, msgseq, index = struct.unpack_from("<BBH", data)
            if self._belongs(flags, msgseq, index, now):
                return self._take(bytes(data), flags, index, now)
        return None

    def _control(self, data, now):
        try:
            control = seg.Control.decode(data)
        except OgpError as error:
            self.errors.append(error.name)
            return
        if control.type == seg.RESET:
            self.reset()
        self.on_control(control, now)

    def _belongs(self, flags, msgseq, index, now):
        """Step 5: true if the segment is for the open context, or opened one."""
        if self.context is not None and self.context.msgseq == msgseq:
            return True
        if msgseq == self.done:
            self.errors.append("SEG_DUP")
            self._ack(msgseq, self.done_count, 0)
            return False
        if self.context is None and msgseq == self.dead and not flags & seg.FIRST:
            self.errors.append("SEG_STALE")
            return False
        reference = self.context.msgseq if self.context is not None else self.done
        if reference is not None and not 1 <= (msgseq - reference) % 256 <= 127:
            self.errors.append("SEG_STALE")
            return False
        if self.context is not None:
            self._forget("SEG_SUPERSEDED")
        if index >= self.window:
            self.errors.append("SEG_WINDOW")
            return False
        self.context = Context(msgseq, now)
        self.hole_ack = None
        return True

    def _take(self, data, flags, index, now):
        """Steps 6 to 11."""
        context = self.context
        if bool(flags & seg.FIRST) != (index == 0):
            self._drop("SEG_BAD_INDEX")
            return None
        if index in context.held:
            before = context.held[index]
            if before[0] & ~seg.ACKREQ == flags & ~seg.ACKREQ and before[1:] == data[1:]:
                self.errors.append("SEG_DUP")
                if flags & seg.ACKREQ:
                    self._ack_context()
            else:
                self._drop("SEG_CONFLICT")
            return None
        if index >= context.next + self.window:
            self.errors.append("SEG_WINDOW")
            return None
        problem = self._first_problem(data, flags) if index == 0 else None
        if problem is None:
            context.held[index] = data
            context.last = now
            problem = self._held_problem()
        if problem is not None:
            self._drop(problem)
            return None
        return self._progress(flags, index, now)

    def _first_problem(self, data, flags):
        if len(data) < 6:
            return "SEG_SHORT"
        if not 14 <= struct.unpack_from("<H", data, 4)[0] <= self.frame_max:
            return "SEG_BAD_LEN"
        if not flags & seg.LAST and len(data) < 20:
            return "SEG_BAD_SIZE"
        return None

    def _held_problem(self):
        known = self.context.total()
        if known is None:
            return None
        length, size, count = known
        for index, data in sorted(self.context.held.items()):
            if index >= count or bool(data[0] & seg.LAST) != (index == count - 1):
                return "SEG_BAD_INDEX"
            if count == 1:
                exact = length + 6
            elif index < count - 1:
                exact = size
            else:
                exact = 4 + length - (size - 6) - (count - 2) * (size - 4)
            if len(data) != exact:
                return "SEG_BAD_SIZE"
        return None

    def _progress(self, flags, index, now):
        context = self.context
        known = context.total()
        if known is not None and len(context.held) == known[2]:
            self.done, self.done_count, self.dead = context.msgseq, known[2], None
            self.context = None
            self._ack(self.done, self.done_count, 0)
            return b"".join(context.held[i][6 if i == 0 else 4:] for i in range(known[2]))
        context.since_ack += 1
        hole = index > context.next and (self.hole_ack is None or now - self.hole_ack >= HOLE_ACK_MS)
        if hole:
            self.hole_ack = now
        if hole or flags & seg.ACKREQ or context.since_ack >= seg.ack_interval(self.window):
            self._ack_context()
        return None

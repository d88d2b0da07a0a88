# SPDX-License-Identifier: MIT
"""One end of a connection: segments in and out, whole frames above. A queue of frames, one in progress."""

from collections import deque

from . import segment as seg
from .frame import FRAME_MAX, Frame, OgpError
from .receiver import Receiver
from .sender import Sender


class Link:
    """`write(segment)` sends and returns false if it cannot. `frame(frame, now)` is called with each valid frame,
    `failed(now)` when the sender has run out of tries."""

    def __init__(self, write, frame, failed):
        self.write, self.frame, self.failed = write, frame, failed
        self.receiver = Receiver(write, self._control)
        self.sender = Sender(write, self._next, self._gave_up)
        self.queue = deque()
        self.errors = []  # of frames; those of segments are the receiver's
        self.now = 0

    def start(self, mtu):
        """A new connection."""
        self.receiver.reset()
        self.sender.reset()
        self.queue.clear()
        self.receiver.mtu = self.sender.mtu = mtu
        self.limits(FRAME_MAX, 8, 8)

    def limits(self, frame_max, own_window, peer_window):
        self.receiver.frame_max, self.receiver.window, self.sender.window = frame_max, own_window, peer_window

    def send(self, data, now):
        self.now = now
        self.queue.append(data)
        if not self.sender.busy:
            self._next()

    def _next(self):
        if self.queue and not self.sender.busy:
            self.sender.start(self.queue.popleft(), self.now)

    def _gave_up(self):
        self.write(seg.Control((self.sender.msgseq - 1) % 256, seg.RESET, seg.TIMEOUT, 0, 0, self.receiver.window).encode())
        self.receiver.reset()
        self.sender.reset()
        self.queue.clear()
        self.failed(self.now)

    def _control(self, control, now):
        if control.type == seg.RESET:
            self.sender.reset()
            self._next()
        else:
            self.sender.control(control, now)

    def receive(self, segment, now):
        self.now = now
        data = self.receiver.feed(segment, now)
        if data is None:
            return
        try:
            frame = Frame.decode(data, self.receiver.frame_max)
        except OgpError as error:
            self.errors.append(error.name)
            self.receiver.nak(self.receiver.done, seg.FRAME)
            return
        self.frame(frame, now)

    def poll(self, now):
        self.now = now
        self.receiver.expire(now)
        self.sender.poll(now)

    def deadline(self):
        due = [at for at in (self.receiver.deadline(), self.sender.deadline()) if at is not None]
        return min(due) if due else None

# SPDX-License-Identifier: MIT
"""One end of a connection in another program (obvious_wire.c), with the interface of Link."""

import subprocess


class WireEnd:
    """`write(segment)`, `frame(bytes, now)`, `ended(status, payload, now)` of requests, `sent(status)` of frames."""

    def __init__(self, program, write, frame=None, ended=None, sent=None):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.write, self.frame, self.ended, self.sent = write, frame, ended, sent
        self.errors, self.events = [], []
        self.due = None

    def close(self):
        """The program's exit status."""
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(30)

    def _command(self, now, *words):
        self.process.stdin.write((" ".join(str(word) for word in words) + "\n").encode())
        self.process.stdin.flush()
        lines = []
        while True:
            line = self.process.stdout.readline().decode().split()
            if not line:
                raise RuntimeError(f"the program ended: {self.process.wait(5)}")
            if line[0] == ".":
                self.due = None if line[1] == "-" else int(line[1])
                break
            lines.append(line)
        for line in lines:
            data = bytes.fromhex(line[-1]) if line[0] in "wf" else b""
            if line[0] == "w":
                self.write(data)
            elif line[0] == "f":
                self.frame(data, now)
            elif line[0] == "e":
                self.errors.append(line[1])
            elif line[0] == "d":
                self.sent(line[1])
            elif line[0] == "v":
                self.events.append((int(line[1]), bytes.fromhex(line[2])))
            elif line[0] == "r":
                self.ended(line[1], bytes.fromhex(line[2]) if len(line) > 2 else b"", now)

    def start(self, mtu):
        self._command(0, "C", mtu)

    def limits(self, frame_max, own_window, peer_window):
        self._command(0, "L", frame_max, own_window, peer_window)

    def send(self, data, now):
        self._command(now, "M", now, data.hex())

    def request(self, opcode, payload, now):
        self._command(now, "R", now, opcode, payload.hex())

    def receive(self, segment, now):
        self._command(now, "S", now, segment.hex())

    def poll(self, now):
        if self.due is not None and now >= self.due:
            self._command(now, "T", now)

    def deadline(self):
        return self.due

# SPDX-License-Identifier: MIT
"""Ends of a connection in other programs: obvious_wire.c (a link) and obvious_device.c (the simulated device)."""

import subprocess


class Program:
    """A filter: lines of output for each command, then its deadline."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.due = None

    def close(self):
        """The program's exit status."""
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(30)

    def command(self, *words):
        """The lines of output, in words."""
        self.process.stdin.write((" ".join(str(word) for word in words) + "\n").encode())
        self.process.stdin.flush()
        lines = []
        while True:
            line = self.process.stdout.readline().decode().split()
            if not line:
                raise RuntimeError(f"the program ended: {self.process.wait(5)}")
            if line[0] == ".":
                self.due = None if line[1] == "-" else int(line[1])
                return lines
            lines.append(line)

    def deadline(self):
        return self.due


class WireEnd(Program):
    """The library's link, with the interface of Link. `write(segment)`, `frame(bytes, now)`, `ended(status, payload, now)` of
    requests, `sent(status)` of frames."""

    def __init__(self, program, write, frame=None, ended=None, sent=None):
        super().__init__(program)
        self.write, self.frame, self.ended, self.sent = write, frame, ended, sent
        self.errors, self.events = [], []

    def _command(self, now, *words):
        for line in self.command(*words):
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


class WireDevice(Program):
    """The simulated device, with the interface of Device as far as World needs it. `features`: (enable, toggle) by id."""

    is_up = True  # on_connected() finds out

    def __init__(self, host, program, public, *options):
        super().__init__(program, public.hex(), *options)
        self.host = host
        self.connected = False
        self.value = None
        self.command("T", 0)

    def _command(self, *words, connecting=False):
        for line in self.command(*words):
            if line[0] == "w":
                self.host.write(bytes.fromhex(line[1]))
            elif line[0] == "s":
                self.value = bytes.fromhex(line[1])
            elif line[0] == "x":
                if self.connected and not connecting:
                    self.host.drop()
                self.connected = False

    def on_connected(self, now, mtu=23):
        self.connected = True
        self._command("C", now, mtu, connecting=True)

    def on_disconnected(self, now):
        self.connected = False
        self._command("D", now)

    def receive(self, segment, now):
        self._command("S", now, segment.hex())

    def poll(self, now):
        if self.due is not None and now >= self.due:
            self._command("T", now)

    def status_value(self):
        return self.value

    def read_status(self, now):
        self.value = None
        self._command("R", now)

    def power_cut(self, now):
        self._command("P", now)

    def state(self, now):
        words = self.command("Q", now)[-1][1:]
        rows = [[int(number) for number in word.split(":")] for word in words[5:]]
        return {"firmware": int(words[0]), "confirmed": words[1] == "1", "provisioned": words[2] == "1",
                "counter": int(words[3]), "power_cuts": int(words[4]), "features": {row[0]: (row[1], row[2]) for row in rows}}

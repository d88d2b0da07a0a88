#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Three gateways with --mqtt-share, one broker, one grip that walks: walk.py TENDON

The grip's advertisements contain what each gateway would receive. Its own log says which gateway was connected when.
Prints TAP."""

import os
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from observer import Observer  # noqa: E402
from wearable import Radio  # noqa: E402

GATEWAYS = ["a", "b", "c"]
# Listening 1.5 s, settling 0.5 s, connecting and discovery; the rest is for a machine with other work.
HANDOVER = 12


class Walk:
    def __init__(self, tendon, work):
        self.tendon, self.work, self.results, self.failed = tendon, work, 0, 0
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        with open(work + "/broker.conf", "w") as file:
            file.write(f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\nuser root\n")
        os.mkdir(work + "/run", 0o700)
        self.signals = dict.fromkeys(GATEWAYS)
        self.gateways = {}
        self.radio = Radio(5)
        self.radio.add(work + "/run/tendon", [bytes.fromhex("C000000C0001")], signal=self.signal)
        self.grip = self.radio.grips[0]
        self.start_broker()

    def start_broker(self):
        self.broker = subprocess.Popen(["mosquitto", "-c", self.work + "/broker.conf"], stderr=subprocess.DEVNULL)
        self.observer = Observer("127.0.0.1", self.port)
        self.observer.attach()

    def signal(self, scanner):
        number = int(scanner.split("-")[1])
        for name, process in self.gateways.items():
            if process.pid == number:
                return self.signals[name]
        return None

    def start(self, name):
        environment = dict(os.environ, XDG_RUNTIME_DIR=self.work + "/run", XDG_STATE_HOME=f"{self.work}/{name}")
        with open(f"{self.work}/{name}.err", "a") as log:
            self.gateways[name] = subprocess.Popen(
                [self.tendon, "run", "--radio", "virtual", "--pair", "--no-lines", "--mqtt-share", "--mqtt",
                 f"mqtt://127.0.0.1:{self.port}", "--mqtt-gateway", name],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def holder(self):
        """The gateway whose claim holds the device, by what it published last."""
        newest = {}
        for topic, payload, _, _ in self.observer.messages:
            levels = topic.split("/")
            if len(levels) == 6 and levels[3] == "claim":
                newest[levels[2]] = b"holds" in payload
            elif levels[-1] == "state" and payload.endswith(b'"offline"}'):
                newest[levels[2]] = False
        held = [name for name, holds in newest.items() if holds]
        return held[0] if len(held) == 1 and self.grip.is_subscribed else None

    def becomes(self, name, what):
        begun = time.monotonic()
        while time.monotonic() < begun + HANDOVER and self.holder() != name:
            time.sleep(0.05)
        self.result(self.holder() == name, what, f"{self.holder()} has it")
        return time.monotonic() - begun

    def result(self, good, name, explanation=""):
        self.results += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.results} - {name}", flush=True)
        if not good:
            print(f"#   {explanation}", flush=True)

    def run(self):
        self.radio.start()
        for name in GATEWAYS:
            self.start(name)
        self.signals.update(a=-50, b=-65, c=-85)
        times = [self.becomes("a", "the gateway that receives it best takes the device")]
        time.sleep(1)
        self.result(self.grip.connections == 1, "and nobody else tried", f"{self.grip.connections} connections")
        # Out of a's reach: the connection is lost, and a receives nothing.
        self.signals.update(a=None, b=-55, c=-75)
        self.radio.cut(self.grip)
        times.append(self.becomes("b", "it walks away: the next one takes it"))
        self.signals.update(a=None, b=-55, c=-75)
        self.gateways["b"].kill()
        self.gateways["b"].wait()
        times.append(self.becomes("c", "its gateway is killed: the last will frees the device"))
        self.result(self.grip.connections == 3, "three connections in all", f"{self.grip.connections} connections")
        self.broker.kill()
        self.broker.wait()
        time.sleep(1.5)
        self.result(self.grip.is_subscribed and self.grip.connections == 3, "without a broker the connection stays")
        self.start_broker()
        self.becomes("c", "and is claimed again when the broker returns")
        self.result(self.grip.connections == 3, "without a new connection", f"{self.grip.connections} connections")
        print("# seconds until connected: " + ", ".join(f"{seconds:.1f}" for seconds in times))

    def close(self):
        for process in self.gateways.values():
            process.terminate()
        for process in self.gateways.values():
            process.wait(10)
        self.broker.kill()
        self.broker.wait()
        self.radio.stop()
        if self.failed:
            for name in GATEWAYS:
                with open(f"{self.work}/{name}.err", errors="replace") as file:
                    print("".join(f"# {name}: {line}" for line in file.readlines()[-8:]))
        print(f"1..{self.results}")


def main():
    with tempfile.TemporaryDirectory() as work:
        walk = Walk(os.path.abspath(sys.argv[1]), work)
        try:
            walk.run()
        finally:
            walk.close()
    return 1 if walk.failed else 0


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chaos: a gateway, a broker and two grips, whose every event has to arrive exactly once after removing doubles by
message_id, or to be in the gateway's count of drops.

chaos.py TENDON [--seed N] [--broker-kills N] [--gateway-kills N] [--cuts N] [--long-cuts N] [--full N]

The broker and the gateway are killed (SIGKILL), the network between them is cut (the gateway lives in a network
namespace; its veth goes down, packets are lost without a sign), the disk of the queue is filled (a tmpfs). The seed
decides the order, the instants and the lengths. Everything runs in namespaces of its own, which unshare(1) makes.

What does not count (docs/mqtt.md, "When the broker is away"): events of the last moments before a kill of the gateway,
see EXEMPT. Prints TAP and one JSON object with the counts; status 1 if something was lost, or grew."""

import argparse
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from network import HERE, Network, enter  # noqa: E402
from observer import Observer, publish  # noqa: E402
from wearable import Radio  # noqa: E402

ADDRESSES = [bytes.fromhex("C000000C0001"), bytes.fromhex("C000000C0002")]
RATE = 20  # events per second and device
PORT = 1883
# Seconds before a kill of the gateway whose events may be lost: gathering in memory, and, while the network is cut
# without a sign, the patience for the broker; both as in docs/mqtt.md, and 0.1 s for a machine with other work.
EXEMPT, EXEMPT_CUT = 0.15, 0.6
DISK = 4 << 20


class World:
    def __init__(self, tendon, work):
        self.tendon, self.work = tendon, work
        self.broker = self.gateway = None
        # When, until when the kernel had closed its sockets, and how many seconds before it do not count.
        self.kills = []
        self.faults = []  # (time, what happened), to explain a loss
        self.counts = collections.Counter()
        self.failed = 0
        self.results = 0
        self.network = Network()
        self.disk = work + "/disk"
        os.mkdir(self.disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=700", "tmpfs", self.disk], check=True)
        os.mkdir(work + "/run", 0o700)
        with open(work + "/broker.conf", "w") as file:
            file.write(f"listener {PORT} 0.0.0.0\nallow_anonymous true\npersistence false\nuser root\n"
                       "max_queued_messages 0\n")
        self.observer = Observer(HERE, PORT)
        self.radio = Radio(RATE)
        self.radio.add(work + "/run/tendon", ADDRESSES)

    # ---- parts

    def link(self, up):
        self.network.link(up)
        self.faults.append((time.time(), "network up" if up else "network down"))

    def start_broker(self):
        """The gateway reaches it after the observer has subscribed, or events would go to nobody."""
        was_up = self.network.is_up
        self.link(False)
        with open(self.work + "/broker.log", "a") as log:
            self.broker = subprocess.Popen(["mosquitto", "-c", self.work + "/broker.conf"], stdout=log, stderr=log)
        self.observer.host = "127.0.0.1"
        self.observer.attach()
        if was_up:
            self.link(True)

    def kill_broker(self):
        self.broker.kill()
        self.faults.append((time.time(), "broker killed"))
        self.broker.wait()
        self.broker = None
        self.observer.drain()
        self.counts["broker_kills"] += 1

    def start_gateway(self):
        environment = dict(os.environ, XDG_RUNTIME_DIR=self.work + "/run", XDG_STATE_HOME=self.work + "/state")
        output = open(self.work + "/gateway.err", "a")
        self.gateway = subprocess.Popen(
            [*Network.command, self.tendon, "run", "--radio", "virtual", "--pair", "--no-lines",
             "--mqtt", f"mqtt://{HERE}", "--mqtt-gateway", "chaos", "--mqtt-queue", self.disk + "/queue.db"],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment)
        output.close()

    def kill_gateway(self):
        self.gateway.kill()
        now = time.time()
        self.faults.append((now, "gateway killed"))
        self.gateway.wait()
        self.kills.append((now, time.time(), EXEMPT_CUT if not self.network.is_up else EXEMPT))
        self.counts["gateway_kills"] += 1

    # ---- waiting

    def wait(self, condition, what, patience=20):
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.02)
        self.result(False, what, f"not within {patience} s")
        return False

    def served(self):
        return self.wait(lambda: all(grip.is_subscribed for grip in self.radio.grips), "both devices are connected")

    def flowing(self):
        """The gateway has its connection again: it answers. Events alone do not show that: the kernel still sends those
        of a gateway that was killed while the network was cut."""
        return bool(self.information(90))

    def result(self, good, name, explanation=""):
        self.results += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.results} - {name}", flush=True)
        if not good:
            print(f"#   {explanation}", flush=True)

    # ---- the gateway's use of memory and descriptors

    def usage(self):
        identity = self.gateway.pid
        with open(f"/proc/{identity}/status") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines["VmRSS"].split()[0]), len(os.listdir(f"/proc/{identity}/fd"))

    # ---- faults

    def broker_dies(self, chance):
        time.sleep(chance.uniform(0, 0.6))
        self.kill_broker()
        time.sleep(chance.uniform(0.05, 1.5))
        self.start_broker()
        self.flowing()

    def gateway_dies(self, chance):
        # A fifth while the broker is away, a fifth while the network is cut, the others at any instant of a good day.
        kind = chance.randrange(5)
        if kind == 0:
            self.kill_broker()
        elif kind == 1:
            self.cut(chance)
        time.sleep(chance.uniform(0, 1.2))
        self.kill_gateway()
        time.sleep(chance.uniform(0, 0.2))
        self.start_gateway()
        self.served()
        if kind == 0:
            time.sleep(chance.uniform(0, 0.5))
            self.start_broker()
        elif kind == 1:
            self.link(True)
        self.flowing()

    def cut(self, chance):
        self.link(False)
        self.counts["cuts"] += 1

    def network_fails(self, chance, length=(0.2, 2.0)):
        time.sleep(chance.uniform(0, 0.3))
        self.cut(chance)
        time.sleep(chance.uniform(*length))
        self.link(True)
        self.flowing()

    def network_fails_long(self, chance):
        """Longer than one and a half of the keepalive time: both sides give up."""
        self.network_fails(chance, (50, 60))

    def disk_fills(self, chance):
        self.kill_broker()
        ballast = os.open(self.disk + "/ballast", os.O_CREAT | os.O_WRONLY)
        try:
            while True:
                os.write(ballast, bytes(1024))
        except OSError:
            os.close(ballast)
        time.sleep(chance.uniform(1.0, 2.0))
        if chance.random() < 0.5:
            os.unlink(self.disk + "/ballast")
        self.start_broker()
        self.flowing()
        if os.path.exists(self.disk + "/ballast"):
            os.unlink(self.disk + "/ballast")
        self.counts["full_disks"] += 1

    # ---- the account

    def arrived(self):
        """By device: the numbers that arrived, with their message ids."""
        found = {grip.address: collections.defaultdict(list) for grip in self.radio.grips}
        for topic, payload, _, _ in list(self.observer.messages):
            if not topic.endswith("/event"):
                continue
            event = json.loads(payload)
            if event["event"] == "grip":
                address = bytes.fromhex(event["address"].replace(":", ""))
                found[address][event["device_time_ms"] & 0xFFFF].append(event["message_id"])
        return found

    def missing(self):
        found = self.arrived()
        return [
            (grip.address, number, at) for grip in self.radio.grips for number, at in list(grip.log)
            if number not in found[grip.address]]

    def counted(self):
        """Those that no kill excuses: their number, and the faults of the seconds around them."""
        return [
            (number, [(round(when - at, 4), what) for when, what in self.faults if -2 < when - at < 2])
            for _, number, at in self.missing()
            if not any(kill - span <= at <= gone for kill, gone, span in self.kills)]

    def information(self, patience=20):
        """What the gateway answers to the request `health`, which is repeated: nobody keeps it for the gateway."""
        begun = time.time()
        topic = "tendon/bridge/chaos/response/health"
        found, asked = [], [0.0]

        def answered():
            if time.monotonic() > asked[0] + 0.5:
                asked[0] = time.monotonic()
                publish("127.0.0.1", PORT, "tendon/bridge/chaos/request/health", "{}")
            found[:] = [p for t, p, _, at in self.observer.messages[-500:] if t == topic and at >= begun]
            return bool(found)

        self.wait(answered, "the gateway answers", patience)
        return json.loads(found[-1])["data"] if found else {}

    def account(self):
        self.radio.is_silent.set()
        self.wait(lambda: self.information().get("queued", 1) == 0, "the queue is empty at the end", 60)
        dropped = self.information().get("dropped", 0)
        found = self.arrived()
        sent = sum(len(grip.log) for grip in self.radio.grips)
        ids = collections.Counter(name for numbers in found.values() for names in numbers.values() for name in names)
        twice = [n for numbers in found.values() for n, names in numbers.items() if len(set(names)) > 1]
        numbers = {grip.address: {number & 0xFFFF for number, _ in grip.log} for grip in self.radio.grips}
        invented = [n for address, all in found.items() for n in all if n not in numbers[address]]
        lost = self.counted()
        excused = len(self.missing()) - len(lost)
        doubles = sum(ids.values()) - len(ids)
        self.counts.update(sent=sent, arrived=len(ids), doubles=doubles, lost=len(lost), dropped=dropped,
                           lost_in_the_last_moment=excused, connections=sum(g.connections for g in self.radio.grips))
        self.result(sent > 0 and len(lost) <= dropped, f"{sent} events: all arrived or are counted", str(lost[:5]))
        self.result(not twice, "none has two message ids", str(twice[:5]))
        self.result(not invented, "none was invented", str(invented[:5]))
        order = collections.OrderedDict()
        for topic, payload, _, _ in self.observer.messages:
            if topic.endswith("/event"):
                order.setdefault(json.loads(payload)["message_id"].rsplit("-", 1)[1])
        arrivals = [int(number) for number in order]
        wrong = [pair for pair in zip(arrivals, arrivals[1:]) if pair[0] > pair[1]]
        self.result(not wrong, "first arrivals are in the order of their numbers", str(wrong[:5]))

    def close(self):
        for process in (self.gateway, self.broker):
            if process:
                process.send_signal(signal.SIGTERM)
                process.wait(10)
        self.radio.stop()


def run(options, work):
    chance, begun = random.Random(options.seed), time.monotonic()
    world = World(os.path.abspath(options.tendon), work)
    world.start_broker()
    world.radio.start()
    world.start_gateway()
    world.served()
    world.flowing()
    # The first life is one process: what it uses must not grow.
    faults = [world.broker_dies] * options.broker_kills + [world.network_fails] * options.cuts
    faults += [world.network_fails_long] * options.long_cuts + [world.disk_fills] * options.full
    chance.shuffle(faults)
    usage = []
    for fault in faults:
        fault(chance)
        usage.append(world.usage())
    # The first fifth is warm-up.
    early, late = usage[len(usage) // 5:][:1] + usage[-1:] if len(usage) > 1 else [(0, 0)] * 2
    # A connection attempt may be in progress at either time.
    world.result(late[1] <= early[1] + 2, f"descriptors: {early[1]}, later {late[1]}")
    # A state or two more that wait, and what the allocator keeps.
    world.result(late[0] <= early[0] + 2048, f"resident memory: {early[0]} KiB, later {late[0]} KiB")
    world.result(world.gateway.poll() is None, "the same gateway lived through all of them")
    for _ in range(options.gateway_kills):
        world.gateway_dies(chance)
    world.account()
    world.close()
    world.counts["seconds"] = round(time.monotonic() - begun)
    world.counts["seed"] = options.seed
    world.counts["rss_kib"] = f"{early[0]} {late[0]}"
    world.counts["descriptors"] = f"{early[1]} {late[1]}"
    print("# " + json.dumps(world.counts))
    print(f"1..{world.results}")
    if world.failed:
        with open(work + "/gateway.err", errors="replace") as file:
            print("".join("# " + line for line in file.readlines()[-20:]))
    return 1 if world.failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tendon")
    for name, standard in (("seed", 1), ("broker-kills", 50), ("gateway-kills", 50), ("cuts", 10), ("long-cuts", 1),
                           ("full", 5)):
        parser.add_argument("--" + name, type=int, default=standard)
    options = parser.parse_args()
    if enter() is None:
        print("ok 1 - chaos # SKIP network namespaces cannot be made here\n1..1")
        return 0
    with tempfile.TemporaryDirectory() as work:
        try:
            return run(options, work)
        finally:
            subprocess.run(["umount", "-l", work + "/disk"], capture_output=True)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A fleet of gateways and one broker: fleet.py TENDON [--gateways N] [--rate EVENTS] [--seconds S] [--check]

Each gateway is a process of its own, `tendon run` on a virtual radio of its own with four simulated grips, which turn
their dials RATE times a second. Measured: messages a second, CPU and memory of a gateway and of the broker, the time in
which all is well again after the broker was killed and started again, and whether every event arrived. Prints one JSON
object per result; --check: few gateways, and TAP."""

import argparse
import collections
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Tests/Chaos"))
from network import HERE, Network, enter  # noqa: E402
from observer import Observer  # noqa: E402
from wearable import Radio  # noqa: E402

PORT, DEVICES = 1883, 4
TICK = 1 / os.sysconf("SC_CLK_TCK")


def cpu(identity):
    with open(f"/proc/{identity}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def memory(identity):
    """Resident, and proportional: pages that the gateways share count a part each. In KiB."""
    with open(f"/proc/{identity}/smaps_rollup") as file:
        lines = dict(line.split(":", 1) for line in file if ":" in line)
    return int(lines["Rss"].split()[0]), int(lines["Pss"].split()[0])


def median(values):
    return sorted(values)[len(values) // 2]


class Fleet:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.network = Network()
        with open(work + "/broker.conf", "w") as file:
            file.write(f"listener {PORT} 0.0.0.0\nallow_anonymous true\npersistence false\nuser root\n"
                       "max_queued_messages 0\nmax_connections -1\n")
        self.observer = Observer("127.0.0.1", PORT, ["tendon/+/event", "tendon/bridge/+/state"])
        self.radio = Radio(options.rate, advertising=1.0)
        self.processes = []
        for number in range(options.gateways):
            addresses = [bytes([0xC1, 0, 0]) + (number * DEVICES + device).to_bytes(3, "big")
                         for device in range(DEVICES)]
            os.makedirs(self.place(number), mode=0o700)
            self.radio.add(self.place(number) + "/tendon", addresses)
        self.grips = self.radio.grips

    def place(self, number):
        return f"{self.work}/{number}"

    def start_broker(self):
        """The gateways reach it after the observer has subscribed."""
        self.network.link(False)
        self.broker = subprocess.Popen(["mosquitto", "-c", self.work + "/broker.conf"], stderr=subprocess.DEVNULL)
        self.observer.attach()
        self.network.link(True)

    def start_gateways(self):
        for number in range(self.options.gateways):
            environment = dict(os.environ, XDG_RUNTIME_DIR=self.place(number), XDG_STATE_HOME=self.place(number))
            with open(self.place(number) + "/err", "w") as log:
                # Not through ip(8) each: one shell in the namespace starts all of them.
                self.processes.append(subprocess.Popen(
                    ["nsenter", "--net=/run/netns/gateway", self.options.tendon, "run", "--radio", "virtual", "--pair",
                     "--no-lines", "--mqtt", f"mqtt://{HERE}", "--mqtt-gateway", f"g{number}"],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment))
            # A burst of starts would measure the burst.
            while number % 20 == 19 and self.unserved() > 40 and self.waiting():
                time.sleep(0.1)

    def waiting(self):
        return time.monotonic() < self.begun + self.options.patience

    def unserved(self):
        started = len(self.processes) * DEVICES
        return started - sum(grip.is_subscribed for grip in self.grips[:started])

    def until(self, condition):
        begun = time.monotonic()
        while not condition() and time.monotonic() < begun + self.options.patience:
            time.sleep(0.05)
        return time.monotonic() - begun

    # ---- the account

    def arrived(self):
        """By address: the message ids of each number."""
        found = collections.defaultdict(lambda: collections.defaultdict(set))
        copies = 0
        for topic, payload, _, _ in self.observer.messages:
            if topic.endswith("/event"):
                event = json.loads(payload)
                if event["event"] == "grip":
                    found[event["address"]][event["device_time_ms"] & 0xFFFF].add(event["message_id"])
                    copies += 1
        return found, copies

    def lost(self):
        found, _ = self.arrived()
        count = 0
        for grip in self.grips:
            numbers = found[":".join(f"{byte:02X}" for byte in grip.address)]
            count += sum(number not in numbers for number, _ in list(grip.log))
        return count

    def sent(self):
        return sum(len(grip.log) for grip in self.grips)

    def events(self):
        return sum(topic.endswith("/event") for topic, _, _, _ in self.observer.messages)

    def online(self, since):
        return len({topic for topic, payload, _, at in self.observer.messages
                    if at >= since and topic.endswith("/state") and b"online" in payload})

    # ---- what is measured

    def steady(self):
        identities = [process.pid for process in self.processes]
        before = [cpu(identity) for identity in identities], cpu(self.broker.pid), self.sent(), self.events()
        begun = time.monotonic()
        time.sleep(self.options.seconds)
        elapsed = time.monotonic() - begun
        used = [cpu(identity) - old for identity, old in zip(identities, before[0])]
        broker = cpu(self.broker.pid) - before[1]
        sent, arrived = self.sent() - before[2], self.events() - before[3]
        sample = identities[::max(1, len(identities) // 50)]
        sizes = [memory(identity) for identity in sample]
        return {
            "bench": "fleet", "name": "steady", "gateways": len(identities), "devices": len(self.grips),
            "events_sent_per_s": round(sent / elapsed, 1), "events_arrived_per_s": round(arrived / elapsed, 1),
            "gateway_cpu_percent": round(100 * sum(used) / len(used) / elapsed, 3),
            "gateway_cpu_us_per_event": round(1e6 * sum(used) / max(1, sent)),
            "broker_cpu_percent": round(100 * broker / elapsed, 1),
            "broker_cpu_us_per_event": round(1e6 * broker / max(1, sent)),
            "gateway_rss_kib": median([size[0] for size in sizes]),
            "gateway_pss_kib": median([size[1] for size in sizes]), "broker_rss_kib": memory(self.broker.pid)[0],
        }

    def restart(self):
        self.broker.kill()
        self.broker.wait()
        self.observer.drain()
        time.sleep(self.options.away)
        returned = time.time()
        self.start_broker()
        connected = self.until(lambda: self.online(returned) >= len(self.processes))
        self.radio.is_silent.set()
        drained = self.until(lambda: self.lost() == 0)
        found, copies = self.arrived()
        unique = sum(len(ids) for numbers in found.values() for ids in numbers.values())
        return {
            "bench": "fleet", "name": "broker_restart", "gateways": len(self.processes), "away_s": self.options.away,
            "all_online_s": round(connected, 1), "then_all_events_s": round(drained, 1), "events": self.sent(),
            "lost": self.lost(), "doubles": copies - unique,
        }

    def run(self):
        self.begun = time.monotonic()
        self.start_broker()
        self.radio.start()
        self.start_gateways()
        self.until(lambda: self.unserved() == 0)
        results = [{
            "bench": "fleet", "name": "start", "gateways": len(self.processes), "devices": len(self.grips),
            "not_connected": self.unserved(), "seconds": round(time.monotonic() - self.begun, 1),
        }]
        self.until(lambda: self.online(0) >= len(self.processes))
        results += [self.steady(), self.restart()]
        return results

    def close(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
        self.broker.kill()
        self.broker.wait()
        self.radio.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tendon")
    parser.add_argument("--check", action="store_true")
    for name, standard in (("gateways", 1000), ("rate", 0.1), ("seconds", 60), ("away", 5), ("patience", 600)):
        parser.add_argument("--" + name, type=type(standard), default=None)
        parser.set_defaults(**{"standard_" + name: standard})
    options = parser.parse_args()
    quick = {"gateways": 6, "rate": 5.0, "seconds": 2, "away": 1, "patience": 30}
    for name in ("gateways", "rate", "seconds", "away", "patience"):
        if getattr(options, name) is None:
            setattr(options, name, quick[name] if options.check else getattr(options, "standard_" + name))
    options.tendon = os.path.abspath(options.tendon)
    if not shutil.which("mosquitto") or enter() is None:
        print("ok - fleet # SKIP no mosquitto, or network namespaces cannot be made here")
        return 0
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as work:
        fleet = Fleet(options, work)
        try:
            results = fleet.run()
        finally:
            fleet.close()
    good = results[0]["not_connected"] == 0 and results[1]["events_arrived_per_s"] > 0 and results[2]["lost"] == 0
    for result in results:
        print(("# " if options.check else "") + json.dumps(result), flush=True)
    if options.check:
        print(("ok" if good else "not ok") + " - fleet: all gateways connected, and no event was lost with the broker")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what the broker carried with what the wearables sent and received. Prints results as the cases do.

record.py keys 0 FILE [PROGRAM...]              in this capture of btmon no program but these loads keys into the kernel

record.py [options] order 0 any                 since a time, what came to the broker came in the order of its numbers, and no step of the
                                                grip's dial is missing

record.py [options] streams SECONDS FAMILY...   within SECONDS each family has three new values at the broker, each one that
                                                its wearable sent at that time; the first of them --within so long
record.py [options] await SECONDS broker|wearables EXPRESSION
                                                there is a line for which the expression is true, or comes within SECONDS: `topic`
                                                and `m` of the broker's (m: its JSON), `m` of the wearables'
"""

import argparse
import bisect
import json
import struct
import sys
import time


class Lines:
    """JSON lines of a file that is being written."""

    def __init__(self, path):
        self.path, self.at, self.rest = path, 0, ""

    def new(self):
        with open(self.path, encoding="utf-8", errors="replace") as file:
            file.seek(self.at)
            text = self.rest + file.read()
            self.at = file.tell()
        *whole, self.rest = text.split("\n")
        for line in whole:
            try:
                yield json.loads(line)
            except ValueError:
                pass  # a line of libmosquitto's about the connection


def messages(lines):
    for line in lines:
        value = line["t"].get("payload")
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                pass
        yield line["at"], line["t"]["topic"], value


# How a family's message tells the number of its value: (the number, modulo); None: another message.
def bose(topic, m):
    return (round(m["yaw_deg"]) % 360, 360) if topic.endswith("/stream/rotation") else None


def feelspace(topic, m):
    return (round(m["heading_deg"]) % 360, 360) if topic.endswith("/stream/orientation") else None


def activ5(topic, m):
    return (round(m["force_n"] / 0.27156315909), 30000) if topic.endswith("/stream/force") else None


def fjorden(topic, m):
    return (m["sequence"], 256) if topic.endswith("/event") and m.get("event") == "grip" else None


def obvious(topic, m):
    if not topic.endswith("/event") or m.get("event") != "feature" or str(m.get("feature")) != "17":
        return None
    return {"activated": 1, "deactivated": 0}[m["toggle"]], 2


def heart_rate(topic, m):
    return (m["heart_rate_bpm"], 60000) if topic.endswith("/event") and m.get("event") == "heart_rate" else None


FAMILIES = {1: ("bose", bose), 2: ("feelspace", feelspace), 3: ("activ5", activ5), 4: ("fjorden", fjorden), 5: ("obvious", obvious),
            6: ("heart_rate", heart_rate)}


def sender(topic):
    """The family by the address: F0:F1:F2:F3:F6:0N."""
    parts = topic.split("/")
    if len(parts) > 2 and parts[1].startswith("F0:F1:F2:F3:F6:"):
        return FAMILIES.get(int(parts[1][-2:], 16), (None, None))
    return None, None


class Sent:
    """How many values each wearable had sent, second by second."""

    def __init__(self):
        self.times, self.counts = [], []

    def take(self, line):
        if line["event"] == "sent":
            self.times.append(line["time"])
            self.counts.append(line)

    def between(self, family, at, slack):
        """The least and the most that it can have sent at a time, or None before the next count."""
        low, high = bisect.bisect_left(self.times, at - slack) - 1, bisect.bisect_right(self.times, at)
        if high >= len(self.times):
            return None
        return self.counts[max(low, 0)][family], self.counts[high][family]


def agrees(number, modulo, low, high):
    return high - low + 2 >= modulo or (number - (low - 1)) % modulo <= high - low + 2


def streams(arguments):
    sent, pending, good, wrong = Sent(), [], dict.fromkeys(arguments.words, 0), []
    first = {}
    began = time.time()
    broker, wearables = Lines(arguments.broker), Lines(arguments.wearables)
    while time.time() < began + arguments.seconds and min(good.values()) < 3:
        for line in wearables.new():
            sent.take(line)
        for at, topic, value in messages(broker.new()):
            family, number_of = sender(topic)
            if at < began or family not in good or not isinstance(value, dict):
                continue
            number = number_of(topic, value)
            if number is not None:
                pending.append((at, family, *number))
        later = []
        for at, family, number, modulo in pending:
            limits = sent.between(family, at, arguments.slack)
            if limits is None:
                later.append((at, family, number, modulo))
            elif limits[1] > 0 and agrees(number, modulo, *limits):
                good[family] += 1
                first.setdefault(family, at)
            else:
                wrong.append((family, number, limits))
        pending = later
        time.sleep(0.2)
    for family, count in good.items():
        text = f"{arguments.text}{family} streams to the broker"
        print(f"ok {text}" if count >= 3 else
              f"not ok {text}: {count} values within {arguments.seconds} s; sent {sent.counts[-1][family] if sent.counts else 0}; "
              f"not those that were sent: {[each for each in wrong if each[0] == family][:3]}", flush=True)
    if min(good.values()) < 3:
        return 1
    took = max(first.values()) - (arguments.since or began)
    if arguments.within is not None:
        print("ok" if took <= arguments.within else "not ok", f"{arguments.text}the first values of all within {arguments.within:g} s")
    print(f"# the first values of all after {took:.1f} s, three of each after {time.time() - (arguments.since or began):.1f} s")
    return 0


def wait(arguments):
    source, expression = arguments.words
    lines = Lines(getattr(arguments, source))
    end = time.time() + arguments.seconds
    while True:
        for line in lines.new():
            at, names = line.get("at", line.get("time", 0)), {"m": line}
            if source == "broker":
                _, topic, value = next(messages([line]))
                names = {"topic": topic, "m": value}
            try:
                if at >= arguments.since and eval(expression, names):
                    return 0
            except (KeyError, TypeError, AttributeError, IndexError):
                continue
        if time.time() > end:
            return 1
        time.sleep(0.1)


def order(arguments):
    numbers, steps, early = set(), [], []
    greatest = 0
    for at, topic, value in messages(Lines(arguments.broker).new()):
        if at < arguments.since or not topic.endswith("/event") or not isinstance(value, dict) or "message_id" not in value:
            continue
        number = int(value["message_id"].rsplit("-", 1)[1])
        if number in numbers:
            continue  # it comes once more after an end of the connection
        numbers.add(number)
        if number < greatest:
            early.append(number)
        greatest = max(greatest, number)
        if value.get("event") == "grip":
            steps.append(value["sequence"])
    missing = [(one, other) for one, other in zip(steps, steps[1:]) if (one + 1) % 256 != other]
    print("not ok" if early else "ok", f"{arguments.text}{len(numbers)} events are in order{''.join(f': {each}' for each in early[:5])}")
    print("ok" if len(steps) > 3 and not missing else "not ok", f"{arguments.text}all of {len(steps)} steps of the dial are there{missing[:5] or ''}")
    return 0


CONTROL_OPEN, CONTROL_COMMAND = 14, 16  # of btmon's format
LOAD_KEYS = {0x0013: "Load Long Term Keys", 0x0030: "Load Identity Resolving Keys"}


def keys(arguments):
    """Sockets of the management interface are named by a cookie, and with the thread that has opened them."""
    with open(arguments.words[0], "rb") as file:
        capture = file.read()
    at, opened, loaded = 16, {}, []
    while at + 24 <= len(capture):
        _, length, flags, _, _ = struct.unpack_from(">IIIIq", capture, at)
        packet, at = capture[at + 24 : at + 24 + length], at + 24 + length
        cookie = packet[:4]
        if flags & 0xFFFF == CONTROL_OPEN and len(packet) > 14:
            opened[cookie] = packet[14 : 14 + packet[13]].rstrip(b"\0").decode(errors="replace")
        elif flags & 0xFFFF == CONTROL_COMMAND and len(packet) >= 6:
            name = LOAD_KEYS.get(struct.unpack_from("<H", packet, 4)[0])
            program = opened.get(cookie, "?")
            loaded += [f"{name} by {program}"] if name and program not in arguments.words[1:] else []
    others = sorted(set(opened.values()) - {"bluetoothd", "btmon"})
    print("ok" if others else "not ok", f"btmon has seen the service: {', '.join(others)}")
    print("not ok" if loaded else "ok", "btmon: no program replaced bluetoothd's keys of the kernel" + "".join(f": {each}" for each in loaded))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--broker")
    parser.add_argument("--wearables")
    parser.add_argument("--since", type=float, default=0, help="of await: lines since this time only; of streams: its times are from then")
    parser.add_argument("--within", type=float, help="of streams: seconds from --since to the first value of the last family")
    parser.add_argument("--text", default="", help="before each result")
    parser.add_argument("--slack", type=float, default=3, help="seconds that a value may take to the broker")
    parser.add_argument("command", choices=("streams", "await", "keys", "order"))
    parser.add_argument("seconds", type=float, help="of keys: any")
    parser.add_argument("words", nargs="+")
    arguments = parser.parse_args()
    return {"streams": streams, "await": wait, "keys": keys, "order": order}[arguments.command](arguments)


if __name__ == "__main__":
    sys.exit(main())

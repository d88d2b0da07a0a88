#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks into what mosquitto_sub wrote with -F '{"t":%J}', one message per line.

check_mqtt.py FILE has TOPIC [EXPRESSION]   0: a message of the topic for which the expression over m (its JSON) is true
check_mqtt.py FILE count TOPIC EXPRESSION   prints how many there are
check_mqtt.py FILE last TOPIC               prints the last payload of the topic
check_mqtt.py complete KILLED LINES,... FILE...
    Every event of the files of JSON lines arrived, in its order, once after removing doubles by message_id; KILLED: the
    time of a kill -9 of the first program, whose last 0.1 s before it do not count.
"""

import datetime
import json
import sys


def messages(path):
    for line in open(path, errors="replace"):
        try:
            message = json.loads(line)["t"]
        except (ValueError, KeyError):
            continue
        payload = message.get("payload", "")
        if isinstance(payload, (dict, list)):
            yield message["topic"], payload, json.dumps(payload)
            continue
        try:
            yield message["topic"], json.loads(payload), payload
        except (ValueError, TypeError):
            yield message["topic"], None, payload or ""


def count(path, topic, expression):
    found = 0
    for name, value, _ in messages(path):
        try:
            if name == topic and (not expression or eval(expression, {"m": value})):
                found += 1
        except (KeyError, TypeError, AttributeError, IndexError):
            continue
    return found


def has(path, topic, expression):
    return 0 if count(path, topic, expression) > 0 else 1


def last(path, topic):
    found = [text for name, _, text in messages(path) if name == topic]
    print(found[-1] if found else "(none)")
    return 0


def complete(killed, sources, received):
    end = datetime.datetime.fromisoformat(killed) - datetime.timedelta(seconds=0.1)
    expected = []
    for index, path in enumerate(sources):
        for line in open(path):
            event = json.loads(line)
            if event["event"] in ("sample", "found", "summary") or "address" not in event:
                continue
            if index == 0 and datetime.datetime.fromisoformat(event["time"]) > end:
                continue
            expected.append((event["time"], event["event"], event["address"]))
    got, doubles = {}, 0
    arrival = []
    for path in received:
        for topic, value, _ in messages(path):
            if not topic.endswith("/event") or not topic.startswith("tendon/"):
                continue
            if value["message_id"] in got:
                doubles += 1
                continue
            got[value["message_id"]] = (value["time"], value["event"], value["address"])
            arrival.append(value["message_id"])
    lost = [event for event in expected if event not in got.values()]
    numbers = [int(number.rsplit("-", 1)[1]) for number in arrival]
    order = numbers == sorted(numbers)
    wrong = [pair for pair in zip(numbers, numbers[1:]) if pair[0] > pair[1]]
    print(f"{len(expected)} events, {len(got)} arrived, {doubles} doubles, {len(lost)} lost {lost[:3]}, in order: {order} {wrong[:3]}")
    return 0 if expected and not lost and order else 1


if __name__ == "__main__":
    if sys.argv[1] == "complete":
        sys.exit(complete(sys.argv[2], sys.argv[3].split(","), sys.argv[4:]))
    elif sys.argv[2] == "has":
        sys.exit(has(sys.argv[1], sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else ""))
    elif sys.argv[2] == "count":
        print(count(sys.argv[1], sys.argv[3], sys.argv[4]))
    else:
        sys.exit(last(sys.argv[1], sys.argv[3]))

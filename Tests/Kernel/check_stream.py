#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the JSON lines of `tendon run` with those of the simulated device: every sample, its order, the counters of both
ends, the angles. Prints results as the cases do ("ok ...", "not ok ...")."""

import argparse
import json
import sys

failed = False


def equal(text, got, wanted):
    global failed
    good = got == wanted
    failed = failed or not good
    print(f"ok {text}: {got}" if good else f"not ok {text}: {got}, not {wanted}", flush=True)


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def summary(lines, path):
    found = [line for line in lines if line["event"] == "summary"]
    if len(found) != 1 or lines[-1] is not found[0]:
        print(f"not ok {path} ends with one summary")
        sys.exit(1)
    return found[0]


def angle_errors(samples, truth):
    """Degrees between what was printed and the device's script."""
    for sample in samples:
        true = truth[sample["device_time_ms"] % 20000]
        for name in ("pitch_deg", "roll_deg", "yaw_deg"):
            yield abs((sample[name] - true[name] + 180) % 360 - 180)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", required=True, metavar="FILE", help="lines of tendon run")
    parser.add_argument("--device", metavar="FILE", help="lines of tendon simulate")
    parser.add_argument("--sent", type=int, help="instead of --device: notifications that the peer says it has sent")
    parser.add_argument("--ground-truth", metavar="FILE", help="lines of tendon simulate --ground-truth")
    parser.add_argument("--yaw-per-sample", type=float, help="degrees from one sample to the next, from 0 on")
    parser.add_argument("--notifications", type=int, required=True)
    parser.add_argument("--period", type=int, default=20)
    parser.add_argument("--dropped", action="store_true", help="the consumer was stopped: it must have missed some")
    arguments = parser.parse_args()

    lines = read(arguments.run)
    got = summary(lines, arguments.run)
    samples = [line for line in lines if line["event"] == "sample"]
    clock = [sample["device_time_ms"] for sample in samples]
    steps = [later - earlier for earlier, later in zip(clock, clock[1:])]
    wanted = arguments.notifications

    if arguments.device:
        device = read(arguments.device)
        sent = summary(device, arguments.device)
        equal("the device's counter: notifications", sent["notifications"], wanted)
        equal("samples, both ends", got["samples"], sent["samples"])
    else:
        equal("the device's counter: notifications", arguments.sent, wanted)
    equal("notifications, both ends", got["notifications"], wanted)
    equal("none malformed, none passed over", (got["malformed"], got["skipped"]), (0, 0))
    equal("samples printed are the samples delivered", len(samples), got["delivered"])
    equal("delivered and dropped are all", got["delivered"] + got["dropped"], got["samples"])
    equal("the clock never goes back and never leaves its grid",
          sum(1 for step in steps if step <= 0 or step % arguments.period), 0)
    missed = sum(step // arguments.period - 1 for step in steps)
    tail = 0
    if arguments.device:
        # By the clocks of both ends alone: what the device has sent, and what of it was not printed. The newest are
        # dropped: when the stream ends while the consumer sleeps, those after the last one are missing too.
        last = sent["device_time_ms"]
        equal("the device's samples, by its clock", (last - clock[0]) // arguments.period + 1, sent["samples"])
        tail = (last - clock[-1]) // arguments.period
    equal("missing by the device's clock, and the drop counter", missed + tail, got["dropped"])
    if arguments.dropped:
        equal("some were dropped", got["dropped"] > 0, True)
    else:
        equal("none dropped", got["dropped"], 0)
    if arguments.ground_truth:
        truth = {item["device_time_ms"]: item for item in read(arguments.ground_truth)}
        worst = max(angle_errors(samples, truth))
        equal(f"every angle is the script's (worst {worst:.4f} degrees)", worst < 0.05, True)
    if arguments.yaw_per_sample:
        worst = max(abs((sample["yaw_deg"] - index * arguments.yaw_per_sample + 180) % 360 - 180)
                    for index, sample in enumerate(samples))
        equal(f"sample n has yaw n (worst {worst:.4f} degrees)", worst < 0.05, True)
    sys.exit(1 if failed else 0)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_obvious.py device LINES VERSION PLAN...: what became of the independent device (bumble_ogp.py --plans), plan by plan.
check_obvious.py client LINES DEVICE: what the independent client got (bumble_ogp.py client), and the simulated device's own
summary. Prints results as the cases do ("ok ...", "not ok ...")."""

import json
import sys


def result(text, good, what):
    print(f"ok {text}: {what}" if good else f"not ok {text}: {what}", flush=True)


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def resumed(outcome):
    """Offsets at which a transfer of firmware (object 2) began."""
    return [offset for kind, offset in outcome["begun"] if kind == 2]


# That the fault was there, and what it must have led to.
TRACES = {
    "clean": lambda o: not o["air"] and o["features"]["16"][:2] == [1, 2] and o["behind"][0] > 2 * o["behind"][1] > 0 and resumed(o) == [0],
    "lost": lambda o: o["air"]["lost"] >= 3,
    "doubled": lambda o: o["air"]["doubled"] >= 3 and "SEG_DUP" in o["errors"],
    "late": lambda o: o["air"]["late"] >= 1,
    "reordered": lambda o: o["air"]["reordered"] >= 3,
    "wrong_crc": lambda o: o["air"]["changed"] >= 1 and o["left"]["bad_crc"] == 0,
    "credit": lambda o: o["behind"][0] == o["behind"][1] > 15,
    "reboot": lambda o: not o["left"]["reboot_at"] and not o["left"]["disconnect_at"] and resumed(o) == [0, 3840, 5888],
}


def check_device(path, version, *plans):
    outcomes = {line["name"]: line for line in read(path) if line["event"] == "outcome"}
    result("a device for each plan", list(outcomes) == list(plans), list(outcomes))
    for name, outcome in outcomes.items():
        state = (outcome["provisioned"], outcome["firmware"], outcome["confirmed"], sorted(outcome["features"]))
        result(f"{name}: the device has it all", state == (True, version, True, ["16", "17", "18", "19"]), state)
        trace = {key: outcome[key] for key in ("air", "begun", "left", "behind", "segments", "connections", "refused")}
        trace["errors"] = {error: outcome["errors"].count(error) for error in outcome["errors"]}
        result(f"{name}: the fault was there", TRACES[name](outcome), trace)


def check_client(path, device):
    lines = read(path)
    steps = {line["step"]: line["last"] for line in lines if line["event"] == "step"}
    calls = {line["step"]: line["calls"] for line in lines if line["event"] == "step"}
    result("info", "'product': 1234" in steps["info"] and "'fw': 1003000" in steps["info"], steps["info"])
    result("update: provisioning first", "('onProvisioningStatus', 'SUCCESS')" in calls["update"], calls["update"])
    result("update", steps["update"] == "('SUCCESS',)", steps["update"])
    result("features", "{16: (1, 1), 17: (1, 2), 20: (0, 0)}" in steps["features"], steps["features"])
    result("toggle", steps["toggle=16"] == "(16, (1, 2))", steps["toggle=16"])
    for step in ("upgrade=1.4.0", "upgrade=1.5.0"):
        result(step, steps[step] == "('SUCCESS',)", steps[step])
    end = [line for line in lines if line["event"] == "summary"][-1]
    result("the second upgrade had its faults", all(end["air"].get(name, 0) > 0 for name in ("lost", "doubled", "reordered")), end)
    state = [line for line in read(device) if line["event"] == "summary"][-1]
    print("#", state)
    found = json.dumps(state)
    wanted = ('"firmware": "1.5.0"', '"trial": false', '"packages": 2', '"provisioned": true')
    result("the simulated device has it all", all(text in found for text in wanted), wanted)


if __name__ == "__main__":
    {"device": check_device, "client": check_client}[sys.argv[1]](*sys.argv[2:])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks Home Assistant's discovery messages in what mosquitto_sub wrote. Usage: check_discovery.py FILE

check_discovery.py FILE update    prints what the template of the update entity makes of each state, one JSON a line

First against the keys that Home Assistant's documentation of the MQTT integration requires or allows, written down here.
Then, where a Python has the package `homeassistant` ($TENDON_HOME_ASSISTANT names it, else python3), each component
against the schema of its platform there. Prints what is wrong; "skip: REASON" where the second is not possible.
"""

import json
import os
import subprocess
import sys

from check_mqtt import messages

# Platform: required keys, further keys that are used. https://www.home-assistant.io/integrations/PLATFORM.mqtt/
COMMON = {"platform", "unique_id", "name", "entity_category", "device_class"}
PLATFORMS = {
    "sensor": ({"state_topic"}, {"value_template", "unit_of_measurement", "state_class"}),
    "binary_sensor": ({"state_topic"}, {"value_template"}),
    "event": ({"state_topic", "event_types"}, {"value_template"}),
    "button": ({"command_topic"}, {"payload_press"}),
    "select": ({"command_topic", "options"}, {"state_topic", "value_template", "command_template"}),
    "number": ({"command_topic"}, {"state_topic", "value_template", "command_template", "min", "max",
                                   "unit_of_measurement"}),
    "update": (set(), {"state_topic", "value_template", "command_topic", "payload_install"}),
}
DEVICE = {"identifiers", "connections", "manufacturer", "model", "name", "sw_version", "serial_number"}
CLASSES = {"sensor": {"battery"}, "binary_sensor": {"battery"}, "event": {"button", "doorbell", "motion"},
           "update": {"firmware"}}

SCHEMAS = r"""
import importlib, json, sys
from homeassistant.components.mqtt.mixins import MQTT_ENTITY_DEVICE_INFO_SCHEMA
problems = []
for topic, payload in json.load(sys.stdin):
    MQTT_ENTITY_DEVICE_INFO_SCHEMA(payload["device"])
    for name, component in payload["components"].items():
        component = dict(component)
        platform = component.pop("platform")
        config = {**component, "device": payload["device"], "availability": payload["availability"],
                  "availability_mode": payload["availability_mode"], "qos": payload["qos"]}
        module = importlib.import_module(f"homeassistant.components.mqtt.{platform}")
        try:
            module.DISCOVERY_SCHEMA(config)
        except Exception as error:
            problems.append(f"{topic}: {name}: {error}")
print("\n".join(problems))
sys.exit(1 if problems else 0)
"""


def discoveries(path):
    """The newest message of each device, without those that were removed."""
    found = {name: value for name, value, _ in messages(path)
             if name.startswith("homeassistant/device/") and name.endswith("/config")}
    return {topic: payload for topic, payload in found.items() if payload}


def check(topic, payload, identifiers):
    wrong = [key for key in ("device", "origin", "components", "availability") if key not in payload]
    if wrong:
        return [f"missing: {wrong}"]
    problems = []
    if not payload["device"].get("identifiers") or set(payload["device"]) - DEVICE:
        problems.append(f"device: {payload['device']}")
    if not payload["origin"].get("name"):
        problems.append("origin has no name")
    if not payload["components"]:
        problems.append("no components")
    for entry in payload["availability"]:
        if set(entry) != {"topic", "value_template"}:
            problems.append(f"availability: {entry}")
    for name, component in payload["components"].items():
        platform = component.get("platform")
        if platform not in PLATFORMS:
            problems.append(f"{name}: platform {platform}")
            continue
        required, allowed = PLATFORMS[platform]
        missing, unknown = required - set(component), set(component) - required - allowed - COMMON
        if missing or unknown:
            problems.append(f"{name}: missing {missing}, unknown {unknown}")
        unique = component.get("unique_id")
        if not unique or unique in identifiers:
            problems.append(f"{name}: unique_id {unique}")
        identifiers.add(unique)
        if "device_class" in component and component["device_class"] not in CLASSES.get(platform, set()):
            problems.append(f"{name}: device_class {component['device_class']}")
        if platform == "event" and not component["event_types"]:
            problems.append(f"{name}: no event types")
        for payload in ("payload_press", "payload_install"):
            if payload in component and not isinstance(json.loads(component[payload]), dict):
                problems.append(f"{name}: {payload} {component[payload]}")
    return problems


def update(path):
    """The states as Home Assistant's MQTT integration sees them: its templates are those of Jinja."""
    import jinja2
    environment = jinja2.Environment()
    environment.filters["tojson"] = json.dumps
    entities = [component for payload in discoveries(path).values() for component in payload["components"].values()
                if component["platform"] == "update"]
    for name, value, _ in messages(path):
        for entity in entities:
            if name == entity["state_topic"] and value:
                print(environment.from_string(entity["value_template"]).render(value_json=value))
    return 0


def main(path):
    found = discoveries(path)
    problems, identifiers = [], set()
    for topic, payload in found.items():
        problems += [f"{topic}: {problem}" for problem in check(topic, payload, identifiers)]
    if not found:
        problems.append("no discovery message")
    python = os.environ.get("TENDON_HOME_ASSISTANT", "python3")
    has_package = subprocess.run([python, "-c", "import homeassistant.components.mqtt.mixins"], capture_output=True)
    if has_package.returncode != 0:
        print("skip: Home Assistant's own schemas: no Python with the package homeassistant ($TENDON_HOME_ASSISTANT)")
    else:
        answer = subprocess.run([python, "-c", SCHEMAS], input=json.dumps(list(found.items())), capture_output=True,
                                text=True)
        if answer.returncode != 0:
            problems.append(answer.stdout[-2000:] + answer.stderr[-2000:])
        else:
            print(f"Home Assistant's own schemas accept {len(identifiers)} components")
    print("\n".join(problems))
    return 1 if problems else 0


sys.exit(update(sys.argv[1]) if sys.argv[2:] == ["update"] else main(sys.argv[1]))

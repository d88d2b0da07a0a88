#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks Home Assistant's discovery messages in what mosquitto_sub wrote. Usage: check_discovery.py FILE

check_discovery.py FILE update    prints what the template of the update entity makes of each state, one JSON a line

First against the keys that Home Assistant's documentation of the MQTT integration requires or allows, written down here.
Then, where a Python has the package `homeassistant`, against its code: the whole message, if its version knows devices;
each component against the schema of its platform; what the templates make of every message that was published. Prints what
is wrong; "skip: REASON" where the second is not possible.
"""

import json
import os
import re
import shutil
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
    "text": ({"command_topic"}, {"command_template", "min", "max", "pattern"}),
    "update": (set(), {"state_topic", "value_template", "command_topic", "payload_install"}),
}
DEVICE = {"identifiers", "connections", "manufacturer", "model", "name", "sw_version", "serial_number"}
CLASSES = {"sensor": {"battery"}, "binary_sensor": {"battery"}, "event": {"button", "doorbell", "motion"},
           "update": {"firmware"}}

# Runs in the Python that has the package: {"discoveries": [[TOPIC, PAYLOAD]...], "messages": [[TOPIC, JSON]...]} in.
SCHEMAS = r"""
import importlib, json, sys
import jinja2
from homeassistant.const import __version__
try:
    from homeassistant.components.mqtt import schemas
    whole = schemas.DEVICE_DISCOVERY_SCHEMA
except ImportError:  # before 2024.11
    from homeassistant.components.mqtt import mixins as schemas
    whole = None

environment = jinja2.Environment()
environment.filters["tojson"] = json.dumps
problems, states = [], 0

def state(module, platform, component, text):
    # What the integration does with the text of the template.
    if platform == "event" and text:
        assert json.loads(text)["event_type"] in component["event_types"], text
    elif platform == "select":
        assert text in [*component["options"], "None"], text
    elif platform == "binary_sensor":
        assert text in ("ON", "OFF", "None"), text
    elif platform in ("sensor", "number") and component.keys() & {"unit_of_measurement", "state_class"}:
        assert text == "None" or float(text) == float(text), text
    elif platform == "update" and hasattr(module, "MQTT_JSON_UPDATE_SCHEMA"):
        module.MQTT_JSON_UPDATE_SCHEMA(json.loads(text))

given = json.load(sys.stdin)
for topic, payload in given["discoveries"]:
    try:
        schemas.MQTT_ENTITY_DEVICE_INFO_SCHEMA(payload["device"])
        schemas.MQTT_ORIGIN_INFO_SCHEMA(payload["origin"])
        if whole:
            whole(json.loads(json.dumps(payload)))
    except Exception as error:
        problems.append(f"{topic}: {error}")
    for name, component in payload["components"].items():
        component = dict(component)
        platform = component.pop("platform")
        config = {**component, "device": payload["device"], "availability": payload["availability"],
                  "availability_mode": payload["availability_mode"], "qos": payload["qos"]}
        module = importlib.import_module(f"homeassistant.components.mqtt.{platform}")
        try:
            module.DISCOVERY_SCHEMA(config)
            template = environment.from_string(component.get("value_template", ""))
            for place, value in given["messages"]:
                if "state_topic" in component and place == component["state_topic"] and value:
                    state(module, platform, component, template.render(value_json=value))
                    states += 1
        except Exception as error:
            problems.append(f"{topic}: {name}: {error!r}")
print("\n".join(problems) or f"{__version__}, the whole message: {'yes' if whole else 'no'}, {states} states")
sys.exit(1 if problems else 0)
"""


def python_with_package():
    """What $TENDON_HOME_ASSISTANT names, what scripts/home_assistant.sh made, or this Python; None: none has it."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    made = os.path.join(os.environ.get("BUILD", os.path.join(root, ".build")), "home-assistant/bin/python")
    for python in (os.environ.get("TENDON_HOME_ASSISTANT"), made, "python3"):
        if python and shutil.which(python) and subprocess.run(
                [python, "-c", "import homeassistant.components.mqtt, jinja2"], capture_output=True).returncode == 0:
            return python
    return None


def discoveries(path):
    """The newest message of each device, without those that were removed."""
    found = {name: value for name, value, _ in messages(path)
             if name.startswith("homeassistant/device/") and name.endswith("/config")}
    return {topic: payload for topic, payload in found.items() if payload}


def documented():
    """The names of the entities of each model, as docs/home-assistant.md lists them."""
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/home-assistant.md")
    with open(page, encoding="utf-8") as file:
        rows = re.findall(r"^\| [^|]+ \| `([^`]+)` \| (.+) \|$", file.read(), re.M)
    return {model: set(re.findall(r"`([^`]+)`", entities)) for model, entities in rows}


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
    names = {component["name"] for component in payload["components"].values() if "name" in component}
    listed = documented().get(payload["device"].get("model"), set())
    if names != listed and "manufacturer" in payload["device"]:  # that of a device file has none
        problems.append(f"docs/home-assistant.md lists {sorted(listed)}, published were {sorted(names)}")
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
    python = python_with_package()
    if python is None:
        print("skip: Home Assistant's own schemas: no Python with the package homeassistant (scripts/home_assistant.sh)")
    else:
        given = {"discoveries": list(found.items()), "messages": [[name, value] for name, value, _ in messages(path)]}
        answer = subprocess.run([python, "-c", SCHEMAS], input=json.dumps(given), capture_output=True, text=True)
        if answer.returncode != 0:
            problems.append(answer.stdout[-2000:] + answer.stderr[-2000:])
        else:
            print(f"Home Assistant's own schemas accept {len(identifiers)} components: {answer.stdout.strip()}")
    print("\n".join(problems))
    return 1 if problems else 0


sys.exit(update(sys.argv[1]) if sys.argv[2:] == ["update"] else main(sys.argv[1]))

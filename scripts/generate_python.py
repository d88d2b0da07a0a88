#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes Python/tendon/events.py of docs/events.schema.json: a data class for each event that a gateway reports.

Usage: generate_python.py [--check]    --check: fails if the file is another one, and changes nothing
"""

import json
import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "docs/events.schema.json"
OUT = ROOT / "Python/tendon/events.py"

# Of commands that are no gateway.
OF_COMMANDS = {
    "adapter", "att", "bond", "cache_dropped", "cart", "catalog_item", "configuration", "configuration_file", "configure_gestures",
    "configure_sensors", "control_state", "decision", "device_information", "difference", "dry_run", "encoded", "exported", "finding",
    "firmware_check", "forgotten", "gesture_information", "information", "interference", "message", "mistake", "neighbor", "ogp",
    "payment", "parameter", "protocol", "publish", "reload_failed", "reloaded", "response", "sample_rate", "sensor_information",
    "setting", "undecoded", "write", "passkey", "ready", "command", "executed", "execution_failed", "rule", "belt", "debug",
    "navigation", "home_button", "progress", "firmware"}
COMMON = ("time", "event", "family", "address", "address_type", "name")

HEAD = '''# SPDX-License-Identifier: MIT
# Made by scripts/generate_python.py of docs/events.schema.json; not to be edited.
"""The events of a gateway as data classes. Units are in the names; what a device did not report is None."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Literal


@dataclasses.dataclass(kw_only=True, repr=False)
class Event:
    """An event. What a device file calls its values are attributes, too: `event.heart_rate_bpm`."""

    time: str
    """When the line was made: RFC 3339, UTC, microseconds."""
    event: str
    family: str | None = None
    """"bose", "feelspace" ..., or the name of a device file."""
    address: str | None = None
    """"AA:BB:CC:DD:EE:FF"; only address and type together identify a device."""
    address_type: str | None = None
    name: str | None = None

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...

    def __repr__(self) -> str:
        members = (f"{name}={value!r}" for name, value in vars(self).items() if value is not None)
        return f"{type(self).__name__}({', '.join(members)})"

    @property
    def more(self) -> dict[str, Any]:
        """Members that the class does not have: of device files, and of later versions."""
        known = self.__dataclass_fields__
        return {name: value for name, value in vars(self).items() if name not in known}

    @property
    def sample(self) -> bool:
        """Whether it comes many times per second."""
        return self.event == "sample"

'''

TAIL = '''

BY_NAME: dict[str, type[Event]] = {
%s}


def from_members(members: dict[str, Any]) -> Event:
    """The event of a line of JSON that was parsed. The members become the event's attributes as they are: there are many samples per
    second."""
    event = object.__new__(BY_NAME.get(members["event"], Event))
    event.__dict__ = members
    return event
'''


def python_type(schema):
    if "const" in schema:
        value = schema["const"]
        return "bool" if isinstance(value, bool) else f"Literal[{json.dumps(value)}]"
    if "enum" in schema:
        return f"Literal[{', '.join(json.dumps(value) for value in schema['enum'])}]"
    if "anyOf" in schema or "oneOf" in schema:
        return " | ".join(dict.fromkeys(python_type(one) for one in schema.get("anyOf") or schema["oneOf"]))
    kinds = schema.get("type", "any")
    plain = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "object": "dict[str, Any]"}
    names = [
        f"list[{python_type(schema.get('items') or {})}]" if kind == "array" else plain.get(kind, "Any")
        for kind in (kinds if isinstance(kinds, list) else [kinds])]
    return " | ".join(dict.fromkeys(names))


def class_name(event):
    return "".join(word.capitalize() for word in event.split("_"))


def described(text, indent):
    lines = textwrap.wrap(text, 120 - len(indent))
    return [f'{indent}"""' + lines[0] + ('"""' if len(lines) == 1 else "")] + [indent + line for line in lines[1:-1]] + \
        ([indent + lines[-1] + '"""'] if len(lines) > 1 else [])


def event_class(name, definition):
    lines = ["", "@dataclasses.dataclass(kw_only=True, repr=False)", f"class {class_name(name)}(Event):",
             *described(definition["description"], "    "), "", f'    EVENT: ClassVar[str] = "{name}"']
    required = set(definition["required"])
    for key, schema in definition["properties"].items():
        if key in COMMON:
            continue
        kind = python_type(schema)
        optional = "" if "None" in kind.split(" | ") or key in required else " | None"
        lines.append(f"    {key}: {kind}{optional}" + ("" if key in required else " = None"))
        if "description" in schema:
            lines += described(schema["description"][0].upper() + schema["description"][1:] + ".", "    ")
    return lines


def main():
    definitions = json.loads(SCHEMA.read_text())["$defs"]
    events = {name: one for name, one in definitions.items() if "event" in (one.get("properties") or {})}
    missing = OF_COMMANDS - events.keys()
    if missing:
        sys.exit(f"no events of the schema: {sorted(missing)}")
    events = {name: one for name, one in sorted(events.items()) if name not in OF_COMMANDS}
    lines = []
    for name, definition in events.items():
        lines += event_class(name, definition) + [""]
    text = HEAD + "\n".join(lines) + TAIL % "".join(f'    "{name}": {class_name(name)},\n' for name in events)
    if "--check" in sys.argv[1:]:
        good = OUT.exists() and OUT.read_text() == text
        print(("ok" if good else "not ok") + " - Python/tendon/events.py is what scripts/generate_python.py makes")
        sys.exit(not good)
    OUT.write_text(text)


main()

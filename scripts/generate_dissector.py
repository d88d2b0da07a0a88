#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tendon.lua, the dissector for Wireshark, from docs/protocols/fields.json and the Lua in packaging/wireshark.

Usage: generate_dissector.py OUTPUT [DEVICE_FILE...]: with the devices of these files too (docs/device-files.md), which
`tendon config check` has found right. --check in place of OUTPUT: writes nothing, says whether the table is whole.
"""
import datetime
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs/protocols/fields.json"
PARTS = [ROOT / "packaging/wireshark" / name for name in ("engine.lua", "hooks.lua", "tracker.lua")]

TYPES = {"u8", "u16", "u24", "u32", "u48", "u64", "i8", "i16", "i24", "i32", "i48", "i64", "f32", "sfloat", "float", "bytes",
         "utf8", "datetime", "derived"}
INTEGER = {"name", "type", "values", "base", "unit", "endian", "scaled", "bits", "min", "max", "also", "any_of",
           "equals", "stop", "optional"}
MEMBERS = {"integer": INTEGER, "bytes": {"name", "type", "length", "at_most", "at_least", "optional"},
           "utf8": {"name", "type", "length", "at_most", "at_least", "optional", "check"},
           "derived": {"name", "type", "from", "unit"},
           "records": {"records", "size", "count", "whole", "nonempty"},
           "switch": {"switch", "cases", "otherwise", "length"}}
LAYOUT = {"fields", "before", "after", "inline", "exact"}
CHARACTERISTIC = {"name", "uuid", "value", "notify", "read", "write", "collect"}


def kind_of(field):
    if "records" in field or "switch" in field:
        return "records" if "records" in field else "switch"
    return field["type"] if field["type"] in ("bytes", "utf8", "derived") else "integer"


def layouts_of(field):
    """The layouts that a field names."""
    if "records" in field:
        return [field["records"]]
    return [*field.get("cases", {}).values(), *([field["otherwise"]] if "otherwise" in field else [])]


def problems_of(table):
    """A member that is misspelled would be ignored by the Lua: here it is not."""
    for family_name, family in table["families"].items():
        layouts = family["layouts"]
        used = set()
        for characteristic in family["characteristics"]:
            extra = set(characteristic) - CHARACTERISTIC
            if extra:
                yield f"{family_name}, {characteristic['name']}: unknown {sorted(extra)}"
            used |= {characteristic[k] for k in ("value", "notify", "read", "write") if k in characteristic}
            # The hook of a message in several packets chooses the layout.
            used |= {"activ5": {"text_message"}, "obvious": {"frame"}}.get(characteristic.get("collect"), set())
        for name, layout in layouts.items():
            if set(layout) - LAYOUT:
                yield f"{family_name}.{name}: unknown {sorted(set(layout) - LAYOUT)}"
            for field in layout["fields"]:
                where = f"{family_name}.{name}.{field.get('name', kind_of(field))}"
                if set(field) - MEMBERS[kind_of(field)]:
                    yield f"{where}: unknown {sorted(set(field) - MEMBERS[kind_of(field)])}"
                if field.get("type", "u8") not in TYPES:
                    yield f"{where}: no type {field['type']}"
                used |= set(layouts_of(field))
        yield from (f"{family_name}: no layout {name}" for name in sorted(used - set(layouts)))
        yield from (f"{family_name}.{name}: not used" for name in sorted(set(layouts) - used))


def seconds_of(text):
    """Of a date, since 1970."""
    date = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return int((date if date.tzinfo else date.replace(tzinfo=datetime.timezone.utc)).timestamp())


def integer(text):
    return int(text, 16 if "x" in text.lower() else 10)


def numbers(value):
    """A value of a device file, where an integer can be a text: "0x59"."""
    if isinstance(value, dict):
        return {key: numbers(one) for key, one in value.items()}
    if isinstance(value, list):
        return [numbers(one) for one in value]
    return int(value, 16) if isinstance(value, str) and re.fullmatch("0[xX][0-9a-fA-F]+", value) else value


class DeviceFile:
    """A device file as a family of the table."""

    def __init__(self, path):
        self.file = json.loads(pathlib.Path(path).read_text())
        self.layouts = {}
        self.inlined = set()
        for name, layout in self.file.get("layouts", {}).items():
            self.add(name, layout)

    def family(self):
        characteristics = [self.characteristic(row) for row in self.file["characteristics"]]
        for name in self.inlined:  # a case can name a layout that stands after it
            self.layouts[name]["inline"] = True
        return {"title": self.file["title"], "endian": self.file.get("endian", "little"),
                "characteristics": characteristics, "layouts": self.layouts}

    def characteristic(self, row):
        made = {"name": row["name"], "uuid": row["uuid"].removeprefix("0x").lower(),
                "service": row["service"].removeprefix("0x").lower()}
        directions = [key for key in ("value", "notify", "read", "write") if key in row]
        for key in directions:
            made[key] = self.reference(row[key], row["name"] if len(directions) == 1 else f"{row['name']}_{key}")
        return made if directions else {**made, "value": self.reference([{"name": "bytes", "type": "bytes"}], row["name"])}

    def reference(self, layout, name):
        if isinstance(layout, str):
            return layout
        while name in self.layouts:
            name += "_"
        return self.add(name, layout)

    def add(self, name, layout):
        self.layouts[name] = made = {"fields": []}
        layout = numbers(layout)
        if isinstance(layout, dict):
            layout, made["exact"] = layout["fields"], layout.get("exact", False)
        for number, field in enumerate(layout):
            if "rate" in field:
                continue
            one = self.field(name, number, field)
            if any(other.get("name") == one.get("name") is not None for other in made["fields"]):
                one["name"] += f"_{one['type']}"  # Wireshark has one type for a name
            made["fields"].append(one)
        return name

    def field(self, layout, number, field):
        made = {key: field[key] for key in ("type", "values", "endian", "min", "max", "equals", "optional", "length",
                                            "at_least", "at_most", "count") if key in field}
        made["name"] = field.get("name", f"field_{number}")
        if "unknown" in field:
            made["also"] = made["unknown"] = field["unknown"]
        if "if" in field:
            name, _, number_of = field["if"].lstrip("!").partition("=")
            made["if"] = {"name": name, "zero": field["if"].startswith("!"), **({"is": integer(number_of)} if number_of else {})}
        if "epoch" in field:
            made["epoch"] = {"name": made["name"], "factor": field.get("factor", 1), "divisor": field.get("divisor", 1),
                             "offset": seconds_of(field["epoch"]), "zone": "" if field.get("local") else "Z",
                             **({"unknown": field["unknown"]} if "unknown" in field else {})}
            made["name"] += "_raw"
        else:
            made |= self.scaled(made["name"], field)
        if "bits" in field:
            made["bits"] = [{"name": part["name"], "bit": part["bit"], "count": part.get("count", 1), "kept": part["name"],
                             **{key: part[key] for key in ("values", "unknown") if key in part},
                             **self.scaled(part["name"], part)} for part in field["bits"]]
        if "records" in field:
            made = {key: made[key] for key in ("count", "if") if key in made}
            made["records"] = self.reference(field["records"], field.get("name", f"{layout}_records"))
        if "switch" in field:
            made = {key: made[key] for key in ("if",) if key in made}
            made["switch"] = [field["switch"]]
            made["cases"] = {str(integer(key)): self.inline(value, f"{layout}_{field['switch']}_{key}")
                             for key, value in field["cases"].items()}
            made["otherwise"] = self.inline(field.get("otherwise", []), f"{layout}_{field['switch']}_otherwise")
        return made

    @staticmethod
    def scaled(name, field):
        """The unit; of a number with a scale, both numbers: conditions are about that of the device."""
        unit = {"unit": field["unit"]} if "unit" in field else {}
        scale = {key: field[key] for key in ("factor", "divisor", "offset") if key in field}
        return {"name": f"{name}_raw", "kept": name, "scaled": [{"name": name, **scale, **unit}]} if scale else unit

    def inline(self, layout, name):
        name = self.reference(layout, name)
        self.inlined.add(name)
        return name


def literal(value, indent=0):
    """A JSON value as Lua; a field or a characteristic is one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list) and value and isinstance(value[0], dict) and indent < 6:
        pad = "    " * (indent + 1)
        return "{\n" + "".join(f"{pad}{literal(item, 6)},\n" for item in value) + "    " * indent + "}"
    if isinstance(value, list):
        return "{" + ", ".join(literal(item, 6) for item in value) + "}"
    items = [f"[{json.dumps(key)}] = " + literal(item, indent + 1) for key, item in value.items()]
    if indent < 5:
        pad = "    " * (indent + 1)
        return "{\n" + "".join(f"{pad}{item},\n" for item in items) + "    " * indent + "}"
    return "{" + ", ".join(items) + "}"


def generated(table):
    text = ("-- SPDX-License-Identifier: MIT\n-- Wireshark dissector for the wearables that Tendon knows: copy it into the "
            "folder of personal Lua plugins\n-- (Help, About Wireshark, Folders). Generated by "
            "scripts/generate_dissector.py from docs/protocols/fields.json.\n\n")
    text += "local TABLE = " + literal({"families": table["families"]}) + "\n\n"
    text += "local hooks = {scale = {}, derived = {}, before = {}, after = {}, check = {}, collect = {}}\n"
    for part in PARTS:
        text += "\n" + part.read_text().replace("-- SPDX-License-Identifier: MIT\n", "", 1)
    return text


def is_first(row, name, shown):
    """A capture need not say of which kind a device is: a characteristic of two files has the layout of the first."""
    key = row["service"], row["uuid"]
    first = shown.setdefault(key, name)
    if first != name:
        print(f"{name}: {row['name']} ({'/'.join(key)}) is shown as {first} has it", file=sys.stderr)
    return first == name


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    table = json.loads(TABLE.read_text())
    problems = list(problems_of(table))
    # What all devices have, such as the battery level, is shown as the first family has it.
    known = {row["uuid"] for family in table["families"].values() for row in family["characteristics"]}
    shown = {}
    for path in sys.argv[2:]:
        device = DeviceFile(path)
        family = device.family()
        family["characteristics"] = [row for row in family["characteristics"]
                                     if row["uuid"] not in known and is_first(row, device.file["name"], shown)]
        table["families"][device.file["name"]] = family
    if sys.argv[1] == "--check":
        print(("not ok" if problems else "ok") + " - the table of fields, from which the dissector for Wireshark is generated")
    if problems:
        sys.exit("\n".join(f"# {problem}" for problem in problems))
    if sys.argv[1] != "--check":
        pathlib.Path(sys.argv[1]).write_text(generated(table))


if __name__ == "__main__":
    main()

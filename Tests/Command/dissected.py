# SPDX-License-Identifier: MIT
"""What tshark shows of values with our dissector, as Python values, and how these compare with the library's."""
import json
import math
import pathlib
import re
import subprocess
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TABLE = json.loads((ROOT / "docs/protocols/fields.json").read_text())
FAMILIES = TABLE["families"]
FAULTS = {"tendon.truncated", "tendon.bad", "tendon.unknown"}


def lines(path):
    return [json.loads(line) for line in open(path, encoding="utf-8") if line.strip()]


def conformance(program, vectors):
    text = "".join(json.dumps(vector) + "\n" for vector in vectors)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def fields_of(family, layout):
    """Name to type, of integers, scaled numbers and bits."""
    types = {}
    for field in FAMILIES[family]["layouts"][layout]["fields"]:
        if "name" in field:
            types[field["name"]] = field["type"]
        types.update({scaled["name"]: "derived" for scaled in field.get("scaled", [])})
        types.update({bits["name"]: "bits" for bits in field.get("bits", [])})
    return types


def value_of(element, kind):
    raw, show = element.get("value", ""), element.get("show", "")
    if kind == "bytes":
        return raw
    if kind == "utf8":
        return bytes.fromhex(raw).decode("utf-8", "replace")
    if kind == "derived":
        return float(show)
    return {"True": 1, "False": 0}.get(show) if show in ("True", "False") else int(show, 0)


def failed(element):
    return any(field.get("name") in FAULTS for field in element.iter("field"))


def node(element):
    """A layout: fields by name, layouts within it by theirs, records as lists."""
    result = {"failed": failed(element)}
    for child in element.findall("field"):
        parts = child.get("name", "").split(".")
        if parts[0] != "tendon" or len(parts) < 3:
            continue
        if len(parts) == 3:
            result[parts[2]] = dict(node(child), hex=child.get("value", ""))
            continue
        kind = fields_of(parts[1], parts[2]).get(parts[3])
        if kind is None:
            result.setdefault(parts[3], []).append(node(child))
            continue
        result[parts[3]] = value_of(child, kind)
        for bits in child.findall("field"):
            name = bits.get("name", "").split(".")
            if len(name) == 4 and name[0] == "tendon":
                result[name[3]] = value_of(bits, "bits")
    return result


class Value:
    """One value of a characteristic, as shown."""

    def __init__(self, element):
        family = next(f for f in element.findall("field") if f.get("name", "").startswith("tendon.family."))
        self.family, self.characteristic = family.get("name").split(".")[2], family.get("show")
        self.failed = failed(element)
        self.items = []  # layouts, and None for what has failed before any layout
        self.hex = ""
        for field in element.findall("field"):
            parts = field.get("name", "").split(".")
            if len(parts) == 3 and parts[:2] == ["tendon", self.family]:
                self.hex = self.hex or field.get("value", "")
                self.items.append((parts[2], node(field)))
                self.frame = field.get("value", "")
            elif field.get("name") in FAULTS or any(f.get("name") in FAULTS for f in field.findall("field")):
                self.items.append((None, {"failed": True}))

    def layout(self, name):
        return next((found for layout, found in self.items if layout == name), None)


def read(path, lua):
    """Frame number to its values."""
    done = subprocess.run(["tshark", "-X", f"lua_script:{lua}", "-r", str(path), "-T", "pdml", "-J", "tendon",
                           "-Y", "tendon"],
                          capture_output=True, check=True)
    if b"Lua Error" in done.stdout or b"lua" in done.stderr.lower():
        where = done.stdout.find(b"Lua Error")
        raise SystemExit(f"not ok no error of Lua: {done.stdout[where:where + 200]!r} {done.stderr[-300:]!r}")
    values = {}
    # Texts of a device can contain what XML cannot.
    text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffd-\uffff]", "?", done.stdout.decode("utf-8", "replace"))
    for packet in xml.etree.ElementTree.fromstring(text).iter("packet"):
        number = int(packet.find("proto[@name='geninfo']/field[@name='num']").get("show"))
        values[number] = [Value(proto) for proto in packet.findall("proto[@name='tendon']")]
    print(f"ok no error of Lua in {len(values)} packets")
    return values


def flat(found):
    """Fields of inner layouts beside those of the outer one."""
    result = {}
    for key, value in found.items():
        result.update(flat(value) if isinstance(value, dict) else {key: value})
    return result


def difference(expected, actual, path=""):
    """Where they differ first, as text."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            if value is None and actual.get(key) is None:
                continue
            if key not in actual:
                return f"{path}.{key} is not shown"
            found = difference(value, actual[key], f"{path}.{key}")
            if found:
                return found
        return None
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(expected) != len(actual):
            return f"{path}: {expected} is shown as {actual}"
        return next((d for i, (a, b) in enumerate(zip(expected, actual)) if (d := difference(a, b, f"{path}[{i}]"))), None)
    if isinstance(expected, bool):
        same = bool(actual) == expected
    elif isinstance(expected, (int, float)) and isinstance(actual, (int, float)):
        same = math.isclose(expected, actual, rel_tol=1e-9, abs_tol=1e-12)
    else:
        same = expected == actual
    return None if same else f"{path}: {expected!r} is shown as {actual!r}"


# ---- what the library's answer says, from what is shown


def device_information(found):
    status = next(f for f in FAMILIES["bose"]["layouts"]["device_information"]["fields"] if f["name"] == "status_raw")
    reasons = dict(next(bits for bits in status["bits"] if bits["name"] == "suspension_reason")["values"])
    return dict(found, product=names_of("bose", "device_information", "product_id").get(found["product_id"], "unknown"), suspension_reason=reasons.get(found["suspension_reason"], "unknown") if found["suspended"] else None)


def names_of(family, layout, field):
    return dict(next(f for f in FAMILIES[family]["layouts"][layout]["fields"] if f.get("name") == field)["values"])


def samples(found):
    records, skipped = [], []
    for sample in found.get("sample", []):
        inner = next((value for key, value in sample.items() if isinstance(value, dict)), None)
        if inner is None:
            continue
        if "bytes" in inner or "skipped_sample" in sample or inner.get("accuracy", 0) > 3:
            skipped.append({"sensor_id": sample["sensor_id"]})
            continue
        axes = [axis for axis in "xyzw" if axis + "_raw" in inner]
        record = {"sensor_id": sample["sensor_id"], "timestamp": sample["timestamp"],
                  "raw": [inner[axis + "_raw"] for axis in axes]}
        if "x" in inner:
            record["reported"] = [inner[axis] for axis in axes]
        if "bias_x_raw" in inner:
            record["bias_raw"] = [inner[f"bias_{axis}_raw"] for axis in "xyz"]
            if "bias_x" in inner:
                record["bias_reported"] = [inner[f"bias_{axis}"] for axis in "xyz"]
        record.update({key: inner[key] for key in ("accuracy", "accuracy_raw", "accuracy_rad") if key in inner})
        records.append(record)
    return {"records": records, "skipped": skipped}


def sensor_information(found):
    entries, ids, duplicates = [], set(), 0
    for sensor in found.get("sensor", []):
        if sensor["failed"]:
            continue
        if sensor["sensor_id"] in ids:
            duplicates += 1
            continue
        ids.add(sensor["sensor_id"])
        periods = [p for p in (320, 160, 80, 40, 20, 10, 5) if sensor[f"period_{p}_ms"]]
        entries.append(dict(sensor, periods_ms=periods))
    return {"entries": entries, "duplicates": duplicates}


def gestures(found):
    entries = found.get("gestures_of_3", found).get("gesture") or found.get("gestures_of_2", found).get("gesture_2018")
    entries = found.get("gesture") or found.get("gesture_2018") or entries or []
    return {"entries": entries, "record_size": 2 if "gesture_2018" in str(found) else 3}


def parameter(found):
    # The library's range is left, front, right.
    result = dict(found, enabled=bool(found.get("accuracy_signal")), range=[found.get(n) for n in ("left", "front", "right")])
    if "name" in result:
        result["name"] = result["name"].split("\0")[0]
    return result


def texts(value):
    kinds = {"initial_message": "initialMessage", "unknown_message": "unknown"}
    frames = []
    for layout, found in value.items:
        if layout == "text":
            continue
        if found["failed"]:
            frames.append({"error": True})
            continue
        name, inner = next((key, inner) for key, inner in found.items() if isinstance(inner, dict))
        frame = dict(inner, type=kinds.get(name, name))
        if name == "uuid2":
            frame["value"] = frame["value"].replace("\0", "")
        frames.append(frame)
    return frames


def events(found):
    names = names_of("fjorden", "event", "code")
    records = []
    for event in found.get("event", []):
        record = {"seq": event["seq"], "time_ms": event["time_ms"], "event": names.get(event["code"], "unknown"),
                  "code": event["code"]}
        record.update({key: event[key] for key in ("count", "percent") if key in event})
        records.append({"error": True, **record} if event["failed"] else record)
    return {"records": records}


def grip(found):
    inner = flat(found)
    if "half" in inner:
        inner["shutter"] = "full" if inner["full"] else "half" if inner["half"] else "released"
        inner["lever"] = {-1: "left", 0: "neutral", 1: "right"}.get(inner["lever"])
    return inner


def response(found):
    statuses = ["ok", "unknownOpcode", "badLength", "badParameter", "busy", "notPermitted"]
    payload = next((value["hex"] for value in found.values() if isinstance(value, dict)), found.get("payload", ""))
    inner = dict(grip(found), payload=payload)
    inner["opcode"] &= 0x7F
    status = inner["status"]
    inner["status"] = statuses[status] if status < len(statuses) else f"unknownStatus({status})"
    return inner


def frame(found):
    payload = next((value for key, value in found.items() if isinstance(value, dict)), {})
    fields = {key: value for key, value in payload.items() if key != "failed"}
    if "ids" in fields:
        fields["ids"] = [item["id"] for item in fields["ids"]]
    fields["features"] = fields.get("features") or fields.get("toggles") or []
    for key in ("serial", "counter"):
        if key in fields:
            fields[key] = str(fields[key])
    fields.setdefault("echo", "")
    fields.setdefault("manifest", "")
    return dict(found, fields=fields, payload=payload.get("hex", ""))


LAYOUTS = {"device_information": device_information, "sensor_data": samples, "sensor_information": sensor_information,
           "sensor_configuration": lambda found: {
               "entries": [dict(s, enabled=s["period_ms"] > 0) for s in found.get("setting", [])]},
           "gesture_information": gestures,
           "gesture_configuration": lambda found: {
               "entries": [flat(dict(s, enabled=s.get("enabled", 0))) for s in found.get("gesture_setting", [])
                           if "gesture_id" in s and not s["failed"]]},
           "button": lambda found: dict(found, press="long" if found["press"] >= 3 else "short"),
           "parameter": parameter,
           "orientation": lambda found: dict(found, heading_0_359=found["heading"] % 360,
                                             accurate=found["inaccurate"] == 0,
                                             delivered_to_delegate=found["sensor_id"] == 2),
           "battery": lambda found: dict(
               found, power_status=found["power_status_raw"] if found["power_status_raw"] <= 3 else 0,
               saturated=found["time_raw"] == 0xFFFF),
           "motion": lambda found: dict(
               found, accel_g=[found[f"accel_{a}"] for a in "xyz"], gyro_rad_s=[found[f"gyro_{a}"] for a in "xyz"],
               raw=[found[f"{what}_{a}_raw"] for what in ("accel", "gyro") for a in "xyz"] + [found["ticks"]]),
           "events": events, "control_state": grip, "response": response, "frame": frame,
           "smp": lambda found: dict(found, op=["read", "read_response", "write", "write_response"][found["operation"]]),
           "segment": lambda found: dict(found["control"], reason=found["control"]["reason"] * (
               found["control"]["reason"] <= 9), credit=min(32, found["control"]["credit"]))}
# Computed from other fields, or state of the library: not in the packet.
DERIVED = {"trailing_bytes", "sensor_ids", "gesture_ids", "scale_factor", "fixed", "bias_fixed", "accuracy_name", "variant_name",
           "accuracy_unknown", "reason", "gesture", "reply_required", "type", "gyro_scaled_rad_s", "lost_before",
           "error_offset", "name", "profile", "param", "t_ms", "error", "rejected"}
KEPT = {("activ5", "legacy_notification"): {"type"}, ("obvious", "control"): {"type", "reason"},
        ("obvious", "frame"): {"reason"}, ("feelspace", "notify_parameter"): {"name"}}


def without(answer, names):
    if isinstance(answer, dict):
        return {key: without(value, names) for key, value in answer.items() if key not in names}
    return [without(item, names) for item in answer] if isinstance(answer, list) else answer


def compare(vector, answer, values):
    """None, or what is shown otherwise than the library decodes it."""
    try:
        return compare_shown(vector, answer, values)
    except (KeyError, StopIteration) as missing:
        return f"other fields are shown: {missing!r} is not among them"


def compare_shown(vector, answer, values):
    key = vector["family"], vector["kind"]
    if not values:
        return "nothing is shown"
    names = DERIVED - KEPT.get(key, set())
    if key[1].startswith("legacy_"):
        wanted = [{"error": True} if "error" in f else {k: v for k, v in f.items() if k != "t_ms"}
                  for f in answer.get("frames", [{"error": True}])]
        frames = [frame for value in values for frame in texts(value)]
        # The last one of several packets only lets the time of the others pass.
        return difference(wanted, frames[:-1] if len(values) > 1 else frames)
    value = values[-1]
    layout, found = value.items[-1]
    if answer.get("error") in ("table_full", "buffer_too_small"):
        return None  # a limit of the library, not of the protocol
    wrong = "error" in answer or bool(answer.get("rejected")) or bool(answer.get("skipped"))
    wrong = wrong or any("error" in record for record in answer.get("records", []))
    if value.failed != wrong and not (key == ("bose", "sensor_data") and answer.get("skipped")):
        return f"the library says {answer.get('error', 'no error')}, the dissector {'an' if value.failed else 'no'} error"
    if "error" in answer and key not in (("bose", "sensor_data"), ("bose", "gesture_configuration")):
        return None
    shown = LAYOUTS.get(layout, flat)(found) if layout else {}
    if "records" in answer:
        answer = dict(answer, records=[dict(record, **({"time_ms": record["time_ms"] % 65536} if "time_ms" in record else {}))
                                       for record in answer["records"]])
    return difference(without(answer, names), shown)


# ---- what was encoded


def compare_written(vector, values):
    """None, or which argument of an encoded value is shown otherwise."""
    if len(values) != 1 or values[0].failed:
        return "an error, or nothing, is shown"
    wanted = dict(vector.get("input") or vector)
    found = flat(values[0].items[0][1])
    kind = vector["kind"]
    known = {key: value for key, value in wanted.items() if key not in (
        "family", "kind", "id", "note", "op", "expect", "feedback_sound")}
    if kind == "channel_config" or kind == "pulse_command":
        default = 0xAAAA if kind == "channel_config" else 0xAA
        known["intensity"] = default if known["intensity"] == -1 else known["intensity"]
        if kind == "channel_config":
            known["channel"], found["channel"] = known["channel"], found["command"]
            # The encoder writes normalised values.
            known["start_ms"] %= known["period_ms"]
            found["iterations"] %= 256
            known["iterations"] %= 256
        turn = {1: 16, 2: 360, 3: 360}.get(known["orientation_type"], 1 << 16)
        known["orientation"] %= turn
        if "series_iterations" in known:
            known["series_iterations"] = max(0, known["series_iterations"])
    if kind == "stop_vibration":
        known["channel"] %= 256
    if kind == "set_accuracy_signal":
        known["in_app"], known["in_compass"] = known.pop("enable_in_app"), known.pop("enable_in_compass")
    if kind == "buzzer_tone":
        found["frequencies_hz"] = [item["hertz"] for item in found["frequency"]]
        found["durations_s"] = [item["duration_ms"] / 1000 for item in found["duration"]]
        return None if len(known["durations_s"]) == found["count"] == len(found["durations_s"]) == len(
            found["frequencies_hz"]) and all(
                abs(a - b) < 31.25 for a, b in zip(known["frequencies_hz"], found["frequencies_hz"])) and all(
                    abs(a - b) < 0.010001 for a, b in zip(known["durations_s"], found["durations_s"])) else "tones"
    if vector["family"] == "activ5" and kind == "command":
        end = known["terminator"]
        return difference({"command": bytes.fromhex(vector["expect"]["hex"])[1:-1].decode(),
                           "terminator": int(end, 0) if isinstance(end, str) else end}, found)
    if kind == "sample_rate":
        known = {"rate_hz": known["rate"]}
    if vector["family"] == "fjorden":
        opcodes = dict(map(reversed, next(
            f for f in FAMILIES["fjorden"]["layouts"]["request"]["fields"] if f.get("name") == "opcode")["values"]))
        known["opcode"] = opcodes[known.pop("command")]
        if "mode" in known:
            known["mode"] = ["off", "on", "blinkSlow", "blinkFast"].index(known["mode"])
        if known.get("payload") == "":
            known.pop("payload")
    return difference(known, found)


def report(name, failures, count):
    if failures:
        problem, vector = failures[0]
        print(f"not ok {name}: {len(failures)} of {count}: {problem} of {json.dumps(vector)[:400]}")
    else:
        print(f"ok {name}" if count else f"not ok {name}: no value")

# SPDX-License-Identifier: MIT
"""What tshark shows of a capture of devices, against the library's answers and against what `tendon replay` printed."""
import math
import subprocess

from dissected import FAMILIES, compare, conformance, flat, lines, read, report

KINDS = {("bose", "device information"): "device_information", ("bose", "sensor information"): "sensor_information",
         ("bose", "sensor configuration"): "sensor_configuration", ("bose", "sensor data"): "sensor_data",
         ("bose", "gesture information"): "gesture_information",
         ("bose", "gesture configuration"): "gesture_configuration", ("bose", "gesture data"): "gesture_data",
         ("feelspace", "parameter notification"): "notify_parameter", ("feelspace", "battery"): "notify_battery",
         ("feelspace", "button"): "notify_button", ("feelspace", "orientation"): "notify_orientation",
         ("feelspace", "firmware"): "firmware_info", ("activ5", "force"): "force", ("activ5", "motion"): "imu",
         ("activ5", "time"): "timestamp", ("activ5", "text output"): "legacy_notification",
         ("fjorden", "events"): "event_notification", ("fjorden", "control state"): "control_state"}
GATT = {"svc": "9c190001-c113-4e20-95f4-2602d4fc9f35", "data": "9c190002-c113-4e20-95f4-2602d4fc9f35",
        "status": "9c190003-c113-4e20-95f4-2602d4fc9f35"}


def vector_of(value, remembered):
    """The vector whose answer is what the value must show; None: nothing decodes it in the library."""
    if value.characteristic == "OGP_DATA":
        layout, found = value.items[-1]
        if layout == "frame":
            return {"family": "obvious", "kind": "frame", "hex": value.frame}
        return {"family": "obvious", "kind": "control", "hex": value.hex} if "control" in found else None
    if value.characteristic == "OGP_STATUS":
        return {"family": "obvious", "kind": "profile", "gatt": GATT, "status": value.hex,
                "discovered": {GATT["svc"]: [GATT["data"], GATT["status"]]}}
    kind = KINDS.get((value.family, value.characteristic))
    if kind is None or (value.family == "feelspace" and "keep" in value.characteristic):
        return None
    vector = {"family": value.family, "kind": kind, "hex": value.hex}
    if kind == "sensor_information":
        remembered["sensor_information_hex"] = value.hex
    if kind == "sensor_data":
        vector.update(remembered)
    chars = {"force": "F0FE", "imu": "F0F5", "timestamp": "F0F3"}
    return dict(vector, char=chars[kind]) if kind in chars else vector


def same_pdus(capture, replayed):
    """Wireshark's ATT PDUs are those of `replay --att`, in order."""
    done = subprocess.run(["tshark", "-r", capture, "-Y", "btatt", "-T", "fields", "-e", "btatt.opcode", "-e",
                           "btatt.handle", "-e", "btatt.value"], capture_output=True, text=True, check=True)
    shown = [line.split("\t") for line in done.stdout.splitlines()]
    ours = [bytes.fromhex(event["bytes"]) for event in replayed if event["event"] == "att"]
    if len(shown) != len(ours):
        return f"{len(shown)} PDUs instead of {len(ours)}"
    for (opcode, handles, value), pdu in zip(shown, ours):
        if int(opcode.split(",")[0], 16) != pdu[0]:
            return f"opcode {opcode} of {pdu.hex()}"
        if pdu[0] in (0x0A, 0x12, 0x1B, 0x1D, 0x52):
            if int(handles.split(",")[0], 16) != int.from_bytes(pdu[1:3], "little"):
                return f"handle {handles} of {pdu.hex()}"
            if value and value.replace(":", "") != pdu[3:].hex():
                return f"value {value} of {pdu.hex()}"
    return None


def same_samples(values, replayed):
    """The angles of Bose and the forces and motion of Activ5 are those of the events, in order."""
    shown = {"yaw_deg": [], "force_n": []}
    for value in values:
        for _, found in value.items:
            for sample in found.get("sample", []):
                inner = flat(sample)
                if "yaw_deg" in inner:
                    shown["yaw_deg"].append(inner["yaw_deg"])
            force = found.get("isometric", found).get("newtons")
            if force is not None:
                shown["force_n"].append(force)
    for name, numbers in shown.items():
        events = [event[name] for event in replayed if name in event]
        if not events or len(events) != len(numbers):
            return f"{name}: {len(numbers)} instead of {len(events)}"
        for number, event in zip(numbers, events):
            # Events have the decimals that the sensor resolves.
            if not math.isclose(number, event, abs_tol=2e-3) and abs(abs(number - event) - 360) > 2e-3:
                return f"{name}: {number} instead of {event}"
    return None


def check_live(program, lua, capture, replayed_path):
    replayed = lines(replayed_path)
    report("every ATT PDU as replay reads it", [(p, {})] if (p := same_pdus(capture, replayed)) else None, 1)
    values = [value for _, those in sorted(read(capture, lua).items()) for value in those]
    pairs, remembered, families = [], {}, {}
    for value in values:
        families.setdefault(value.family, set()).add(value.characteristic)
        vector = vector_of(value, remembered)
        if vector:
            pairs.append((vector, value))
    answers = conformance(program, [vector for vector, _ in pairs])
    failures = [(problem, vector) for (vector, value), answer in zip(pairs, answers)
                if (problem := compare(vector, answer, [value]))]
    failures += [("an error is shown", {"value": v.hex}) for v in values if v.failed]
    report("every value of the devices as the library decodes it", failures, len(pairs))
    report("samples are those of the events", [(p, {})] if (p := same_samples(values, replayed)) else None, 1)
    missing = set(FAMILIES) - set(families)
    report("values of all families", [(f"none of {missing}", {})] if missing else None, 1)
    print(f"# {len(values)} values, {len(pairs)} compared: {({k: sorted(v) for k, v in families.items()})}")

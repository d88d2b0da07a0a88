#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Independent devices with the services of the shipped device files: bumble's own host and GATT server.

Shares no code with us, nor with packaging/devices: heart rate, battery and device information are bumble's profiles, the
other values are packed by the GATT Specification Supplement, and by the documents of the makers of four devices. Offers one service
after the other, to one central each: `ready SERVICE COUNT` when it advertises, COUNT being the values that are read and
sent; `sent SERVICE LIST` when the central has gone, what each value means as lines of `tendon run --json` say it. One value
of each characteristic comes twice, the first time with its last byte missing.

`--check SENT DIRECTORY` compares DIRECTORY/run.SERVICE.jsonl with these lists. It needs no bumble.
"""

import argparse
import asyncio
import json
import struct
import sys
from dataclasses import dataclass, field

CHECKING = "--check" in sys.argv[1:]
if not CHECKING:
    from bumble.core import UUID, AdvertisingData
    from bumble.device import Device
    from bumble.gatt import Characteristic, Service
    from bumble.hci import Address
    from bumble.profiles.battery_service import BatteryService
    from bumble.profiles.device_information_service import DeviceInformationService
    from bumble.profiles.heart_rate_service import HeartRateService
    from bumble.transport import open_transport

INFINITIME = "0003{:04x}-78fc-48fe-8e23-433b3a1942d0"
INFINITIME_UPDATES = "00001530-1212-efde-1523-785feabcd123"  # Nordic's DFU Service, which the watch advertises


@dataclass
class Value:
    """What is sent, or read, and the line that it makes."""
    at: str  # UUID of the characteristic
    payload: object  # bytes, or what bumble's profile packs
    event: str
    members: dict
    wraps: object = bytes  # the packing
    has_cut: bool = True  # its last byte belongs to a field that the line shows
    waits: bool = False  # for the control point, once it is sent

    def packed(self):
        return self.wraps(self.payload)


@dataclass
class Offer:
    """One device: what it advertises, its table, what it says."""
    name: str
    services: list
    values: list
    read: list = field(default_factory=list)
    uuids: tuple = ()
    long_uuid: str = ""
    written: list = field(default_factory=list)  # to the control points
    starts: list = field(default_factory=list)  # of these, what is written before values are awaited: (UUID, bytes)
    commands: list = field(default_factory=list)  # what follows
    near: dict = field(default_factory=dict)  # see NEAR

    def wanted(self):
        return [command if isinstance(command, str) else f"{command[0]} {command[1].hex()}" for command in self.starts + self.commands]


def fields(*parts):
    """Little-endian fields one after the other: ("H", 1) pairs."""
    return b"".join(struct.pack("<" + kind, *values) for kind, *values in parts)


class Turns:
    """A count with the time of its last event, in ticks of 16 bits: revolutions per second since the value before."""

    def __init__(self, ticks_per_s):
        self.ticks_per_s = ticks_per_s
        self.last = None

    def rate(self, count, ticks, bits):
        before, self.last = self.last, (count, ticks)
        passed = before and (ticks - before[1]) % 0x10000
        turned = before and (count - before[0] + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)  # a wheel may roll back
        return turned * self.ticks_per_s / passed if passed else None


# Heart Rate Service 1.0, as bumble packs it

CONTACTS = ((None, "unsupported"), (False, "no"), (True, "yes"))


def heart_rate(count):
    measurement = HeartRateService.HeartRateMeasurement
    values, energy = [], 64000
    for i in range(count):
        resets = i == count // 2
        bpm = 300 if resets else 256 + i if i % 4 == 1 else 255 - 11 * i % 256
        contact, contact_name = CONTACTS[i % 3]
        ticks = [65535 if i == 6 else 500 + 97 * i + 13 * k for k in range(i % 5)]
        payload = measurement(bpm, contact, energy if i % 3 != 1 else None, [t / 1024 for t in ticks] or None)
        members = {"contact": contact_name, "heart_rate_bpm": bpm}
        if i % 3 != 1:
            members["energy_kj"] = energy
        if ticks:
            members["rr_intervals_s"] = [t / 1024 for t in ticks]
        if i % 7 == 3:  # as 16 bits, which a small rate may have too
            narrow = bytes(payload)
            if not narrow[0] & 1:
                payload = bytes([narrow[0] | 1, narrow[1], 0]) + narrow[2:]
        values.append(Value("2a37", payload, "heart_rate", members, waits=resets))
        energy = 0 if resets else energy + 77
    values += [Value("2a19", percent, "battery", {"battery_percent": percent}, one_byte) for percent in (86, 85)]
    offer = Offer("Heart", [], values, uuids=("180d", "180f"), commands=["reset"])
    offer.services = [
        HeartRateService(lambda _: measurement(72), HeartRateService.BodySensorLocation.EAR_LOBE,
                         lambda _: offer.written.append("reset")),
        BatteryService(lambda _: 87)]
    offer.read = [("2a38", "sensor_location", {"location": "ear_lobe"}), ("2a19", "battery", {"battery_percent": 87})]
    return offer


def one_byte(percent):
    return bytes([percent])


# Battery Service 1.1 and Device Information Service 1.2

def battery(count):
    levels = [100, 0, 1, 99] + [(37 * i) % 101 for i in range(count)]
    values = [Value("2a19", level, "battery", {"battery_percent": level}, one_byte) for level in levels[:count]]
    texts = {"manufacturer": "Prüfstand", "model": "P-1", "serial": "0123456789" * 5, "hardware": "C", "firmware": "1.0.7"}
    information = DeviceInformationService(
        texts["manufacturer"], texts["model"], texts["serial"], texts["hardware"], texts["firmware"], "4.2", (0x123456, 7))
    read = [(uuid, name, {name: texts[name]}) for uuid, name in (
        ("2a29", "manufacturer"), ("2a24", "model"), ("2a25", "serial"), ("2a27", "hardware"), ("2a26", "firmware"))]
    return Offer("Battery Probe", [BatteryService(lambda _: 55), information], values,
                 [("2a19", "battery", {"battery_percent": 55})] + read, uuids=("180f",))


# Cycling Power Service 1.1, Cycling Speed and Cadence Service 1.0

POWER_FLAGS = (0x0000, 0x0003, 0x000C, 0x0010, 0x0020, 0x003F, 0x0F73, 0x0FBC, 0x1031)


class Bicycle:
    """Its wheel and its crank: counts and the times of their last events, shortly before all but the wheel's count wrap."""

    def __init__(self):
        self.wheel, self.wheel_s, self.crank, self.crank_s = 123456789, 63.0, 65530, 62.5
        self.rates = {}

    def ride(self, i):
        if i % 6 != 5:  # else it stands
            self.wheel, self.wheel_s = self.wheel + (-2 if i % 7 == 3 else 3 + i % 4), self.wheel_s + 0.75 + i / 64
            self.crank, self.crank_s = (self.crank + 1 + i % 2) % 0x10000, self.crank_s + 0.625 + i / 128

    def turns(self, who, count, seconds, ticks_per_s, bits):
        ticks = round(seconds * ticks_per_s) % 0x10000
        return ticks, self.rates.setdefault(who, Turns(ticks_per_s)).rate(count, ticks, bits)

    def revolutions(self, who, wheel, crank, wheel_ticks):
        parts, members = [], {}
        if wheel:
            ticks, rate = self.turns(who + "wheel", self.wheel, self.wheel_s, wheel_ticks, 32)
            parts += [("IH", self.wheel, ticks)]
            members |= {"wheel_revolutions": self.wheel, "wheel_per_s": rate}
        if crank:
            ticks, rate = self.turns(who + "crank", self.crank, self.crank_s, 1024, 16)
            parts += [("HH", self.crank, ticks)]
            members |= {"crank_revolutions": self.crank, "cadence_per_min": None if rate is None else 60 * rate}
        return parts, members

    def power(self, i):
        """Cycling Power Measurement: the flags tell which of 12 groups follow, in the order of their bits."""
        flags = POWER_FLAGS[i % len(POWER_FLAGS)]
        watts = (250, -32768, 32767, -100, 0)[i % 5]
        parts, members = [("Hh", flags, watts)], {"power_w": watts}
        if flags & 0x0001:
            parts += [("B", 97 + i)]
            members["balance_percent"] = (97 + i) / 2
        if flags & 0x0004:
            parts += [("H", 65500 + i)]
            members["accumulated_torque_nm"] = (65500 + i) / 32
        more, turns = self.revolutions("power ", flags & 0x0010, flags & 0x0020, 2048)
        parts += more
        if flags & 0x0040:  # extreme forces, N
            parts += [("hh", 700, -12)]
        if flags & 0x0080:  # extreme torques, 1/32 N m
            parts += [("hh", 1600, -64)]
        if flags & 0x0100:  # extreme angles, degrees, 12 bits each
            parts += [("BH", 0x2D, 0x10A0)]
        parts += [("H", 3 * bit) for bit in (0x0200, 0x0400, 0x0800) if flags & bit]  # dead spots, energy
        return Value("2a63", fields(*parts), "cycling_power", members | turns, has_cut=not flags & 0x0FC0)

    def speed(self, i):
        flags = (3, 1, 2, 3)[i % 4]
        parts, members = self.revolutions("speed ", flags & 1, flags & 2, 1024)
        return Value("2a5b", fields(("B", flags), *parts), "revolutions", members)


def cycling(count):
    bicycle, values = Bicycle(), []
    for i in range(count):
        bicycle.ride(i)
        values.append(bicycle.speed(i // 2) if i % 2 else bicycle.power(i // 2))
    return Offer("Bicycle", [
        ("1818", [("2a63", "notify"), ("2a65", "read", fields(("I", 0x3FFF))), ("2a5d", "read", b"\x05")]),
        ("1816", [("2a5b", "notify"), ("2a5c", "read", b"\x07\x00"), ("2a5d", "read", b"\x04")])],
        values, uuids=("1818", "1816"))


# Running Speed and Cadence Service 1.0

def running(count):
    values = []
    for i in range(count):
        speed, cadence, stride, distance = 131 * i * i % 0x10000, (255, 0, 171)[i % 3], 65535 - 977 * i, 4294967295 - 7777777 * i
        parts, members = [("BHB", i % 8, speed, cadence)], {
            "gait": "running" if i & 4 else "walking", "speed_m_per_s": speed / 256, "cadence_per_min": cadence}
        if i & 1:
            parts += [("H", stride)]
            members["stride_m"] = stride / 100
        if i & 2:
            parts += [("I", distance)]
            members["distance_m"] = distance / 10
        values.append(Value("2a53", fields(*parts), "running", members))
    return Offer("Runner", [("1814", [("2a53", "notify"), ("2a54", "read", b"\x07\x00")])], values, uuids=("1814",))


# Environmental Sensing Service 1.0

ENVIRONMENT = (  # characteristic, packing, event, member, steps in one unit, value that is read, values
    ("2a6e", "h", "temperature", "temperature_c", 100, 2150, (-27315, -1, None, 32767, -4000, 0, 1)),
    ("2a6f", "H", "humidity", "humidity_percent", 100, 4321, (0, 10000, 1, None, 9999)),
    ("2a6d", "I", "pressure", "pressure_hpa", 1000, 1013257, (0, 4294967295, 870001, 1085700)),
    ("2b8c", "H", "carbon_dioxide", "co2_ppm", 1, 415, (0, 65534, None, 2000)))
UNKNOWN = {"2a6e": -32768, "2a6f": 65535, "2b8c": 65535}


def environment(count):
    values = []
    for i in range(count):
        uuid, kind, event, member, steps, _, numbers = ENVIRONMENT[i % len(ENVIRONMENT)]
        number = numbers[i // len(ENVIRONMENT) % len(numbers)]
        payload = fields((kind, UNKNOWN[uuid] if number is None else number))
        values.append(Value(uuid, payload, event, {member: None if number is None else number / steps}))
    return Offer(
        "Meadow", [("181a", [(uuid, "notify read", fields((kind, number))) for uuid, kind, *_, number, _ in ENVIRONMENT])],
        values, [(uuid, event, {member: number / steps}) for uuid, _, event, member, steps, number, _ in ENVIRONMENT], uuids=("181a",))


# Pulse Oximeter Service 1.0; numbers are IEEE 11073-20601 SFLOATs: an exponent of 4 bits, a mantissa of 12

def sfloat(mantissa, exponent):
    return (exponent & 0xF) << 12 | mantissa & 0xFFF


SFLOATS = ((98, 0, 98), (975, -1, 97.5), (9, 1, 90), (-1, 0, -1), (1234, -2, 12.34), (2045, -8, 0.00002045), (-2045, 0, -2045),
           (0x7FF, 0, None), (0x7FE, 0, None), (0x800, 0, None), (0x802, 0, None))  # NaN, +INFINITY, NRes, -INFINITY


SPOT_CHECKS = (0x00, 0x10, 0x0F, 0x03)  # their flags


def pulse_oximeter(count):
    values, drawn = [], 0

    def number(name, members):
        nonlocal drawn
        mantissa, exponent, members[name] = SFLOATS[drawn % len(SFLOATS)]
        drawn += 1
        return ("H", sfloat(mantissa, exponent))

    for i in range(count):
        flags, members = SPOT_CHECKS[i // 5 % 4] if i % 5 == 4 else 7 * i % 32, {}
        parts = [("B", flags), number("spo2_percent", members), number("pulse_bpm", members)]
        if i % 5 == 4:  # spot check
            parts += [("HBBBBB", 2026, 11, 29, 8, 30, i)] * (flags & 1) + [("H", 0x0100)] * (flags >> 1 & 1)
            parts += [("HB", 0, 0x80), ("H", sfloat(13, -1))] * (flags >> 2 & 1)
            values.append(Value("2a5e", fields(*parts), "oxygen_spot_check", members, has_cut=not flags & 15))
            continue
        for bit, speed in ((1, "fast"), (2, "slow")):
            if flags & bit:
                parts += [number(f"spo2_{speed}_percent", members), number(f"pulse_{speed}_bpm", members)]
        parts += [("H", 0xFFE0)] * (flags >> 2 & 1) + [("HB", 0xFFFF, 0)] * (flags >> 3 & 1)
        if flags & 16:
            parts.append(number("amplitude_percent", members))
        values.append(Value("2a5f", fields(*parts), "oxygen", members))
    return Offer("Oximeter", [("1822", [("2a5e", "indicate"), ("2a5f", "notify"), ("2a60", "read", b"\x7f\x00")])], values,
                 uuids=("1822",))


# Weight Scale Service 1.0

def weight_scale(count):
    values = []
    for i in range(count):
        flags, imperial = i % 16, i & 1
        number = (14000, 65534, 0, 65535, 16123)[i % 5]
        weight = None if number == 65535 else number * 5 / 1000
        members = {"weight_lb": weight and number / 100} if imperial else {"weight_kg": weight}
        parts = [("BH", flags, number)]
        if flags & 2:
            time = (0, 0, 0, 23, 59, 59) if i == 6 else (2026, 12, 31, i, 0, 59)
            parts += [("HBBBBB", *time)]
            members["measured_at"] = "%04d-%02d-%02dT%02d:%02d:%02d" % time if time[0] else None
        if flags & 4:
            user = 255 if i % 3 == 0 else i
            parts += [("B", user)]
            members["user"] = None if user == 255 else user
        if flags & 8:
            parts += [("HH", 215 + i, 1785 + i)]
            members |= {"body_mass_index": (215 + i) / 10}
            members |= {"height_in": (1785 + i) / 10} if imperial else {"height_m": (1785 + i) / 1000}
        values.append(Value("2a9d", fields(*parts), "weight", members))
    return Offer("Scale", [("181d", [("2a9d", "indicate"), ("2a9e", "read", fields(("I", 0xFF)))])], values, uuids=("181d",))


# Motion Service of InfiniTime: steps, and three axes of which 1024 are 1 g. It advertises the Heart Rate Service.

def infinitime(count):
    steps, motion = INFINITIME.format(1), INFINITIME.format(2)
    values = []
    for i in range(count):
        axes = (-32768, 32767, -1) if i == 3 else (1024 - 128 * i, -1024 + 57 * i, i)
        values.append(Value(motion, fields(("hhh", *axes)), "sample", dict(zip(("x_g", "y_g", "z_g"), (a / 1024 for a in axes)))))
        if i % 4 == 1:
            number = 4294967295 if i == 1 else 1000 * i
            values.append(Value(steps, fields(("I", number)), "step_count", {"steps": number}))
        if i % 4 == 3:
            values.append(Value("2a37", bytes([0, 255 - i]), "heart_rate_measurement", {"heart_rate_bpm": 255 - i}))
    return Offer("InfiniTime", [
        (INFINITIME.format(0), [(steps, "read notify", fields(("I", 77))), (motion, "read notify", bytes(6))]),
        ("180d", [("2a37", "read notify", bytes(2))]), ("1805", [("2a2b", "read write", bytes(10))])], values[:count], [(steps, "step_count", {"steps": 77})],
        uuids=("180d",), long_uuid=INFINITIME_UPDATES)


# Blood Pressure Service 1.1

PRESSURES = ((120, 0, 120), (1065, -1, 106.5), (0x7FF, 0, None), (80, 0, 80), (9, 1, 90), (0x800, 0, None))


def at(flags, bit, *parts):
    return list(parts) if flags & bit else []


def moment(i, members):
    """A Date Time, which the device does not know each fifth time."""
    time = (0, 0, 0, 12, 34, 56) if i % 5 == 4 else (2024, 2, 29, i % 24, 59, 2 * i % 60)
    members["measured_at"] = "%04d-%02d-%02dT%02d:%02d:%02d" % time if time[0] else None
    return ("HBBBBB", *time)


def blood_pressure(count):
    values = []
    for i in range(count):
        is_cuff, unit = i % 4 == 3, "kpa" if i & 1 else "mmhg"
        numbers = [PRESSURES[(i + k) % len(PRESSURES)] for k in range(3)]
        packed = [("H", sfloat(*number[:2])) for number in numbers]
        if is_cuff:
            packed[1:] = [("H", 0x7FF)] * 2
            values.append(Value("2a36", fields(("B", i & 1), *packed), "cuff", {f"cuff_{unit}": numbers[0][2]}, has_cut=False))
            continue
        flags = (7 * i & 0x1E) | i & 1
        members = {f"{name}_{unit}": number[2] for name, number in zip(("systolic", "diastolic", "mean_arterial"), numbers)}
        parts = [("B", flags), *packed]
        if flags & 2:
            parts.append(moment(i, members))
        if flags & 4:
            parts.append(("H", sfloat(60 + i, 0)))
            members["pulse_bpm"] = 60 + i
        if flags & 8:
            parts.append(("B", 255 if i % 3 else i))
            members["user"] = None if i % 3 else i
        if flags & 16:
            parts.append(("H", i))
            members |= {"body_moved": bool(i & 1), "cuff_loose": bool(i & 2), "pulse_irregular": bool(i & 4)}
        values.append(Value("2a35", fields(*parts), "blood_pressure", members))
    return Offer("Cuff", [("1810", [("2a35", "indicate"), ("2a36", "notify"), ("2a49", "read", b"\x07\x00"), ("2a08", "read write", bytes(7))])],
                 values, uuids=("1810",))


# Glucose Service 1.0.1: kg/L with the exponent -5, mol/L with -4, as meters send them. The central asks for all records.

def glucose(count):
    values = []
    for i in range(count):
        flags, members = 5 * i % 32, {"has_context": bool(5 * i & 16), "sequence_number": 65530 + i if i < 6 else i}
        parts = [("BH", flags, members["sequence_number"]), moment(i, members)]
        if flags & 1:
            parts.append(("h", -720 + 90 * i))
            members["offset_min"] = -720 + 90 * i
        if flags & 2:
            mantissa = 61 + i if flags & 4 else 90 + 7 * i
            parts += [("H", sfloat(mantissa, -4 if flags & 4 else -5)), ("B", (2, 1, 3, 15)[i % 4] << 4 | (1, 10, 5)[i % 3])]
            members |= {"glucose_mmol_per_l": mantissa / 10} if flags & 4 else {"glucose_mg_per_dl": mantissa}
            members["sample_type"] = ("capillary_blood", "control_solution", 5)[i % 3]
            members["sample_location"] = ("alternate_site", "finger", "earlobe", 15)[i % 4]
        if flags & 8:
            parts.append(("H", i % 4))
            members |= {"battery_low": bool(i & 1), "sensor_fault": bool(i & 2)}
        values.append(Value("2a18", fields(*parts), "glucose", members, waits=i == count - 1))
    values.append(Value("2a52", fields(("BBBB", 6, 0, 1, 1)), "access_result", {"op_code": 6, "request": 1, "result": "success"}))
    return Offer("Meter", [("1808", [("2a18", "notify"), ("2a51", "read", b"\x00\x00"), ("2a52", "indicate write")])], values,
                 uuids=("1808",), commands=[("2a52", b"\x01\x01")])


# Health Thermometer Service 1.0; numbers are IEEE 11073-20601 FLOATs: an exponent of 8 bits, a mantissa of 24

FLOATS = ((368, -1, 36.8), (3742, -2, 37.42), (36, 0, 36), (-5, 0, -5), (0x7FFFFF, 0, None), (4, 1, 40), (0x800000, 0, None),
          (0x7FFFFE, 0, None), (0x800002, 0, None))
PLACES = ("armpit", "body", "ear", "finger", "digestive_tract", "mouth", "rectum", "toe", "eardrum", 10)


def health_thermometer(count):
    values = []
    for i in range(count):
        flags = 3 * i % 8
        mantissa, exponent, number = FLOATS[i % len(FLOATS)]
        word = ("I", (exponent & 0xFF) << 24 | mantissa & 0xFFFFFF)
        unit = "f" if flags & 1 else "c"
        if i % 4 == 3:
            values.append(Value("2a1e", fields(("B", flags & 1), word), "current_temperature", {f"current_temperature_{unit}": number}))
            continue
        parts, members = [("B", flags), word], {f"temperature_{unit}": number}
        if flags & 2:
            parts.append(moment(i, members))
        if flags & 4:
            parts.append(("B", i % 10 + 1))
            members["place"] = PLACES[i % 10]
        values.append(Value("2a1c", fields(*parts), "body_temperature", members))
    return Offer("Fever", [("1809", [("2a1c", "indicate"), ("2a1d", "read", b"\x02"), ("2a1e", "notify")])], values, uuids=("1809",))


# Body Composition Service 1.0

def body_composition(count):
    values = []
    for i in range(count):
        flags = (0x0000, 0x0FFE, 0x0FFF, 0x0421, 0x0A08, 0x0150, 0x0CC1, 0x0002)[i % 8]
        unit, factor, fat = ("lb", 0.01, 65535) if flags & 1 else ("kg", 0.005, 250 + i)
        parts, members = [("HH", flags, fat)], {"fat_percent": None if fat == 65535 else fat / 10}
        if flags & 2:
            parts.append(moment(i, members))
        if flags & 4:
            parts.append(("B", i))
            members["user"] = i
        for bit, name, number, one in (
                (8, "metabolism_kj", 7000 + i, 1), (0x10, "muscle_percent", 401 + i, 0.1), (0x20, f"muscle_{unit}", 6001 + i, factor),
                (0x40, f"fat_free_{unit}", 12001 + i, factor), (0x80, f"soft_lean_{unit}", 11001 + i, factor),
                (0x100, f"water_{unit}", 8001 + i, factor), (0x200, "impedance_ohm", 5001 + i, 0.1),
                (0x400, f"weight_{unit}", 15001 + i, factor), (0x800, "height_in" if flags & 1 else "height_m", 1781 + i, 0.1 if flags & 1 else 0.001)):
            parts += at(flags, bit, ("H", number))
            members |= {name: number * one} if flags & bit else {}
        values.append(Value("2a9c", fields(*parts), "body_composition", members))
    return Offer("Body", [("181b", [("2a9c", "indicate"), ("2a9b", "read", fields(("I", 0x7FF)))])], values, uuids=("181b",))


# Fitness Machine Service 1.0: Indoor Bike Data, and the control point, of which the central requests control when it connects

BIKE = ((2, "average_speed_km_per_h", "H", 100), (4, "cadence_per_min", "H", 2), (8, "average_cadence_per_min", "H", 2),
        (0x10, "distance_m", "I", 1), (0x20, "resistance", "h", 1), (0x40, "power_w", "h", 1), (0x80, "average_power_w", "h", 1),
        (0x100, "energy_kcal", "H", 1), (0x100, "energy_kcal_per_h", "H", 1), (0x100, "energy_kcal_per_min", "B", 1),
        (0x200, "heart_rate_bpm", "B", 1), (0x400, "metabolic_equivalent", "B", 10), (0x800, "elapsed_s", "H", 1), (0x1000, "remaining_s", "H", 1))


def indoor_bike(count):
    values = [Value("2ad9", bytes((0x80, 0, 1)), "command_result", {"command": "request_control", "result": "success"})]
    for i in range(count):
        flags, members = (0x0000, 0x1FFE, 0x0044, 0x0201, 0x0101, 0x0AAA, 0x1554)[i % 7], {}
        packed = fields(("H", flags))
        if not flags & 1:
            packed += fields(("H", 2501 + i))
            members["speed_km_per_h"] = (2501 + i) / 100
        for place, (bit, name, kind, steps) in enumerate(BIKE):
            if flags & bit:
                number = -70 + i if kind == "h" else 100 + 3 * place + i
                is_unknown = name == "energy_kcal_per_h" and i % 2 == 0
                word = fields((kind, 65535 if is_unknown else number))
                packed += word[:3] if kind == "I" else word  # 24 bits
                members[name] = None if is_unknown else number / steps
        values.append(Value("2ad2", packed, "bike", members))
    return Offer("Trainer", [("1826", [("2acc", "read", bytes(8)), ("2ad2", "notify"), ("2ad9", "indicate write")])], values,
                 uuids=("1826",), starts=[("2ad9", b"\x00")])


# LYWSD03MMC with pvvx's firmware, by its README: values of the Bluetooth SIG beside its own service 1f10

def mi_thermometer(count):
    values = []
    for i in range(count):
        uuid, kind, event, member, steps, number = (
            ("2a6e", "h", "temperature", "temperature_c", 100, -1234 + 789 * i), ("2a6f", "H", "humidity", "humidity_percent", 100, 9999 - 357 * i),
            ("2a19", "B", "battery", "battery_percent", 1, 100 - i))[i % 3]
        values.append(Value(uuid, fields((kind, number)), event, {member: number / steps}, has_cut=kind != "B"))
    return Offer("ATC_49A1B2", [
        ("181a", [("2a6e", "read notify", fields(("h", 2150))), ("2a6f", "read notify", fields(("H", 4321)))]),
        ("180f", [("2a19", "read notify", b"\x57")]), ("1f10", [("1f1f", "read write notify", bytes(1))])], values,
        [("2a6e", "temperature", {"temperature_c": 21.5}), ("2a6f", "humidity", {"humidity_percent": 43.21}),
         ("2a19", "battery", {"battery_percent": 87})], uuids=("181a",))


# Polar H10, by the Polar Measurement Data Specification for 3rd Party: acceleration of frame type 1, nanoseconds since 2000

POLAR = "fb005c8{}-02e7-f387-1cad-8acd2d8df0c8"


def polar_h10(count):
    values = [Value(POLAR.format(1), bytes.fromhex("f00202000000"), "control_response", {"op_code": 2, "measurement": 2, "error": 0}, has_cut=False)]
    for i in range(count):
        if i % 4 == 3:
            values.append(Value("2a37", bytes((0, 250 - i)), "heart_rate_measurement", {"heart_rate_bpm": 250 - i}))
            continue
        axes = [(-32768, 32767, 0) if i == 4 else (1000 - 7 * k, -k, i) for k in range(1 + i % 5)]
        nanoseconds = (86400 * (366 + i) + 3723) * 10**9 + 125 * 10**6  # 01:02:03.125 of January of 2001
        values.append(Value(POLAR.format(2), fields(("BQB", 2, nanoseconds, 1), *(("hhh", *one) for one in axes)), "sample", {
            "device_time": f"2001-01-{i + 1:02d}T01:02:03.125Z",
            "samples": [dict(zip(("x_g", "y_g", "z_g"), (number / 1000 for number in one))) for one in axes]}))
    return Offer("Polar H10 4949", [
        ("180d", [("2a37", "notify")]),
        (POLAR.format(0), [(POLAR.format(1), "read write indicate", b"\x0f\x05"), (POLAR.format(2), "notify")])], values, uuids=("180d",),
        starts=[(POLAR.format(1), bytes.fromhex("02020001c8000101100002010800"))])


# TI SensorTag CC2650, by its User's Guide; it advertises a name and no service of its own

SENSORTAG = "f000aa{:02x}-0451-4000-b000-000000000000"


def sensortag(count):
    values = []
    for i in range(count):
        if i % 4 == 0:
            axes = [(-32768, 32767, 100 - i), (16384, -8192, i), (20, -20, 333)]
            names = (("gyro_x_deg_per_s", "gyro_y_deg_per_s", "gyro_z_deg_per_s"), ("x_g", "y_g", "z_g"), ("magnetic_x_ut", "magnetic_y_ut", "magnetic_z_ut"))
            members = {name: number * step for one, words, step in zip(axes, names, (500 / 65536, 2 / 32768, 0.15)) for name, number in zip(words, one)}
            values.append(Value(SENSORTAG.format(0x81), fields(*(("hhh", *one) for one in axes)), "sample", members))
        elif i % 4 == 1:
            values.append(Value(SENSORTAG.format(0x21), fields(("HH", 24576 + i, 32768 + 99 * i)), "humidity", {
                "temperature_c": (24576 + i) / 65536 * 165 - 40, "humidity_percent": (32768 + 99 * i) / 65536 * 100}))
        elif i % 4 == 2:
            packed = fields(("i", -1000 + 300 * i))[:3] + fields(("I", 101325 + i))[:3]
            values.append(Value(SENSORTAG.format(0x41), packed, "pressure", {
                "barometer_temperature_c": (-1000 + 300 * i) / 100, "pressure_hpa": (101325 + i) / 100}))
        else:
            values.append(Value("ffe1", bytes([i // 4 % 4]), "keys", {"key_1": bool(i // 4 & 1), "key_2": bool(i // 4 & 2)}, has_cut=False))
    rows = [(SENSORTAG.format(base), [(SENSORTAG.format(base + 1), "notify"), (SENSORTAG.format(base + 2), "read write", bytes(2))])
            for base in (0x20, 0x40, 0x80)]
    return Offer("CC2650 SensorTag", rows + [("ffe0", [("ffe1", "notify")])], values, uuids=("aa10",), near={
        "gyro_x_deg_per_s": 0.0051, "gyro_y_deg_per_s": 0.0051, "gyro_z_deg_per_s": 0.0051, "magnetic_x_ut": 0.0751,
        "magnetic_y_ut": 0.0751, "magnetic_z_ut": 0.0751, "temperature_c": 0.0051, "humidity_percent": 0.051},
        starts=[(SENSORTAG.format(0x82), b"\x7f\x00"), (SENSORTAG.format(0x22), b"\x01"), (SENSORTAG.format(0x42), b"\x01")])


OFFERS = {make.__name__: make for make in (
    heart_rate, battery, cycling, running, environment, pulse_oximeter, weight_scale, infinitime, blood_pressure, glucose,
    health_thermometer, body_composition, indoor_bike, mi_thermometer, polar_h10, sensortag)}


# The device

def with_cuts(values):
    """One value of each characteristic, and not its first one, comes before without its last byte."""
    seen, cut = set(), set()
    for value in values:
        if value.at in seen - cut and value.has_cut and not value.waits:
            cut.add(value.at)
            short = value.packed()[:-1]
            yield Value(value.at, short, "malformed", {"error": "ERROR_TRUNCATED", "bytes": short.hex()})
        seen.add(value.at)
        yield value


def table(services):
    """bumble's services of rows (UUID, characteristics of (UUID, properties, value))."""
    def characteristic(uuid, properties, value=b""):
        flags = sum(getattr(Characteristic.Properties, word.upper()) for word in properties.split())
        permissions = (Characteristic.READABLE if "read" in properties else 0) | (Characteristic.WRITEABLE if "write" in properties else 0)
        return Characteristic(UUID(uuid), flags, permissions, value)

    return [Service(UUID(row[0]), [characteristic(*one) for one in row[1]]) if isinstance(row, tuple) else row
            for row in services]


class Peer:
    """One device until its central has gone."""

    def __init__(self, device, offer):
        self.device, self.offer = device, offer
        self.values = list(with_cuts(offer.values))
        self.changed = asyncio.Event()
        self.gone = asyncio.Event()
        self.unread = {uuid for uuid, *_ in offer.read}
        services = table(offer.services)
        device.add_services(services)
        self.characteristics = {}
        for one in (one for service in services for one in service.characteristics):
            uuid = one.uuid.to_hex_str("-").lower()
            self.characteristics.setdefault(uuid, one)
            one.on(one.EVENT_READ, lambda *_, uuid=uuid: self.note(uuid))
            one.on(one.EVENT_WRITE, lambda *_, uuid=uuid: self.was_written(uuid, _[-1]))
            one.on(one.EVENT_SUBSCRIPTION, lambda *_: self.note(None))
        self.awaited = [self.characteristics[uuid] for uuid in {value.at for value in self.values}]
        device.on("connection", lambda connection: connection.on("disconnection", lambda _: self.gone.set()))

    def was_written(self, uuid, value):
        if any(uuid == command[0] for command in self.offer.starts + self.offer.commands):
            self.offer.written.append(f"{uuid} {bytes(value).hex()}")
        self.note(None)

    def note(self, uuid):
        self.unread.discard(uuid)
        self.changed.set()

    async def until(self, condition, seconds):
        """Looks again after each request; the time of a central that never asks."""
        try:
            async with asyncio.timeout(seconds):
                while not condition():
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            print("# the central did not do what was waited for", flush=True)

    def is_subscribed(self):
        return any(all(any(enabled.get(one.handle, b"")) for one in self.awaited)
                   for enabled in self.device.gatt_server.subscribers.values())

    async def send(self, value):
        """Profiles pack what they are given; bytes go out as they are, in place of that."""
        one = self.characteristics[value.at]
        if isinstance(value.payload, bytes):
            one.encode_value = bytes
        if one.properties & Characteristic.Properties.INDICATE:
            await self.device.indicate_subscribers(one, value.payload)
        else:
            await self.device.notify_subscribers(one, value.payload)
        if isinstance(value.payload, bytes):
            del one.encode_value

    async def serve(self):
        begun = len(self.offer.starts)
        await self.until(lambda: self.is_subscribed() and not self.unread and len(self.offer.written) >= begun, 60)
        self.gone.clear()
        for value in self.values:
            await self.send(value)
            if value.waits:
                await self.until(lambda: len(self.offer.written) > begun, 30)
            await asyncio.sleep(0.01)
        await self.gone.wait()

    def told(self):
        read = [{"event": event, "members": members, "read": True} for _, event, members in self.offer.read]
        return {"lines": read + [{"event": value.event, "members": value.members} for value in self.values],
                "written": self.offer.written, "wanted": self.offer.wanted(), "near": self.offer.near}


async def offer_one(number, service, arguments):
    async with await open_transport(arguments.transport) as transport:
        address = Address(f"F0:F1:F2:F3:49:{number:02X}")
        offer = OFFERS[service](arguments.notifications)
        device = Device.with_hci(offer.name, address, transport.source, transport.sink)
        peer = Peer(device, offer)
        await device.power_on()
        await advertise(device, offer)
        print(f"ready {service} {len(offer.read) + len(peer.values)}", flush=True)
        await peer.serve()
        print(f"sent {service} {json.dumps(peer.told())}", flush=True)
        await device.power_off()


async def advertise(device, offer):
    data = [(AdvertisingData.FLAGS, b"\x06"),
            (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, b"".join(bytes(UUID(uuid)) for uuid in offer.uuids))]
    if offer.long_uuid:
        data.append((AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, bytes(UUID(offer.long_uuid))))
    await device.start_advertising(
        auto_restart=True, advertising_data=bytes(AdvertisingData(data)),
        scan_response_data=bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, offer.name.encode())])))


async def offer_all(arguments):
    for number, service in enumerate(arguments.service.split(",")):
        await offer_one(number, service, arguments)


# The check

# A number of these is right if no other step of what was sent is nearer to it. Rates have as many decimals as that.
NEAR = {"rr_intervals_s": 1 / 2048, "speed_m_per_s": 1 / 512, "accumulated_torque_nm": 1 / 64, "x_g": 1 / 2048, "y_g": 1 / 2048,
        "z_g": 1 / 2048, "wheel_per_s": 0.00051, "cadence_per_min": 0.051}
ABOUT_ALL = {"time", "event", "family", "address", "address_type", "name", "sensor", "received_at"}
NO_VALUES = {"found", "connected", "connection_parameters", "disconnected", "summary", "rule", "action"}


def equal(near, name, got, wanted):
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and all(equal(near, name, *pair) for pair in zip(got, wanted))
    if isinstance(wanted, dict):
        return (isinstance(got, dict) and got.keys() == wanted.keys()
                and all(equal(near, inner, got[inner], one) for inner, one in wanted.items()))
    if isinstance(wanted, bool) or isinstance(got, bool):
        return got is wanted
    if isinstance(wanted, (int, float)) and isinstance(got, (int, float)):
        return abs(got - wanted) <= near.get(name, 1e-9 * max(1, abs(wanted)))
    return got == wanted


def is_line(near, line, told):
    members = {name: value for name, value in line.items() if name not in ABOUT_ALL}
    if told["event"] == "malformed":
        members = {name: value for name, value in members.items() if name in told["members"]}
    return line["event"] == told["event"] and equal(near, "", members, told["members"])


def result(good, text):
    print(f"{'ok' if good else 'not ok'} {text}", flush=True)
    return good


def check_service(service, told, lines):
    """Values that were read come in any order, what was sent in its order. All are there, and no other."""
    near = NEAR | told["near"]
    got = [line for line in lines if line["event"] not in NO_VALUES]
    read = [one for one in told["lines"] if one.get("read")]
    sent = [one for one in told["lines"] if not one.get("read")]
    missing = [one for one in read if not any(is_line(near, line, one) for line in got[:len(read)])]
    wrong = [(one, line) for one, line in zip(sent, got[len(read):]) if not is_line(near, line, one)]
    for one in missing:
        print(f"# read: {one}")
    for one, line in wrong[:5]:
        print(f"# sent: {one}\n# line: {line}")
    kinds = sorted({one["event"] for one in sent})
    good = not read or result(not missing, f"{service}: each of {len(read)} values that are read")
    good = result(len(got) == len(told["lines"]), f"{service}: {len(got)} lines of {len(told['lines'])} values") and good
    good = result(not wrong, f"{service}: each of {len(sent)} values is what was sent, in order: {', '.join(kinds)}") and good
    cut = sum(one["event"] == "malformed" for one in sent)
    summary = lines[-1] if lines and lines[-1]["event"] == "summary" else {}
    counts = [summary.get(name) for name in ("notifications", "malformed", "dropped")]
    counted = f"{service}: notifications, malformed and dropped are {counts}"
    good = result(counts == [len(told["lines"]), cut, 0], counted) and good
    if told["wanted"]:
        good = result(told["written"] == told["wanted"], f"{service}: the control point got {told['written']}") and good
    return good


def check(path, directory):
    with open(path, encoding="utf-8") as file:
        told = [line.split(" ", 2) for line in file if line.startswith("sent ")]
    good = bool(told)
    for _, service, text in told:
        with open(f"{directory}/run.{service}.jsonl", encoding="utf-8") as file:
            good = check_service(service, json.loads(text), [json.loads(line) for line in file]) and good
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--transport", default="hci-socket:1", help="bumble's name of the controller")
    parser.add_argument("--service", default=",".join(OFFERS), help="of these, one after the other")
    parser.add_argument("--notifications", type=int, default=20, help="of each service, without those that are cut")
    parser.add_argument("--limit", type=float, default=240, help="seconds until it gives up")
    parser.add_argument("--check", nargs=2, metavar=("SENT", "DIRECTORY"), help="compare its output with lines of tendon run")
    arguments = parser.parse_args()
    if arguments.check:
        sys.exit(not check(*arguments.check))
    try:
        asyncio.run(asyncio.wait_for(offer_all(arguments), arguments.limit))
    except asyncio.TimeoutError:
        print("gave up", flush=True)
        sys.exit(1)


if __name__ == "__main__":
    main()

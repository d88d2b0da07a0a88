#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_device_tests.py [--check]: a test of `tendon replay --test` for each device file of packaging/devices.

Writes Tests/vectors/devices/NAME.test: a capture of one connection, and the lines that it must yield. Nothing of it is made by
Tendon: bytes and lines stand here, each value written down by its document (the service and the GATT Specification Supplement of
the Bluetooth SIG, or the maker's), the capture around them by the Core Specification (Vol 3 Part F, Vol 4 Part E 7.7.65) and
btsnoop with the datalink 1002 (H4).

--check compares the committed files, and that for each device file every characteristic and every member that it shows is in a
value here: who adds a device file adds its values. Prints TAP.
"""

import datetime
import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
SHIPPED = HERE.parent.parent / "packaging/devices"
START = datetime.datetime(2026, 11, 29, 12, 0, 0, tzinfo=datetime.timezone.utc)
BTSNOOP_EPOCH = 0x00DCDDB30F2F8000  # 1970, in microseconds since the year 0
HANDLE, ADDRESS = 0x0040, "F0:F1:F2:F3:54:01"
TRUNCATED = '"error":"ERROR_TRUNCATED","error_offset":%d,"text":"the input ends in the middle of a field"'
OUTSIDE = '"error":"ERROR_MALFORMED","error_offset":%d,"text":"the input violates its format"'

# A device: the name and the service UUIDs that it advertises, its services with characteristics (UUID, what they can), and what
# passes, in order: (how, characteristic, bytes, event, members). `how` is read, notify, indicate, or write by the client. A UUID
# that two services have is SERVICE/UUID.
DEVICES = {}

# Heart Rate Service 1.0. Flags: 0x01 16 bits, 0x06 contact, 0x08 energy, 0x10 intervals of 1/1024 s.
DEVICES["heart_rate"] = ("Strap", ["180d"], [
    ("180d", [("2a37", "notify"), ("2a38", "read"), ("2a39", "write")]), ("180f", [("2a19", "read notify")])], [
    ("read", "2a38", "00", "sensor_location", '"location":"other"'),
    ("read", "2a38", "06", "sensor_location", '"location":"foot"'),
    ("notify", "2a37", "00 3c", "heart_rate", '"contact":"unsupported","heart_rate_bpm":60'),
    ("notify", "2a37", "02 3d", "heart_rate", '"contact":"unsupported","heart_rate_bpm":61'),
    ("notify", "2a37", "04 3e", "heart_rate", '"contact":"no","heart_rate_bpm":62'),
    ("notify", "2a37", "06 ff", "heart_rate", '"contact":"yes","heart_rate_bpm":255'),
    ("notify", "2a37", "07 00 01", "heart_rate", '"contact":"yes","heart_rate_bpm":256'),
    ("notify", "2a37", "08 40 e8 03", "heart_rate", '"contact":"unsupported","heart_rate_bpm":64,"energy_kj":1000'),
    ("notify", "2a37", "10 41 00 04 00 03 80 00", "heart_rate",
     '"contact":"unsupported","heart_rate_bpm":65,"rr_intervals_s":[1,0.75,0.125]'),
    ("notify", "2a37", "1f 2c 01 ff ff 00 02", "heart_rate",
     '"contact":"yes","heart_rate_bpm":300,"energy_kj":65535,"rr_intervals_s":[0.5]'),
    ("notify", "2a37", "10 48 00", "malformed", f'"characteristic":"measurement",{TRUNCATED % 2},"bytes":"104800"'),
    ("write", "2a39", "01", "command", '"characteristic":"control_point","bytes":"01"'),
    ("notify", "2a19", "64", "battery", '"battery_percent":100')])

# Battery Service 1.1, Device Information Service 1.2.
DEVICES["battery"] = ("Battery 7", ["180f"], [
    ("180f", [("2a19", "read notify")]),
    ("180a", [("2a29", "read"), ("2a24", "read"), ("2a25", "read"), ("2a27", "read"), ("2a26", "read")])], [
    ("read", "2a19", "00", "battery", '"battery_percent":0'),
    ("notify", "2a19", "64", "battery", '"battery_percent":100'),
    ("notify", "2a19", "65", "malformed", f'"characteristic":"battery",{OUTSIDE % 0},"bytes":"65"'),
    ("read", "2a29", "47 65 72 c3 a4 74", "manufacturer", '"manufacturer":"Ger\u00e4t"'),
    ("read", "2a24", "58 31", "model", '"model":"X1"'),
    ("read", "2a25", "30 30 37", "serial", '"serial":"007"'),
    ("read", "2a27", "42", "hardware", '"hardware":"B"'),
    ("read", "2a26", "31 2e 30", "firmware", '"firmware":"1.0"')])

# Cycling Power Service 1.1. Flags: 0x0001 balance (1/2 %), 0x0004 torque (1/32 N m), 0x0010 wheel (1/2048 s), 0x0020 crank
# (1/1024 s), 0x0200 top dead spot. Cycling Speed and Cadence Service 1.0: 0x01 wheel, 0x02 crank, both 1/1024 s.
DEVICES["cycling"] = ("Bicycle", ["1818", "1816"], [("1818", [("2a63", "notify")]), ("1816", [("2a5b", "notify")])], [
    ("notify", "2a63", "00 00 fa 00", "cycling_power", '"power_w":250'),
    ("notify", "2a63", "03 00 9c ff 65", "cycling_power", '"power_w":-100,"balance_percent":50.5'),
    ("notify", "2a63", "0c 00 2c 01 50 01", "cycling_power", '"power_w":300,"accumulated_torque_nm":10.5'),
    ("notify", "2a63", "30 00 c8 00 e8 03 00 00 00 00 64 00 00 00", "cycling_power",
     '"power_w":200,"wheel_revolutions":1000,"wheel_per_s":null,"crank_revolutions":100,"cadence_per_min":null'),
    ("notify", "2a63", "30 00 c8 00 ea 03 00 00 00 08 66 00 00 04", "cycling_power",
     '"power_w":200,"wheel_revolutions":1002,"wheel_per_s":2,"crank_revolutions":102,"cadence_per_min":120'),
    ("notify", "2a63", "20 02 90 01 67 00 00 08 5a 00", "cycling_power",
     '"power_w":400,"crank_revolutions":103,"cadence_per_min":60'),
    ("notify", "2a63", "01 00 fa 00", "malformed",
     f'"characteristic":"power_measurement",{TRUNCATED % 4},"bytes":"0100fa00"'),
    ("notify", "2a5b", "01 ff ff ff ff 00 fc", "revolutions", '"wheel_revolutions":4294967295,"wheel_per_s":null'),
    ("notify", "2a5b", "03 02 00 00 00 00 00 05 00 00 fc", "revolutions",
     '"wheel_revolutions":2,"wheel_per_s":3,"crank_revolutions":5,"cadence_per_min":null'),
    ("notify", "2a5b", "02 06 00 00 00", "revolutions", '"crank_revolutions":6,"cadence_per_min":60')])

# Running Speed and Cadence Service 1.0. Flags: 0x01 stride (cm), 0x02 distance (dm), 0x04 running; speed in 1/256 m/s.
DEVICES["running"] = ("Runner", ["1814"], [("1814", [("2a53", "notify")])], [
    ("notify", "2a53", "00 80 01 5a", "running", '"gait":"walking","speed_m_per_s":1.5,"cadence_per_min":90'),
    ("notify", "2a53", "04 00 03 b4", "running", '"gait":"running","speed_m_per_s":3,"cadence_per_min":180'),
    ("notify", "2a53", "07 c0 02 aa 69 00 0f 27 00 00", "running",
     '"gait":"running","speed_m_per_s":2.75,"cadence_per_min":170,"stride_m":1.05,"distance_m":999.9'),
    ("notify", "2a53", "01 00 01 50 78", "malformed", f'"characteristic":"measurement",{TRUNCATED % 4},"bytes":"0100015078"')])

# Environmental Sensing Service 1.0; Temperature 0.01 degree, Humidity 0.01 %, Pressure 0.1 Pa, CO2 Concentration 1 ppm.
DEVICES["environment"] = ("Meadow", ["181a"], [
    ("181a", [("2a6e", "read notify"), ("2a6f", "read notify"), ("2a6d", "read notify"), ("2b8c", "read notify")])], [
    ("read", "2a6e", "6c 07", "temperature", '"temperature_c":19'),
    ("notify", "2a6e", "d2 04", "temperature", '"temperature_c":12.34'),
    ("notify", "2a6e", "18 fc", "temperature", '"temperature_c":-10'),
    ("notify", "2a6e", "00 80", "temperature", '"temperature_c":null'),
    ("read", "2a6f", "10 27", "humidity", '"humidity_percent":100'),
    ("notify", "2a6f", "ff ff", "humidity", '"humidity_percent":null'),
    ("notify", "2a6d", "cd 75 0f 00", "pressure", '"pressure_hpa":1013.197'),
    ("notify", "2b8c", "90 01", "carbon_dioxide", '"co2_ppm":400'),
    ("notify", "2b8c", "ff ff", "carbon_dioxide", '"co2_ppm":null'),
    ("notify", "2a6e", "d2", "malformed", f'"characteristic":"temperature",{TRUNCATED % 0},"bytes":"d2"')])

# Pulse Oximeter Service 1.0. SFLOAT: 4 bits exponent, 12 bits mantissa; 0x07ff is NaN. Flags of continuous values: 0x01 fast,
# 0x02 slow, 0x04 status (16 bits), 0x08 sensor status (24 bits), 0x10 amplitude; of spot checks: 0x01 time.
DEVICES["pulse_oximeter"] = ("Oximeter", ["1822"], [("1822", [("2a5f", "notify"), ("2a5e", "indicate")])], [
    ("notify", "2a5f", "00 62 00 41 00", "oxygen", '"spo2_percent":98,"pulse_bpm":65'),
    ("notify", "2a5f", "03 62 00 41 00 61 00 42 00 60 00 43 00", "oxygen",
     '"spo2_percent":98,"pulse_bpm":65,"spo2_fast_percent":97,"pulse_fast_bpm":66,"spo2_slow_percent":96,'
     '"pulse_slow_bpm":67'),
    ("notify", "2a5f", "1c cf f3 3c 00 20 00 00 00 80 f5 f0", "oxygen",
     '"spo2_percent":97.5,"pulse_bpm":60,"amplitude_percent":24.5'),
    ("notify", "2a5f", "00 ff 07 fe 07", "oxygen", '"spo2_percent":null,"pulse_bpm":null'),
    ("indicate", "2a5e", "01 63 00 3a 00 ea 07 0b 1d 0d 07 1e", "oxygen_spot_check", '"spo2_percent":99,"pulse_bpm":58'),
    ("notify", "2a5f", "00 62 00 41", "malformed", f'"characteristic":"continuous",{TRUNCATED % 3},"bytes":"00620041"')])

# Weight Scale Service 1.0. Flags: 0x01 imperial, 0x02 time, 0x04 user (255: unknown), 0x08 body mass index and height. Weight
# 0.005 kg or 0.01 lb (0xffff: unsuccessful), index 0.1, height 0.001 m or 0.1 in.
DEVICES["weight_scale"] = ("Scale", ["181d"], [("181d", [("2a9d", "indicate")])], [
    ("indicate", "2a9d", "00 70 3a", "weight", '"weight_kg":74.8'),
    ("indicate", "2a9d", "01 10 40", "weight", '"weight_lb":164'),
    ("indicate", "2a9d", "02 70 3a ea 07 0b 1d 14 05 06", "weight", '"weight_kg":74.8,"measured_at":"2026-11-29T20:05:06"'),
    ("indicate", "2a9d", "0c 70 3a 02 eb 00 f4 06", "weight", '"weight_kg":74.8,"user":2,"body_mass_index":23.5,"height_m":1.78'),
    ("indicate", "2a9d", "0f 10 40 00 00 00 00 14 05 06 ff eb 00 bd 02", "weight",
     '"weight_lb":164,"measured_at":null,"user":null,"body_mass_index":23.5,"height_in":70.1'),
    ("indicate", "2a9d", "00 ff ff", "weight", '"weight_kg":null'),
    ("indicate", "2a9d", "08 70 3a eb 00 f4", "malformed", f'"characteristic":"measurement",{TRUNCATED % 5},"bytes":"08703aeb00f4"')])

# Blood Pressure Service 1.1. Flags: 0x01 kPa, 0x02 time, 0x04 pulse, 0x08 user, 0x10 status (0x01 moved, 0x02 loose, 0x04
# irregular). Date Time 2a08 is Tendon's to write.
DEVICES["blood_pressure"] = ("Cuff", ["1810"], [("1810", [("2a35", "indicate"), ("2a36", "notify"), ("2a08", "write")])], [
    ("notify", "2a36", "00 6e 00 ff 07 ff 07", "cuff", '"cuff_mmhg":110'),
    ("notify", "2a36", "01 92 f0 ff 07 ff 07", "cuff", '"cuff_kpa":14.6'),
    ("indicate", "2a35", "00 78 00 50 00 5d 00", "blood_pressure",
     '"systolic_mmhg":120,"diastolic_mmhg":80,"mean_arterial_mmhg":93'),
    ("indicate", "2a35", "01 a0 f0 6b f0 7c f0", "blood_pressure",
     '"systolic_kpa":16,"diastolic_kpa":10.7,"mean_arterial_kpa":12.4'),
    ("indicate", "2a35", "1e 7d 00 52 00 60 00 ea 07 0b 1d 06 1e 00 48 00 01 05 00", "blood_pressure",
     '"systolic_mmhg":125,"diastolic_mmhg":82,"mean_arterial_mmhg":96,"measured_at":"2026-11-29T06:30:00",'
     '"pulse_bpm":72,"user":1,"body_moved":true,"cuff_loose":false,"pulse_irregular":true'),
    ("indicate", "2a35", "08 ff 07 ff 07 ff 07 ff", "blood_pressure",
     '"systolic_mmhg":null,"diastolic_mmhg":null,"mean_arterial_mmhg":null,"user":null'),
    ("indicate", "2a35", "02 78 00 50 00 5d 00 ea 07 0d 1d 06 1e 00", "malformed",
     f'"characteristic":"measurement",{OUTSIDE % 7},"bytes":"02780050005d00ea070d1d061e00"'),
    ("write", "2a08", "ea 07 0b 1d 14 05 06", "command", '"characteristic":"clock","bytes":"ea070b1d140506"')])

# Glucose Service 1.0.1. Flags: 0x01 offset (minutes), 0x02 concentration, type and location, 0x04 mol/L (else kg/L), 0x08
# status, 0x10 a context follows. Record Access Control Point: 01 01 report all; 06 00 01 RESULT.
DEVICES["glucose"] = ("Meter", ["1808"], [("1808", [("2a18", "notify"), ("2a52", "indicate write")])], [
    ("write", "2a52", "01 01", "command", '"characteristic":"record_access","bytes":"0101"'),
    ("notify", "2a18", "00 01 00 ea 07 0b 1d 08 00 00", "glucose",
     '"has_context":false,"sequence_number":1,"measured_at":"2026-11-29T08:00:00"'),
    ("notify", "2a18", "0b 02 00 ea 07 0b 1d 08 1e 00 c4 ff 64 b0 11 01 00", "glucose",
     '"has_context":false,"sequence_number":2,"measured_at":"2026-11-29T08:30:00","offset_min":-60,"glucose_mg_per_dl":100,'
     '"sample_type":"capillary_blood","sample_location":"finger","battery_low":true,"sensor_fault":false'),
    ("notify", "2a18", "06 03 00 ea 07 0b 1d 09 00 00 3d c0 2a", "glucose",
     '"has_context":false,"sequence_number":3,"measured_at":"2026-11-29T09:00:00","glucose_mmol_per_l":6.1,'
     '"sample_type":"control_solution","sample_location":"alternate_site"'),
    ("notify", "2a18", "16 04 00 ea 07 0b 1d 09 05 00 3d c0 f2", "glucose",
     '"has_context":true,"sequence_number":4,"measured_at":"2026-11-29T09:05:00","glucose_mmol_per_l":6.1,'
     '"sample_type":2,"sample_location":15'),
    ("notify", "2a18", "02 05 00 ea 07 0b 1d 09 05 00 3d b0", "malformed",
     f'"characteristic":"measurement",{TRUNCATED % 12},"bytes":"020500ea070b1d0905003db0"'),
    ("indicate", "2a52", "06 00 01 01", "access_result", '"op_code":6,"request":1,"result":"success"'),
    ("indicate", "2a52", "06 00 01 06", "access_result", '"op_code":6,"request":1,"result":"no_records"')])

# Health Thermometer Service 1.0. Flags: 0x01 Fahrenheit, 0x02 time, 0x04 place. FLOAT: 8 bits exponent, 24 bits mantissa;
# 0x007fffff is NaN.
DEVICES["health_thermometer"] = ("Fever", ["1809"], [("1809", [("2a1c", "indicate"), ("2a1e", "notify")])], [
    ("notify", "2a1e", "00 6b 01 00 ff", "current_temperature", '"current_temperature_c":36.3'),
    ("notify", "2a1e", "01 d9 03 00 ff", "current_temperature", '"current_temperature_f":98.5'),
    ("indicate", "2a1c", "00 70 01 00 ff", "body_temperature", '"temperature_c":36.8'),
    ("indicate", "2a1c", "01 e8 03 00 ff", "body_temperature", '"temperature_f":100'),
    ("indicate", "2a1c", "06 9c 0e 00 fe ea 07 0b 1d 14 05 06 09", "body_temperature",
     '"temperature_c":37.4,"measured_at":"2026-11-29T20:05:06","place":"eardrum"'),
    ("indicate", "2a1c", "04 24 00 00 00 05", "body_temperature", '"temperature_c":36,"place":"digestive_tract"'),
    ("indicate", "2a1c", "00 ff ff 7f 00", "body_temperature", '"temperature_c":null'),
    ("indicate", "2a1c", "00 70 01 00", "malformed", f'"characteristic":"measurement",{TRUNCATED % 1},"bytes":"00700100"')])

# Body Composition Service 1.0. Flags: 0x0001 imperial, 0x0002 time, 0x0004 user, 0x0008 metabolism (kJ), 0x0010 muscle (0.1 %),
# 0x0020 muscle, 0x0040 fat free, 0x0080 soft lean, 0x0100 water (each 0.005 kg or 0.01 lb), 0x0200 impedance (0.1 ohm),
# 0x0400 weight, 0x0800 height (0.001 m or 0.1 in). Fat 0.1 % (0xffff: unsuccessful).
DEVICES["body_composition"] = ("Body", ["181b"], [("181b", [("2a9c", "indicate")])], [
    ("indicate", "2a9c", "00 00 f0 00", "body_composition", '"fat_percent":24'),
    ("indicate", "2a9c", "fe 0f f1 00 ea 07 0b 1d 14 05 06 03 40 1f 91 01 e0 2e c8 32 d4 30 10 27 89 13 98 3a 08 07", "body_composition",
     '"fat_percent":24.1,"measured_at":"2026-11-29T20:05:06","user":3,"metabolism_kj":8000,"muscle_percent":40.1,"muscle_kg":60,'
     '"fat_free_kg":65,"soft_lean_kg":62.5,"water_kg":50,"impedance_ohm":500.1,"weight_kg":75,"height_m":1.8'),
    ("indicate", "2a9c", "e1 0d ff ff b0 36 20 4e 68 42 a0 0f 21 4e bd 02", "body_composition",
     '"fat_percent":null,"muscle_lb":140,"fat_free_lb":200,"soft_lean_lb":170,"water_lb":40,"weight_lb":200.01,"height_in":70.1'),
    ("indicate", "2a9c", "04 00 f0 00", "malformed", f'"characteristic":"measurement",{TRUNCATED % 4},"bytes":"0400f000"')])

# Fitness Machine Service 1.0, Indoor Bike Data. Flags: 0x0001 no speed (more data), 0x0002 average speed (0.01 km/h), 0x0004
# cadence (0.5), 0x0008 average cadence, 0x0010 distance (24 bits, m), 0x0020 resistance, 0x0040 power, 0x0080 average power,
# 0x0100 energy (total, an hour, a minute), 0x0200 heart rate, 0x0400 MET (0.1), 0x0800 elapsed, 0x1000 remaining. Control Point:
# 00 request control, 04 resistance (0.1), 05 power (W); 80 REQUEST RESULT.
DEVICES["indoor_bike"] = ("Trainer", ["1826"], [("1826", [("2ad2", "notify"), ("2ad9", "indicate write")])], [
    ("write", "2ad9", "00", "command", '"characteristic":"control_point","bytes":"00"'),
    ("indicate", "2ad9", "80 00 01", "command_result", '"command":"request_control","result":"success"'),
    ("notify", "2ad2", "00 00 c4 09", "bike", '"speed_km_per_h":25'),
    ("notify", "2ad2", "44 00 c4 09 b5 00 ce ff", "bike", '"speed_km_per_h":25,"cadence_per_min":90.5,"power_w":-50'),
    ("notify", "2ad2", "fe 1f c4 09 60 09 b4 00 ab 00 10 27 01 28 00 c8 00 be 00 2c 01 58 02 0a 8c 51 08 07 2c 01", "bike",
     '"speed_km_per_h":25,"average_speed_km_per_h":24,"cadence_per_min":90,"average_cadence_per_min":85.5,"distance_m":75536,'
     '"resistance":40,"power_w":200,"average_power_w":190,"energy_kcal":300,"energy_kcal_per_h":600,"energy_kcal_per_min":10,'
     '"heart_rate_bpm":140,"metabolic_equivalent":8.1,"elapsed_s":1800,"remaining_s":300'),
    ("notify", "2ad2", "01 02 91", "bike", '"heart_rate_bpm":145'),
    ("notify", "2ad2", "01 01 2c 01 ff ff ff", "bike",
     '"energy_kcal":300,"energy_kcal_per_h":null,"energy_kcal_per_min":null'),
    ("write", "2ad9", "04 64", "command", '"characteristic":"control_point","bytes":"0464"'),
    ("indicate", "2ad9", "80 04 03", "command_result", '"command":"set_resistance","result":"invalid"'),
    ("write", "2ad9", "05 c8 00", "command", '"characteristic":"control_point","bytes":"05c800"'),
    ("indicate", "2ad9", "80 05 05", "command_result", '"command":"set_power","result":"not_permitted"'),
    ("notify", "2ad2", "00 00 c4", "malformed", f'"characteristic":"indoor_bike_data",{TRUNCATED % 2},"bytes":"0000c4"')])

# InfiniTime, doc/MotionService.md: steps (32 bits), three axes of which 1024 are 1 g. Current Time Service 1.1.
INFINITIME = "%08x-78fc-48fe-8e23-433b3a1942d0"
DEVICES["infinitime"] = ("InfiniTime", ["180d"], [
    (INFINITIME % 0x30000, [(INFINITIME % 0x30001, "read notify"), (INFINITIME % 0x30002, "notify")]),
    ("180d", [("2a37", "notify")]), ("1805", [("2a2b", "write")])], [
    ("read", INFINITIME % 0x30001, "e8 03 00 00", "step_count", '"steps":1000'),
    ("notify", INFINITIME % 0x30002, "00 04 00 fc 00 02", "sample", '"sensor":"acceleration","x_g":1,"y_g":-1,"z_g":0.5'),
    ("notify", "2a37", "00 3c", "heart_rate_measurement", '"heart_rate_bpm":60'),
    ("write", "2a2b", "ea 07 0b 1d 14 05 06 00 00 01", "command", '"characteristic":"clock","bytes":"ea070b1d140506000001"'),
    ("notify", INFINITIME % 0x30002, "00 04 00 fc 00", "malformed",
     f'"characteristic":"motion",{TRUNCATED % 4},"bytes":"000400fc00"')])

# pvvx's firmware: the values of Environmental Sensing; its command 0x23 takes seconds since 1970 of the place.
DEVICES["mi_thermometer"] = ("ATC_0A1B2C", ["181a"], [
    ("181a", [("2a6e", "read notify"), ("2a6f", "read notify")]), ("180f", [("2a19", "read notify")]), ("1f10", [("1f1f", "write")])], [
    ("read", "2a6e", "d2 04", "temperature", '"temperature_c":12.34'),
    ("notify", "2a6f", "83 15", "humidity", '"humidity_percent":55.07'),
    ("notify", "2a19", "40", "battery", '"battery_percent":64'),
    ("write", "1f1f", "23 92 23 0c 6b", "command", '"characteristic":"command","bytes":"2392230c6b"'),
    ("notify", "2a19", "65", "malformed", f'"characteristic":"battery",{OUTSIDE % 0},"bytes":"65"')])

# Polar Measurement Data Specification for 3rd Party: its example of acceleration, cut after two samples (frame type 1: mg), and
# of the command that starts it (200 Hz, 16 bits, 8 g).
POLAR = "fb005c8%d-02e7-f387-1cad-8acd2d8df0c8"
DEVICES["polar_h10"] = ("Polar H10 12345678", ["180d"], [
    ("180d", [("2a37", "notify")]), (POLAR % 0, [(POLAR % 1, "read write indicate"), (POLAR % 2, "notify")])], [
    ("write", POLAR % 1, "02 02 00 01 c8 00 01 01 10 00 02 01 08 00", "command",
     '"characteristic":"control","bytes":"02020001c8000101100002010800"'),
    ("indicate", POLAR % 1, "f0 02 02 00 00", "control_response", '"op_code":2,"measurement":2,"error":0'),
    ("notify", POLAR % 2, "02 ea 54 a2 42 8b 45 52 08 01 45 ff e4 ff b5 03 45 ff e4 ff b8 03", "sample",
     '"sensor":"acceleration","device_time":"2019-01-01T00:36:04.814Z",'
     '"samples":[{"x_g":-0.187,"y_g":-0.028,"z_g":0.949},{"x_g":-0.187,"y_g":-0.028,"z_g":0.952}]'),
    ("notify", "2a37", "00 3c", "heart_rate_measurement", '"heart_rate_bpm":60'),
    ("notify", POLAR % 2, "02 ea 54 a2 42 8b 45 52 08 01 45 ff e4 ff b5", "malformed",
     f'"characteristic":"data",{TRUNCATED % 14},"bytes":"02ea54a2428b4552080145ffe4ffb5"')])

# CC2650 SensorTag User's Guide: gyroscope 500/65536, acceleration of 2 g, magnetometer 0.15 uT; humidity and its temperature
# of 16 bits; pressure and its temperature of 24 bits, 0.01.
SENSORTAG = "f000aa%02x-0451-4000-b000-000000000000"
DEVICES["sensortag"] = ("CC2650 SensorTag", [], [
    (SENSORTAG % 0x80, [(SENSORTAG % 0x81, "notify"), (SENSORTAG % 0x82, "write")]),
    (SENSORTAG % 0x20, [(SENSORTAG % 0x21, "notify"), (SENSORTAG % 0x22, "write")]),
    (SENSORTAG % 0x40, [(SENSORTAG % 0x41, "notify"), (SENSORTAG % 0x42, "write")]), ("ffe0", [("ffe1", "notify")])], [
    ("write", SENSORTAG % 0x82, "7f 00", "command", '"characteristic":"movement_configuration","bytes":"7f00"'),
    ("write", SENSORTAG % 0x22, "01", "command", '"characteristic":"humidity_configuration","bytes":"01"'),
    ("write", SENSORTAG % 0x42, "01", "command", '"characteristic":"pressure_configuration","bytes":"01"'),
    ("notify", SENSORTAG % 0x81, "00 80 00 40 00 00 00 c0 00 20 00 40 14 00 ec ff 64 00", "sample",
     '"sensor":"movement","gyro_x_deg_per_s":-250,"gyro_y_deg_per_s":125,"gyro_z_deg_per_s":0,"x_g":-1,"y_g":0.5,"z_g":1,'
     '"magnetic_x_ut":3,"magnetic_y_ut":-3,"magnetic_z_ut":15'),
    ("notify", SENSORTAG % 0x21, "00 80 00 60", "humidity", '"temperature_c":42.5,"humidity_percent":37.5'),
    ("notify", SENSORTAG % 0x41, "98 09 00 cd 8b 01", "pressure", '"barometer_temperature_c":24.56,"pressure_hpa":1013.25'),
    ("notify", "ffe1", "02", "keys", '"key_1":false,"key_2":true'),
    ("notify", SENSORTAG % 0x41, "98 09 00 cd 8b", "malformed", f'"characteristic":"pressure",{TRUNCATED % 3},"bytes":"980900cd8b"')])


# ---- the capture ----

PROPERTIES = {"read": 0x02, "write": 0x08, "notify": 0x10, "indicate": 0x20}  # Vol 3 Part G 3.3.1.1


def wire(uuid):
    return bytes.fromhex(uuid.replace("-", ""))[::-1]


def base(uuid):
    return uuid if "-" in uuid else f"0000{uuid}-0000-1000-8000-00805f9b34fb"


class Capture:
    """Records, a millisecond apart, and the lines that they make."""

    def __init__(self, family, name):
        self.content = bytearray(b"btsnoop\0" + struct.pack(">II", 1, 1002))
        self.records, self.now, self.lines = 0, START, []
        self.device = f'"family":"{family}","address":"{ADDRESS}","address_type":"random","name":"{name}"'

    def add(self, packet, is_received):
        kind = packet[0]
        self.now += datetime.timedelta(milliseconds=1)
        since_1970 = round((self.now - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)).total_seconds() * 1e6)
        flags = is_received | (2 if kind in (1, 4) else 0)
        self.content += struct.pack(">IIIIQ", len(packet), len(packet), flags, 0, BTSNOOP_EPOCH + since_1970) + packet
        self.records += 1

    def event(self, code, parameters):
        self.add(bytes([4, code, len(parameters)]) + parameters, True)

    def att(self, pdu, is_received):
        start = HANDLE | (0x2000 if is_received else 0x0000)  # first, automatically flushable; from the host: not
        self.add(b"\x02" + struct.pack("<HHHH", start, len(pdu) + 4, len(pdu), 4) + pdu, is_received)

    def exchange(self, request, response):
        self.att(request, False)
        self.att(response, True)

    def line(self, event, members="", has_device=True):
        parts = [f'"time":"{self.now:%Y-%m-%dT%H:%M:%S.%fZ}"', f'"event":"{event}"']
        parts += [self.device] if has_device else []
        self.lines.append("{" + ",".join(parts + ([members] if members else [])) + "}")


def found(capture, name, uuids):
    """An advertisement of a connectable device (Vol 4 Part E 7.7.65.2) with services and name, -40 dBm."""
    listed = b"".join(wire(uuid) for uuid in uuids)
    data = b"\x02\x01\x06" + (bytes([len(listed) + 1, 3]) + listed if listed else b"") + bytes([len(name) + 1, 9]) + name.encode()
    address = bytes.fromhex(ADDRESS.replace(":", ""))[::-1]
    capture.event(0x3E, b"\x02\x01\x00\x01" + address + bytes([len(data)]) + data + b"\xd8")
    services = ",".join(f'"{base(uuid)}"' for uuid in uuids)
    capture.line("found", f'"rssi_dbm":-40,"connectable":true,"services":[{services}]')
    capture.event(0x3E, b"\x01\x00" + struct.pack("<HBB", HANDLE, 0, 1) + address + struct.pack("<HHHB", 24, 0, 200, 0))
    capture.line("connected")


def discover(capture, services):
    """Read By Group Type and Read By Type, one response each (Vol 3 Part F 3.4.4). Returns the value handles."""
    handle, handles, declared = 1, {}, []
    for service, characteristics in services:
        first, rows = handle, []
        for uuid, what in characteristics:
            rows.append((handle + 1, sum(PROPERTIES[word] for word in what.split()), handle + 2, uuid))
            handles[uuid] = handles[service + "/" + uuid] = handle + 2
            handle += 3 if "notify" in what or "indicate" in what else 2
        declared.append((service, first, handle, rows))
        handle += 1
    for service, first, last, _ in declared:
        body = struct.pack("<HH", first, last) + wire(service)
        capture.exchange(b"\x10" + struct.pack("<HHH", first, 0xFFFF, 0x2800), bytes([0x11, len(body)]) + body)
    for _, first, last, rows in declared:
        for declaration, properties, value, uuid in rows:
            body = struct.pack("<HBH", declaration, properties, value) + wire(uuid)
            capture.exchange(b"\x08" + struct.pack("<HHH", declaration, last, 0x2803), bytes([0x09, len(body)]) + body)
    return handles


def pass_value(capture, how, handle, value):
    pair = struct.pack("<H", handle)
    if how == "read":
        capture.exchange(b"\x0a" + pair, b"\x0b" + value)
    elif how == "notify":
        capture.att(b"\x1b" + pair + value, True)
    elif how == "indicate":
        capture.att(b"\x1d" + pair + value, True)
    else:
        capture.att(b"\x12" + pair + value, False)


def made(family):
    name, uuids, services, values = DEVICES[family]
    capture = Capture(family, name)
    found(capture, name, uuids)
    handles = discover(capture, services)
    counts = {"values": 0, "malformed": 0}
    for how, uuid, text, event, members in values:
        pass_value(capture, how, handles[uuid], bytes.fromhex(text))
        capture.line(event, members)
        if how == "indicate":
            capture.att(b"\x1e", False)
        if how == "write":
            capture.att(b"\x13", True)
        counts["values"] += how != "write"
        counts["malformed"] += event == "malformed"
    capture.event(0x05, b"\x00" + struct.pack("<HB", HANDLE, 0x13))
    capture.line("disconnected", '"reason":"device_disconnected","text":"the peer disconnected",'
                                 '"error":"HCI_REMOTE_USER_TERMINATED"')
    capture.line("summary", f'"records":{capture.records},"devices":1,"undecoded":0,"notifications":{counts["values"]},'
                            f'"samples":{counts["values"] - counts["malformed"]},"malformed":{counts["malformed"]},"skipped":0', False)
    head = '{"test":"tendon replay --test","version":1,"att":false,"compact":true}'
    pieces = [capture.content[at:at + 1024] for at in range(0, len(capture.content), 1024)]
    return "\n".join([head] + [f'{{"capture":"{piece.hex()}"}}' for piece in pieces] + capture.lines) + "\n"


# ---- the check ----

def shown(layouts):
    """Names of the fields of layouts that lines have: all but what is hidden and what only decides (docs/device-files.md)."""
    fields, referred = {}, set()

    def walk(layout):
        for field in layout["fields"] if isinstance(layout, dict) else layout:
            for key in ("count", "length", "switch", "rate", "per"):
                referred.add(field.get(key))
            if "if" in field:
                referred.add(field["if"].lstrip("!").split("=")[0])
            for part in [field] + field.get("bits", []):
                if "name" in part and not ("bits" in part):
                    speaks = part.get("hidden") is False or "unit" in part or "title" in part or "values" in part
                    fields.setdefault(part["name"], [False, False])
                    fields[part["name"]][0] |= speaks
                    fields[part["name"]][1] |= part.get("hidden") is True
            for inner in [field.get("records", [])] + list(field.get("cases", {}).values()) + [field.get("otherwise", [])]:
                if not isinstance(inner, str):
                    walk(inner)

    for layout in layouts:
        walk(layout)
    return {name for name, (speaks, is_hidden) in fields.items() if not is_hidden and (speaks or name not in referred)}


def lacking(family):
    """Characteristics and members of a shipped file that no value here has."""
    device = json.loads((SHIPPED / f"{family}.json").read_text(encoding="utf-8"))
    values = DEVICES[family][3]
    used = {uuid for _, uuid, *_ in values}
    text = ",".join(members for *_, members in values)
    layouts = list(device.get("layouts", {}).values())
    layouts += [row[key] for row in device["characteristics"] for key in ("notify", "read", "value")
                if isinstance(row.get(key), (list, dict))]
    return [row["name"] for row in device["characteristics"]
            if row["uuid"] not in used and f'{row["service"]}/{row["uuid"]}' not in used] + [
            name for name in sorted(shown(layouts)) if f'"{name}":' not in text]


def main():
    is_check = "--check" in sys.argv[1:]
    families, good = sorted(path.stem for path in SHIPPED.glob("*.json")), True

    def result(is_good, text):
        nonlocal good
        good &= is_good
        print(f"{'ok' if is_good else 'not ok'} - {text}")

    for family in sorted(DEVICES):
        path = HERE / "devices" / f"{family}.test"
        if not is_check:
            path.write_text(made(family), encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != made(family):
            result(False, f"{path.name} is what {pathlib.Path(__file__).name} writes")
    if is_check:
        for family in families:
            missing = lacking(family) if family in DEVICES else ["all"]
            result(not missing, f"{family}: each characteristic and each member has a value{': not ' + ', '.join(missing) if missing else ''}")
        result(set(DEVICES) <= set(families), "each device here is one that is shipped")
    sys.exit(not good)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package against simulated devices on the virtual radio; TAP. `tendon simulate` is the program of $TENDON.

Run by scripts/test_python.sh, in an environment in which the wheel is installed."""

import asyncio
import contextlib
import dataclasses
import datetime
import gc
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import tendon
from tendon import events

PROGRAM = os.environ["TENDON"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


@contextlib.contextmanager
def simulated(*words):
    """Devices of a virtual radio of their own; yields the lines that they print."""
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_RUNTIME_DIR"], os.environ["XDG_STATE_HOME"] = place, place + "/state"
        with open(place + "/lines", "w+") as lines:
            program = subprocess.Popen([PROGRAM, "simulate", *words, "--radio", "virtual", "--json"], stdout=lines)
            try:
                families = sum(not word.startswith("-") for word in words) or 1
                end = time.monotonic() + 20
                while open(place + "/lines").read().count('"ready"') < min(families, 1) and time.monotonic() < end:
                    time.sleep(0.05)
                yield lambda: [json.loads(line) for line in open(place + "/lines")]
            finally:
                program.terminate()
                program.wait()


class GatewayTests(unittest.IsolatedAsyncioTestCase):
    async def test_samples(self):
        with simulated("bose"):
            seen = []
            async with tendon.Gateway(radio="virtual", sensors=["rotation", "accelerometer"], period=20) as gateway:
                async for event in gateway.events():
                    seen.append(event)
                    if sum(event.sample for event in seen) == 50:
                        break
            samples = [event for event in seen if isinstance(event, events.Sample)]
            self.assertEqual({event.sensor for event in samples}, {"rotation", "accelerometer"})
            self.assertTrue(all(event.family == "bose" for event in samples))
            for event in samples:
                self.assertLessEqual(event.sampled_at, event.received_at)
                self.assertLessEqual(event.received_at, time.monotonic())
                if event.sensor == "rotation":
                    self.assertAlmostEqual(sum(part * part for part in event.quaternion), 1, places=2)
            (head,) = gateway.devices.values()
            self.assertIsInstance(head, tendon.Head)
            self.assertFalse(head.connected, "after the end")
            self.assertIn("rotation", head.information.sensors)

    async def test_it_opens_itself_and_ends(self):
        with simulated("activ5"):
            gateway = tendon.Gateway(radio="virtual")
            async for event in gateway.events():
                if event.sample:
                    self.assertEqual(event.sensor, "force")
                    break
            rest = gateway.events()
            await gateway.close()
            await gateway.close()
            last = [event.event async for event in rest]
            self.assertEqual(last[-1], "summary")
            self.assertIn("disconnected", last)
            self.assertFalse(gateway.is_open)

    async def test_actions(self):
        with simulated("feelspace", "activ5", "fjorden") as lines:
            async with tendon.Gateway(radio="virtual", pair=60) as gateway:
                belt = await gateway.device("feelspace")
                trainer = await gateway.device("activ5")
                grip = await gateway.device("fjorden")
                await belt.vibrate(90)
                await belt.signal("warning")
                await belt.mode("compass")
                await belt.stop()
                await trainer.tare()
                await grip.led("blinkFast", 500)
                with self.assertRaisesRegex(tendon.ActionError, "unknown mode 'nonsense'; known: .*compass"):
                    await belt.mode("nonsense")
                for word in ("a b", "", '"a', 'a\\ "b'):
                    with self.assertRaisesRegex(tendon.ActionError, re.escape(f"unknown mode '{word}'; ")):
                        await belt.act("mode", word)
                with self.assertRaises(tendon.ActionError):
                    await trainer.act("dance")
                # Two at a time end in their order, and one that is refused meanwhile is not taken for one of them.
                await asyncio.gather(belt.vibrate(0), belt.vibrate(180))
                ends = await asyncio.gather(belt.vibrate(0), belt.mode("nonsense"), belt.vibrate(1), return_exceptions=True)
                self.assertEqual([type(end) for end in ends], [type(None), tendon.ActionError, type(None)])
            with self.assertRaisesRegex(tendon.ActionError, "not open"):
                await belt.vibrate(90)
            written = [line["bytes"] for line in lines() if line["event"] == "write"]
            self.assertTrue(any("5a00" in bytes for bytes in written), written)

    async def test_streams_that_nobody_reads(self):
        with simulated("activ5"):
            async with tendon.Gateway(radio="virtual") as gateway:
                for _ in range(100):
                    gateway.events()
                gc.collect()
                self.assertEqual(len(gateway._streams), 0)

    async def test_on_event(self):
        with simulated("bose", "activ5"):
            everything, of_one, failures = [], [], []
            done = asyncio.Event()
            asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context["exception"]))
            gateway = tendon.Gateway(radio="virtual", sensors="rotation")

            def wrong(event):
                raise KeyError(event.event)

            def one(event):
                of_one.append(event)
                if sum(event.sample for event in of_one) == 20:
                    done.set()

            gateway.on_event(wrong)
            gateway.on_event(everything.append)
            async with gateway:
                gateway.on_event(one, of=await gateway.device("activ5"))
                await gateway.device("bose")
                await asyncio.wait_for(done.wait(), 30)
            self.assertEqual({event.family for event in of_one if event.sample}, {"activ5"})
            self.assertEqual({event.family for event in everything if event.event == "connected"}, {"bose", "activ5"})
            self.assertTrue(all(event in everything for event in of_one))
            self.assertEqual({type(failure) for failure in failures}, {KeyError})
            self.assertEqual(len(failures), len(everything))

    async def test_find(self):
        with simulated("feelspace"):
            async with tendon.find("feelspace", radio="virtual", pair=60) as belt:
                self.assertIsInstance(belt, tendon.Belt)
                await belt.signal("battery")
                headings = belt.events()
                async for event in headings:
                    if event.sample:
                        self.assertEqual(event.sensor, "orientation")
                        break
            async with tendon.find("belt", radio="virtual") as belt:  # the other name of the family
                self.assertEqual((type(belt), belt.family), (tendon.Belt, "feelspace"))
            with self.assertRaisesRegex(TimeoutError, "^no fjorden was connected within 0.5 s$"):
                async with tendon.find("fjorden", radio="virtual", timeout=0.5):
                    pass

    async def test_find_says_why_not(self):
        with simulated("fjorden"):
            with self.assertRaisesRegex(TimeoutError, "no grip was connected within 5 s; .*pair"):
                async with tendon.find("grip", radio="virtual", timeout=5):
                    pass
            with self.assertRaisesRegex(tendon.DeviceFileError, "not_a_device_file.json:1:1"):
                with tempfile.TemporaryDirectory() as place:
                    file = pathlib.Path(place, "not_a_device_file.json")
                    file.write_text("?")
                    tendon.Gateway(radio="virtual", device_files=str(file))  # one path is no list of letters

    async def test_find_by_address_serves_and_pairs_with_no_other(self):
        with simulated("fjorden", "feelspace", "activ5", "--address", "C0:00:00:00:60:01/random"):
            async with tendon.find(address="C0:00:00:00:60:03", radio="virtual", pair=60, timeout=20) as trainer:
                self.assertIsInstance(trainer, tendon.Trainer)
                await asyncio.sleep(1)
                self.assertEqual(list(trainer._gateway.devices.values()), [trainer])
            bonds = subprocess.run([PROGRAM, "bonds", "list"], capture_output=True, text=True)
            self.assertEqual((bonds.returncode, "60:0" in bonds.stdout), (0, False), bonds)

    async def test_addresses_are_not_compared_letter_by_letter(self):
        with simulated("activ5", "fjorden", "--address", "C0:7E:02:00:77:D2/random"):
            for address in ("c0:7e:02:00:77:d2", "C0:7E:02:00:77:D2/random"):
                async with tendon.find(address=address, radio="virtual", timeout=20) as trainer:
                    self.assertEqual(trainer.address, "C0:7E:02:00:77:D2")
            async with tendon.Gateway(radio="virtual") as gateway:
                self.assertIs(await asyncio.wait_for(gateway.device(address="c0:7e:02:00:77:d2/random"), 20),
                              await gateway.device(address="c0:7E:02:00:77:d2"))
                with self.assertRaises(asyncio.TimeoutError):  # the type is another one
                    await asyncio.wait_for(gateway.device(address="c0:7e:02:00:77:d2/public"), 1)
                with self.assertRaisesRegex(ValueError, "^address 'nonsense' is not possible: .*AA:BB:CC:DD:EE:FF"):
                    await gateway.device(address="nonsense")
            async with tendon.Gateway(radio="virtual") as gateway:
                with self.assertRaisesRegex(ValueError, "^families 'bosse' is not possible: .*bose"):
                    await gateway.device("bosse")
            with self.assertRaisesRegex(ValueError, "^address '' is not possible"):
                tendon.find(address="", radio="virtual")

    async def test_find_says_the_reason_of_no_other_device(self):
        with simulated("fjorden", "feelspace"):  # neither may pair
            with self.assertRaisesRegex(TimeoutError, "^no Somebody was connected within 5 s$"):
                async with tendon.find(name="Somebody", radio="virtual", timeout=5):
                    pass

    async def test_find_serves_only_its_device_file(self):
        file = SOURCE / "packaging/devices/heart_rate.json"
        with simulated("heart_rate", "activ5", "--define", str(file)):
            async with tendon.find("heart_rate", radio="virtual", device_files=file, timeout=20) as strap:
                await asyncio.sleep(1)
                self.assertEqual(list(strap._gateway.devices.values()), [strap])

    async def test_it_is_for_one_time(self):
        with simulated("activ5"):
            async with tendon.Gateway(radio="virtual") as gateway:
                pass
            with self.assertRaisesRegex(RuntimeError, "the gateway was closed"):
                async with gateway:
                    pass

    async def test_cancelled(self):
        """At the start, and while it waits; nothing is left, and the radio can be used again."""
        with simulated("feelspace"):
            for seconds in (0, 0.01, 0.3):
                async def use():
                    async with tendon.find("fjorden", radio="virtual"):
                        pass
                task = asyncio.create_task(use())
                await asyncio.sleep(seconds)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
            async with tendon.find("feelspace", radio="virtual", pair=60, timeout=20) as belt:
                task = asyncio.create_task(belt.vibrate(1))
                await asyncio.sleep(0)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                await belt.vibrate(2)

    async def test_bytes(self):
        file = {"name": "badge", "title": "Badge", "find": {"name": "Badge"}, "characteristics": [
            {"name": "screen", "service": "fff0", "uuid": "fff1", "write": [{"name": "data", "type": "bytes", "length": 4}]},
            {"name": "clock", "service": "fff0", "uuid": "fff2", "write": [{"name": "t", "type": "u32", "epoch": "2026-12-01"}]}],
            "actions": [{"name": "show", "characteristic": "screen"}, {"name": "set", "characteristic": "clock"}]}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as path:
            json.dump(file, path)
            path.flush()
            with simulated("badge", "--define", path.name) as lines:
                async with tendon.find("badge", radio="virtual", device_files=path.name, timeout=20) as badge:
                    await badge.show(bytes([0, 1, 254, 255]))
                    await badge.act("show", "0001feff")
                    await badge.set(datetime.datetime(2026, 12, 1, 0, 1, 0, 999999, tzinfo=datetime.timezone.utc))
                    with self.assertRaisesRegex(tendon.ActionError, "4 bytes"):
                        await badge.show(b"12345")
                    with self.assertRaisesRegex(TypeError, "a text, a number or bytes, not None"):
                        await badge.show(None)
                written = []
                for _ in range(100):  # the device's own lines come when it writes them
                    written = [line["bytes"] for line in lines() if line["event"] == "write"]
                    if len(written) >= 3:
                        break
                    await asyncio.sleep(0.05)
                self.assertEqual(written, ["0001feff", "0001feff", "3c000000"])

    async def test_device_files(self):
        file = SOURCE / "packaging/devices/heart_rate.json"
        with simulated("heart_rate", "--define", str(file)):
            async with tendon.Gateway(radio="virtual", device_files=[file]) as gateway:
                async for event in gateway.events():
                    if event.event == "heart_rate":
                        break
                self.assertEqual(event.heart_rate_bpm, 72)
                self.assertGreater(event.received_at, 0)
                with self.assertRaises(AttributeError):
                    _ = event.nothing
                device = await gateway.device("heart_rate")
                self.assertIsInstance(device, tendon.DefinedDevice)

    async def test_mistakes(self):
        mistakes = [
            ({"period": 33}, "period '33' is not possible: time between two samples: 5, 10, 20, 40, 80, 160 or 320; default: 20"),
            ({"orientation_period": 5},
             "orientation_period '5' is not possible: time between two headings, 20 to 65535; default: the belt's 500"),
            ({"rate": True}, "rate needs a value: samples per second, 1 to 32767; default: the setting of the device"),
            ({"radio": "virtual", "adapters": "hci0"}, "--adapter is for --radio bluez"),
        ]
        for arguments, text in mistakes:
            with self.assertRaises(ValueError) as caught:
                tendon.Gateway(**arguments)
            self.assertEqual(str(caught.exception), text)
        with unittest.mock.patch.dict(os.environ, TENDON_RADIO="wifi"):
            with self.assertRaises(ValueError) as caught:
                tendon.Gateway()
        self.assertEqual(str(caught.exception), "TENDON_RADIO is bluez or virtual, not 'wifi'")
        with self.assertRaisesRegex(TypeError, "no option 'no_such'; it has .*orientation_period"):
            tendon.Gateway(no_such=1)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{\n "name": 3}')
            file.flush()
            with self.assertRaisesRegex(tendon.DeviceFileError, r"\.json:2:\d+: "):
                tendon.Gateway(device_files=[file.name])

    async def test_frame(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        with simulated("bose"):
            gateway, seen = tendon.Gateway(radio="virtual", sensors="rotation"), []
            async with gateway:
                async for event in gateway.events():
                    if event.sample:
                        seen.append(event)
                    if len(seen) == 20:
                        break
        table = tendon.frame(seen)
        self.assertEqual(len(table), 20)
        self.assertTrue({"time", "yaw_deg", "quaternion_3"} <= set(table.columns))
        self.assertEqual(str(table.time.dtype)[:10], "datetime64")


class RecordingTests(unittest.TestCase):
    def test_what_looks_like_a_number_stays_a_text(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        fields = [{"name": "code", "type": "bytes", "length": 2}, {"name": "level", "type": "u8"},
                  {"name": "state", "type": "u8", "values": [[1, "on"]]},
                  {"type": "u8", "bits": [{"name": "door", "bit": 0, "values": [[1, "open"]]}]},
                  {"name": "label", "type": "utf8"}]
        lamp = {"name": "lamp", "title": "Lamp", "find": {"name": "Lamp"}, "events": [{"name": "v", "layout": "v", "sample": True}],
                "characteristics": [{"name": "v", "service": "180d", "uuid": "2a37", "every_ms": 100, "notify": fields,
                                     "examples": ["0203 07 01 01 4e41", "12e5 08 06 01 3037", "0012 09 07 00"]}]}
        with tempfile.TemporaryDirectory() as place:
            file = pathlib.Path(place, "lamp.json")
            file.write_text(json.dumps(lamp))
            with simulated("lamp", "--define", str(file)):
                subprocess.run([PROGRAM, "run", "--define", str(file), "--families", "lamp", "--radio", "virtual", "--record", place,
                                "--for", "3", "--no-lines"], check=True, capture_output=True)
            (folder,) = (one for one in pathlib.Path(place).iterdir() if one.is_dir())
            (table,) = tendon.read_recording(folder).values()
            session = json.loads((folder / "session.json").read_text())
            sensor = folder / session["devices"][0]["sensors"][0]["file"]
            # A program that was killed within its last row.
            with sensor.open("a") as rows:
                rows.write("2026-11-30T19:00:00.0")
            (cut,) = tendon.read_recording(folder).values()
            self.assertEqual(len(cut), len(table))
            # A disk that was full from the beginning to the end.
            sensor.write_text("")
            (empty,) = tendon.read_recording(folder).values()
            with self.assertRaisesRegex(FileNotFoundError, "is no recording"):
                tendon.read_recording(place)
            self.assertEqual((len(empty), list(empty.columns)[0], "code" in empty.columns), (0, "time", True))
        rows = {tuple(row) for row in table[["code", "level", "state", "door", "label"]].fillna("nothing").itertuples(index=False)}
        self.assertEqual(rows, {("0203", 7, "on", "open", "NA"), ("12e5", 8, "6", "open", "07"), ("0012", 9, "7", "0", "nothing")})
        self.assertEqual(str(table.time.dtype)[:10], "datetime64")


class ListenTests(unittest.TestCase):
    def test_without_asyncio(self):
        with simulated("bose"):
            began = time.monotonic()
            seen = [event.event for event in tendon.Gateway(radio="virtual", sensors="rotation").listen(3)]
            self.assertLess(time.monotonic() - began, 10)
            self.assertGreater(seen.count("sample"), 20)

    def test_it_can_be_left(self):
        with simulated("bose"):
            for event in tendon.Gateway(radio="virtual").listen():
                if event.sample:
                    break
            for event in tendon.Gateway(radio="virtual").listen(2):
                pass


class EventTests(unittest.TestCase):
    def test_every_event_of_the_schema(self):
        """What the generator made takes the members that the schema permits, and has nothing else."""
        schema = json.loads((SOURCE / "docs/events.schema.json").read_text())["$defs"]
        for name, kind in events.BY_NAME.items():
            fields = {field.name for field in dataclasses.fields(kind)}
            self.assertEqual(fields, {"family", "address", "address_type", "name", *schema[name]["properties"]}, name)
            members = {key: 1 for key in schema[name]["required"]} | {"time": "t", "event": name}
            self.assertIsInstance(events.from_members(members), kind)
            later = events.from_members({**members, "later": 7})
            self.assertEqual((later.later, later.more), (7, {"later": 7}))
            self.assertIn("later=7", repr(later))
            self.assertNotIn("None", repr(later))
            self.assertEqual(later.family, None)

    def test_unknown_events_keep_their_members(self):
        event = events.from_members({"time": "t", "event": "heart_rate", "heart_rate_bpm": 72})
        self.assertEqual((type(event), event.heart_rate_bpm), (events.Event, 72))


class LoopTests(unittest.TestCase):
    def test_events_are_of_one_task(self):
        async def two():
            async with tendon.Gateway(radio="virtual") as gateway:
                stream = gateway.events()
                first = asyncio.ensure_future(anext(stream))
                await asyncio.sleep(0)
                with self.assertRaisesRegex(RuntimeError, "another task waits"):
                    await asyncio.wait_for(anext(stream), 5)
                first.cancel()

        with simulated("activ5"):
            asyncio.run(two())

    def test_a_gateway_is_of_one_loop(self):
        async def begin():
            gateway = tendon.Gateway(radio="virtual")
            return gateway, await asyncio.wait_for(gateway.device("activ5"), 20)

        async def use(awaitable):
            with self.assertRaisesRegex(RuntimeError, "opened in another event loop"):
                await asyncio.wait_for(awaitable, 5)

        with simulated("activ5"):
            gateway, trainer = asyncio.run(begin())
            for awaitable in (gateway.device("activ5"), anext(gateway.events()), trainer.tare(), gateway.close()):
                asyncio.run(use(awaitable))
            with self.assertWarns(ResourceWarning):
                del gateway, trainer, awaitable
                gc.collect()

    def test_what_was_not_closed_is_told_and_closed(self):
        async def begin():
            gateway = tendon.Gateway(radio="virtual")
            await asyncio.wait_for(gateway.device("activ5"), 20)

        with simulated("activ5"):
            gc.collect()
            before = os.listdir("/proc/self/fd")
            for _ in range(3):
                asyncio.run(begin())
                with self.assertWarnsRegex(ResourceWarning, "Gateway.* was not closed"):
                    gc.collect()
            self.assertEqual(len(os.listdir("/proc/self/fd")), len(before))


class GrowthTests(unittest.IsolatedAsyncioTestCase):
    async def test_many_gateways(self):
        """Opened and closed, with a connection each: neither memory nor descriptors grow. $TENDON_PYTHON_ROUNDS: how often."""
        rounds = int(os.environ.get("TENDON_PYTHON_ROUNDS", "40"))

        def size():
            gc.collect()
            pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir("/proc/self/fd"))

        with simulated("activ5"):
            for number in range(rounds):
                async with tendon.find("activ5", radio="virtual"):
                    pass
                if number == rounds // 4:
                    before = size()
            after = size()
        self.assertEqual(after[1], before[1], "descriptors")
        self.assertLess(after[0] - before[0], 1 << 20, "bytes")


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    failed = 0
    for test in [one for group in suite for one in group]:
        outcome = unittest.TestResult()
        test.run(outcome)
        name = test.id().removeprefix("__main__.")
        if outcome.skipped:
            print(f"ok - python: {name} # SKIP {outcome.skipped[0][1]}", flush=True)
        elif outcome.wasSuccessful():
            print(f"ok - python: {name}", flush=True)
        else:
            failed = 1
            print(f"not ok - python: {name}", flush=True)
            for _, text in outcome.errors + outcome.failures:
                print("\n".join("#   " + line for line in text.splitlines()), flush=True)
    sys.exit(failed)

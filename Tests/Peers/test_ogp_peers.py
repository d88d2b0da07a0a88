#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The independent Obvious device and client against each other, under simulated time, with faults. Prints TAP lines."""

import pathlib
import random
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import tap  # noqa: E402
from ogp import operations as op  # noqa: E402
from ogp import payload as pl  # noqa: E402
from ogp import signed  # noqa: E402
from ogp.air import Rates  # noqa: E402
from ogp.client import Ask, Failure  # noqa: E402
from ogp.world import World  # noqa: E402

KEY = signed.Key(bytes(range(32)))
KEYS = {1: KEY.public}
PRODUCT, SERIAL = 1234, 0x1122334455667788
OLD, NEW = 1_003_000, 1_004_000
IMAGE = random.Random("firmware").randbytes(40_000)


class Cloud:
    """Signs whatever a test has put in it."""

    def __init__(self):
        self.kind, self.flags, self.entries = signed.FULL, 0, [(16, 1, 1, 0), (17, 1, 2, 0), (20, 0, 0, 0)]
        self.key, self.package, self.error = KEY, None, None
        self.image, self.version, self.options = IMAGE, NEW, {}
        self.bound = True

    def feature_update(self, info, nonce):
        if self.error:
            raise op.CloudError(self.error)
        if self.package is not None:
            return self.package
        bound = self.bound and nonce is not None
        return signed.build_package(self.key, PRODUCT, info["serial"], info["counter"] + 1, self.entries, self.kind,
                                    self.flags | bound, nonce if bound else signed.NO_NONCE)

    def provision(self, info, nonce):
        if self.error:
            raise op.CloudError(self.error)
        return signed.build_package(KEY, PRODUCT, info["serial"], info["counter"] + 1, kind=signed.PROVISION)

    def firmware(self, info):
        return signed.build_manifest(self.key, PRODUCT, self.version, self.image, **self.options), self.image


class Case(unittest.TestCase):
    def world(self, rates=None, seed=0, **options):
        options.setdefault("device", {})["keys"] = KEYS
        world = World(up=rates, down=rates, seed=seed, **options)
        world.device.holder.counter = 41
        return world

    def update(self, world, cloud=None):
        world.client.calls.clear()
        self.assertTrue(world.run(op.FeatureUpdate(world.client, cloud or Cloud(), KEYS, PRODUCT).run()))
        return [(name.removeprefix("on").removesuffix("Status"), status) for name, status in world.client.calls
                if name.startswith("on")]

    def upgrade(self, world, cloud=None, journal=None):
        world.client.calls.clear()
        upgrade = op.Upgrade(world.client, cloud or Cloud(), KEYS, PRODUCT, journal)
        self.assertTrue(world.run(upgrade.run()))
        self.uploaded = upgrade.upload
        return [call[-1] for call in world.client.calls if call[0].startswith("onFirmware")]


UPDATE = "FeatureUpdate"


class Features(Case):
    def test_update(self):
        world = self.world()
        self.assertEqual(self.update(world), [(UPDATE, "SUCCESS")])
        self.assertEqual(world.device.holder.features, {16: (1, 1, 0), 17: (1, 2, 0), 20: (0, 0, 0)})
        self.assertEqual((world.device.holder.counter, world.now < 2000), (42, True))

    def test_update_with_a_restart(self):
        cloud = Cloud()
        cloud.flags = signed.REBOOTS
        world = self.world()
        self.assertEqual(self.update(world, cloud), [(UPDATE, name) for name in ("SUCCESS_RESETTING", "RESET_COMPLETE", "SUCCESS")])
        self.assertEqual(world.connections, 2)

    def test_provisioning_first(self):
        world = self.world()
        world.device.holder.provisioned = False
        self.assertEqual(self.update(world), [("Provisioning", "START"), ("Provisioning", "SUCCESS"), (UPDATE, "SUCCESS")])
        self.assertEqual([entry[:2] for entry in world.device.log if entry[0] == "applied"], [("applied", 4), ("applied", 1)])

    def test_provisioning_refused(self):
        world, cloud = self.world(), Cloud()
        world.device.holder.provisioned, cloud.error = False, "forbidden"
        self.assertEqual(self.update(world, cloud), [("Provisioning", "START"), ("Provisioning", "FAILED"), (UPDATE, "NOT_PROVISIONED")])

    def test_clear(self):
        world, cloud = self.world(), Cloud()
        world.device.holder.features = {16: (1, 1, 0)}
        cloud.kind, cloud.entries = signed.CLEAR, []
        self.assertEqual(self.update(world, cloud), [(UPDATE, "CLEAR_SUCCESS"), (UPDATE, "SUCCESS")])
        self.assertEqual(world.device.holder.features, {})

    def test_nothing_new_and_no_cloud(self):
        world, cloud = self.world(), Cloud()
        cloud.feature_update = lambda info, nonce: None
        self.assertEqual(self.update(world, cloud), [(UPDATE, "SUCCESS")])
        cloud = Cloud()
        cloud.error = "download"
        self.assertEqual(self.update(world, cloud), [(UPDATE, "DOWNLOAD_FAILED")])
        self.assertNotIn("begin", [entry[0] for entry in world.device.log])

    def test_the_gateway_refuses(self):
        good = signed.build_package(KEY, PRODUCT, SERIAL, 42, [(16, 1, 1, 0)])
        stranger = signed.Key(bytes(32))
        for data in (good[:62] + b"\0" + good[63:], good[:-1], signed.build_package(stranger, PRODUCT, SERIAL, 42),
                     signed.build_package(KEY, PRODUCT + 1, SERIAL, 42), signed.build_package(KEY, PRODUCT, SERIAL + 1, 42),
                     signed.build_package(KEY, PRODUCT, SERIAL, 40)):
            world, cloud = self.world(), Cloud()
            cloud.package = data
            self.assertEqual(self.update(world, cloud), [(UPDATE, "DOWNLOAD_FAILED")])
            self.assertNotIn("begin", [entry[0] for entry in world.device.log])

    def test_the_device_refuses(self):
        world, cloud = self.world(), Cloud()
        world.device.holder.keys = {1: signed.Key(bytes(32)).public}
        self.assertEqual(self.update(world, cloud), [(UPDATE, "WRITE_FAILED")])
        self.assertIn(("refused", "XFER_END", "SIG_INVALID"), world.device.log)
        self.assertEqual(world.device.log[-1], ("abort", 0))

    def test_no_device(self):
        world = self.world()
        world.dead = True
        self.assertEqual(self.update(world), [(UPDATE, "TIMEOUT")])
        self.assertEqual(world.now, 30_000)

    def test_another_profile(self):
        world = self.world()
        world.device.status_value = lambda: b"OGP\x02\0\0"
        self.assertEqual(self.update(world), [(UPDATE, "FAILED")])
        self.assertEqual(world.up.carried, 0)

    def test_statuses_and_toggle(self):
        world = self.world()
        world.device.holder.features = {i: (1, 1 + i % 2, 0) for i in range(1, 131)}
        world.run(op.check_statuses(world.client, range(1, 131)))
        self.assertEqual(world.client.calls, [("onCheckFeatureStatuses", {i: (1, 1 + i % 2) for i in range(1, 131)})])
        world.client.calls.clear()
        world.run(op.toggle(world.client, 16))
        self.assertEqual(world.client.calls, [("didToggleFeatureStatus", 16, (1, 2))])
        del world.device.holder.features[130]
        world.client.calls.clear()
        world.run(op.check_statuses(world.client, (130, 16)))
        self.assertEqual(world.client.calls, [("onCheckFeatureStatuses", {130: (255, 255), 16: (1, 2)})])
        for feature, state in ((7, (0, 1, 0)), (8, (1, 0, 0)), (9, None)):
            world.client.calls.clear()
            world.device.holder.features[feature] = state
            if state is None:
                del world.device.holder.features[feature]
            world.run(op.toggle(world.client, feature))
            self.assertEqual(world.client.calls, [("featureStatusFailure",)])

    def test_the_event_after_an_update(self):
        world = self.world()
        self.update(world)
        self.assertEqual([call[0] for call in world.client.calls], ["onFeatureUpdateStatus"])
        world.idle(100)
        self.assertEqual(world.client.calls[-1], ("didToggleFeatureStatuses", {16: (1, 1), 17: (1, 2), 20: (0, 0)}))

    def test_a_nonce_does_not_outlive_its_connection(self):
        world, cloud = self.world(mtu=64), Cloud()
        cloud.entries = [(i, 1, 1, 0) for i in range(1, 1025)]
        world.device.faults.disconnect_at = [4000]
        self.assertEqual(self.update(world, cloud), [(UPDATE, "SUCCESS")])
        self.assertEqual([entry[0] for entry in world.device.log if entry[0] in ("begin", "abort", "refused")],
                         ["begin", "abort", "begin"])
        cloud.bound = False
        world.device.faults.disconnect_at = [4000]
        self.assertEqual(self.update(world, cloud), [(UPDATE, "SUCCESS")])

    def test_under_loss(self):
        outcomes = []
        for seed in range(60):
            rates = Rates(lost=random.Random(seed).choice((0.05, 0.1, 0.2)), doubled=0.05, late=0.01, reordered=0.1)
            world, cloud = self.world(rates, seed), Cloud()
            cloud.flags = seed % 2 * signed.REBOOTS
            outcomes.append(self.update(world, cloud)[-1][1])
            applied = world.device.holder.counter == 42
            self.assertTrue(applied if outcomes[-1] == "SUCCESS" else outcomes[-1] in ("WRITE_FAILED", "FAILED", "TIMEOUT"))
        self.assertGreaterEqual(outcomes.count("SUCCESS"), 54, outcomes)


class Firmware(Case):
    def finished(self, world, version=NEW):
        self.assertEqual((world.device.active, world.device.confirmed), (version, True))

    def test_upgrade(self):
        world = self.world()
        calls = self.upgrade(world)
        self.assertEqual((calls[0], calls[1], calls[-3:]), (-1, 0, [100, -2, "SUCCESS"]))
        self.assertEqual(calls[1:-2], sorted(set(calls[1:-2])))
        self.finished(world)
        self.assertEqual((self.uploaded.sent, world.device.images[NEW]), (len(IMAGE), IMAGE))

    def test_disconnect_and_power_cut_in_the_middle(self):
        world = self.world()
        world.device.faults.disconnect_at, world.device.faults.reboot_at = [9000, 30000], [20000]
        self.assertEqual(self.upgrade(world)[-1], "SUCCESS")
        self.finished(world)
        begins = [entry[2] for entry in world.device.log if entry[0] == "begin"]
        self.assertEqual((begins[0], len(begins), all(at % 256 == 0 for at in begins)), (0, 4, True))
        self.assertLess(self.uploaded.sent, len(IMAGE) + 3 * 256)

    def test_resumed_by_another_gateway_run(self):
        world, journal = self.world(), {}
        world.device.faults.disconnect_at = [20000]
        world.client.start(op.Upgrade(world.client, Cloud(), KEYS, PRODUCT, journal).run(), 0)
        while world.device.faults.disconnect_at:
            world.step()
        world.client.operation = world.client.waits = None  # killed
        world.connecting = False
        world.events.clear()
        world.connection = 0
        world.device.on_disconnected(world.now)
        world.client.on_disconnected(world.now)
        self.assertEqual(self.upgrade(world, journal=journal)[-1], "SUCCESS")
        self.finished(world)
        self.assertLess(self.uploaded.sent, len(IMAGE) - 15000)

    def test_a_flash_that_lost_bits_begins_again(self):
        world = self.world()
        world.device.faults.disconnect_at = [20000]
        world.client.start(op.Upgrade(world.client, Cloud(), KEYS, PRODUCT).run(), 0)
        while world.device.faults.disconnect_at:
            world.step()
        world.device.transfer.data[5] ^= 1
        while world.client.operation:
            world.step()
        self.assertEqual(world.client.calls[-1][-1], "SUCCESS")
        self.assertIn(("abort", 1), world.device.log)
        self.finished(world)

    def test_firmware_that_does_not_boot(self):
        world = self.world()
        world.device.faults.never_boots = {NEW}
        self.assertEqual(self.upgrade(world)[-1], "FAILED")
        self.finished(world, OLD)

    def test_an_activation_that_is_lost_with_its_connection(self):
        world, lost = self.world(), []
        answer = world.device._answer

        def losing(frame, now):
            if frame.opcode == pl.FW_ACTIVATE and not lost:
                lost.append(now)
                world.device.host.drop()
                return None
            return answer(frame, now)

        world.device._answer = losing
        self.assertEqual(self.upgrade(world)[-2:], [-2, "SUCCESS"])
        self.finished(world)
        self.assertLess(world.now - lost[0], 10_000)

    def test_no_confirmation_rolls_back(self):
        world = self.world()
        world.client.start(op.Upgrade(world.client, Cloud(), KEYS, PRODUCT).run(), 0)
        while world.device.active != NEW:
            world.step()
        world.dead = True
        while world.client.operation:
            world.step()
        self.assertEqual(world.client.calls[-1][-1], "FAILED")
        world.idle(200_000)
        self.finished(world, OLD)

    def test_a_trial_that_waits_is_confirmed_first(self):
        world = self.world()
        world.client.start(op.Upgrade(world.client, Cloud(), KEYS, PRODUCT).run(), 0)
        while world.device.active != NEW or not world.device.is_up:
            world.step()
        world.client.operation = world.client.waits = None  # killed before FW_CONFIRM
        self.assertEqual(self.upgrade(world), [-1, "SUCCESS"])
        self.finished(world)
        self.assertEqual(world.device.epoch, 1)

    def test_refusals(self):
        for change, expected in (({"version": OLD}, "DOWNLOAD_FAILED"), ({"key": signed.Key(bytes(32))}, "DOWNLOAD_FAILED"),
                                 ({"options": {"epoch": 0}}, "DOWNLOAD_FAILED"), ({"options": {"crc": 1}}, "DOWNLOAD_FAILED")):
            world, cloud = self.world(), Cloud()
            for name, value in change.items():
                setattr(cloud, name, value)
            self.assertEqual(self.upgrade(world, cloud)[-1], expected)
            self.assertNotIn("begin", [entry[0] for entry in world.device.log])

    def test_low_battery_and_no_capability(self):
        world = self.world()
        world.device.battery = 19
        self.assertEqual(self.upgrade(world), [-1, "FAILED"])
        world = self.world(device={"caps": 0xFF & ~pl.CAP_TRIAL})
        self.assertEqual(self.upgrade(world), ["UNAVAILABLE"])

    def test_epoch_rises_with_the_confirmation(self):
        world, cloud = self.world(), Cloud()
        cloud.options = {"epoch": 5}
        self.assertEqual(self.upgrade(world, cloud)[-1], "SUCCESS")
        self.assertEqual(world.device.epoch, 5)

    def test_hash_mismatch_once_from_the_start(self):
        world = self.world()
        world.device.faults.status = {pl.XFER_END: ["HASH_MISMATCH"]}
        self.assertEqual(self.upgrade(world)[-1], "SUCCESS")
        self.assertIn(("abort", 2), world.device.log)
        world = self.world()
        world.device.faults.status = {pl.XFER_END: ["HASH_MISMATCH"] * 2}
        self.assertEqual(self.upgrade(world)[-1], "FAILED")
        self.finished(world, OLD)

    def test_lying_offsets(self):
        world = self.world()
        world.device.faults.lying_offsets = 1
        self.assertEqual(self.upgrade(world)[-1], "FAILED")
        self.assertEqual(world.device.log[-1], ("abort", 0))

    def test_under_faults(self):
        outcomes = []
        for seed in range(40):
            dice = random.Random(f"upgrade {seed}")
            rates = Rates(lost=dice.choice((0, 0.05, 0.1)), doubled=0.05, late=0.01, reordered=0.1)
            world = self.world(rates, seed, mtu=dice.choice((64, 185, 517)))
            world.device.faults.disconnect_at = sorted(dice.randrange(40000) for _ in range(2))
            world.device.faults.reboot_at = sorted(dice.randrange(40000) for _ in range(2))
            outcomes.append(self.upgrade(world)[-1])
            self.finished(world, NEW if outcomes[-1] == "SUCCESS" else OLD)
        self.assertGreaterEqual(outcomes.count("SUCCESS"), 38, outcomes)


class Requests(Case):
    def ask(self, world, opcode, **fields):
        result = []

        def operation():
            try:
                yield from world.client.session(hello=False)
                result.append((yield Ask(opcode, fields)))
            except Failure as failure:
                result.append((failure.name, failure.status) if failure.status else failure.name)

        world.client.host.connect()
        while not world.client.connected:
            world.step()
        self.assertTrue(world.run(operation()))
        return result[0]

    def test_repeats_have_the_same_number_and_run_once(self):
        world = self.world()
        self.ask(world, pl.PING, echo=b"")
        asked = []
        world.device.faults.silent = {pl.PING}
        answer = world.device._answer
        world.device._answer = lambda frame, now: asked.append((now, frame.corr)) or answer(frame, now)
        self.assertEqual(self.ask(world, pl.PING, echo=b"x"), "TIMEOUT")
        times, numbers = zip(*asked)
        self.assertEqual((len(asked), len(set(numbers))), (4, 1))
        self.assertEqual([round(later - before, -2) for before, later in zip(times, times[1:])], [5000] * 3)

    def test_a_lost_answer_is_not_computed_again(self):
        world = self.world()
        world.device.holder.features = {16: (1, 1, 0)}
        self.ask(world, pl.PING, echo=b"")
        carry = world.down.carry
        world.down.carry = lambda segment: []
        world.after(4000, lambda: setattr(world.down, "carry", carry))
        result = self.ask(world, pl.FEATURE_TOGGLE, features=[{"id": 16, "toggle": 2}])
        self.assertEqual(result["features"], [{"id": 16, "enable": 1, "toggle": 2}])

    def test_flip_is_not_repeated(self):
        world = self.world()
        world.device.faults.silent = {pl.FEATURE_TOGGLE}
        started = world.now
        self.assertEqual(self.ask(world, pl.FEATURE_TOGGLE, features=[{"id": 16, "toggle": pl.FLIP}]), "TIMEOUT")
        self.assertLess(world.now - started, 6000)

    def test_busy_takes_new_numbers(self):
        world = self.world()
        world.device.faults.status = {pl.PING: ["BUSY"] * 10}
        self.assertEqual(self.ask(world, pl.PING, echo=b"x"), {"echo": b"x"})
        self.assertEqual(world.client.corr, 12)
        world.device.faults.status = {pl.PING: ["BUSY"] * 11}
        self.assertEqual(self.ask(world, pl.PING, echo=b"x"), ("DEVICE", "BUSY"))

    def test_wrong_checksums_are_sent_again(self):
        world = self.world()
        world.device.faults.bad_crc = 1
        self.assertEqual(self.ask(world, pl.PING, echo=b"y"), {"echo": b"y"})
        self.assertEqual((world.client.link.errors, world.device.log), (["FRAME_BAD_CRC"], []))

    def test_slow_credit(self):
        world = self.world(mtu=23)
        world.device.faults.credit = 1
        self.assertEqual(self.ask(world, pl.PING, echo=bytes(60)), {"echo": bytes(60)})

    def test_without_its_capability(self):
        for opcode, cap in ((pl.FEATURE_STATUS, pl.CAP_FEATURES), (pl.FEATURE_TOGGLE, pl.CAP_TOGGLE), (pl.GET_NONCE, pl.CAP_NONCE),
                            (pl.FW_STATE, pl.CAP_TRIAL)):
            world = self.world(device={"caps": 0xFF & ~cap})
            fields = {pl.FEATURE_STATUS: {"ids": [1]}, pl.FEATURE_TOGGLE: {"features": [{"id": 1, "toggle": 1}]}}.get(opcode, {})
            self.assertEqual(self.ask(world, opcode, **fields), ("DEVICE", "NOT_SUPPORTED"))


if __name__ == "__main__":
    tap.main("ogp peers")

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_ogp_simulated.py PROGRAM: the independent client against the simulated Obvious device (obvious_device).

Prints TAP lines."""

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
from ogp.wire import WireDevice  # noqa: E402
from ogp.world import World  # noqa: E402

PROGRAM = None
KEY = signed.Key(bytes(range(32)))
KEYS = {1: KEY.public}
PRODUCT, SERIAL = 1234, 0x1122334455667788
OLD, NEW = 1_003_000, 1_004_000
IMAGE = random.Random("firmware").randbytes(30_000)


class Cloud:
    def __init__(self, flags=0, bound=True):
        self.flags, self.bound = flags, bound

    def feature_update(self, info, nonce):
        bound = self.bound and nonce is not None
        return signed.build_package(KEY, PRODUCT, info["serial"], info["counter"] + 1, [(16, 1, 1, 0), (17, 1, 2, 9), (20, 0, 0, 0)],
                                    flags=self.flags | bound, nonce=nonce if bound else signed.NO_NONCE)

    def provision(self, info, nonce):
        return signed.build_package(KEY, PRODUCT, info["serial"], info["counter"] + 1, kind=signed.PROVISION)

    def firmware(self, info):
        return signed.build_manifest(KEY, PRODUCT, NEW, IMAGE, epoch=2), IMAGE


class Case(unittest.TestCase):
    def world(self, *options, rates=None, seed=0, mtu=185):
        world = World(mtu, rates, rates, seed, make_device=lambda host: WireDevice(host, PROGRAM, KEY.public, *options))
        self.addCleanup(world.device.close)
        return world

    def run_operation(self, world, operation):
        world.client.calls.clear()
        self.assertTrue(world.run(operation))
        return world.client.calls

    def update(self, world, cloud=None):
        calls = self.run_operation(world, op.FeatureUpdate(world.client, cloud or Cloud(), KEYS, PRODUCT).run())
        return [call[1] for call in calls if call[0].endswith("Status")]

    def upgrade(self, world):
        upgrade = op.Upgrade(world.client, Cloud(), KEYS, PRODUCT)
        calls = self.run_operation(world, upgrade.run())
        self.uploaded = upgrade.upload
        return [call[-1] for call in calls if call[0].startswith("onFirmware")]

    def state(self, world):
        return world.device.state(world.now)


class Simulated(Case):
    def test_provisioning_update_statuses_toggle(self):
        world = self.world("unprovisioned")
        self.assertEqual(self.update(world), ["START", "SUCCESS", "SUCCESS"])
        state = self.state(world)
        self.assertEqual((state["provisioned"], state["counter"]), (True, 43))
        self.assertEqual(state["features"], {16: (1, 1), 17: (1, 2), 20: (0, 0)})
        calls = self.run_operation(world, op.check_statuses(world.client, [20, 16]))
        self.assertEqual(calls[-1], ("onCheckFeatureStatuses", {20: (0, 0), 16: (1, 1)}))
        self.assertEqual(self.run_operation(world, op.toggle(world.client, 17)), [("didToggleFeatureStatus", 17, (1, 1))])
        self.assertEqual(self.run_operation(world, op.toggle(world.client, 20)), [("featureStatusFailure",)])
        self.assertEqual(self.state(world)["features"][17], (1, 1))

    def test_update_with_a_restart(self):
        world = self.world()
        self.assertEqual(self.update(world, Cloud(signed.REBOOTS)), ["SUCCESS_RESETTING", "RESET_COMPLETE", "SUCCESS"])
        self.assertEqual(self.state(world)["counter"], 42)

    def test_upgrade(self):
        world = self.world()
        calls = self.upgrade(world)
        self.assertEqual((calls[:2], calls[-3:]), ([-1, 0], [100, -2, "SUCCESS"]))
        state = self.state(world)
        self.assertEqual((state["firmware"], state["confirmed"]), (NEW, True))

    def test_upgrade_through_power_cuts_and_disconnects(self):
        for seed in range(30):
            dice = random.Random(f"cuts {seed}")
            rates = Rates(lost=dice.choice((0, 0.05)), doubled=0.05, late=0.01, reordered=0.05)
            world = self.world(rates=rates, seed=seed, mtu=dice.choice((64, 185, 517)))
            for _ in range(3):
                at = dice.randrange(100, 6000)
                world.after(at, lambda w=world: w.device.power_cut(w.now) if dice.random() < 0.5 else w.end_connection())
            with self.subTest(seed=seed):
                outcome = self.upgrade(world)[-1]
                if self.uploaded is None:  # lost before the transfer, which fails an upgrade
                    self.assertEqual(outcome, "FAILED")
                    outcome = self.upgrade(world)[-1]
                state = self.state(world)
                self.assertEqual((outcome, state["firmware"], state["confirmed"]), ("SUCCESS", NEW, True))
                self.assertLess(self.uploaded.sent, 2 * len(IMAGE))

    def test_update_under_loss(self):
        outcomes = []
        for seed in range(25):
            rates = Rates(lost=random.Random(seed).choice((0.02, 0.1, 0.2)), doubled=0.05, late=0.01, reordered=0.1)
            world = self.world(rates=rates, seed=seed)
            outcomes.append(self.update(world)[-1])
            state = self.state(world)
            self.assertEqual(state["counter"] == 42, bool(state["features"][16][0]), "all or nothing")
            self.assertTrue(state["counter"] == 42 if outcomes[-1] == "SUCCESS" else outcomes[-1] in ("WRITE_FAILED", "FAILED", "TIMEOUT"))
        self.assertGreaterEqual(outcomes.count("SUCCESS"), 22, outcomes)


class Statuses(Case):
    """Single requests, each with the status that the protocol names."""

    def ask(self, world, opcode, **fields):
        result = []

        def operation():
            try:
                yield from world.client.session(hello=False)
                result.append((yield Ask(opcode, fields)))
            except Failure as failure:
                result.append(failure.status or failure.name)

        while not world.client.connected:
            world.connect()
            world.step()
        self.assertTrue(world.run(operation()))
        return result[0]

    def send(self, world, obj, data, manifest=b""):
        result = []

        def operation():
            try:
                yield from world.client.session(hello=False)
                result.append((yield from op.Upload(obj, data, manifest).run(world.client)))
            except Failure as failure:
                result.append(failure.status or failure.name)

        while not world.client.connected:
            world.connect()
            world.step()
        self.assertTrue(world.run(operation()))
        return result[0]

    def test_refused_packages(self):
        world = self.world()
        other = signed.Key(bytes(32))
        build = signed.build_package
        for expected, package in (
                ("SIG_INVALID", build(other, PRODUCT, SERIAL, 42)), ("UNKNOWN_KEY", build(signed.Key(bytes(32), 9), PRODUCT, SERIAL, 42)),
                ("REPLAY", build(KEY, PRODUCT, SERIAL, 41)), ("WRONG_DEVICE", build(KEY, PRODUCT, 7, 42)),
                ("WRONG_PRODUCT", build(KEY, 7, SERIAL, 42)), ("FW_TOO_OLD", build(KEY, PRODUCT, SERIAL, 42, min_fw=OLD + 1)),
                ("NONCE_MISMATCH", build(KEY, PRODUCT, SERIAL, 42, flags=1, nonce=bytes(range(16)))),
                ("BAD_FORMAT", build(KEY, PRODUCT, SERIAL, 42, kind=signed.PROVISION)),
                ("BAD_FORMAT", build(KEY, PRODUCT, SERIAL, 42, [(16, 2, 1, 0)])), ("BAD_LENGTH", bytes(100))):
            self.assertEqual(self.send(world, pl.FEATURE, package), expected)
        self.assertEqual(self.state(world)["counter"], 41)
        good = build(KEY, PRODUCT, SERIAL, 42, [(16, 1, 1, 0)])
        self.assertEqual(self.send(world, pl.FEATURE, good)["result"], 0)
        self.assertEqual(self.send(world, pl.FEATURE, good)["result"], 1)

    def test_refused_firmware(self):
        build = signed.build_manifest
        image = IMAGE[:500]
        for expected, manifest in (
                ("SIG_INVALID", build(signed.Key(bytes(32)), PRODUCT, NEW, image)), ("DOWNGRADE", build(KEY, PRODUCT, OLD, image)),
                ("WRONG_PRODUCT", build(KEY, 7, NEW, image)), ("NOT_SUPPORTED", build(KEY, PRODUCT, NEW, image, min_from=OLD + 1)),
                ("HASH_MISMATCH", build(KEY, PRODUCT, NEW, image, crc=1)), ("BAD_FORMAT", build(KEY, PRODUCT, NEW, image, reserved=1))):
            world = self.world()
            self.assertEqual(self.send(world, pl.FIRMWARE, image, manifest), expected)
            self.assertEqual(self.state(world)["firmware"], OLD)

    def test_requests_out_of_place(self):
        world = self.world()
        for expected, opcode, fields in (
                ({"features": [{"id": 99, "enable": 255, "toggle": 255}]}, pl.FEATURE_STATUS, {"ids": [99]}),
                ("UNKNOWN_FEATURE", pl.FEATURE_TOGGLE, {"features": [{"id": 99, "toggle": 1}]}),
                ("FEATURE_DISABLED", pl.FEATURE_TOGGLE, {"features": [{"id": 16, "toggle": 1}]}),
                ("NO_SESSION", pl.XFER_DATA, {"session": 7, "offset": 0, "data": b"x"}), ("NO_SESSION", pl.XFER_END, {"session": 7})):
            self.assertEqual(self.ask(world, opcode, **fields), expected)
        self.assertEqual(self.ask(world, pl.PING, echo=bytes(64)), {"echo": bytes(64)})
        self.assertEqual(self.ask(world, pl.FEATURE_COUNTER), {"counter": 41, "hash8": bytes(8)})
        info = self.ask(world, pl.GET_DEVICE_INFO)
        self.assertEqual((info["serial"], info["product"], info["fw"]), (SERIAL, PRODUCT, OLD))
        state = self.ask(world, pl.FW_STATE)
        self.assertEqual((state["active"], state["active_state"], state["staged"], state["rollback"]),
                         (OLD, 1, pl.NO_VERSION, pl.NO_VERSION))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    tap.main("ogp simulated device")

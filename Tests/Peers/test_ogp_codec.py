#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The independent OGP/1 in Python against the specification's worked examples and the given vectors. Prints TAP lines."""

import hashlib
import json
import pathlib
import struct
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import tap  # noqa: E402
from ogp import payload as pl  # noqa: E402
from ogp import segment as seg  # noqa: E402
from ogp import signed, text, vectors  # noqa: E402
from ogp.frame import Frame, OgpError, crc32, event, refusal, request, response  # noqa: E402
from ogp.receiver import Receiver  # noqa: E402

VECTORS = HERE.parent / "vectors"
PRODUCT, SERIAL = 1234, 0x1122334455667788
INFO = "4f420101020002002800d20400008877665544332211f84d0f0042420f0069915b0050690f002900000000000000015702017ec6def6"
INFO_SEGMENTS = ["6001000036004f420101020002002800d2040000", "400101008877665544332211f84d0f0042420f00",
                 "4001020069915b0050690f002900000000000000", "58010300015702017ec6def6"]
PACKAGE = ("4f46503101010100d204000088776655443322112a0000000000000000f15365000000000000000000000000000000000000000000000000"
           "0300080010000101000000001100010200000000140000000000000023f2ac565da6bf4ffb2807919e531f3145bb7d07247d9ba3c60a462dd6"
           "c649df2ef55f15f277c62a081c391e48d008c06c5b06d4a053e945691035872f16db0a")
CLEAR = ("4f46503101030100d204000088776655443322112b0000000000000064f153650000000000000000000000000000000000000000000000000000"
         "0800dfe6932fa801af1ffe1f12659e6077ac92bb369528ce4433ce8da47c3ea86c7e9e1d3badf475df212f6a0b906f469730e4521e7454f67b"
         "6981f93ad74a15f407")
DELTA = ("4f46503101020101d204000088776655443322112c00000000000000c8f1536500000000a0a1a2a3a4a5a6a7a8a9aaabacadaeaf0000000001"
         "000800120001030700000076ca85fcad0e556db6ae789e6b9cc01a33da4607f3f2afae6f66084b62eb9b3fe25c0947c1555f2c919b0b509fa9"
         "c860876a635824aa8e10711247e9bd9c2f0a")
MANIFEST = ("4f464d3101010000d2040000e0510f0000000000ffc99a3be8030000ffd54a1189f4ff56a25dd1db06a4ce6033603775d705fb96f30f8693"
            "733fef602a1ca5320300000000000000e4e9e6a48730c159f0e3d8c16da7ff070de84d6ca0bf3f0bde15dba52831995dba40d9ad38b3f572"
            "92f5763fcaff2d2df45ca88870398f29799f79af08e3ba0a")
IMAGE = bytes(7 * i % 256 for i in range(1000))
KEY = signed.Key(bytes(range(32)))
NONCE = bytes(range(0xA0, 0xB0))


class Examples(unittest.TestCase):
    """The worked examples of the specification, in its order."""

    def frame(self, expected, built):
        self.assertEqual(built.encode().hex(), expected)
        self.assertEqual(Frame.decode(bytes.fromhex(expected)), built)
        pl.fields_of(built)

    def test_checksum(self):
        self.assertEqual(crc32(b"123456789"), 0xCBF43926)
        self.assertEqual(crc32(b"6789", crc32(b"12345")), 0xCBF43926)

    def test_hello_and_device_information(self):
        self.frame("4f420100010001000e00010100100800010203040506070829059b94", request(1, pl.HELLO, pl.request_payload(
            pl.HELLO, proto_min=1, proto_max=1, max_frame=4096, window=8, nonce=bytes(range(1, 9)))))
        self.frame("4f420101010001000c0001001008ff000000d4c3b2a142fbf71b", response(1, pl.HELLO, pl.answer_payload(
            pl.HELLO, proto=1, max_frame=4096, window=8, caps=0xFF, boot_id=0xA1B2C3D4)))
        self.frame("4f420100020002000000c4763457", request(2, pl.GET_DEVICE_INFO))
        self.frame(INFO, response(2, pl.GET_DEVICE_INFO, pl.answer_payload(
            pl.GET_DEVICE_INFO, product=PRODUCT, serial=SERIAL, fw=text.version_code("1.3.0"),
            bootloader=text.version_code("1.0.2"), stack=text.version_code("6.1.1"), sdk=text.version_code("1.10.0"),
            counter=41, flags=1, battery=87, hw_rev=2, key_id=1)))

    def test_segments(self):
        self.assertEqual([part.hex() for part in seg.split(bytes.fromhex(INFO), seg.segment_size(23), 1, 8)], INFO_SEGMENTS)
        self.assertEqual([part.hex() for part in seg.split(bytes.fromhex(INFO), seg.segment_size(64), 1, 8)],
                         ["780100003600" + INFO])

    def test_control_segments(self):
        for expected, control in (("440101000400000000000800", seg.Control(1, seg.ACK, 0, 4, 0, 8)),
                                  ("440101000200030000000800", seg.Control(1, seg.ACK, 0, 2, 3, 8)),
                                  ("440903050000000000000800", seg.Control(9, seg.RESET, seg.TIMEOUT, 0, 0, 8))):
            self.assertEqual(control.encode().hex(), expected)
            self.assertEqual(seg.Control.decode(bytes.fromhex(expected)), control)

    def test_features(self):
        self.frame("4f4201000300100005000210001100e67dfb2a",
                   request(3, pl.FEATURE_STATUS, pl.request_payload(pl.FEATURE_STATUS, ids=[16, 17])))
        self.frame("4f420101030010000900021000010111000000dcd3ebd0", response(3, pl.FEATURE_STATUS, pl.answer_payload(
            pl.FEATURE_STATUS, features=[{"id": 16, "enable": 1, "toggle": 1}, {"id": 17, "enable": 0, "toggle": 0}])))
        self.frame("4f42010004001100040001100002af241de8", request(4, pl.FEATURE_TOGGLE, pl.request_payload(
            pl.FEATURE_TOGGLE, features=[{"id": 16, "toggle": 2}])))
        self.frame("4f42010505001109000025aa7455", refusal(5, pl.FEATURE_TOGGLE, "FEATURE_DISABLED"))

    def test_package(self):
        self.assertEqual(KEY.public.hex(), "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8")
        made = signed.build_package(KEY, PRODUCT, SERIAL, 42, [(16, 1, 1, 0), (17, 1, 2, 0), (20, 0, 0, 0)])
        self.assertEqual(made.hex(), PACKAGE)
        self.assertEqual((len(made), crc32(made)), (148, 0xDDA75952))
        self.assertEqual(hashlib.sha256(made).hexdigest(), "2cbd783285f299840f1052a9bf36cfcbe7f65c11fc79f7e6189a23a23779001d")

    def test_transfer(self):
        made = bytes.fromhex(PACKAGE)
        self.frame("4f420100060020002e0001000004940000005259a7dd2cbd783285f299840f1052a9bf36cfcbe7f65c11fc79f7e6189a23a23779001d"
                   "0000de6ab82d", request(6, pl.XFER_BEGIN, pl.request_payload(
                       pl.XFER_BEGIN, obj=1, flags=0, chunk_max=1024, size=148, crc32=0xDDA75952,
                       sha256=hashlib.sha256(made).digest(), manifest=b"")))
        self.frame("4f420101060020000e000403020100000000000400000000dfc11283", response(6, pl.XFER_BEGIN, pl.answer_payload(
            pl.XFER_BEGIN, session=0x01020304, offset=0, chunk_max=1024, crc32=0)))
        self.frame("4f42010007002100280004030201000000004f46503101010100d204000088776655443322112a0000000000000000f1536512828d25",
                   request(7, pl.XFER_DATA, pl.request_payload(pl.XFER_DATA, session=0x01020304, offset=0, data=made[:32])))
        self.frame("4f42010008002300040004030201024e48b7",
                   request(8, pl.XFER_END, pl.request_payload(pl.XFER_END, session=0x01020304)))
        self.frame("4f42010108002300040000010000ef8011bf",
                   response(8, pl.XFER_END, pl.answer_payload(pl.XFER_END, result=0, flags=1, detail=0)))

    def test_manifest_and_resume(self):
        made = signed.build_manifest(KEY, PRODUCT, text.version_code("1.4.0"), IMAGE, 3)
        self.assertEqual(made.hex(), MANIFEST)
        self.assertEqual((crc32(IMAGE), crc32(IMAGE[:400])), (0x114AD5FF, 0xDC162E88))
        self.frame("4f420101090020000e000d0c0b0a900100000004882e16dce2643097", response(9, pl.XFER_BEGIN, pl.answer_payload(
            pl.XFER_BEGIN, session=0x0A0B0C0D, offset=400, chunk_max=1024, crc32=0xDC162E88)))

    def test_firmware(self):
        self.frame("4f4201000a0030000600e0510f00010a21a76c45", request(10, pl.FW_ACTIVATE, pl.request_payload(
            pl.FW_ACTIVATE, version=1_004_000, mode=1, delay_100ms=10)))
        self.frame("4f4201010b0032001400e0510f0002ffffffff00f84d0f00030000001d01a6cf8f2f", response(
            11, pl.FW_STATE, pl.answer_payload(pl.FW_STATE, active=1_004_000, active_state=2, staged=pl.NO_VERSION,
                                               staged_state=0, rollback=1_003_000, epoch=3, trial_remaining_s=285)))
        self.frame("4f4201000c0031000500e0510f00019ce0b772",
                   request(12, pl.FW_CONFIRM, pl.request_payload(pl.FW_CONFIRM, version=1_004_000, verdict=1)))
        self.frame("4f42010200008100030002e803284341e9",
                   event(pl.EVT_REBOOTING, pl.answer_payload(pl.EVT_REBOOTING, reason=2, delay_ms=1000)))

    def test_tampered_applied_again_older(self):
        made = bytes.fromhex(PACKAGE)
        holder = signed.Holder(PRODUCT, SERIAL, {1: KEY.public}, 41, fw=1_003_000)
        with self.assertRaisesRegex(OgpError, "SIG_INVALID"):
            holder.accept(made[:62] + bytes([made[62] ^ 1]) + made[63:])
        self.assertEqual(holder.accept(made)[0], "OK")
        self.assertEqual(holder.accept(made)[0], "ALREADY_APPLIED")
        with self.assertRaisesRegex(OgpError, "REPLAY"):
            holder.accept(signed.build_package(KEY, PRODUCT, SERIAL, 41))

    def test_version_codes(self):
        self.assertEqual(struct.pack("<I", text.version_code("1.3.0")).hex(), "f84d0f00")
        self.assertEqual((text.version_code("999.999.999"), text.version_text(12007)), (999_999_999, "0.12.7"))

    def test_arithmetic(self):
        self.assertEqual([seg.segment_size(mtu) for mtu in (23, 64, 517)], [20, 61, 512])
        self.assertEqual((seg.count_of(54, 20), seg.count_of(54, 61)), (4, 1))

    def test_ping(self):
        self.frame("4f4201000201030000001138e8d2", request(0x0102, pl.PING))
        with self.assertRaisesRegex(OgpError, "FRAME_BAD_CRC"):
            Frame.decode(bytes.fromhex("4f4201000201030000001138e8d3"))

    def test_clear_and_bound_delta(self):
        self.assertEqual(signed.build_package(KEY, PRODUCT, SERIAL, 43, kind=signed.CLEAR, issued=1_700_000_100).hex(), CLEAR)
        made = signed.build_package(KEY, PRODUCT, SERIAL, 44, [(18, 1, 3, 7)], kind=signed.DELTA, flags=signed.NONCE_BOUND,
                                    nonce=NONCE, issued=1_700_000_200)
        self.assertEqual(made.hex(), DELTA)
        holder = signed.Holder(PRODUCT, SERIAL, {1: KEY.public}, 43, nonce=NONCE, fw=1_003_000)
        holder.accept(made)
        self.assertEqual((holder.features, holder.nonce), ({18: (1, 1, 7)}, bytes(16)))

    def received(self, *segments):
        sent = []
        receiver = Receiver(lambda data: sent.append(data.hex()))
        messages = [receiver.feed(bytes.fromhex(data), 10 * i) for i, data in enumerate(segments)]
        return [message for message in messages if message], sent, receiver.errors

    def test_loss_and_repair(self):
        zero, one, two, three = INFO_SEGMENTS
        messages, sent, errors = self.received(zero, one, three, two)
        self.assertEqual((messages, errors), ([bytes.fromhex(INFO)], []))
        self.assertEqual(sent, ["440101000200010000000800", "440101000400000000000800"])

    def test_conflict(self):
        zero, one, two, three = INFO_SEGMENTS
        messages, sent, errors = self.received(zero, one, one[:-2] + "40", two, three, *INFO_SEGMENTS)
        self.assertEqual((messages, errors), ([bytes.fromhex(INFO)], ["SEG_CONFLICT", "SEG_STALE", "SEG_STALE"]))
        self.assertEqual(sent, ["440102040000000000000800", "440101000400000000000800"])

    def test_expected_offset(self):
        self.frame("4f4201050d0021100400900100003e425a71", refusal(13, pl.XFER_DATA, "BAD_OFFSET", struct.pack("<I", 400)))

    def test_status_values(self):
        self.assertEqual(text.status_flags(bytes.fromhex("4f4750010000")), 0)
        for value in ("4f4750020000", "4f47500100", ""):
            with self.assertRaisesRegex(OgpError, "UNSUPPORTED_PROFILE"):
                text.status_flags(bytes.fromhex(value))


class Vectors(unittest.TestCase):
    def test_given_vectors(self):
        count = 0
        for line in (VECTORS / "obvious.jsonl").read_text(encoding="utf-8").splitlines():
            vector = json.loads(line)
            with self.subTest(vector["id"]):
                self.assertEqual(vectors.answer(vector), vector["expect"])
            count += 1
        self.assertGreater(count, 100)

    def test_every_error_name_has_a_vector(self):
        seen = set()
        for line in (VECTORS / "obvious_peer.jsonl").read_text(encoding="utf-8").splitlines():
            vector = json.loads(line)
            names = [vector["expect"].get("error"), *vector["expect"].get("errors", ())]
            seen |= {(vector["kind"], name) for name in names if name}
        frame = ["FRAME_BAD_" + name for name in "LENGTH MAGIC CRC VERSION CORR STATUS".split()]
        expected = {
            "frame": frame + "FRAME_RESERVED UNKNOWN_OPCODE BAD_LENGTH BAD_PARAM".split(),
            "stream": ["SEG_" + name for name in "SHORT OVERSIZE BAD_VERSION RESERVED DUP STALE SUPERSEDED WINDOW BAD_INDEX "
                       "CONFLICT BAD_LEN BAD_SIZE TIMEOUT".split()] + ["CTL_BAD_LENGTH", "CTL_BAD_FLAGS", "CTL_BAD_TYPE"],
            "control": ["CTL_BAD_LENGTH", "CTL_BAD_FLAGS", "CTL_BAD_TYPE"],
            "package": "BAD_LENGTH BAD_FORMAT UNKNOWN_KEY SIG_INVALID WRONG_PRODUCT WRONG_DEVICE REPLAY NONCE_MISMATCH "
                       "FW_TOO_OLD".split(),
            "manifest": "BAD_LENGTH BAD_FORMAT UNKNOWN_KEY SIG_INVALID TOO_LARGE WRONG_PRODUCT DOWNGRADE NOT_SUPPORTED "
                        "HASH_MISMATCH".split(),
            "version": ["VER_FORMAT"], "version_code": ["VER_RANGE"], "card_number": ["CARD_NUMBER"],
            "profile": ["UUID_FORMAT", "UNSUPPORTED_PROFILE"],
        }
        self.assertEqual(seen, {(kind, name) for kind, names in expected.items() for name in names})

    def test_committed_vectors_are_what_is_computed(self):
        done = subprocess.run([sys.executable, HERE / "make_obvious_vectors.py", "--check", VECTORS / "obvious_peer.jsonl"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    tap.main("ogp codec")

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the reference cloud: its objects byte by byte, its calls, and the program over TLS. Prints TAP lines."""
import base64
import hashlib
import http.client
import json
import os
import pathlib
import select
import ssl
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
CLOUD = pathlib.Path(__file__).resolve().parent.parent.parent / "examples/cloud"
sys.path.insert(0, str(CLOUD))

from cryptography.exceptions import InvalidSignature  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: E402

from obvious_cloud import objects  # noqa: E402
from obvious_cloud.api import Api, Request  # noqa: E402
from obvious_cloud.store import Store  # noqa: E402

SERIAL = "00000000000000A1"
KEY = "test_key"
CARD = {"expMonth": 4, "expYear": 2033, "cvc": "123"}


class Objects(unittest.TestCase):
    def test_package_bytes(self):
        made = objects.package(lambda text: b"S" * 64, 3, objects.FULL, 0x04030201, 0x0807060504030201, 9, 10,
                               [(17, 0, 2, 7), (16, 1, 3, 0)], nonce=bytes(range(16)), reboots=True, min_fw=1003000)
        self.assertEqual(made[:-64].hex(), "4f465031" "01" "01" "03" "03" "01020304" "0102030405060708"
                         "0900000000000000" "0a00000000000000" "000102030405060708090a0b0c0d0e0f" "f84d0f00" "0200"
                         "0800" "1000010300000000" "1100000207000000")
        self.assertEqual(len(made), 124 + 8 * 2)

    def test_package_without_nonce(self):
        made = objects.package(lambda text: b"", 1, objects.PROVISION, 1, 2, 3, 4)
        self.assertEqual((made[5], made[7], made[36:52]), (4, 0, bytes(16)))

    def test_manifest_bytes(self):
        made = objects.manifest(lambda text: b"S" * 64, 3, 1, 1004000, b"123456789", 1003000, 1003999, 5, True)
        self.assertEqual(made[:-64].hex(), "4f464d31" "01" "03" "0100" "01000000" "e0510f00" "f84d0f00" "df510f00"
                         "09000000" "2639f4cb" + hashlib.sha256(b"123456789").hexdigest() + "05000000" "00000000")
        self.assertEqual(len(made), 136)

    def test_signatures_cover_the_domain(self):
        key = ed25519.Ed25519PrivateKey.generate()
        for made, domain in [(objects.package(key.sign, 1, 1, 1, 2, 3, 4), b"OBVIOUS-OFP1\0"),
                             (objects.manifest(key.sign, 1, 1, 2, b"x"), b"OBVIOUS-OFM1\0")]:
            key.public_key().verify(made[-64:], domain + made[:-64])
            with self.assertRaises(InvalidSignature):
                key.public_key().verify(made[-64:], made[:-64])

    def test_versions(self):
        self.assertEqual(objects.version_code("1.3.0"), 1003000)
        self.assertEqual(objects.version_text(1003000), "1.3.0")
        for text in ["", "1.3", "1.3.0.0", "1.3.x", "1000.0.0", "1.-3.0", "1.٣.0"]:
            with self.assertRaises(ValueError):
                objects.version_code(text)


class Calls(unittest.TestCase):
    """The calls without sockets."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.key = ed25519.Ed25519PrivateKey.generate()
        self.store = Store(pathlib.Path(self.folder.name), self.key)
        self.addCleanup(self.store.db.close)
        self.api = Api(self.store, KEY)

    def call(self, method, target, body=None, key=KEY, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        data = b"" if body is None else json.dumps(body).encode()
        answer = self.api.answer(Request(method, target, {"x-obvious-api-key": key, **headers}, data, "https://cloud"))
        return answer.status, json.loads(answer.body) if answer.body[:1] == b"{" else answer.body

    def update(self, counter, **more):
        return self.call("POST", f"/v1/devices/{SERIAL}/feature-update",
                         {"productId": "1234", "counter": str(counter), "firmwareVersion": "1.3.0",
                          "appVersion": "1.0.0", **more})

    def provision(self):
        return self.call("POST", f"/v1/devices/{SERIAL}/provision", {"productId": "1234", "nonce": "01" * 16})

    def cart(self, *items):
        return self.call("POST", "/v1/carts", {"items": list(items) or [7], "serialNumber": SERIAL,
                                               "productIdentifier": "1234"})

    def pay(self, cart, number, key="0" * 36, **more):
        return self.call("POST", f"/v1/carts/{cart}/payments",
                         {"card": {"number": number, **CARD}, "serialNumber": SERIAL, "productIdentifier": "1234",
                          **more}, idempotency_key=key)

    def test_the_key_is_required(self):
        self.assertEqual(self.call("GET", "/v1/catalogs/default", key="")[0], 401)
        self.assertEqual(self.call("GET", "/v1/catalogs/default", key=KEY + "x")[0], 401)
        self.assertEqual(self.call("GET", "/v1/catalogs/default")[0], 200)

    def test_features(self):
        status, body = self.call("GET", "/v1/products/1234/features")
        self.assertEqual((status, body["features"][0]), (200, {"id": 16, "name": "Led", "toggleable": True}))
        self.assertEqual(self.call("GET", "/v1/products/1235/features")[1]["code"], "UNKNOWN_PRODUCT")

    def test_a_product_of_ones_own(self):
        lamp = {"product": "5678", "features": [{"id": 16, "name": "Light", "switch": True}, {"id": 3, "name": "On", "free": True}],
                "items": [{"id": 1, "name": "Light", "price": "0.29", "features": [16]}]}
        self.store.define(lamp)
        self.assertEqual(self.call("GET", "/v1/products/5678/features"), (200, {"features": [
            {"id": 3, "name": "On", "toggleable": False}, {"id": 16, "name": "Light", "toggleable": True}]}))
        items = self.call("GET", "/v1/catalogs/default?productId=5678")[1]["items"]
        self.assertEqual([(item["id"], item["itemprice"], item["featureIds"]) for item in items], [(1, "0.29", [16])])
        device = {"serial": SERIAL, "product": "5678"}
        self.assertEqual(self.store.entries(device), [(3, 1, objects.TOGGLE_NONE, 0), (16, 0, objects.TOGGLE_KEEP, 0)])
        # Again: in the place of what there was; the other product is as before.
        self.store.define({**lamp, "features": lamp["features"][1:], "items": []})
        self.assertEqual(len(self.call("GET", "/v1/products/5678/features")[1]["features"]), 1)
        self.assertEqual(len(self.call("GET", "/v1/catalogs/default")[1]["items"]), 2)
        for wrong in ({"features": [{"id": 0, "name": "x"}]}, {"items": [{"id": 2, "name": "x", "price": "1", "features": [17]}]}):
            with self.assertRaises(ValueError):
                self.store.define({**lamp, **wrong})

    def test_first_provisioning_then_a_package_then_nothing_new(self):
        status, body = self.update(0)
        self.assertEqual((status, body["code"], body["inField"]), (404, "NOT_PROVISIONED", True))
        status, body = self.provision()
        data = base64.b64decode(body["package"])
        self.assertEqual((status, data[5], data[7], data[36:52], body["counter"]), (200, 4, 1, b"\1" * 16, "1"))
        status, body = self.update(1, nonce="02" * 16)
        data = base64.b64decode(body["package"])
        self.assertEqual((status, data[5], body["counter"]), (200, 1, "2"))
        self.assertEqual(body["sha256"], hashlib.sha256(data).hexdigest())
        self.assertEqual(data[60:-64].hex(), "1000000300000000" "1100000300000000" "1200000000000000"
                         "1300010000000000")
        self.key.public_key().verify(data[-64:], b"OBVIOUS-OFP1\0" + data[:-64])
        # Not reported as applied: a package again, with a higher counter.
        self.assertEqual(self.update(1)[1]["counter"], "3")
        self.assertEqual(self.call("POST", f"/v1/devices/{SERIAL}/feature-update/result",
                                   {"counter": "3", "status": 0})[0], 204)
        self.assertEqual(self.update(3), (204, b""))

    def test_counters_stay_above_the_device(self):
        self.provision()
        self.assertEqual(self.update(41)[1]["counter"], "42")

    def test_a_failed_update_is_not_applied(self):
        self.provision()
        counter = self.update(1)[1]["counter"]
        self.call("POST", f"/v1/devices/{SERIAL}/feature-update/result", {"counter": counter, "status": 7})
        self.assertEqual(self.update(int(counter))[0], 200)

    def test_provisioning_can_be_forbidden(self):
        self.store.db.execute("UPDATE product SET in_field = 0")
        self.assertEqual(self.provision()[1]["code"], "IN_FIELD_NOT_ALLOWED")
        self.assertEqual(self.update(0)[1]["inField"], False)

    def test_a_purchase_unlocks(self):
        self.provision()
        counter = self.update(1)[1]["counter"]
        self.call("POST", f"/v1/devices/{SERIAL}/feature-update/result", {"counter": counter, "status": 0})
        status, body = self.cart(7)
        self.assertEqual((status, body["totalPrice"], body["currency"]), (201, 499, "USD"))
        status, body = self.pay(body["cartId"], "4242424242424242")
        self.assertEqual((status, body["status"]), (200, "succeeded"))
        status, body = self.update(int(counter))
        self.assertEqual((status, base64.b64decode(body["package"])[60:68].hex()), (200, "1000010300000000"))

    def test_cards(self):
        for number, code in [("4000000000000002", "card_declined"), ("4000000000009995", "insufficient_funds"),
                             ("5555555555554444", "not_a_test_card")]:
            cart = self.cart()[1]["cartId"]
            status, body = self.pay(cart, number, key=number + "0" * 20)
            self.assertEqual((status, body["status"], body["code"]), (402, "failed", code))
        self.assertEqual(self.store.all("SELECT * FROM owned"), [])

    def test_idempotency(self):
        cart = self.cart()[1]["cartId"]
        first = self.pay(cart, "4242424242424242")
        self.assertEqual(self.pay(cart, "4242424242424242"), first)
        self.assertEqual(self.store.one("SELECT count(*) n FROM payment")["n"], 1)
        self.assertEqual(self.pay(cart, "4242424242424242", key="1" * 36)[1]["code"], "ALREADY_PAID")
        self.assertEqual(self.pay(self.cart()[1]["cartId"], "4242424242424242")[1]["code"], "IDEMPOTENCY_KEY")
        self.assertEqual(self.pay(cart, "4242424242424242", key="")[1]["code"], "NO_IDEMPOTENCY_KEY")

    def authenticate(self, cart, secret):
        return self.call("POST", f"/v1/carts/{cart}/payments/authenticate", {"paymentSecret": secret})

    def test_action_required(self):
        cart = self.cart()[1]["cartId"]
        status, body = self.pay(cart, "4000000000003220")
        self.assertEqual((status, body["status"]), (200, "action_required"))
        self.assertEqual(self.authenticate(cart, "ps_wrong")[0], 404)
        self.assertEqual(self.authenticate(cart, body["paymentSecret"]), (200, {"status": "pending"}))
        action = body["actionUrl"].removeprefix("https://cloud/action/")
        self.assertTrue(self.api.approve(action, "approved"))
        self.assertEqual(self.authenticate(cart, body["paymentSecret"])[1]["status"], "succeeded")
        self.assertEqual(len(self.store.all("SELECT * FROM owned")), 1)
        self.assertFalse(self.api.approve("00", "approved"))

    def test_action_required_twice_and_denied(self):
        cart = self.cart()[1]["cartId"]
        body = self.pay(cart, "4000002760003184")[1]
        action, secret = body["actionUrl"].removeprefix("https://cloud/action/"), body["paymentSecret"]
        self.api.approve(action, "approved")
        self.assertEqual(self.authenticate(cart, secret)[1]["status"], "action_required")
        self.assertEqual(self.authenticate(cart, secret)[1]["status"], "pending")
        self.api.approve(action, "denied")
        self.assertEqual(self.authenticate(cart, secret)[1]["status"], "failed")
        self.assertEqual(self.store.all("SELECT * FROM owned"), [])

    def test_the_database_has_no_card_number(self):
        for index, number in enumerate(["4242424242424242", "4000000000000002", "4000000000003220"]):
            self.pay(self.cart()[1]["cartId"], number, key=f"{index}" * 36)
        for path in pathlib.Path(self.folder.name).iterdir():
            for number in [b"4242424242424242", b"4000000000000002", b"4000000000003220"]:
                self.assertNotIn(number, path.read_bytes(), path)

    def test_firmware(self):
        status, body = self.call("GET", f"/v1/products/1234/firmware/latest?serial={SERIAL}&current=1.3.0")
        image = self.api.answer(Request("GET", body["url"], {}))
        self.assertEqual((status, image.status, len(image.body)), (200, 200, body["size"]))
        self.assertEqual(hashlib.sha256(image.body).hexdigest(), body["sha256"])
        self.assertEqual(base64.b64decode(body["manifest"])[32:64].hex(), body["sha256"])
        self.assertEqual(self.call("GET", "/v1/products/1234/firmware/latest?current=1.4.0"), (204, b""))
        self.assertEqual(self.call("GET", "/v1/products/1234/firmware/latest?current=x")[1]["code"], "BAD_VERSION")

    def test_ranges(self):
        url = self.call("GET", "/v1/products/1234/firmware/latest?current=1.3.0")[1]["url"]
        whole = self.api.answer(Request("GET", url, {}))
        part = self.api.answer(Request("GET", url, {"range": "bytes=100-", "if-range": whole.headers["ETag"]}))
        self.assertEqual((part.status, part.body, part.headers["Content-Range"]),
                         (206, whole.body[100:], f"bytes 100-{len(whole.body) - 1}/{len(whole.body)}"))
        other = self.api.answer(Request("GET", url, {"range": "bytes=100-", "if-range": '"other"'}))
        self.assertEqual((other.status, other.body), (200, whole.body))
        self.assertEqual(self.api.answer(Request("GET", url, {"range": "bytes=99999999-"})).status, 416)

    def test_malformed_requests(self):
        for body in [None, [], {}, {"productId": 1}, {"productId": True, "counter": "1"}]:
            status, answer = self.call("POST", f"/v1/devices/{SERIAL}/feature-update", body)
            self.assertEqual(status, 400, answer)
        self.assertEqual(self.update("x")[1]["code"], "BAD_COUNTER")
        self.assertEqual(self.call("POST", "/v1/devices/1/provision", {"productId": "1234"})[1]["code"], "BAD_SERIAL")
        self.assertEqual(self.cart(99)[1]["code"], "UNKNOWN_ITEM")
        self.assertIsNone(self.api.answer(Request("GET", "/v2/", {})))


class Program(unittest.TestCase):
    """The program itself, over TLS."""

    def start(self, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        process = subprocess.Popen(
            [CLOUD / "tendon-obvious-cloud", "--port", "0", "--data", folder.name, "--quiet", *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.stdin.close(), process.stdout.close(), process.stderr.close()))
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        ready, _, _ = select.select([process.stdout], [], [], 60)
        self.assertTrue(ready, "the program did not start")
        self.site, self.process, self.folder = json.loads(process.stdout.readline()), process, folder.name
        self.key = pathlib.Path(self.site["apiKeyFile"]).read_text().strip()

    def request(self, method, target, body=None):
        context = ssl.create_default_context(cafile=self.site["ca"])
        connection = http.client.HTTPSConnection("127.0.0.1", self.site["port"], context=context, timeout=20)
        try:
            connection.request(method, target, None if body is None else json.dumps(body),
                               {"X-Obvious-Api-Key": self.key})
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            connection.close()

    def test_it_ends_with_its_input(self):
        self.start("--until-input-ends")
        self.assertEqual(self.request("GET", "/v1/products/1234/features")[0], 200)
        self.process.stdin.close()
        self.assertEqual(self.process.wait(20), 0)

    def test_it_serves_and_says_what_it_is(self):
        self.start()
        self.assertEqual(self.request("GET", "/v1/products/1234/features")[0], 200)
        for name in ["api.key", "signing.pem", "server.key", "ca.key"]:
            self.assertEqual(os.stat(pathlib.Path(self.folder) / name).st_mode & 0o777, 0o600, name)
        self.process.terminate()
        self.process.wait(20)
        self.assertIn("development server", self.process.stderr.read())
        text = subprocess.run([CLOUD / "tendon-obvious-cloud", "--help"], capture_output=True, text=True, check=True)
        self.assertIn("development server", text.stdout)

    def test_products_and_firmware_of_ones_own(self):
        with tempfile.TemporaryDirectory() as folder:
            product, image = pathlib.Path(folder) / "lamp.json", pathlib.Path(folder) / "image"
            product.write_text('{"product": "5678", "features": [{"id": 16, "name": "Light"}]}')
            image.write_bytes(b"123456789")
            self.start("--product", str(product), "--firmware", f"5678:1.4.0@7:{image}:Brighter.")
            body = json.loads(self.request("GET", "/v1/products/5678/firmware/latest?current=1.3.0")[1])
            self.assertEqual((body["versionName"], body["releaseNotes"], body["size"]), ("1.4.0", "Brighter.", 9))
            # The epoch of OFM1, the number before the last one.
            self.assertEqual(base64.b64decode(body["manifest"])[64:68].hex(), "07000000")
            product.write_text('{"product": "5678"}')
            failed = subprocess.run([CLOUD / "tendon-obvious-cloud", "--data", folder, "--product", product],
                                    capture_output=True, text=True)
            self.assertEqual(failed.returncode, 2)
            self.assertIn("'features' is missing", failed.stderr)

    def test_the_number_of_an_item_is_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            product = pathlib.Path(folder) / "lamp.json"
            feature, item = {"id": 16, "name": "Light"}, {"name": "Light", "price": "1", "features": [16]}
            for numbers, owner in [((7,), 1234), ((1, 1), 5678)]:
                product.write_text(json.dumps({"product": "5678", "features": [feature],
                                               "items": [{"id": number, **item} for number in numbers]}))
                self.assertEqual(self.failure("--port", "0", "--product", str(product)),
                                 (2, [f"tendon-obvious-cloud: --product: item {numbers[0]} belongs to product {owner} "
                                      "already; an item has a number of its own in a cloud"]))

    def failure(self, *options):
        """The status of the program with these options, and the lines on its standard error."""
        with tempfile.TemporaryDirectory() as folder:
            # A program that starts all the same ends with its input.
            ended = subprocess.run([CLOUD / "tendon-obvious-cloud", "--data", folder, "--until-input-ends", *options],
                                   stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            return ended.returncode, ended.stderr.splitlines()

    def test_a_port_in_use(self):
        self.start()
        port = str(self.site["port"])
        self.assertEqual(self.failure("--port", port),
                         (1, [f"tendon-obvious-cloud: port {port} is in use: --port N"]))

    def test_mistakes_in_firmware(self):
        with tempfile.NamedTemporaryFile() as image:
            self.assertEqual(self.failure("--port", "0", "--firmware", "5678:1.4.0"),
                             (2, ["tendon-obvious-cloud: --firmware: PRODUCT:VERSION[@EPOCH]:FILE[:NOTES], "
                                  "not '5678:1.4.0'"]))
            self.assertEqual(self.failure("--port", "0", "--firmware", f"999:1.4.0:{image.name}"),
                             (2, ["tendon-obvious-cloud: --firmware: no product 999; this cloud has 1234, and "
                                  "--product adds one"]))

    def test_faults(self):
        self.start("--fault", '{"do": "status", "status": 503, "headers": {"Retry-After": "7"}}')
        features = "/v1/products/1234/features"
        status, _, headers = self.request("GET", features)
        self.assertEqual((status, headers["Retry-After"]), (503, "7"))
        whole = self.request("GET", features)[1]

        def fault(**members):
            self.assertEqual(self.request("POST", "/admin/faults", members)[0], 204)

        fault(do="redirect", location="https://elsewhere.test/")
        self.assertEqual(self.request("GET", features)[0], 302)
        fault(do="deep", depth=40)
        self.assertEqual(self.request("GET", features)[1], b"[" * 40 + b"]" * 40)
        fault(do="huge", bytes=1 << 20, match="GET /v1/products")
        self.assertEqual(len(json.loads(self.request("GET", features)[1])["features"]), (1 << 20) - 15)
        fault(do="cut", after=10)
        with self.assertRaises(http.client.IncompleteRead) as raised:
            self.request("GET", features)
        self.assertEqual(raised.exception.partial, whole[:10])
        fault(do="length", add=-5)
        self.assertEqual(self.request("GET", features)[1], whole[:-5])
        fault(do="close")
        with self.assertRaises(http.client.RemoteDisconnected):
            self.request("GET", features)
        fault(do="drip", bytes=16, pause=0)
        self.assertEqual(self.request("GET", features)[1], whole)
        self.assertEqual(self.request("POST", "/admin/faults", {"do": "unknown"})[0], 400)
        seen = json.loads(self.request("GET", "/admin/log")[1])["requests"]
        self.assertEqual(seen[0]["target"], features)

    def test_bad_certificates(self):
        for kind, reason in [("expired", "expired"), ("wrong-host", "mismatch"), ("unknown-authority", "verify")]:
            self.start("--certificate", kind)
            with self.assertRaises(ssl.SSLCertVerificationError) as raised:
                self.request("GET", "/v1/catalogs/default")
            self.assertIn(reason, str(raised.exception))


class Tap(unittest.TextTestResult):
    """One TAP line per test."""

    def startTest(self, test):
        super().startTest(test)
        self.failed = False

    def addError(self, test, error):
        super().addError(test, error)
        self.failed = True

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.failed = True

    def stopTest(self, test):
        super().stopTest(test)
        print("not ok" if self.failed else "ok", "- reference cloud:",
              f"{type(test).__name__}: {test._testMethodName.removeprefix('test_').replace('_', ' ')}", flush=True)


if __name__ == "__main__":
    unittest.main(testRunner=unittest.TextTestRunner(resultclass=Tap, verbosity=0))

# SPDX-License-Identifier: MIT
"""The calls of the cloud's API: (method, path) to a function that returns an Answer. No sockets here."""
import base64
import dataclasses
import hashlib
import json
import re
import secrets
import urllib.parse

from . import objects
from .store import crc32_text

MAX_REQUEST = 64 * 1024
#: Published test numbers; no other number is accepted. The value is (what happens, steps of authentication).
CARDS = {
    "4242424242424242": ("succeeded", 0),
    "4000000000000002": ("card_declined", 0),
    "4000000000009995": ("insufficient_funds", 0),
    "4000000000003220": ("action_required", 1),
    "4000002760003184": ("action_required", 2),
}


@dataclasses.dataclass
class Request:
    method: str
    target: str
    headers: dict
    body: bytes = b""
    origin: str = ""

    @property
    def path(self):
        return urllib.parse.urlsplit(self.target).path

    @property
    def query(self):
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.target).query))


@dataclasses.dataclass
class Answer:
    status: int
    body: bytes = b""
    headers: dict = dataclasses.field(default_factory=dict)


def reply(status, value):
    return Answer(status, json.dumps(value).encode(), {"Content-Type": "application/json"})


def refuse(status, code, message, **more):
    return reply(status, {"code": code, "message": message, **more})


class Refused(Exception):
    """Ends a call with an answer."""

    def __init__(self, answer):
        super().__init__(answer.status)
        self.answer = answer


class Api:
    def __init__(self, store, api_key, locks_carts=True):
        self.store, self.api_key, self.locks_carts = store, api_key, locks_carts
        self.routes = [(method, re.compile(pattern + r"\Z"), getattr(self, name)) for method, pattern, name in [
            ("GET", r"/v1/products/([^/]+)/features", "features"),
            ("POST", r"/v1/devices/([^/]+)/feature-update", "feature_update"),
            ("POST", r"/v1/devices/([^/]+)/feature-update/result", "feature_result"),
            ("POST", r"/v1/devices/([^/]+)/provision", "provision"),
            ("GET", r"/v1/products/([^/]+)/firmware/latest", "firmware_latest"),
            ("GET", r"/v1/firmware/([0-9a-f]+\.bin)", "firmware_image"),
            ("POST", r"/v1/devices/([^/]+)/firmware-result", "firmware_result"),
            ("GET", r"/v1/catalogs/default", "catalog"),
            ("POST", r"/v1/carts", "checkout"),
            ("POST", r"/v1/carts/([0-9]{1,9})/payments", "pay"),
            ("POST", r"/v1/carts/([0-9]{1,9})/payments/authenticate", "authenticate"),
        ]]

    def answer(self, request):
        """The answer of an API call, or None: no such path."""
        for method, pattern, call in self.routes:
            match = pattern.match(request.path)
            if match and method == request.method:
                # Images have no secrets, and a client sends its key to the API's own origin only.
                if call != self.firmware_image and not self.is_authorized(request):
                    return refuse(401, "API_KEY", "the API key is missing or wrong")
                try:
                    with self.store.lock:
                        return call(request, *(urllib.parse.unquote(part) for part in match.groups()))
                except Refused as refused:
                    return refused.answer
        return None

    def is_authorized(self, request):
        return secrets.compare_digest(request.headers.get("x-obvious-api-key", "").encode(), self.api_key.encode())

    # ---- checks ----

    @staticmethod
    def members(request, **kinds):
        """The body's members, each of its type; a type in a tuple of one is optional."""
        try:
            body = json.loads(request.body)
        except ValueError:
            raise Refused(refuse(400, "BAD_JSON", "the body is not JSON")) from None
        if not isinstance(body, dict):
            raise Refused(refuse(400, "BAD_JSON", "the body is no object"))
        for name, kind in kinds.items():
            optional = isinstance(kind, tuple)
            kind = kind[0] if optional else kind
            value = body.get(name)
            if value is None and optional:
                continue
            if not isinstance(value, kind) or isinstance(value, bool):
                raise Refused(refuse(400, "BAD_MEMBER", f"{name} is missing or of another type"))
        return body

    def product(self, text):
        row = self.store.one("SELECT * FROM product WHERE id = ?", text)
        if row is None:
            raise Refused(refuse(404, "UNKNOWN_PRODUCT", "there is no such product"))
        return row

    def device(self, serial, product):
        if not re.fullmatch("[0-9A-F]{16}", serial):
            raise Refused(refuse(400, "BAD_SERIAL", "a serial number is 16 upper-case hexadecimal digits"))
        row = self.store.device(serial, self.product(product)["id"])
        if row["product"] != product:
            raise Refused(refuse(409, "WRONG_PRODUCT", "the device is of another product"))
        return row

    @staticmethod
    def nonce(body):
        text = body.get("nonce")
        if text is None:
            return None
        if not re.fullmatch("[0-9a-f]{32}", text):
            raise Refused(refuse(400, "BAD_NONCE", "a nonce is 32 hexadecimal digits"))
        return bytes.fromhex(text)

    @staticmethod
    def counter(body):
        text = body["counter"]
        if not re.fullmatch("[0-9]{1,18}", text):
            raise Refused(refuse(400, "BAD_COUNTER", "a counter is a decimal number as text"))
        return int(text)

    @staticmethod
    def version(text):
        try:
            return objects.version_code(text)
        except ValueError:
            raise Refused(refuse(400, "BAD_VERSION", "a version is of the form 1.2.3")) from None

    # ---- features ----

    def features(self, request, product):
        self.product(product)
        rows = self.store.all("SELECT * FROM feature WHERE product = ? ORDER BY id", product)
        return reply(200, {"features": [{"id": r["id"], "name": r["name"], "toggleable": bool(r["toggleable"])}
                                        for r in rows]})

    def feature_update(self, request, serial):
        body = self.members(request, productId=str, counter=str, nonce=(str,), firmwareVersion=str, appVersion=str)
        self.version(body["firmwareVersion"])
        row, claimed = self.device(serial, body["productId"]), self.counter(body)
        if not row["provisioned"]:
            in_field = bool(self.product(body["productId"])["in_field"])
            return refuse(404, "NOT_PROVISIONED", "the device is not provisioned", inField=in_field)
        if not row["changed"] and claimed == row["applied"]:
            return Answer(204)
        return self.package(*self.store.package(row, objects.FULL, claimed, self.nonce(body), self.store.entries(row)))

    def provision(self, request, serial):
        body = self.members(request, productId=str, nonce=(str,))
        row = self.device(serial, body["productId"])
        if not self.product(body["productId"])["in_field"]:
            return refuse(403, "IN_FIELD_NOT_ALLOWED", "devices of this product are provisioned at the factory")
        answer = self.package(*self.store.package(row, objects.PROVISION, 0, self.nonce(body)))
        self.store.db.execute("UPDATE device SET provisioned = 1, changed = 1 WHERE serial = ?", (serial,))
        return answer

    @staticmethod
    def package(counter, data):
        return reply(200, {"package": base64.b64encode(data).decode(), "counter": str(counter),
                           "sha256": hashlib.sha256(data).hexdigest()})

    def feature_result(self, request, serial):
        body = self.members(request, counter=str, status=int)
        counter = self.counter(body)
        self.store.report(serial, "feature-update", body)
        if body["status"] == 0:
            self.store.applied(serial, counter)
        return Answer(204)

    # ---- firmware ----

    def firmware_latest(self, request, product):
        self.product(product)
        query = request.query
        current, app = self.version(query.get("current", "")), self.version(query.get("app", "0.0.0"))
        row = self.store.firmware(product, current, app)
        if row is None:
            return Answer(204)
        return reply(200, {
            "versionCode": row["code"], "versionName": objects.version_text(row["code"]),
            "releaseNotes": row["notes"], "upgradeMessage": row["message"], "size": len(row["image"]),
            "crc32": crc32_text(row["image"]), "sha256": hashlib.sha256(row["image"]).hexdigest(),
            "manifest": base64.b64encode(row["manifest"]).decode(), "url": "/v1/firmware/" + row["file"]})

    def firmware_image(self, request, file):
        image = self.store.image(file)
        if image is None:
            return refuse(404, "UNKNOWN_IMAGE", "there is no such image")
        etag = f'"{hashlib.sha256(image).hexdigest()[:32]}"'
        headers = {"Content-Type": "application/octet-stream", "ETag": etag, "Accept-Ranges": "bytes"}
        wanted = re.fullmatch(r"bytes=([0-9]{1,12})-", request.headers.get("range", ""))
        # RFC 9110 section 13.1.5: a range of something that changed is answered with all of it.
        if wanted is None or request.headers.get("if-range", etag) != etag:
            return Answer(200, image, headers)
        first = int(wanted[1])
        if first >= len(image):
            return Answer(416, b"", {"Content-Range": f"bytes */{len(image)}"})
        headers["Content-Range"] = f"bytes {first}-{len(image) - 1}/{len(image)}"
        return Answer(206, image[first:], headers)

    def firmware_result(self, request, serial):
        self.store.report(serial, "firmware", self.members(request, versionCode=int, status=str))
        return Answer(204)

    # ---- shop ----

    def catalog(self, request):
        product = request.query.get("productId")
        if product is not None:
            self.product(product)
        rows = self.store.all("SELECT * FROM item WHERE ? IS NULL OR product = ? ORDER BY id", product, product)
        return reply(200, {"items": [{
            "id": r["id"], "name": r["name"], "description": r["description"],
            "itemprice": f"{r['cents'] // 100}.{r['cents'] % 100:02}", "currency": "USD", "imageurl": r["image"],
            "thumbnailurl": r["thumbnail"], "featureIds": json.loads(r["features"])} for r in rows]})

    def checkout(self, request):
        body = self.members(request, items=list, serialNumber=str, productIdentifier=str)
        self.device(body["serialNumber"], body["productIdentifier"])
        numbers = body["items"]
        if not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
            return refuse(400, "BAD_MEMBER", "items are numbers")
        made = self.store.cart(body["serialNumber"], body["productIdentifier"], numbers)
        if made is None:
            return refuse(404, "UNKNOWN_ITEM", "the cart is empty, or an item is not in the catalog")
        return reply(201, {"cartId": made[0], "totalPrice": made[1], "currency": "USD"})

    def open_cart(self, number):
        cart = self.store.one("SELECT * FROM cart WHERE id = ?", int(number))
        if cart is None:
            raise Refused(refuse(404, "UNKNOWN_CART", "there is no such cart"))
        return cart

    def pay(self, request, number):
        cart, key = self.open_cart(number), request.headers.get("idempotency-key", "")
        if not re.fullmatch("[0-9a-fA-F-]{36}", key):
            return refuse(400, "NO_IDEMPOTENCY_KEY", "a payment requires the header Idempotency-Key")
        before = self.store.one("SELECT * FROM payment WHERE key = ?", key)
        if before is not None:
            if before["cart"] != cart["id"]:
                return refuse(409, "IDEMPOTENCY_KEY", "the key belongs to another payment")
            return reply(before["status"], json.loads(before["answer"]))
        body = self.members(request, card=dict, serialNumber=str, productIdentifier=str)
        if cart["paid"] and self.locks_carts:
            return refuse(409, "ALREADY_PAID", "the cart is paid")
        if (body["serialNumber"], body["productIdentifier"]) != (cart["serial"], cart["product"]):
            return refuse(409, "WRONG_CART", "the cart is of another device")
        outcome, steps = CARDS.get(str(body["card"].get("number")), ("not_a_test_card", 0))
        payment = self.store.new_payment(cart["id"], key, steps)
        status, answer = self.outcome(request, cart, payment, outcome)
        self.store.settle(payment, status, answer)
        return reply(status, answer)

    def outcome(self, request, cart, payment, outcome):
        if outcome == "succeeded":
            self.store.charge(cart, payment["key"])
            return 200, {"status": "succeeded", "paymentId": f"p{payment['id']}"}
        if outcome == "action_required":
            return 200, self.action(request, payment)
        return 402, {"status": "failed", "code": outcome, "message": "the card was declined"}

    @staticmethod
    def action(request, payment):
        return {"status": "action_required", "paymentId": f"p{payment['id']}", "paymentSecret": payment["secret"],
                "actionUrl": f"{request.origin}/action/{payment['action']}"}

    def authenticate(self, request, number):
        cart, body = self.open_cart(number), self.members(request, paymentSecret=str)
        payment = self.store.one("SELECT * FROM payment WHERE cart = ? AND secret = ?", cart["id"],
                                 body["paymentSecret"])
        if payment is None:
            return refuse(404, "UNKNOWN_PAYMENT", "there is no such payment")
        if payment["approval"] == "pending":
            return reply(200, {"status": "pending"})
        if payment["approval"] == "denied":
            return reply(200, {"status": "failed", "code": "authentication_failed", "message": "the user declined"})
        if payment["steps"] > 1:
            self.store.db.execute("UPDATE payment SET steps = steps - 1, approval = 'pending' WHERE id = ?",
                                  (payment["id"],))
            return reply(200, self.action(request, payment))
        if payment["approval"] == "approved":
            self.store.charge(cart, payment["key"])
            self.store.db.execute("UPDATE payment SET approval = 'charged' WHERE id = ?", (payment["id"],))
        return reply(200, {"status": "succeeded", "paymentId": f"p{payment['id']}"})

    def approve(self, action, approval):
        """What the user does on the page of actionUrl. Returns whether there is such a page."""
        with self.store.lock:
            cursor = self.store.db.execute("UPDATE payment SET approval = ? WHERE action = ?", (approval, action))
            return cursor.rowcount == 1

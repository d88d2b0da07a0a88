# SPDX-License-Identifier: MIT
"""What the cloud knows: products, features, devices, catalog, carts, payments, firmware. SQLite; no card data."""
import decimal
import hashlib
import json
import secrets
import sqlite3
import threading
import time
import zlib

from . import objects

SCHEMA = """
CREATE TABLE IF NOT EXISTS product(id TEXT PRIMARY KEY, in_field INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS feature(
  product TEXT, id INTEGER, name TEXT, toggleable INTEGER, free INTEGER, PRIMARY KEY(product, id));
CREATE TABLE IF NOT EXISTS item(
  id INTEGER PRIMARY KEY, product TEXT, name TEXT, description TEXT, cents INTEGER, image TEXT, thumbnail TEXT,
  features TEXT);
CREATE TABLE IF NOT EXISTS device(
  serial TEXT PRIMARY KEY, product TEXT, provisioned INTEGER NOT NULL DEFAULT 0, counter INTEGER NOT NULL DEFAULT 0,
  applied INTEGER NOT NULL DEFAULT 0, changed INTEGER NOT NULL DEFAULT 1);
CREATE TABLE IF NOT EXISTS owned(serial TEXT, feature INTEGER, PRIMARY KEY(serial, feature));
CREATE TABLE IF NOT EXISTS cart(
  id INTEGER PRIMARY KEY AUTOINCREMENT, serial TEXT, product TEXT, items TEXT, cents INTEGER,
  paid INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS payment(
  id INTEGER PRIMARY KEY AUTOINCREMENT, cart INTEGER, key TEXT UNIQUE, status INTEGER, answer TEXT,
  secret TEXT, action TEXT, approval TEXT, steps INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS firmware(
  product TEXT, code INTEGER, notes TEXT, message TEXT, min_app INTEGER, image BLOB, manifest BLOB, file TEXT,
  PRIMARY KEY(product, code));
CREATE TABLE IF NOT EXISTS charge(id INTEGER PRIMARY KEY AUTOINCREMENT, cart INTEGER, key TEXT, cents INTEGER);
CREATE TABLE IF NOT EXISTS report(at REAL, serial TEXT, kind TEXT, body TEXT);
"""
#: The product of a new cloud, in the form of --product.
PRODUCT = {
    "product": "1234",
    "features": [{"id": 16, "name": "Led", "switch": True}, {"id": 17, "name": "Night mode", "switch": True},
                 {"id": 18, "name": "Boost"}, {"id": 19, "name": "Basic", "free": True}],
    "items": [{"id": 7, "name": "Led", "description": "Lights up the device.", "price": "4.99", "features": [16]},
              {"id": 8, "name": "Everything", "description": "All features.", "price": "12.99", "features": [16, 17, 18]}],
}


class Store:
    """One connection, used under one lock: a development server."""

    def __init__(self, directory, key, key_id=1):
        self.lock = threading.RLock()
        self.key, self.key_id = key, key_id
        self.db = sqlite3.connect(directory / "cloud.sqlite3", check_same_thread=False, isolation_level=None)
        self.db.row_factory = sqlite3.Row
        self.db.executescript("PRAGMA journal_mode=WAL;" + SCHEMA)
        if self.one("SELECT 1 FROM product") is None:
            self.fill()

    def all(self, sql, *values):
        return self.db.execute(sql, values).fetchall()

    def one(self, sql, *values):
        return self.db.execute(sql, values).fetchone()

    def fill(self):
        self.define(PRODUCT)
        image = b"".join(hashlib.sha256(b"tendon %d" % n).digest() for n in range(2048))
        self.add_firmware(PRODUCT["product"], "1.4.0", image, "Better battery life.", "A restart is required.")

    def products(self):
        return [row["id"] for row in self.all("SELECT id FROM product ORDER BY CAST(id AS INTEGER)")]

    def define(self, product):
        """Adds a product with its features and the items that sell them, in the place of what it had."""
        number = str(int(product["product"]))
        known = {int(feature["id"]) for feature in product["features"]}
        if not all(1 <= number <= 1024 for number in known):
            raise ValueError("the number of a feature is 1 to 1024")
        items = []
        for item in product.get("items", []):
            if not set(item["features"]) <= known:
                raise ValueError(f"item {item['id']} has features that the product does not have")
            other = self.one("SELECT product FROM item WHERE id = ? AND product != ?", int(item["id"]), number)
            if other is not None or int(item["id"]) in [row[0] for row in items]:
                raise ValueError(f"item {item['id']} belongs to product {other['product'] if other else number} already; an "
                                 "item has a number of its own in a cloud")
            items.append((int(item["id"]), number, item["name"], item.get("description", ""),
                          round(decimal.Decimal(item["price"]) * 100), json.dumps(item["features"])))
        with self.lock:
            self.db.execute("BEGIN")
            self.db.execute("INSERT OR IGNORE INTO product VALUES(?, 1)", (number,))
            self.db.execute("DELETE FROM feature WHERE product = ?", (number,))
            self.db.execute("DELETE FROM item WHERE product = ?", (number,))
            self.db.executemany("INSERT INTO feature VALUES(?, ?, ?, ?, ?)",
                                [(number, feature["id"], feature["name"], feature.get("switch", False),
                                  feature.get("free", False)) for feature in product["features"]])
            self.db.executemany("INSERT INTO item VALUES(?, ?, ?, ?, ?, '', 'null', ?)", items)
            self.db.execute("COMMIT")

    def add_firmware(self, product, version, image, notes="", message="", epoch=1, min_app="0.0.0"):
        code = objects.version_code(version)
        signed = objects.manifest(self.key.sign, self.key_id, int(product), code, image, epoch=epoch)
        name = hashlib.sha256(image).hexdigest()[:24] + ".bin"
        self.db.execute("INSERT OR REPLACE INTO firmware VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                        (product, code, notes, message, objects.version_code(min_app), image, signed, name))

    # ---- features ----

    def device(self, serial, product):
        """The device's row; any serial of a known product is a device."""
        self.db.execute("INSERT OR IGNORE INTO device(serial, product) VALUES(?, ?)", (serial, product))
        return self.one("SELECT * FROM device WHERE serial = ?", serial)

    def entries(self, row):
        owned = {r["feature"] for r in self.all("SELECT feature FROM owned WHERE serial = ?", row["serial"])}
        features = self.all("SELECT * FROM feature WHERE product = ? ORDER BY id", row["product"])
        return [(f["id"], int(bool(f["free"]) or f["id"] in owned),
                 objects.TOGGLE_KEEP if f["toggleable"] else objects.TOGGLE_NONE, 0) for f in features]

    def package(self, row, kind, claimed, nonce, entries=()):
        """A package with a counter above all that were issued and above the one that the device reports."""
        counter = max(row["counter"], claimed) + 1
        self.db.execute("UPDATE device SET counter = ? WHERE serial = ?", (counter, row["serial"]))
        made = objects.package(self.key.sign, self.key_id, kind, int(row["product"]), int(row["serial"], 16), counter,
                               int(time.time()), entries, nonce)
        return counter, made

    def unlock(self, serial, product, features):
        self.device(serial, product)
        for feature in features:
            self.db.execute("INSERT OR IGNORE INTO owned VALUES(?, ?)", (serial, feature))
        self.db.execute("UPDATE device SET changed = 1 WHERE serial = ?", (serial,))

    def applied(self, serial, counter):
        self.db.execute("UPDATE device SET applied = ?, changed = 0 WHERE serial = ? AND counter = ?",
                        (counter, serial, counter))

    def report(self, serial, kind, body):
        self.db.execute("INSERT INTO report VALUES(?, ?, ?, ?)", (time.time(), serial, kind, json.dumps(body)))

    # ---- firmware ----

    def firmware(self, product, current, app):
        return self.one("SELECT * FROM firmware WHERE product = ? AND code > ? AND min_app <= ? ORDER BY code DESC",
                        product, current, app)

    def image(self, file):
        row = self.one("SELECT image FROM firmware WHERE file = ?", file)
        return row and row["image"]

    # ---- shop ----

    def cart(self, serial, product, numbers):
        rows = [self.one("SELECT * FROM item WHERE id = ? AND product = ?", n, product) for n in numbers]
        if not rows or None in rows:
            return None
        cents = sum(row["cents"] for row in rows)
        cursor = self.db.execute("INSERT INTO cart(serial, product, items, cents) VALUES(?, ?, ?, ?)",
                                 (serial, product, json.dumps(numbers), cents))
        return cursor.lastrowid, cents

    def charge(self, cart, key):
        """The card is charged, and the cart's features belong to its device from now on."""
        self.db.execute("INSERT INTO charge(cart, key, cents) VALUES(?, ?, ?)", (cart["id"], key, cart["cents"]))
        if cart["paid"]:
            return
        self.db.execute("UPDATE cart SET paid = 1 WHERE id = ?", (cart["id"],))
        for number in json.loads(cart["items"]):
            item = self.one("SELECT features FROM item WHERE id = ?", number)
            self.unlock(cart["serial"], cart["product"], json.loads(item["features"]))

    def new_payment(self, cart, key, steps):
        cursor = self.db.execute(
            "INSERT INTO payment(cart, key, secret, action, approval, steps) VALUES(?, ?, ?, ?, 'pending', ?)",
            (cart, key, "ps_" + secrets.token_hex(16), secrets.token_hex(8), steps))
        return self.one("SELECT * FROM payment WHERE id = ?", cursor.lastrowid)

    def settle(self, payment, status, answer):
        self.db.execute("UPDATE payment SET status = ?, answer = ? WHERE id = ?",
                        (status, json.dumps(answer), payment["id"]))


def crc32_text(data):
    return f"{zlib.crc32(data):08x}"

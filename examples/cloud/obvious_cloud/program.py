# SPDX-License-Identifier: MIT
"""The command line of the reference cloud."""
import argparse
import errno
import json
import os
import pathlib
import secrets
import signal
import sqlite3
import sys
import threading

from . import authority
from .api import Api
from .server import Server
from .store import Store

WARNING = ("development server: test cards only, keys in plain files, no accounts, not hardened. "
           "For tests and demos; never expose it to a network.")
FIRMWARE = "PRODUCT:VERSION[@EPOCH]:FILE[:NOTES]"


def arguments():
    parser = argparse.ArgumentParser(
        prog="tendon-obvious-cloud", description="The reference cloud of Tendon's Obvious protocol. A " + WARNING,
        epilog="Test cards: 4242424242424242 succeeds, 4000000000000002 is declined, 4000000000003220 requires "
               "authentication, 4000002760003184 requires it twice; any other number is declined.")
    parser.add_argument("--port", type=int, default=8443, help="0: any free port; the first line of output names it")
    parser.add_argument("--address", default="127.0.0.1", help="address to listen on (default %(default)s)")
    parser.add_argument("--data", type=pathlib.Path, required=True, metavar="DIR",
                        help="database, keys and certificates; created with what is missing")
    parser.add_argument("--insecure", action="store_true", help="plain HTTP instead of TLS")
    parser.add_argument("--certificate", default="good", help="a certificate that clients must reject",
                        choices=["good", "expired", "wrong-host", "unknown-authority"])
    parser.add_argument("--no-cart-lock", action="store_true",
                        help="a cart that is paid can be paid again: only the Idempotency-Key keeps a card from being "
                             "charged twice (GET /admin/charges)")
    parser.add_argument("--no-in-field", action="store_true", help="devices cannot be provisioned through this cloud")
    parser.add_argument("--product", action="append", default=[], type=pathlib.Path, metavar="FILE",
                        help="adds a product with its features and the items that sell them, or replaces them: JSON, see "
                             "docs/obvious-tutorial.md")
    parser.add_argument("--firmware", action="append", default=[], metavar=FIRMWARE,
                        help="adds a firmware image, signed with this cloud's key; EPOCH: a device rejects images of a lower "
                             "epoch than its own, whatever their version (default 1)")
    parser.add_argument("--fault", action="append", default=[], metavar="JSON",
                        help="a fault: see obvious_cloud/faults.py; also by POST /admin/faults from loopback")
    parser.add_argument("--until-input-ends", action="store_true",
                        help="end with the standard input: with the program that started this one, however it ends")
    parser.add_argument("--quiet", action="store_true", help="do not log requests on standard error")
    return parser.parse_args()


def api_key(directory):
    path = directory / "api.key"
    if not path.exists():
        authority.write_private(path, ("test_" + secrets.token_hex(16) + "\n").encode())
    return path, path.read_text().strip()


def add_firmware(store, text):
    parts = text.split(":", 3)
    if len(parts) < 3:
        raise ValueError(f"{FIRMWARE}, not '{text}'")
    product, version, file, *notes = parts
    version, _, epoch = version.partition("@")
    known = store.products()
    if product not in known:
        raise ValueError(f"no product {product}; this cloud has {', '.join(known)}, and --product adds one")
    with store.lock:
        store.add_firmware(product, version, pathlib.Path(file).read_bytes(), notes[0] if notes else "",
                           epoch=int(epoch or 1))


def mistake(text, status):
    print(f"tendon-obvious-cloud: {text}", file=sys.stderr)
    return status


def main():
    options = arguments()
    directory = options.data
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    key, public = authority.signing_key(directory)
    key_path, key_text = api_key(directory)
    store = Store(directory, key)
    try:
        option = "--product"
        for path in options.product:
            store.define(json.loads(path.read_text()))
        option = "--firmware"
        for text in options.firmware:
            add_firmware(store, text)
    except KeyError as error:
        return mistake(f"{option}: {error} is missing", 2)
    except (ValueError, TypeError, ArithmeticError, OSError, sqlite3.Error) as error:
        return mistake(f"{option}: {error}", 2)
    if options.no_in_field:
        store.db.execute("UPDATE product SET in_field = 0")
    context = ca = pin = None
    if not options.insecure:
        context, ca, pin = authority.tls_context(directory, options.certificate)
    api = Api(store, key_text, not options.no_cart_lock)
    try:
        server = Server((options.address, options.port), api, context, options.quiet)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return mistake(f"port {options.port} is in use: --port N", 1)
        return mistake(f"{options.address}, port {options.port}: {error.strerror}", 1)
    for text in options.fault:
        server.faults.add(json.loads(text))
    print("tendon-obvious-cloud: " + WARNING, file=sys.stderr)
    print(json.dumps({"url": server.origin, "port": server.server_address[1], "ca": str(ca) if ca else None,
                      "apiKeyFile": str(key_path), "keys": {"1": public}, "spki_sha256": pin}), flush=True)

    def end(*_):
        server.ending.set()
        threading.Thread(target=server.shutdown).start()

    def follow_input():
        while os.read(0, 4096):  # not by the buffer: its lock stops the interpreter from ending
            pass
        end()

    if options.until_input_ends:
        threading.Thread(target=follow_input, daemon=True).start()
    # A thread that starts this program may block signals, and the mask is inherited.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM, signal.SIGINT])
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    server.serve_forever(poll_interval=0.2)
    return 0

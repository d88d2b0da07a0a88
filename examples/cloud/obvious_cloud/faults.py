# SPDX-License-Identifier: MIT
"""Faults on demand: what a hostile or broken cloud sends instead of, or around, the true answer.

A fault is a JSON object: {"do": KIND, "match": "POST /v1/carts", "times": 1, ...}. "match" is the beginning of method
and path, "" for all; "times" -1 is permanently.

KIND      members         effect
status    status, headers, body   another answer; the call is not done ("done": true: it is)
huge      bytes           200 with a body of so many bytes: one JSON text
deep      depth           200 with arrays in arrays
redirect  location        302
drip      bytes, pause    the true answer, `bytes` at a time with `pause` seconds between
cut       after           the true answer's header, `after` bytes of its body, then the connection ends
length    add             the true answer with a Content-Length that is wrong by `add`
silent    -               no answer, the connection stays open; the call is not done
close     -               no answer, the connection ends; the call is done ("done": false: it is not)
"""
import threading

KINDS = {"status", "huge", "deep", "redirect", "drip", "cut", "length", "silent", "close"}


class Faults:
    def __init__(self):
        self.lock = threading.Lock()
        self.pending = []

    def add(self, fault):
        if not isinstance(fault, dict) or fault.get("do") not in KINDS:
            raise ValueError("a fault is an object with do: " + ", ".join(sorted(KINDS)))
        with self.lock:
            self.pending.append({"match": "", "times": 1, **fault})

    def clear(self):
        with self.lock:
            self.pending.clear()

    def take(self, method, path):
        """The first fault that matches; counts it down."""
        with self.lock:
            for fault in self.pending:
                if f"{method} {path}".startswith(fault["match"]) and fault["times"] != 0:
                    fault["times"] -= 1
                    return fault
        return None

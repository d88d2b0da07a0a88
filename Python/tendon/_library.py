# SPDX-License-Identifier: MIT
"""The C library through ctypes: the functions that the package uses, and texts of statuses."""

from __future__ import annotations

import ctypes
import os
import pathlib

__all__ = ["Address", "Line", "Mistake", "ON_LINE", "Option", "StatusError", "c", "check", "options"]


class StatusError(Exception):
    """An error of the C library. `name` is for programs, the text for people."""

    def __init__(self, what: str, status: int, advice: str = "") -> None:
        self.status = status
        self.name: str = c.tendon_family_status_name(status).decode()
        text: str = c.tendon_family_status_text(status).decode()
        super().__init__(f"{what}: {text} ({self.name})" + (f"; {advice}" if advice else ""))


class Line(ctypes.Structure):
    """tendon_fleet_line"""

    _fields_ = [("text", ctypes.c_char_p), ("length", ctypes.c_size_t), ("is_sample", ctypes.c_bool), ("view", ctypes.c_void_p),
                ("address", ctypes.c_void_p)]


class Mistake(ctypes.Structure):
    """tendon_definition_mistake"""

    _fields_ = [("line", ctypes.c_uint32), ("column", ctypes.c_uint32), ("text", ctypes.c_char * 200)]


class Address(ctypes.Structure):
    """tendon_address"""

    _fields_ = [("bytes", ctypes.c_uint8 * 6), ("type", ctypes.c_uint8)]


class Option(ctypes.Structure):
    """tendon_fleet_option"""

    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p), ("help", ctypes.c_char_p)]


MISTAKE_SIZE = 320  # TENDON_FLEET_MISTAKE_SIZE
ON_LINE = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.POINTER(Line))
_FUNCTIONS = {
    "tendon_version": (ctypes.c_char_p, []),
    "tendon_family_status_name": (ctypes.c_char_p, [ctypes.c_int32]),
    "tendon_family_status_text": (ctypes.c_char_p, [ctypes.c_int32]),
    "tendon_address_parse": (ctypes.c_int32, [ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(Address), ctypes.c_void_p]),
    "tendon_loop_size": (ctypes.c_size_t, []),
    "tendon_loop_init": (ctypes.c_int32, [ctypes.c_void_p]),
    "tendon_loop_close": (None, [ctypes.c_void_p]),
    "tendon_loop_descriptor": (ctypes.c_int, [ctypes.c_void_p]),
    "tendon_loop_deadline": (ctypes.c_uint64, [ctypes.c_void_p]),
    "tendon_loop_step": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_uint64]),
    "tendon_definition_size": (ctypes.c_size_t, []),
    "tendon_definition_scratch_size": (ctypes.c_size_t, []),
    "tendon_definition_parse": (ctypes.c_int32, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p,
                                                 ctypes.POINTER(Mistake)]),
    "tendon_family_find": (ctypes.POINTER(ctypes.c_char_p), [ctypes.c_char_p]),  # its name is the first member
    "tendon_fleet_size": (ctypes.c_size_t, []),
    "tendon_fleet_options_size": (ctypes.c_size_t, []),
    "tendon_fleet_options_init": (None, [ctypes.c_void_p]),
    "tendon_fleet_options_set": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]),
    "tendon_fleet_option_mistake": (None, [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p]),
    "tendon_fleet_options_mistake": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_char_p]),
    "tendon_fleet_option_at": (ctypes.c_bool, [ctypes.c_size_t, ctypes.POINTER(Option)]),
    "tendon_fleet_options_define": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_void_p]),
    "tendon_fleet_open": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ON_LINE, ctypes.c_void_p]),
    "tendon_fleet_end": (None, [ctypes.c_void_p]),
    "tendon_fleet_has_ended": (ctypes.c_bool, [ctypes.c_void_p]),
    "tendon_fleet_summarize": (None, [ctypes.c_void_p]),
    "tendon_fleet_close": (None, [ctypes.c_void_p]),
    "tendon_act_quote": (ctypes.c_size_t, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]),
    "tendon_fleet_act": (ctypes.c_int32, [ctypes.c_void_p, ctypes.POINTER(Address), ctypes.c_char_p, ctypes.c_size_t]),
}


def _load() -> ctypes.CDLL:
    """The library of the wheel; in a checkout TENDON_LIBRARY names one, or the system has one."""
    own = pathlib.Path(__file__).parent / "libtendon.so"
    library = ctypes.CDLL(os.environ.get("TENDON_LIBRARY") or (str(own) if own.exists() else "libtendon.so.1"))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


c = _load()


def check(what: str, status: int, advice: str = "") -> int:
    if status < 0:
        raise StatusError(what, status, advice)
    return status


def options() -> list[str]:
    """The options of a gateway."""
    found: list[str] = []
    option = Option()
    while c.tendon_fleet_option_at(len(found), ctypes.byref(option)):
        found.append(option.name.decode())
    return found

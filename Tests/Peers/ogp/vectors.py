# SPDX-License-Identifier: MIT
"""What this implementation computes for a test vector: the counterpart of tendon-conformance."""

from . import segment, signed, text
from .frame import Frame, OgpError, crc32
from .payload import NAMES, fields_of
from .receiver import Receiver

WIDE = {"serial", "counter"}


def plain(fields):
    """Fields as JSON: bytes in hex, 64-bit numbers as decimal texts."""
    return {name: value.hex() if isinstance(value, bytes) else str(value) if name in WIDE else value
            for name, value in fields.items()}


def frame(vector):
    decoded = Frame.decode(bytes.fromhex(vector["hex"]))
    fields = fields_of(decoded)
    return {"flags": decoded.flags, "corr": decoded.corr, "opcode": decoded.opcode, "status": decoded.status,
            "payload": decoded.payload.hex(), "name": NAMES[decoded.opcode], "fields": plain(fields)}


def segments(vector):
    size = segment.segment_size(vector["mtu"])
    parts = segment.split(bytes.fromhex(vector["hex"]), size, vector["msgseq"], vector["window"])
    return {"segment_size": size, "segments": [part.hex() for part in parts]}


def stream(vector):
    receiver = Receiver(lambda data: None)
    receiver.mtu, receiver.window, receiver.frame_max = vector["mtu"], vector["window"], vector["frame_max"]
    messages = []
    for item in vector["segments"]:
        message = receiver.feed(bytes.fromhex(item["hex"]), item["t"])
        if message is not None:
            messages.append(message.hex())
    if vector["end_ms"] is not None:
        receiver.expire(vector["end_ms"])
    pending = receiver.ack_segment()
    return {"messages": messages, "errors": receiver.errors, "pending_ack": pending and pending.hex()}


def control(vector):
    return vars(segment.Control.decode(bytes.fromhex(vector["hex"])))


def keys(state):
    return {int(key): bytes.fromhex(value) for key, value in state["keys"].items()}


def package(vector):
    state = vector["state"]
    holder = signed.Holder(
        state["product"], int(state["serial"]), keys(state), int(state["counter"]), bytes.fromhex(state["last_hash"]),
        bytes.fromhex(state["nonce"]), state["fw"], {int(key): tuple(value) for key, value in state["features"].items()})
    status, _ = holder.accept(bytes.fromhex(vector["hex"]))
    return {"status": status, "counter": str(holder.counter),
            "features": {str(key): list(value) for key, value in sorted(holder.features.items())}}


def manifest(vector):
    state = vector["state"]
    image = None if vector["image"] is None else bytes.fromhex(vector["image"])
    signed.Manifest.accept(bytes.fromhex(vector["hex"]), keys(state), state["product"], state["current"], state["epoch"], image)
    return {"status": "OK"}


def crc(vector):
    return {"crc32": f"{crc32(bytes.fromhex(vector['hex'])):08x}"}


def crc_resume(vector):
    data = bytes.fromhex(vector["hex"])
    prefix = crc32(data[:vector["split"]])
    return {"crc32_prefix": f"{prefix:08x}", "crc32": f"{crc32(data[vector['split']:], prefix):08x}"}


def version(vector):
    code = text.version_code(vector["text"])
    return {"code": code, "text": text.version_text(code)}


def profile(vector):
    value = None if vector["status"] is None else bytes.fromhex(vector["status"])
    return {"profile": "OGP/1", "flags": text.profile_flags(vector["gatt"], vector["discovered"], value)}


KINDS = {
    "crc32": crc, "crc32_resume": crc_resume, "frame": frame, "segment": segments, "stream": stream, "control": control,
    "package": package, "manifest": manifest, "version": version, "profile": profile,
    "version_code": lambda vector: {"text": text.version_text(vector["code"])},
    "card_number": lambda vector: {"valid": text.card_number(vector["number"])},
}


def answer(vector):
    try:
        return KINDS[vector["kind"]](vector)
    except OgpError as error:
        return {"error": error.name}

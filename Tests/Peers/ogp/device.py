# SPDX-License-Identifier: MIT
"""A device that speaks OGP/1: features, transfers into flash, trial boot and rollback. Bytes and milliseconds in, bytes out."""

import hashlib
import random
import struct
from collections import OrderedDict
from dataclasses import dataclass, field

from . import payload as pl
from . import segment as seg
from . import signed, text
from .frame import CODE, OVERHEAD, OgpError, crc32, event, refusal, require, response
from .link import Link

NONCE_MS, TRIAL_MS, TRIAL_BOOTS, IDLE_MS, KEEP_MS = 300_000, 300_000, 3, 60_000, 7 * 86_400_000
DOWN_MS = 500  # from the reset to advertising again
NEEDS = {
    pl.FEATURE_STATUS: pl.CAP_FEATURES, pl.FEATURE_COUNTER: pl.CAP_FEATURES, pl.FEATURE_TOGGLE: pl.CAP_TOGGLE,
    pl.GET_NONCE: pl.CAP_NONCE,
    **dict.fromkeys((pl.FW_ACTIVATE, pl.FW_CONFIRM, pl.FW_STATE), pl.CAP_OTA | pl.CAP_TRIAL),
}
OBJECT_NEEDS = {1: pl.CAP_UPDATE, 2: pl.CAP_OTA | pl.CAP_TRIAL, 3: pl.CAP_PROVISION}
NONE, RECEIVING, COMPLETE, APPLIED = range(4)


@dataclass
class Transfer:
    """An object that is written to flash: `data` is what was received so far."""

    obj: int
    session: int
    size: int
    crc32: int
    sha256: bytes
    manifest: bytes
    used: int
    connection: int
    state: int = RECEIVING
    data: bytearray = field(default_factory=bytearray)


@dataclass
class Faults:
    """What a test asks of the device; each list is used up in its order."""

    reboot_at: list = field(default_factory=list)  # offsets: resets when a transfer gets there
    disconnect_at: list = field(default_factory=list)  # offsets: ends the connection
    bad_crc: int = 0  # so many frames with a wrong checksum
    credit: int = None  # announced instead of the window
    lying_offsets: int = 0  # so many answers with an offset of its own
    silent: set = field(default_factory=set)  # opcodes without an answer
    status: dict = field(default_factory=dict)  # by opcode: statuses to answer with, in order
    never_boots: set = field(default_factory=set)  # versions that fail in their trial boots


class Device:
    """`host` sends: `write(segment)` a notification, `drop()` ends the connection. What is in flash survives `power_cut`."""

    def __init__(self, host, product=1234, serial=0x1122334455667788, keys=None, caps=0xFF, seed=0):
        self.host = host
        self.dice = random.Random(f"device {seed}")
        self.holder = signed.Holder(product, serial, dict(keys or {}), provisioned=True, fw=1_003_000)
        self.caps, self.page, self.chunk_max, self.frame_max, self.window = caps, 256, 4000, 4096, 8
        self.battery, self.capacity = 87, pl.OBJECT_MAX
        self.active, self.confirmed, self.rollback, self.epoch = self.holder.fw, True, pl.NO_VERSION, 1
        self.staged = None  # (version, epoch, image)
        self.images = {self.active: b""}
        self.transfer = None
        self.trial_boots, self.trial_end = 0, None
        self.faults = Faults()
        self.log = []
        self.connection = 0
        self.connected = self.encrypted = False
        self.down_until = None
        self.changed = self.into_recovery = False
        self.link = Link(self._write, self._frame, lambda now: None)
        self._boot(0)

    # --- power and connections

    def _boot(self, now):
        self.boot_id = self.dice.getrandbits(32)
        self.nonce_made = None
        self.holder.nonce = signed.NO_NONCE
        self.reset_at = None
        self.recovery, self.into_recovery = self.into_recovery, False
        self.time = 0
        self._flush()
        if not self.confirmed:
            self.trial_boots += 1
            if self.trial_boots > TRIAL_BOOTS or self.active in self.faults.never_boots:
                self._roll_back()
            elif self.trial_end is None:
                self.trial_end = now + TRIAL_MS

    def _roll_back(self):
        self.log.append(("rollback", self.active, self.rollback))
        self.active, self.confirmed, self.rollback = self.rollback, True, pl.NO_VERSION
        self.holder.fw = self.active
        self.trial_end, self.trial_boots = None, 0

    def _flush(self):
        """RAM is lost: of a transfer only whole pages remain."""
        if self.transfer is not None and self.transfer.state == RECEIVING:
            del self.transfer.data[len(self.transfer.data) // self.page * self.page:]

    def power_cut(self, now):
        """Loses the connection and all that is in RAM; boots again after a moment."""
        if self.connected:
            self.host.drop()
            self.on_disconnected(now)
        self.down_until = now + DOWN_MS

    def on_connected(self, now, mtu=23, encrypted=True):
        self.connection += 1
        self.connected, self.encrypted = True, encrypted
        self.helloed = False
        self.cache = OrderedDict()
        self.link.start(mtu)
        self.link.receiver.credit = self.faults.credit

    def on_disconnected(self, now):
        self.connected = False
        self.holder.nonce = signed.NO_NONCE
        self._flush()
        self.link.start(23)

    @property
    def is_up(self):
        return self.down_until is None

    def status_value(self):
        flags = (text.RECOVERY if self.recovery else 0) | (0 if self.confirmed else text.TRIAL)
        return b"OGP\x01" + struct.pack("<H", flags)

    # --- time

    def deadline(self):
        due = [self.down_until, self.reset_at, self.trial_end, self.link.deadline() if self.connected else None]
        return min((at for at in due if at is not None), default=None)

    def poll(self, now):
        if self.down_until is not None and now >= self.down_until:
            self.down_until = None
            self._boot(now)
        if self.reset_at is not None and now >= self.reset_at:
            self._reset(now)
        if self.trial_end is not None and now >= self.trial_end and self.is_up:
            self._announce_reboot(4, 0, now)
            self._roll_back()
            self.power_cut(now)
        if self.connected:
            self.link.poll(now)

    # --- frames

    def _write(self, segment):
        if self.faults.bad_crc and segment[0] & (seg.LAST | seg.CTRL) == seg.LAST:
            self.faults.bad_crc -= 1
            segment = segment[:-1] + bytes([segment[-1] ^ 0xFF])
        return self.host.write(segment)

    def receive(self, segment, now):
        if self.connected:
            self.link.receiver.credit = self.faults.credit
            self.link.receive(segment, now)

    def _send(self, frame, now):
        self.link.send(frame.encode(), now)

    def _frame(self, frame, now):
        if frame.is_response or frame.is_event:
            return
        key = (frame.corr, frame.opcode, crc32(frame.encode()[:-4]))
        if key in self.cache:
            self.log.append(("repeat", pl.NAMES.get(frame.opcode), frame.corr))
            self._send(self.cache[key], now)
            return
        answer = self._answer(frame, now)
        if answer is None or not self.connected:
            return
        self.cache[key] = answer
        while len(self.cache) > 4:
            self.cache.popitem(last=False)
        self._send(answer, now)
        self._after(frame, answer, now)

    def _answer(self, frame, now):
        opcode = frame.opcode
        if opcode in self.faults.silent:
            return None
        if self.faults.status.get(opcode):
            return refusal(frame.corr, opcode, self.faults.status[opcode].pop(0))
        try:
            require(self.encrypted, "UNAUTHORIZED")
            require(self.helloed or opcode == pl.HELLO, "NOT_READY")
            fields = pl.fields_of(frame)
            require(NEEDS.get(opcode, 0) & ~self.caps == 0, "NOT_SUPPORTED")
            made = getattr(self, "_" + pl.NAMES[opcode].lower())(fields, now)
        except OgpError as error:
            detail = b""
            if error.name == "BAD_OFFSET":
                detail = struct.pack("<I", len(self.transfer.data))
            self.log.append(("refused", pl.NAMES.get(opcode), error.name))
            return refusal(frame.corr, opcode, CODE[error.name], detail)
        if made is None:
            return None
        return response(frame.corr, opcode, pl.answer_payload(opcode, **made))

    # --- session

    def _hello(self, fields, now):
        require(fields["proto_min"] <= 1 <= fields["proto_max"], "NOT_SUPPORTED")
        self.helloed = True
        self.agreed = min(self.frame_max, fields["max_frame"])
        self.peer_window = fields["window"]
        return {"proto": 1, "max_frame": self.frame_max, "window": self.window, "caps": self.caps, "boot_id": self.boot_id}

    def _after(self, frame, answer, now):
        """What follows an answer."""
        if answer.status:
            return
        if frame.opcode == pl.HELLO:
            self.link.limits(self.agreed, self.window, self.peer_window)
            if not self.confirmed:
                left = max(0, self.trial_end - now) // 1000
                self._send(event(pl.EVT_FW_TRIAL, pl.answer_payload(
                    pl.EVT_FW_TRIAL, version=self.active, remaining_s=left)), now)
        elif frame.opcode == pl.REBOOT:
            self._announce_reboot(frame.payload[1], 100, now, recovery=bool(frame.payload[0]))
        elif frame.opcode == pl.FW_ACTIVATE:
            self._announce_reboot(3, frame.payload[5] * 100, now, boot=self.staged)
        elif frame.opcode == pl.FW_CONFIRM and not frame.payload[4]:
            self._announce_reboot(4, 100, now, back=True)
        elif frame.opcode == pl.XFER_END and self.changed:
            self.changed = False
            features = self._states(sorted(self.holder.features)[:64])
            if features:
                self._send(event(pl.EVT_FEATURE_CHANGED, pl.answer_payload(pl.EVT_FEATURE_CHANGED, features=features)), now)
        elif frame.opcode == pl.XFER_DATA:
            self._transfer_faults(now)

    def _announce_reboot(self, reason, delay, now, **plan):
        if self.connected:
            self._send(event(pl.EVT_REBOOTING, pl.answer_payload(pl.EVT_REBOOTING, reason=reason, delay_ms=delay)), now)
        # The radio needs a moment to send the answer and the event.
        self.reset_at, self.plan = now + max(delay, 100), plan

    def _reset(self, now):
        plan, self.reset_at = self.plan, None
        self.power_cut(now)
        if plan.get("boot"):
            self.rollback, (self.active, self.trial_epoch, image) = self.active, plan["boot"]
            self.images[self.active] = image
            self.confirmed, self.staged, self.trial_boots, self.trial_end = False, None, 0, None
            self.holder.fw = self.active
            self.transfer = None
        if plan.get("back") and not self.confirmed:
            self._roll_back()
        self.into_recovery = plan.get("recovery", False)

    def _get_device_info(self, fields, now):
        holder = self.holder
        open_session = self.transfer is not None and self.transfer.state == RECEIVING
        flags = holder.provisioned | (not self.confirmed) << 1 | open_session << 2 | 8
        return {"product": holder.product, "serial": holder.serial, "fw": self.active, "bootloader": 1_000_002,
                "stack": 6_001_001, "sdk": 1_010_000, "counter": holder.counter, "flags": flags, "battery": self.battery,
                "hw_rev": 2, "key_id": max(holder.keys, default=0)}

    def _ping(self, fields, now):
        return fields

    def _get_nonce(self, fields, now):
        self.holder.nonce, self.nonce_made = self.dice.randbytes(16), now
        return {"nonce": self.holder.nonce}

    def _get_time(self, fields, now):
        return {"time": self.time}

    def _set_time(self, fields, now):
        self.time = fields["time"]
        return {}

    # --- features

    def _states(self, ids):
        rows = []
        for feature in ids:
            enable, toggle, _ = self.holder.features.get(feature, (255, 255, 0))
            rows.append({"id": feature, "enable": enable, "toggle": toggle})
        return rows

    def _feature_status(self, fields, now):
        return {"features": self._states(fields["ids"])}

    def _feature_toggle(self, fields, now):
        changed = dict(self.holder.features)
        for row in fields["features"]:
            require(row["id"] in changed, "UNKNOWN_FEATURE")
            enable, toggle, value = changed[row["id"]]
            require(enable, "FEATURE_DISABLED")
            require(toggle, "TOGGLE_UNSUPPORTED")
            changed[row["id"]] = (enable, 3 - toggle if row["toggle"] == pl.FLIP else row["toggle"], value)
        self.holder.features = changed
        return {"features": self._states([row["id"] for row in fields["features"]])}

    def _feature_counter(self, fields, now):
        return {"counter": self.holder.counter, "hash8": self.holder.last_hash[:8].ljust(8, b"\0")}

    # --- transfers

    def _xfer_begin(self, fields, now):
        require(OBJECT_NEEDS[fields["obj"]] & ~self.caps == 0, "NOT_SUPPORTED")
        require(fields["obj"] != pl.FEATURE or self.holder.provisioned, "NOT_PROVISIONED")
        require(fields["size"] <= self.capacity, "TOO_LARGE")
        require(fields["obj"] != pl.FIRMWARE or self.battery == 255 or self.battery >= 20, "LOW_POWER")
        before = self.transfer
        if before is not None and now - before.used > KEEP_MS:
            before = None
        same = before is not None and (before.sha256, before.obj, before.size) == (fields["sha256"], fields["obj"], fields["size"])
        other = before is not None and not same and before.state == RECEIVING
        require(not (other and before.connection != self.connection and now - before.used < IDLE_MS), "BUSY")
        if same and before.state in (RECEIVING, COMPLETE) and fields["flags"] & 1 and self.caps & pl.CAP_RESUME:
            before.used, before.connection, before.manifest = now, self.connection, fields["manifest"]
        else:
            self.transfer = Transfer(fields["obj"], self.dice.randrange(1, 2**32), fields["size"], fields["crc32"],
                                     fields["sha256"], fields["manifest"], now, self.connection)
        transfer = self.transfer
        self.log.append(("begin", transfer.obj, len(transfer.data)))
        chunk = min(fields["chunk_max"], self.chunk_max, self.agreed - OVERHEAD - 8)
        return {"session": transfer.session, "offset": len(transfer.data), "chunk_max": chunk, "crc32": crc32(transfer.data)}

    def _session(self, session):
        require(self.transfer is not None and session == self.transfer.session, "NO_SESSION")
        return self.transfer

    def _xfer_data(self, fields, now):
        transfer = self._session(fields["session"])
        require(transfer.state == RECEIVING, "NO_SESSION")
        require(fields["offset"] == len(transfer.data), "BAD_OFFSET")
        require(len(transfer.data) + len(fields["data"]) <= transfer.size, "TOO_LARGE")
        transfer.data += fields["data"]
        transfer.used = now
        self.log.append(("data", fields["offset"], len(fields["data"])))
        if self.faults.lying_offsets:
            self.faults.lying_offsets -= 1
            return {"next_offset": transfer.size + 1}
        return {"next_offset": len(transfer.data)}

    def _transfer_faults(self, now):
        at = len(self.transfer.data)
        if self.faults.reboot_at and at >= self.faults.reboot_at[0]:
            self.faults.reboot_at.pop(0)
            self.power_cut(now)
        elif self.faults.disconnect_at and at >= self.faults.disconnect_at[0]:
            self.faults.disconnect_at.pop(0)
            self.host.drop()
            self.on_disconnected(now)

    def _xfer_status(self, fields, now):
        transfer = self.transfer
        if transfer is None:
            require(fields["session"] == 0, "NO_SESSION")
            return {"obj": 0, "state": NONE, "session": 0, "offset": 0, "total": 0, "crc32": 0, "sha256": bytes(32)}
        require(fields["session"] in (0, transfer.session), "NO_SESSION")
        return {"obj": transfer.obj, "state": transfer.state, "session": transfer.session, "offset": len(transfer.data),
                "total": transfer.size, "crc32": crc32(transfer.data), "sha256": transfer.sha256}

    def _xfer_abort(self, fields, now):
        require(self.transfer is not None and fields["session"] in (0, self.transfer.session), "NO_SESSION")
        self.log.append(("abort", fields["reason"]))
        self.transfer = None
        return {}

    def _xfer_end(self, fields, now):
        transfer = self._session(fields["session"])
        if transfer.state == APPLIED:
            return {"result": 1, "flags": 0, "detail": 0}
        require(len(transfer.data) == transfer.size, "BAD_OFFSET")
        data = bytes(transfer.data)
        require(crc32(data) == transfer.crc32 and hashlib.sha256(data).digest() == transfer.sha256, "HASH_MISMATCH")
        if transfer.obj == pl.FIRMWARE:
            return self._stage(transfer, data)
        if self.nonce_made is not None and now - self.nonce_made > NONCE_MS:
            self.holder.nonce = signed.NO_NONCE
        kinds = (signed.PROVISION,) if transfer.obj == pl.PROVISION_KIND else (signed.FULL, signed.DELTA, signed.CLEAR)
        status, package = self.holder.accept(data, kinds)
        transfer.state = APPLIED
        self.log.append(("applied", package.kind, status))
        if status == "ALREADY_APPLIED":
            return {"result": 1, "flags": 0, "detail": 0}
        self.changed = True
        return {"result": 0, "flags": 1 if package.flags & signed.REBOOTS else 0, "detail": 0}

    def _stage(self, transfer, data):
        manifest = signed.Manifest.accept(transfer.manifest, self.holder.keys, self.holder.product, self.active, self.epoch, data)
        transfer.state = COMPLETE
        self.staged = (manifest.version, manifest.epoch, data)
        self.log.append(("staged", manifest.version))
        return {"result": 2, "flags": 1, "detail": 0}

    # --- firmware

    def _fw_activate(self, fields, now):
        require(self.staged is not None and self.confirmed, "NOT_READY")
        require(fields["version"] == self.staged[0], "BAD_PARAM")
        return {}

    def _fw_confirm(self, fields, now):
        require(fields["version"] == self.active, "BAD_PARAM")
        require(not self.confirmed or fields["verdict"], "NOT_READY")
        if fields["verdict"] and not self.confirmed:
            self.confirmed, self.rollback, self.trial_end, self.trial_boots = True, pl.NO_VERSION, None, 0
            self.epoch = max(self.epoch, self.trial_epoch)
            self.log.append(("confirmed", self.active))
        return {}

    def _fw_state(self, fields, now):
        partial = self.transfer is not None and self.transfer.obj == pl.FIRMWARE and self.transfer.state == RECEIVING
        left = 0 if self.trial_end is None else max(0, self.trial_end - now) // 1000
        return {"active": self.active, "active_state": 1 if self.confirmed else 2,
                "staged": pl.NO_VERSION if self.staged is None else self.staged[0],
                "staged_state": 2 if self.staged else 1 if partial else 0, "rollback": self.rollback, "epoch": self.epoch,
                "trial_remaining_s": left}

    def _reboot(self, fields, now):
        return {}

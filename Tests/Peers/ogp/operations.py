# SPDX-License-Identifier: MIT
"""The operations of a gateway, as generators over Client: features, feature update, firmware. Callbacks go to client.calls.

`cloud` is any object with feature_update(info, nonce), provision(info, nonce) and firmware(info): bytes, or None for nothing
new, or CloudError. firmware returns (manifest, image).
"""

import hashlib

from . import payload as pl
from . import signed
from .client import Ask, Connected, Disconnected, Failure, Sleep
from .frame import OgpError, crc32

BACKOFF_MS = (1000, 2000, 4000, 8000, 15000)
WHOLE_MS, TRIAL_MS = 30 * 60_000, 180_000
PREPARING, RESETTING = -1, -2


class CloudError(Exception):
    """`kind`: not_provisioned, in_field, forbidden, or download."""

    def __init__(self, kind):
        super().__init__(kind)
        self.kind = kind


# --- features

def feature_states(client, ids):
    """Sub-operation: enable and toggle by id, 64 per request."""
    states = {}
    for at in range(0, len(ids), 64):
        group = list(ids[at:at + 64])
        answer = yield Ask(pl.FEATURE_STATUS, {"ids": group})
        if [row["id"] for row in answer["features"]] != group:
            raise Failure("PROTOCOL", "BAD_PARAM")
        states.update((row["id"], (row["enable"], row["toggle"])) for row in answer["features"])
    return states


def set_toggles(client, wanted):
    states = {}
    rows = sorted(wanted.items())
    for at in range(0, len(rows), 64):
        group = [{"id": feature, "toggle": toggle} for feature, toggle in rows[at:at + 64]]
        answer = yield Ask(pl.FEATURE_TOGGLE, {"features": group})
        if [row["id"] for row in answer["features"]] != [row["id"] for row in group]:
            raise Failure("PROTOCOL", "BAD_PARAM")
        states.update((row["id"], (row["enable"], row["toggle"])) for row in answer["features"])
    return states


def check_statuses(client, ids):
    try:
        yield Connected(30_000)
        yield from client.session(hello=False)
        states = yield from feature_states(client, ids)
    except Failure:
        client.call("featureStatusFailure")
        return
    client.call("onCheckFeatureStatuses", states)


def toggle(client, feature):
    try:
        yield Connected(30_000)
        yield from client.session(hello=False)
        states = yield from feature_states(client, [feature])
        enable, switch = states[feature]
        if enable != 1 or switch not in (1, 2):
            raise Failure("DEVICE", "FEATURE_DISABLED")
        states = yield from set_toggles(client, {feature: 3 - switch})
    except Failure:
        client.call("featureStatusFailure")
        return
    client.call("didToggleFeatureStatus", feature, states[feature])


def device_info(client):
    try:
        yield Connected(30_000)
        yield from client.session(hello=False)
        info = yield Ask(pl.GET_DEVICE_INFO, {})
    except Failure:
        info = None
    client.call("onDeviceInfoAvailable", info)


# --- transfers

class Upload:
    """One object: it may be sent over several connections."""

    def __init__(self, obj, data, manifest=b"", progress=lambda percent: None):
        self.obj, self.data, self.manifest, self.progress = obj, data, manifest, progress
        self.sha256 = hashlib.sha256(data).digest()
        self.begun = False
        self.percent = None
        self.corrections = 0
        self.sent = 0  # bytes of all connections, to see what was sent twice
        self.session = 0

    def _report(self, offset):
        percent = 100 * offset // len(self.data)
        if percent != self.percent:
            self.percent = percent
            self.progress(percent)

    def _begin(self, client, resume):
        answer = yield Ask(pl.XFER_BEGIN, {
            "obj": self.obj, "flags": 1 if resume else 0, "chunk_max": 4000, "size": len(self.data),
            "crc32": crc32(self.data), "sha256": self.sha256, "manifest": self.manifest})
        return answer

    def run(self, client):
        """Sub-operation: BEGIN, DATA and END; the answer to END. Failure if the connection is lost: run it again then."""
        resume = self.begun and bool(client.hello["caps"] & pl.CAP_RESUME)
        answer = yield from self._begin(client, resume)
        if answer["offset"] > len(self.data) or crc32(self.data[:answer["offset"]]) != answer["crc32"]:
            yield Ask(pl.XFER_ABORT, {"session": answer["session"], "reason": 1})
            answer = yield from self._begin(client, False)
            if answer["offset"]:
                raise Failure("PROTOCOL", "BAD_OFFSET")
        self.begun, self.session = True, answer["session"]
        frame = min(client.frame_max, client.hello["max_frame"])
        chunk = min(4000, answer["chunk_max"], frame - 22)
        yield from self._data(client, answer["offset"], chunk)
        self._report(len(self.data))
        try:
            return (yield Ask(pl.XFER_END, {"session": self.session}))
        except Failure as failure:
            if failure.name not in ("TIMEOUT", "LINK_ERROR"):
                raise
        # The answer was lost: what became of it?
        yield from client.session()
        status = yield Ask(pl.XFER_STATUS, {"session": self.session})
        if status["state"] == 3:
            return {"result": 1, "flags": 0, "detail": 0}
        return (yield Ask(pl.XFER_END, {"session": self.session}))

    def _data(self, client, offset, chunk):
        self._report(offset)
        highest = offset
        while offset < len(self.data):
            part = self.data[offset:offset + chunk]
            try:
                self.sent += len(part)
                answer = yield Ask(pl.XFER_DATA, {"session": self.session, "offset": offset, "data": part})
            except Failure as failure:
                if failure.status != "BAD_OFFSET":
                    raise
                self.corrections += 1
                if self.corrections > 5 or failure.expected > highest:
                    raise Failure("PROTOCOL", "BAD_OFFSET") from None
                offset = failure.expected
                continue
            if answer["next_offset"] != offset + len(part):
                raise Failure("PROTOCOL", "BAD_OFFSET")
            offset += len(part)
            highest = max(highest, offset)
            self._report(offset)


def abort(client, reason=0):
    """Sub-operation: ends a transfer as far as that is possible."""
    if client.connected and client.hello:
        try:
            yield Ask(pl.XFER_ABORT, {"session": 0, "reason": reason})
        except Failure:
            pass


LOST = ("DISCONNECTED", "LINK_ERROR", "TIMEOUT")


def send_over_connections(client, upload, delays, limit=None, renew=None):
    """Sub-operation: the upload, with new connections where one is lost; Failure after the last of `delays`. `renew`, a
    sub-operation, gives the upload that takes its place on another connection."""
    left = list(delays)
    started = client.now
    while True:
        try:
            return (yield from upload.run(client))
        except Failure as failure:
            if failure.name not in LOST:
                raise
            cause = failure
        while True:
            if not left or limit is not None and client.now - started > limit:
                raise cause
            if client.connected:
                client.host.disconnect()
                yield Disconnected(5000)
            yield Sleep(left.pop(0))
            try:
                yield Connected(30_000)
                yield from client.session()
                left = list(delays)
                if renew is not None:
                    upload = yield from renew(upload)
                break
            except Failure as failure:
                if failure.name not in LOST:
                    raise
                cause = failure


# --- feature update

class FeatureUpdate:
    def __init__(self, client, cloud, keys, product):
        self.client, self.cloud, self.keys, self.product = client, cloud, keys, product

    def end(self, status):
        self.client.call("onFeatureUpdateStatus", status)

    def run(self):
        client = self.client
        try:
            yield Connected(30_000)
        except Failure as failure:
            self.end("TIMEOUT" if failure.name == "TIMEOUT" else "FAILED")
            return
        try:
            yield from client.session()
            self.info = yield Ask(pl.GET_DEVICE_INFO, {})
            if self.info["product"] != self.product:
                raise Failure("WRONG_PRODUCT")
            if not self.info["flags"] & 1 and not (yield from self.provision()):
                return
        except Failure:
            self.end("FAILED")
            return
        yield from self.fetch()

    def nonce(self):
        if not self.client.hello["caps"] & pl.CAP_NONCE:
            return None
        return (yield Ask(pl.GET_NONCE, {}))["nonce"]

    def provision(self):
        client = self.client
        client.call("onProvisioningStatus", "START")
        try:
            upload = yield from self.upload(pl.PROVISION_KIND)
            try:
                yield from send_over_connections(client, upload, (0, 0, 0), renew=self.renew)
                self.info = yield Ask(pl.GET_DEVICE_INFO, {})
                if not self.info["flags"] & 1:
                    raise Failure("PROTOCOL")
            except Failure as failure:
                yield from abort(client)
                client.call("onProvisioningStatus", "TIMEOUT" if failure.name == "TIMEOUT" else "WRITE_FAILED")
                self.end("FAILED")
                return False
        except (CloudError, OgpError) as error:
            forbidden = isinstance(error, CloudError) and error.kind == "forbidden"
            client.call("onProvisioningStatus", "FAILED" if forbidden else "DOWNLOAD_FAILED")
            self.end("NOT_PROVISIONED" if forbidden else "FAILED")
            return False
        client.call("onProvisioningStatus", "SUCCESS")
        return True

    def check(self, data, *kinds):
        """The gateway's own look at a package; OgpError or the package."""
        package = signed.Package.parse(data, self.keys)
        package.check_entries()
        if package.kind not in kinds:
            raise OgpError("BAD_FORMAT")
        if (package.product, package.serial) != (self.info["product"], self.info["serial"]):
            raise OgpError("WRONG_DEVICE")
        if package.counter < self.info["counter"]:
            raise OgpError("REPLAY")
        return package

    def upload(self, obj):
        """Sub-operation: the upload of a package, for the present nonce; None: the cloud has nothing new."""
        nonce = yield from self.nonce()
        if obj == pl.PROVISION_KIND:
            data = self.cloud.provision(self.info, nonce)
            self.package = self.check(data, signed.PROVISION)
        else:
            data = self.cloud.feature_update(self.info, nonce)
            if data is None:
                return None
            self.package = self.check(data, signed.FULL, signed.DELTA, signed.CLEAR)
        return Upload(obj, data)

    def renew(self, upload):
        """Sub-operation: what is bound to a nonce is made again on another connection, unless it was applied."""
        if not self.package.flags & signed.NONCE_BOUND:
            return upload
        status = yield Ask(pl.XFER_STATUS, {"session": 0})
        if status["state"] == 3 and status["sha256"] == upload.sha256:
            return upload
        yield from abort(self.client, 3)
        self.info = yield Ask(pl.GET_DEVICE_INFO, {})
        upload = yield from self.upload(upload.obj)
        if upload is None:
            raise CloudError("download")
        return upload

    def fetch(self):
        client = self.client
        try:
            upload = yield from self.upload(pl.FEATURE)
            if upload is None:
                self.end("SUCCESS")
                return
            boot_id = client.hello["boot_id"]
            try:
                answer = yield from send_over_connections(client, upload, (0, 0, 0), renew=self.renew)
            except Failure as failure:
                yield from abort(client)
                clear = self.package.kind == signed.CLEAR
                self.end("TIMEOUT" if failure.name == "TIMEOUT" else "CLEAR_FAILED" if clear else "WRITE_FAILED")
                return
        except CloudError as error:
            self.end("NOT_PROVISIONED" if error.kind == "not_provisioned" else "DOWNLOAD_FAILED")
            return
        except OgpError:
            self.end("DOWNLOAD_FAILED")
            return
        except Failure:
            self.end("FAILED")
            return
        if answer["flags"] & 1:
            yield from self.restart(self.package, boot_id)
            return
        if self.package.kind == signed.CLEAR:
            self.end("CLEAR_SUCCESS")
        self.end("SUCCESS")

    def restart(self, package, boot_id):
        client = self.client
        if not client.rebooting:
            try:
                yield Ask(pl.REBOOT, {"mode": 0, "reason": 2})
            except Failure:
                pass
        self.end("SUCCESS_RESETTING")
        if not (yield Disconnected(15_000)):
            client.host.disconnect()
            yield Disconnected(5000)
        self.end("RESET_COMPLETE")
        started = client.now
        while client.now - started < 60_000:
            try:
                yield Connected(60_000)
                yield from client.session()
                if client.hello["boot_id"] != boot_id:
                    counter = (yield Ask(pl.FEATURE_COUNTER, {}))["counter"]
                    self.end("SUCCESS" if counter == package.counter else "FAILED")
                    return
            except Failure:
                pass
            yield Sleep(1000)
        self.end("TIMEOUT")


# --- firmware

class Upgrade:
    """Over the air: `journal` is a dict that the owner keeps; with it a new Upgrade goes on where one before it ended."""

    def __init__(self, client, cloud, keys, product, journal=None):
        self.client, self.cloud, self.keys, self.product = client, cloud, keys, product
        self.journal = {} if journal is None else journal
        self.upload = None

    def end(self, status):
        self.client.call("onFirmwareUpgradeStatus", status)

    def progress(self, percent):
        self.client.call("onFirmwareProgressUpdate", f"{self.info['serial']:016X}", percent)

    def run(self):
        client = self.client
        try:
            yield Connected(30_000)
            yield from client.session()
            needed = pl.CAP_OTA | pl.CAP_TRIAL
            if client.hello["caps"] & needed != needed:
                self.end("UNAVAILABLE")
                return
            self.info = yield Ask(pl.GET_DEVICE_INFO, {})
            if self.info["product"] != self.product:
                raise Failure("WRONG_PRODUCT")
            state = yield Ask(pl.FW_STATE, {})
        except Failure as failure:
            self.end("UNAVAILABLE" if failure.name == "UNSUPPORTED_PROFILE" else "FAILED")
            return
        self.progress(PREPARING)
        if self.info["battery"] < 20:
            self.end("FAILED")
            return
        self.caps, self.counter = client.hello["caps"], self.info["counter"]
        if state["active_state"] == 2:
            self.end("SUCCESS" if (yield from self.confirm(state["active"])) else "FAILED")
            return
        yield from self.download(state)

    def download(self, state):
        try:
            found = self.cloud.firmware(self.info)
            if found is None:
                self.end("UNAVAILABLE")
                return
            manifest, image = found
            self.target = signed.Manifest.accept(manifest, self.keys, self.product, state["active"], state["epoch"], image).version
        except (CloudError, OgpError):
            self.end("DOWNLOAD_FAILED")
            return
        self.upload = Upload(pl.FIRMWARE, image, manifest, self.progress)
        self.upload.begun = self.journal.get("sha256") == self.upload.sha256
        self.journal.update(version=self.target, sha256=self.upload.sha256)
        try:
            yield from self.send()
        except Failure as failure:
            if failure.name not in LOST:
                yield from abort(self.client)
            self.end("FAILED")
            return
        yield from self.activate(state["active"])

    def send(self):
        try:
            yield from send_over_connections(self.client, self.upload, BACKOFF_MS, WHOLE_MS)
        except Failure as failure:
            if failure.status != "HASH_MISMATCH":
                raise
            yield from abort(self.client, 2)
            self.upload.begun = False
            yield from send_over_connections(self.client, self.upload, BACKOFF_MS, WHOLE_MS)

    def activate(self, old):
        client = self.client
        boot_id = client.hello["boot_id"]
        try:
            yield from self.request_trial()
        except Failure as failure:
            if failure.name not in LOST:
                self.end("FAILED")
                return
        self.progress(RESETTING)
        yield from self.leave()
        started = client.now
        while client.now - started < TRIAL_MS:
            try:
                yield Connected(30_000)
                yield from client.session()
                state = yield Ask(pl.FW_STATE, {})
                if client.hello["boot_id"] != boot_id and state["active"] == self.target:
                    self.end("SUCCESS" if (yield from self.confirm(self.target)) else "FAILED")
                    return
                if client.hello["boot_id"] != boot_id and state["active"] == old:
                    self.end("FAILED")
                    return
                if (state["active"], state["staged"], state["staged_state"]) == (old, self.target, 2):
                    # It did not restart: the request was lost with its connection. It is not repeated unasked.
                    yield from self.request_trial()
                    yield from self.leave()
                    continue
            except Failure:
                pass
            yield Sleep(1000)
        self.end("FAILED")

    def request_trial(self):
        yield Ask(pl.FW_ACTIVATE, {"version": self.target, "mode": 1, "delay_100ms": 10})

    def leave(self):
        if not (yield Disconnected(5000)):
            self.client.host.disconnect()
            yield Disconnected(5000)

    def confirm(self, version):
        """Sub-operation: the self test and the confirmation. True if the device keeps the version."""
        client = self.client
        for _ in range(3):
            try:
                yield Connected(30_000)
                yield from client.session()
                info = yield Ask(pl.GET_DEVICE_INFO, {})
                good = info["counter"] == self.counter and self.caps & ~client.hello["caps"] == 0
                yield Ask(pl.FW_CONFIRM, {"version": version, "verdict": 1 if good else 0})
                return good
            except Failure:
                pass
            try:
                yield Connected(30_000)
                yield from client.session()
                state = yield Ask(pl.FW_STATE, {})
                if state["active"] == version and state["active_state"] == 1:
                    return True
            except Failure:
                pass
        return False

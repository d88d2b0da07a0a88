# SPDX-License-Identifier: MIT
# Made by scripts/generate_python.py of docs/events.schema.json; not to be edited.
"""The events of a gateway as data classes. Units are in the names; what a device did not report is None."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Literal


@dataclasses.dataclass(kw_only=True, repr=False)
class Event:
    """An event. What a device file calls its values are attributes, too: `event.heart_rate_bpm`."""

    time: str
    """When the line was made: RFC 3339, UTC, microseconds."""
    event: str
    family: str | None = None
    """"bose", "feelspace" ..., or the name of a device file."""
    address: str | None = None
    """"AA:BB:CC:DD:EE:FF"; only address and type together identify a device."""
    address_type: str | None = None
    name: str | None = None

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...

    def __repr__(self) -> str:
        members = (f"{name}={value!r}" for name, value in vars(self).items() if value is not None)
        return f"{type(self).__name__}({', '.join(members)})"

    @property
    def more(self) -> dict[str, Any]:
        """Members that the class does not have: of device files, and of later versions."""
        known = self.__dataclass_fields__
        return {name: value for name, value in vars(self).items() if name not in known}

    @property
    def sample(self) -> bool:
        """Whether it comes many times per second."""
        return self.event == "sample"


@dataclasses.dataclass(kw_only=True, repr=False)
class AccuracySignal(Event):
    """Whether a feelSpace belt signals an inaccurate compass."""

    EVENT: ClassVar[str] = "accuracy_signal"
    in_app: bool
    in_compass: bool


@dataclasses.dataclass(kw_only=True, repr=False)
class Action(Event):
    """A device carried out the action of a rule, or of a line of the input of tendon-gateway."""

    EVENT: ClassVar[str] = "action"
    action: str


@dataclasses.dataclass(kw_only=True, repr=False)
class ActionFailed(Event):
    """A device did not carry out the action of a rule, or of a line of the input of tendon-gateway. error: the cause, if
    it is known."""

    EVENT: ClassVar[str] = "action_failed"
    action: str
    text: str
    error: str | None = None
    error_number: int | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class Battery(Event):
    """Battery level. time_left_s: null: not known."""

    EVENT: ClassVar[str] = "battery"
    battery_percent: float
    battery_low: bool | None = None
    power_status: str | None = None
    time_left_s: float | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class Button(Event):
    """A button of a feelSpace belt was pressed."""

    EVENT: ClassVar[str] = "button"
    button: str
    press: Literal["short", "long"]
    previous_mode: str
    mode: str


@dataclasses.dataclass(kw_only=True, repr=False)
class ConfigurationFailed(Event):
    """The device did not accept its configuration."""

    EVENT: ClassVar[str] = "configuration_failed"
    text: str


@dataclasses.dataclass(kw_only=True, repr=False)
class ConnectFailed(Event):
    """An attempt to connect failed. error: the cause, if it is known. retry_in_s: pause before the next attempt; null: no
    further attempt."""

    EVENT: ClassVar[str] = "connect_failed"
    text: str
    error: str | None = None
    error_number: int | None = None
    retry_in_s: float | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class Connected(Event):
    """A device is connected and its session is open; what the device reports about itself. adapter: of a run with several
    adapters."""

    EVENT: ClassVar[str] = "connected"
    adapter: str | None = None
    product: str | None = None
    firmware: str | None = None
    sensors: list[str] | None = None
    gestures: list[str] | None = None
    generation: str | None = None
    serial: str | None = None
    id: str | None = None
    variant: int | None = None
    mode: str | None = None
    intensity_percent: int | None = None
    manufacturer: str | None = None
    model: str | None = None
    battery_percent: float | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class ConnectionParameters(Event):
    """The parameters of a connection: once it has them, and when they change. Not on the virtual radio. tx_phy and rx_phy:
    `1m`, `2m` or `coded`; tx_packet_bytes and rx_packet_bytes: longest payload of one packet over the air (data
    length); absent: not known."""

    EVENT: ClassVar[str] = "connection_parameters"
    interval_ms: float
    latency: int
    supervision_timeout_ms: int
    tx_phy: Literal["1m", "2m", "coded"] | None = None
    rx_phy: Literal["1m", "2m", "coded"] | None = None
    tx_packet_bytes: int | None = None
    rx_packet_bytes: int | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class DefaultIntensity(Event):
    """Default vibration intensity of a feelSpace belt."""

    EVENT: ClassVar[str] = "default_intensity"
    intensity_percent: int


@dataclasses.dataclass(kw_only=True, repr=False)
class Disconnected(Event):
    """A connection ended."""

    EVENT: ClassVar[str] = "disconnected"
    reason: Literal["requested", "device_disconnected", "connection_lost", "pairing_failed", "protocol_error", "radio_failed"]
    text: str
    error: str | None = None
    error_number: int | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class Done(Event):
    """The command was carried out and has no other result."""

    EVENT: ClassVar[str] = "done"
    command: str


@dataclasses.dataclass(kw_only=True, repr=False)
class DoubleSqueeze(Event):
    """Two squeezes of an Activ5 trainer in a row."""

    EVENT: ClassVar[str] = "double_squeeze"


@dataclasses.dataclass(kw_only=True, repr=False)
class Feature(Event):
    """State of a feature of an Obvious device: whether it is bought, and its switch. toggle: `unsupported` if it has none,
    and of a disabled feature always, because its switch has no effect. title: the name that the cloud knows."""

    EVENT: ClassVar[str] = "feature"
    feature: int
    title: str | None = None
    state: Literal["disabled", "enabled", "unknown"]
    toggle: Literal["unsupported", "activated", "deactivated", "unknown"]


@dataclasses.dataclass(kw_only=True, repr=False)
class Found(Event):
    """A device advertises, or its advertising data contains something new. primary_phy: `coded` if it was heard on LE
    Coded; absent: on LE 1M only. private_address: in the packet, if the device is bonded and was recognized by it;
    `address` is then its identity address."""

    EVENT: ClassVar[str] = "found"
    rssi_dbm: int | None = None
    connectable: bool | None = None
    services: list[str] | None = None
    primary_phy: Literal["coded"] | None = None
    private_address: str | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class Gesture(Event):
    """A Bose wearable detected a gesture."""

    EVENT: ClassVar[str] = "gesture"
    gesture: str
    gesture_id: int
    device_time_ms: float
    """Clock of the device, in milliseconds."""
    received_at: float | None = None
    """When it arrived: CLOCK_MONOTONIC of the machine, in seconds."""
    sampled_at: float | None = None
    """When it was measured: CLOCK_MONOTONIC of the machine, in seconds."""
    error_ms: float | None = None
    """Bound of the error of sampled_at."""


@dataclasses.dataclass(kw_only=True, repr=False)
class GestureConfiguration(Event):
    """Enabled gestures of a Bose wearable."""

    EVENT: ClassVar[str] = "gesture_configuration"
    enabled: list[str]


@dataclasses.dataclass(kw_only=True, repr=False)
class Grip(Event):
    """A hand moved a control of a Fjorden grip, or the grip reports its state."""

    EVENT: ClassVar[str] = "grip"
    grip_event: str
    count: int
    device_time_ms: float
    """Clock of the device, in milliseconds."""
    received_at: float | None = None
    """When it arrived: CLOCK_MONOTONIC of the machine, in seconds."""
    button: int | None = None
    battery_percent: int | None = None
    code: int | None = None
    sequence: int | None = None
    lost_before: int | None = None
    synthesized: bool | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class HeadingOffset(Event):
    """Heading offset of a feelSpace belt."""

    EVENT: ClassVar[str] = "heading_offset"
    offset_deg: int


@dataclasses.dataclass(kw_only=True, repr=False)
class Malformed(Event):
    """A device sent a value that its format does not allow; error: name of the status."""

    EVENT: ClassVar[str] = "malformed"
    text: str
    error: str | None = None
    error_offset: int | None = None
    bytes: str | None = None
    characteristic: str | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class Missing(Event):
    """The device does not support what the options request."""

    EVENT: ClassVar[str] = "missing"
    what: list[str]


@dataclasses.dataclass(kw_only=True, repr=False)
class Mode(Event):
    """Mode of a feelSpace belt."""

    EVENT: ClassVar[str] = "mode"
    mode: str


@dataclasses.dataclass(kw_only=True, repr=False)
class Paired(Event):
    """A bond with the device was stored."""

    EVENT: ClassVar[str] = "paired"


@dataclasses.dataclass(kw_only=True, repr=False)
class Pairing(Event):
    """Pairing with a device."""

    EVENT: ClassVar[str] = "pairing"
    state: Literal["wanted", "done", "failed"]
    text: str | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class RadioLost(Event):
    """The adapter was unplugged: all connections over it have ended, and run waits for an adapter. Or one of several
    adapters failed in another way. adapter: of a run with several adapters."""

    EVENT: ClassVar[str] = "radio_lost"
    adapter: str | None = None
    text: str
    error: str | None = None
    error_number: int | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class RadioRestored(Event):
    """An adapter was opened after radio_waiting or radio_lost; devices are searched for and connected to again. adapter:
    of a run with several adapters."""

    EVENT: ClassVar[str] = "radio_restored"
    adapter: str | None = None
    radio: Literal["virtual", "bluez"]
    adapter_address: str


@dataclasses.dataclass(kw_only=True, repr=False)
class RadioWaiting(Event):
    """An adapter is missing or did not open, and run waits for it; once for each reason. remedy: what to try. adapter: of
    a run with several adapters."""

    EVENT: ClassVar[str] = "radio_waiting"
    adapter: str | None = None
    text: str
    remedy: str | None = None
    error: str | None = None
    error_number: int | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class Refused(Event):
    """A device rejected a request, or lacks a characteristic that its device file requires. error: the cause, of a device
    file."""

    EVENT: ClassVar[str] = "refused"
    request: str
    text: str
    error: str | None = None
    error_number: int | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class Resumed(Event):
    """A Bose wearable resumed its sensors."""

    EVENT: ClassVar[str] = "resumed"


@dataclasses.dataclass(kw_only=True, repr=False)
class Sample(Event):
    """One sample of a sensor. norm: of a quaternion that is no rotation, because it differs from 1 by more than 0.1;
    pitch_deg, roll_deg and yaw_deg are null then. near_gimbal_lock: true if the head is so near the pole that pitch_deg
    and yaw_deg are not well defined; else absent."""

    EVENT: ClassVar[str] = "sample"
    sensor: str
    device_time_ms: float | None = None
    """Clock of the device, in milliseconds."""
    received_at: float | None = None
    """When it arrived: CLOCK_MONOTONIC of the machine, in seconds."""
    sampled_at: float | None = None
    """When it was measured: CLOCK_MONOTONIC of the machine, in seconds."""
    error_ms: float | None = None
    """Bound of the error of sampled_at."""
    acceleration_g: list[float | None] | None = None
    bias_g: list[float | None] | None = None
    rotation_deg_per_s: list[float | None] | None = None
    bias_deg_per_s: list[float | None] | None = None
    rotation_rad_per_s: list[float | None] | None = None
    vector: list[float | None] | None = None
    bias: list[float | None] | None = None
    quaternion: list[float | None] | None = None
    pitch_deg: float | None = None
    roll_deg: float | None = None
    yaw_deg: float | None = None
    norm: float | None = None
    near_gimbal_lock: bool | None = None
    accuracy: Literal["unreliable", "low", "medium", "high", "unknown"] | None = None
    accuracy_rad: float | None = None
    force_n: float | None = None
    heading_deg: int | None = None
    accurate: bool | None = None
    accuracy_deg: int | None = None
    profile: Literal["fixed"] | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class SensorConfiguration(Event):
    """Enabled sensors of a Bose wearable."""

    EVENT: ClassVar[str] = "sensor_configuration"
    enabled: list[str]
    period_ms: int | None


@dataclasses.dataclass(kw_only=True, repr=False)
class Squeeze(Event):
    """The force on an Activ5 trainer passed a limit."""

    EVENT: ClassVar[str] = "squeeze"
    state: Literal["squeezed", "released"]


@dataclasses.dataclass(kw_only=True, repr=False)
class Summary(Event):
    """Last line: counters. run: samples = delivered + dropped; the events of a grip are counted as samples; dropped_lines:
    lines that found the output full; lost_packets: packets of devices that the kernel dropped because the gateway read
    too slowly; missing_rows: rows and lines that a recording lacks. simulate: one line per device."""

    EVENT: ClassVar[str] = "summary"
    missing_rows: int | None = None


@dataclasses.dataclass(kw_only=True, repr=False)
class Suspended(Event):
    """A Bose wearable suspended its sensors."""

    EVENT: ClassVar[str] = "suspended"
    reason: Literal["voice_assistant", "multipoint_connection", "music_share", "ota_firmware_update", "unknown"]


@dataclasses.dataclass(kw_only=True, repr=False)
class Update(Event):
    """A step of a feature update, of its provisioning or of a firmware upgrade, or its result: the names of
    FeatureUpdateConstants, of ProvisionUpdateConstants, or PREPARING, RESETTING, and of `run` the result: SUCCESS,
    FAILED, DOWNLOAD_FAILED, BOND_CANCELLED, UNAVAILABLE (nothing newer), INTERRUPTED (it continues with the next
    upgrade)."""

    EVENT: ClassVar[str] = "update"
    step: Literal["features", "provisioning", "firmware"]
    status: str


BY_NAME: dict[str, type[Event]] = {
    "accuracy_signal": AccuracySignal,
    "action": Action,
    "action_failed": ActionFailed,
    "battery": Battery,
    "button": Button,
    "configuration_failed": ConfigurationFailed,
    "connect_failed": ConnectFailed,
    "connected": Connected,
    "connection_parameters": ConnectionParameters,
    "default_intensity": DefaultIntensity,
    "disconnected": Disconnected,
    "done": Done,
    "double_squeeze": DoubleSqueeze,
    "feature": Feature,
    "found": Found,
    "gesture": Gesture,
    "gesture_configuration": GestureConfiguration,
    "grip": Grip,
    "heading_offset": HeadingOffset,
    "malformed": Malformed,
    "missing": Missing,
    "mode": Mode,
    "paired": Paired,
    "pairing": Pairing,
    "radio_lost": RadioLost,
    "radio_restored": RadioRestored,
    "radio_waiting": RadioWaiting,
    "refused": Refused,
    "resumed": Resumed,
    "sample": Sample,
    "sensor_configuration": SensorConfiguration,
    "squeeze": Squeeze,
    "summary": Summary,
    "suspended": Suspended,
    "update": Update,
}


def from_members(members: dict[str, Any]) -> Event:
    """The event of a line of JSON that was parsed. The members become the event's attributes as they are: there are many samples per
    second."""
    event = object.__new__(BY_NAME.get(members["event"], Event))
    event.__dict__ = members
    return event

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""feelSpace's own Python client (pybelt, over bleak and bluetoothd) against our simulated naviBelt.

Scans, connects, changes modes, sends vibration and pulse commands, and takes orientation, battery and button
notifications. What the belt must have received is written to --expect, one line a write: characteristic, bytes and
outcome; what it did receive is compared by the case. Prints TAP lines. No wait is without a limit.
"""

import argparse
import os
import sys
import threading
import time

from bleak.backends.bluezdbus.manager import BlueZManager
from pybelt.belt_controller import (BeltConnectionState, BeltController, BeltControllerDelegate, BeltMode,
                                    BeltOrientationType, BeltVibrationPattern, BeltVibrationTimerOption)
from pybelt.belt_scanner import create as create_scanner


def report(good, text):
    print(("ok" if good else "not ok") + f" - {text}", flush=True)
    if not good:
        os._exit(1)  # pybelt's threads do not end by themselves


class Witness(BeltControllerDelegate):
    """Keeps what the belt told."""

    def __init__(self):
        self.news = threading.Condition()
        self.states, self.modes, self.buttons, self.intensities = [], [], [], []
        self.orientations, self.batteries, self.signals = [], [], []

    def _keep(self, kind, value):
        with self.news:
            kind.append(value)
            self.news.notify_all()

    def on_connection_state_changed(self, state, error=None):
        self._keep(self.states, state)

    def on_belt_mode_changed(self, belt_mode):
        self._keep(self.modes, belt_mode)

    def on_belt_button_pressed(self, button_id, previous_mode, new_mode):
        self._keep(self.buttons, (button_id, previous_mode, new_mode))

    def on_default_intensity_changed(self, intensity):
        self._keep(self.intensities, intensity)

    def on_belt_orientation_notified(self, heading, is_orientation_accurate, extra):
        self._keep(self.orientations, (heading, is_orientation_accurate))

    def on_belt_battery_notified(self, charge_level, extra):
        self._keep(self.batteries, charge_level)

    def on_inaccurate_orientation_signal_state_notified(self, signal_enabled_in_app_mode,
                                                        signal_enabled_in_compass_mode):
        self._keep(self.signals, (signal_enabled_in_app_mode, signal_enabled_in_compass_mode))

    def wait(self, seconds, condition):
        with self.news:
            return self.news.wait_for(condition, seconds)


def find_belt(attempts=15):
    with create_scanner() as scanner:
        for attempt in range(1, attempts + 1):
            belts = scanner.scan()
            if belts:
                return belts[0]
            print(f"# scan {attempt} of {attempts}: no belt", flush=True)
    return None


# What is sent with pybelt's own methods, and the bytes that docs/protocols/feelspace.md says they are.
VIBRATIONS = [
    (lambda belt: belt.vibrate_at_magnetic_bearing(90, channel_index=1, intensity=40),
     "01012800000003" "5a00" "0000" "00" "f401" "0000" "0000"),
    (lambda belt: belt.vibrate_at_angle(-45, channel_index=2),
     "0201aaaa000002" "3b01" "0000" "00" "f401" "0000" "0000"),
    (lambda belt: belt.send_vibration_command(
        channel_index=0, pattern=BeltVibrationPattern.SINGLE_LONG, intensity=None,
        orientation_type=BeltOrientationType.ANGLE, orientation=270, pattern_iterations=5, pattern_period=1000,
        pattern_start_time=0, exclusive_channel=False, clear_other_channels=True),
     "0003aaaa000002" "0e01" "0000" "05" "e803" "0000" "0001"),
    (lambda belt: belt.send_vibration_command(
        channel_index=3, pattern=BeltVibrationPattern.DOUBLE_SHORT, intensity=100,
        orientation_type=BeltOrientationType.BINARY_MASK, orientation=0x1111, pattern_iterations=None,
        pattern_period=750, pattern_start_time=250, exclusive_channel=True, clear_other_channels=False),
     "03046400000000" "1111" "0000" "00" "ee02" "fa00" "0100"),
    (lambda belt: belt.send_pulse_command(
        channel_index=0, orientation_type=BeltOrientationType.ANGLE, orientation=90, intensity=None, on_duration_ms=150,
        pulse_period=500, pulse_iterations=3, series_period=1500, series_iterations=1,
        timer_option=BeltVibrationTimerOption.RESET_TIMER, exclusive_channel=False, clear_other_channels=False),
     "400002" "5a00" "aa" "9600" "03" "01" "f401" "dc05" "000000"),
    (lambda belt: belt.send_pulse_command(
        channel_index=2, orientation_type=BeltOrientationType.BINARY_MASK, orientation=0x1011, intensity=60,
        on_duration_ms=200, pulse_period=400, pulse_iterations=2, series_period=1200, series_iterations=4,
        timer_option=BeltVibrationTimerOption.RESET_ON_DIFFERENT_PERIOD, exclusive_channel=True,
        clear_other_channels=False),
     "400200" "1110" "3c" "c800" "02" "04" "9001" "b004" "010100"),
    (lambda belt: belt.stop_vibration(2), "3002"),
    (lambda belt: belt.stop_vibration(), "30ff"),
]


def change_modes(belt, witness, expect):
    for mode, name in ((BeltMode.COMPASS, "compass"), (BeltMode.CROSSING, "crossing"), (BeltMode.PAUSE, "pause"),
                       (BeltMode.WAIT, "wait"), (BeltMode.APP_MODE, "app")):
        done = belt.set_belt_mode(mode, wait_ack=True)
        expect.append(f"fe05 0181{mode:02x} taken")
        report(done and belt.get_belt_mode() == mode, f"mode {name}: asked for and told")


def vibrate(belt, expect):
    for index, (send, written) in enumerate(VIBRATIONS, 1):
        report(send(belt), f"vibration command {index}: sent ({written})")
        expect.append(f"fe03 {written} taken")


def set_parameters(belt, witness, expect):
    report(belt.set_default_intensity(40, vibration_feedback=True, wait_ack=True) and belt.get_default_intensity() == 40,
           "default intensity: set to 40 and told")
    expect.append("fe05 0182280001 taken")
    report(belt.set_inaccurate_orientation_signal_state(False, False, False, wait_ack=True)
           and belt.get_inaccurate_orientation_signal_state() == (False, False), "accuracy signal: off and told")
    expect.append("fe05 11030000 taken")


def take_notifications(belt, witness, seconds):
    report(belt.set_orientation_notifications(False) and belt.set_orientation_notifications(True),
           "orientation: off and on again")
    count = len(witness.orientations)
    report(witness.wait(10, lambda: len(witness.orientations) >= count + 6), "orientation: notifications come")
    report(set(witness.orientations) == {(90, True)}, f"orientation: always the belt's: {set(witness.orientations)}")
    report(witness.wait(seconds, lambda: any(abs(level - 37.0) < 0.01 for level in witness.batteries)),
           "battery: 37 % was told")
    report(witness.wait(seconds, lambda: (4, 3, 3) in witness.buttons), "buttons: home, in app mode")
    report(witness.wait(seconds, lambda: (3, 3, 2) in witness.buttons) and belt.get_belt_mode() == BeltMode.COMPASS,
           "buttons: compass, and the mode follows")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--adapter", default="hci0")
    parser.add_argument("--found", required=True, help="file made when the belt was found")
    parser.add_argument("--expect", required=True, help="file for what the belt must have received")
    arguments = parser.parse_args()
    # pybelt takes bluetoothd's default adapter, which may be the one that our belt advertises on.
    BlueZManager.get_default_adapter = lambda _: f"/org/bluez/{arguments.adapter}"
    watchdog = threading.Timer(220, lambda: (print("not ok - within the time", flush=True), os._exit(1)))
    watchdog.daemon = True
    watchdog.start()
    device = find_belt()
    with open(arguments.found, "w", encoding="ascii"):
        pass
    report(device is not None, f"pybelt's scanner finds the belt: {device}")
    witness, expect = Witness(), []
    belt = BeltController(witness)
    belt.connect(device)
    report(belt.get_connection_state() == BeltConnectionState.CONNECTED, "pybelt connects, its handshake ends well")
    report(belt.get_firmware_version() == 52 and belt.get_belt_mode() == BeltMode.WAIT
           and belt.get_default_intensity() == 50, "firmware 52, mode wait, default intensity 50")
    change_modes(belt, witness, expect)
    vibrate(belt, expect)
    set_parameters(belt, witness, expect)
    with open(arguments.expect, "w", encoding="ascii") as file:
        file.write("".join(line + "\n" for line in expect))
    take_notifications(belt, witness, 90)
    time.sleep(6)  # the belt hangs up when keep-alives are unanswered for 5 s
    report(belt.get_connection_state() == BeltConnectionState.CONNECTED, "keep-alives are answered: still connected")
    belt.disconnect_belt()
    report(witness.states[-1] == BeltConnectionState.DISCONNECTED, "disconnected as asked")
    sys.stdout.flush()
    os._exit(0)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""axe-core, a checker for WCAG 2.2 levels A and AA, on each state of the page. browser_axe.py URL AXE-CORE

Each state is checked in light and in dark, on a wide window and with 320 CSS pixels, which is what 1.4.10 requires.
"""

import sys

from checking import check, outcome
from chromium import card
from composed import COMMANDS, FAMILIES, ComposedBrowser, key

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# Rules of these tags that axe-core leaves out unless they are named.
NAMED = ["target-size", "label-content-name-mismatch", "css-orientation-lock", "td-has-header"]
# What each state must have been checked for, or nothing was.
PASSED = {"color-contrast", "target-size", "button-name", "document-title", "aria-allowed-attr"}
SHAPES = [(1280, "light"), (1280, "dark"), (320, "light"), (320, "dark")]
CHOICE = {"id": "mode", "title": "Mode", "kind": "choice", "action": "mode", "options": ["wait", "compass"]}
UPGRADE = {"id": "upgrade", "title": "Upgrade", "kind": "upgrade", "actions": {"upgrade": True}}
browser = ComposedBrowser()


def violations():
    found = browser.run(
        f"axe.run(document, {{ runOnly: {TAGS}, rules: Object.fromEntries({NAMED}.map(r => [r, {{ enabled: true }}])) }})"
        ".then(({ violations, passes }) => ({ passed: passes.map(p => p.id), violations: violations.flatMap(v =>"
        " v.nodes.map(n => `${v.id} ${n.target}: ${n.failureSummary.replace(/\\s+/g, ' ')}`)) }))")
    return found["violations"] + [f"{rule} found nothing to check" for rule in PASSED - set(found["passed"])]


def accessible(state):
    for width, scheme in SHAPES:
        browser.shape(width, 1000, scheme)
        # Colors change in transitions.
        browser.run("Promise.all(document.getAnimations().map(a => a.finished.catch(() => {})))")
        found = violations()
        check(f"axe-core, {state}, {scheme}, {width} px", not found, " | ".join(found))


def connected():
    commands = {**COMMANDS, "feelspace": COMMANDS["feelspace"] + [CHOICE], "obvious": [UPGRADE]}
    browser.gateway([key(family) for family in FAMILIES])
    for family in FAMILIES:
        browser.describe(family, commands=commands.get(family, []))
    browser.of("activ5", "sample", sensor="force", device_time_ms=1, force_n=90)
    browser.of("activ5", "squeeze", state="squeezed")
    browser.of("activ5", "double_squeeze")
    browser.of("bose", "sample", sensor="rotation", device_time_ms=1, pitch_deg=1, roll_deg=2, yaw_deg=3)
    browser.of("feelspace", "sample", sensor="orientation", heading_deg=42)
    browser.of("feelspace", "mode", mode="compass")
    browser.of("fjorden", "grip", grip_event="shutterButtonDown", count=1, device_time_ms=1)
    browser.of("obvious", "feature", feature=3, state="enabled", toggle="activated", title="Boost")
    browser.of("obvious", "feature", feature=4, state="disabled", toggle="unsupported", title="Led")
    browser.of("obvious", "firmware_check", firmware="1.3.0", available="1.4.0")
    browser.of("obvious", "progress", what="firmware", percent=42, time_left_s=8)
    link = {"notifications": 9, "samples": 10, "dropped": 2, "malformed": 3, "reconnections": 4, "failed_connections": 0,
            "rssi_dbm": -50, "battery_percent": 61}
    browser.give("status", links=[{**link, "key": key(family), "connected": True} for family in FAMILIES], browsers=2,
                 dropped_frames=7)


try:
    browser.open(sys.argv[1])
    browser.until("window.stream")
    browser.run(open(sys.argv[2]).read())
    browser.gateway([])
    browser.until("document.getElementById('connection').dataset.state == 'live'")
    accessible("no device")
    browser.gateway([], commands=False)
    browser.until("!document.getElementById('off').hidden")
    accessible("commands are off")
    connected()
    browser.until(f"{card('obvious')} && !{card('obvious')}.querySelector('.transfer').hidden")
    accessible("five devices, the token is required for commands")
    browser.enter("a token of this test")
    browser.until(f"!{card('bose')}.querySelector('.commands button').disabled")
    accessible("five devices with commands")
    browser.run(f"answer = {{ status: 'error', error: 'too late' }}; {card('bose')}.querySelector('.commands button').click()")
    browser.give("radios", waiting=["hci1 is not there"])
    browser.until("document.getElementById('message').textContent && !document.getElementById('radios').hidden")
    accessible("messages")
    for family in FAMILIES:
        browser.of(family, "disconnected", reason="timeout")
        browser.describe(family, connected=False, commands=COMMANDS.get(family, []))
    browser.until("document.querySelectorAll('.card.away').length == 5")
    accessible("five devices that are not connected")
    browser.run("refuse = 401; stream.close()")
    browser.until("document.getElementById('message').textContent.includes('token')")
    accessible("the token is required")
    check("no exception on the page", browser.problems() == [], browser.problems())
finally:
    browser.close()
sys.exit(outcome())

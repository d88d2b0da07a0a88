#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the page makes of a stream that this test composes: its cards, its table, its reader. browser_cards.py URL"""

import json
import sys
import time

from checking import check, outcome
from chromium import card
from composed import FAMILIES, ComposedBrowser, key

browser = ComposedBrowser()
give, of, describe, gateway = browser.give, browser.of, browser.describe, browser.gateway


def part(family, selector, rest=""):
    return f"{card(family)}.querySelector('{selector}'){rest}"


def shows(name, expression, expected):
    """What an expression becomes, soon."""
    wanted = json.dumps(expected)
    shown = browser.until(f"JSON.stringify({expression}) === JSON.stringify({wanted})", 3)
    check(name, shown, None if shown else browser.run(expression))


def reader():
    browser.until("window.stream")
    whole = 'data: {"event":"gateway","version":"1","commands":true,"devices":[]}\n\n'
    browser.run(f"bytes({json.dumps(whole[:30])})")
    browser.run(f"bytes({json.dumps(whole[30:] + 'data: ')})")
    shows("a message in two parts is read", "document.getElementById('connection').textContent", "Live")
    browser.run("bytes('{}\\n\\n')")
    off = "(o => !o.hidden && o.textContent)(document.getElementById('off'))"
    shows("a gateway with a token: commands are possible", off, False)
    gateway([], commands=False)
    shows("a gateway without a token: the page says how to switch commands on", off,
          "Commands are off: start the gateway with --web-token-file FILE")
    gateway([key(family) for family in FAMILIES])
    for family in FAMILIES:
        describe(family)
    shows("each device has its card", "document.querySelectorAll('.card').length", len(FAMILIES))
    browser.enter("a token of this test")


def head():
    upper = "(c => [...c.getContext('2d').getImageData(0, 0, c.width, c.height * 0.6 | 0).data].reduce((s, b) => " \
            f"(s * 31 + b) % 1000003, 0))({part('bose', 'canvas')})"
    spot = "(c => { const d = c.getContext('2d').getImageData(0, c.height * 0.75 | 0, c.width, c.height * 0.25 | 0);" \
           " const at = getComputedStyle(c).getPropertyValue('--accent'); const p = document.createElement('canvas')" \
           ".getContext('2d'); p.fillStyle = at; p.fillRect(0, 0, 1, 1); const w = p.getImageData(0, 0, 1, 1).data;" \
           " let sum = 0; for (let i = 0; i < d.data.length; i += 4) if ([0, 1, 2].every(k => d.data[i + k] === w[k]))" \
           f" sum += (i / 4) % d.width > d.width / 2 ? 1 : -1; return Math.sign(sum) }})({part('bose', 'canvas')})"
    pictures = []
    for yaw in (0, 60):
        of("bose", "sample", sensor="rotation", device_time_ms=1, pitch_deg=0, roll_deg=0, yaw_deg=yaw)
        time.sleep(0.3)
        pictures.append(browser.run(upper))
    check("the head itself turns", pictures[0] != pictures[1], pictures)
    shows("the dial turns to the same side", spot, 1)


def belt():
    describe("feelspace", state={"mode": "wait"})
    of("feelspace", "sample", sensor="orientation", heading_deg=42)
    shows("the heading of the belt", part("feelspace", "text.big", ".textContent"), "42°")
    shows("north is on the other side of it", part("feelspace", ".north", ".parentNode.getAttribute('transform')"),
          "rotate(-42 130 130)")
    of("feelspace", "mode", mode="compass")
    shows("the mode of the belt", f"[...{card('feelspace')}.querySelectorAll('text.small')].map(t => t.textContent)",
          ["compass", "heading"])
    for angle, motor in ((80, "4"), (11, "0"), (12, "1"), (350, "0"), (348, "15")):
        of("feelspace", "action", action=f"feelspace.vibrate {angle}")
        shows(f"{angle} degrees: motor {motor}", f"{card('feelspace')}.dataset.motors", motor)
    shows("a motor is off after its time", f"{card('feelspace')}.dataset.motors", "")
    shows("a number has its unit", part("feelspace", "output", ".textContent"), "0°")


def force():
    heights = []
    for newtons in (10, 90, 30):
        of("activ5", "sample", sensor="force", device_time_ms=1, force_n=newtons)
        time.sleep(0.15)
        heights.append(browser.run(f"Number({part('activ5', '.now')}.getAttribute('cy'))"))
    check("more force is higher", heights[1] < heights[2], heights)
    shows("the highest force", part("activ5", "[data-value=peak]", ".textContent"), "90.0")
    of("activ5", "squeeze", state="squeezed")
    of("activ5", "double_squeeze")
    of("activ5", "squeeze", state="released")
    shows("squeezes are counted", part("activ5", "[data-value=count]", ".textContent"), "1")
    shows("a double squeeze is marked", part("activ5", ".squeeze-name", ".textContent"), "2×")
    time.sleep(0.5)
    of("activ5", "sample", sensor="force", device_time_ms=1, force_n=5)
    check("a squeeze ends where it ended",
          browser.until(f"(r => Number(r.getAttribute('x')) + Number(r.getAttribute('width')) < "
                        f"{part('activ5', '.now')}.getAttribute('cx') - 4)({part('activ5', '.squeeze')})", 3),
          browser.run(part("activ5", ".squeeze", ".outerHTML")))


def grip():
    def press(name, **members):
        of("fjorden", "grip", grip_event=name, count=1, device_time_ms=1, **members)

    def key_is_on(name):
        return part("fjorden", f"[data-grip={name}]", ".classList.contains('on')")
    press("shutterButtonDown")
    shows("the shutter is pressed", key_is_on("shutter"), True)
    press("shutterButtonReleased")
    shows("and released", key_is_on("shutter"), False)
    press("fnButtonPress")
    check("a key without a release is shown", browser.until(key_is_on("fn"), 0.3))
    shows("for a moment", key_is_on("fn"), False)
    of("fjorden", "grip", grip_event="dialButtonCW", count=2, device_time_ms=1)
    turned = part("fjorden", "g.turn", ".style.transform")
    shows("the dial turns by its detents", turned, "rotate(36deg)")
    press("zoomLeverLeft")
    lever = part("fjorden", "[data-grip=lever]", ".parentNode.style.transform")
    shows("the lever moves", lever, "translateX(-40px)")
    press("zoomLeverNeutral")
    shows("and returns", lever, "translateX(0px)")


def features():
    of("obvious", "feature", feature=3, state="enabled", toggle="activated", title="Boost")
    of("obvious", "feature", feature=4, state="disabled", toggle="unsupported", title="Led")
    shows("what is not bought cannot be switched",
          f"[...{card('obvious')}.querySelectorAll('.features button')].map(b => b.disabled)", [False, True])
    browser.run(part("obvious", "[data-feature=\"3\"]", ".click()"))
    shows("a switch that is on is switched off", "sent.at(-1)", {"toggle": ["3", "off"]})


def listed():
    dl = part("strap", "dl")
    row = f"[...{dl}.children].map(d => [...d.children].map(c => c.textContent))"
    shows("a family without a drawing: its values by name", row,
          [["Heart rate", "–bpm"], ["Contact", "–"], ["Yaw", "–°"]])
    of("strap", "measurement", heart_bpm=99)
    give("state", key=key("strap"), state={"heart_bpm": 61, "contact": True})
    of("strap", "sample", sensor="motion", device_time_ms=1, yaw_deg=-12.5)
    of("strap", "connect_failed", text="", heart_bpm=99)
    shows("with their units, as they come", row, [["Heart rate", "61bpm"], ["Contact", "yes"], ["Yaw", "-12.5°"]])
    describe("strap", state={"heart_bpm": 64, "contact": False})
    shows("and all that is known", row, [["Heart rate", "64bpm"], ["Contact", "no"], ["Yaw", "–°"]])
    describe("strap", values=[])
    shows("without values there is no list", dl, None)


def table():
    link = {"connected": True, "notifications": 9, "samples": 10, "dropped": 2, "malformed": 3, "reconnections": 4,
            "failed_connections": 0, "rssi_dbm": -50, "battery_percent": 61}
    away = {**link, "key": key("fjorden"), "connected": False, "rssi_dbm": None, "battery_percent": None}
    give("status", links=[{**link, "key": key("activ5")}, away], browsers=2, dropped_frames=7)
    row = f"[...document.querySelectorAll('#links tr[data-key=\"{{}}\"] > *')].map(c => c.textContent)"
    shows("the row of a connection", row.format(key("activ5")),
          ["activ5", "connected", "-50 dBm", "0.0 Hz", "5", "61 %", "4"])
    shows("the row of one that ended", row.format(key("fjorden")),
          ["fjorden", "not connected", "–", "0.0 Hz", "5", "–", "4"])
    shows("the bars of the signal",
          "[...document.querySelectorAll('#links .bars')].map(b => b.dataset.level)", ["4", "0"])
    shows("the battery on the card", part("activ5", ".battery rect", ".getAttribute('width')"), "9")
    check("what was dropped for browsers is said",
          browser.run("document.getElementById('footer').textContent").endswith("2 browsers · 7 messages dropped for "
                                                                                "slow browsers"))
    describe("fjorden", connected=False)
    shows("a card of a device that is away", f"{card('fjorden')}.classList.contains('away')", True)


def commands():
    for number in range(5):
        of("bose", "gesture", gesture=f"gesture_{number}", gesture_id=1, device_time_ms=1)
    shows("the last three events, the newest first",
          f"[...{card('bose')}.querySelectorAll('.log li span')].map(s => s.textContent)",
          [f"gesture: gesture {number}" for number in (4, 3, 2)])
    stop = part("bose", ".commands button", ".click()")
    message = "document.getElementById('message').textContent"
    for answer, text in (({"status": "error", "error": "too late"}, "bose: too late"), ({"status": "ok"}, ""),
                         (None, "The gateway did not respond to the command.")):
        browser.run(f"answer = {json.dumps(answer)}; {stop}")
        shows(f"the response to a command: '{text}'", message, text)
    browser.run("answer = {status: 'ok'}")
    for text in ("no", "abba"):
        browser.run(f"{part('bose', '.commands input')}.value = '{text}'; {part('bose', '.choice button', '.click()')}")
    shows("a text is sent, if it fits", "sent.filter(actions => 'show' in actions)", [{"show": "abba"}])


def pausing():
    click = "document.getElementById('pause').click()"
    browser.run(click)
    shows("what moves can be stopped",
          "['connection', 'pause'].map(id => document.getElementById(id).textContent)", ["Paused", "Resume"])
    browser.run(click)
    check("and goes on with a new connection", browser.until("opened === 2", 3), browser.run("opened"))
    gateway([key(family) for family in FAMILIES])
    shows("which is live", "document.getElementById('connection').textContent", "Live")


def own_names():
    """A device file may call its events like the page's own messages."""
    for name in ("gateway", "device", "state", "forgotten", "status", "radios"):
        of("strap", name, heart_bpm=70)
    of("strap", "measurement", heart_bpm=71)
    shows("events with the names of the page's own messages are events", "document.getElementById('connection').textContent", "Live")
    shows("and its card stays", f"{card('strap')} !== null", True)


def ends():
    give("forgotten", key=key("obvious"))
    shows("a device that is forgotten has no card", f"{card('obvious')}", None)
    gateway([key("bose")])
    shows("what the gateway does not list any more has none",
          "[...document.querySelectorAll('.card')].map(c => c.dataset.family)", ["bose"])
    browser.run("stream.close()")
    shows("a lost connection is said", "document.getElementById('connection').dataset.state", "lost")
    check("and is tried again", browser.until("opened === 3", 5), browser.run("opened"))
    browser.run("refuse = 401; stream.close()")
    check("a token that is asked for",
          browser.until("document.getElementById('message').textContent.includes('token') && "
                        "!document.getElementById('token-form').hidden", 5),
          browser.run("document.getElementById('message').textContent"))


try:
    browser.open(sys.argv[1])
    for checks in (reader, head, belt, force, grip, features, listed, own_names, table, commands, pausing, ends):
        checks()
    check("no exception on the page", browser.problems() == [], browser.problems())
finally:
    browser.close()
sys.exit(outcome())

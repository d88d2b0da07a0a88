#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page with four simulated devices in a browser.

browser.py URL TOKEN TRUTH BELT [DIRECTORY]    prints "ok NAME" or "not ok NAME: DETAIL" for each check

TRUTH: what `simulate bose --ground-truth` wrote; BELT: the lines of the simulated belt; DIRECTORY: for screenshots.
"""

import json
import os
import sys
import time

from checking import check, outcome
from chromium import Browser, card


def angles(browser, truth):
    """The texts that are shown, against the script of the simulated head at the same time of its clock."""
    show = f"(c => c && c.dataset.time && [c.dataset.time, ...['pitch', 'roll', 'yaw'].map(" \
           f"n => c.querySelector(`[data-value=${{n}}]`).textContent)])({card('bose')})"
    worst, times = 0, set()
    for _ in range(25):
        shown = browser.until(show)
        if not shown:
            return 999, 0
        expected = truth[int(shown[0]) % len(truth)]
        times.add(shown[0])
        for value, name in zip(shown[1:], ("pitch_deg", "roll_deg", "yaw_deg")):
            worst = max(worst, abs((float(value) - expected[name] + 180) % 360 - 180))
        time.sleep(0.05)
    return worst, len(times)


def drawn(browser):
    """Pixels of the canvas that are not empty, and a sum that changes with the picture."""
    return browser.run(
        f"(c => {{ const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0, s = 0;"
        " for (let i = 0; i < d.length; i += 4) { if (d[i + 3]) n++; s = (s * 31 + d[i]) % 1000003 }"
        f" return [n, s, c.width * c.height] }})({card('bose')}.querySelector('canvas'))")


def belt_vibrates(path, motor):
    for line in open(path):
        event = json.loads(line)
        if event.get("event") == "write" and event["motors"][motor] > 0:
            return [index for index, power in enumerate(event["motors"]) if power > 0]
    return None


def main():
    url, token, truth_file, belt_file = sys.argv[1:5]
    pictures = sys.argv[5] if len(sys.argv) > 5 else None
    truth = [json.loads(line) for line in open(truth_file)]
    browser = Browser()
    try:
        browser.open(url)
        shown = browser.until("document.querySelectorAll('.card[data-connected=true]').length == 4")
        check("the page shows each device that is connected", shown, browser.run("document.body.innerText"))
        worst, count = angles(browser, truth)
        check("the angles are those of the script within 0.1 degrees", worst <= 0.1 and count > 10,
              f"{worst:.3f} degrees, {count} different times")
        print(f"# largest error {worst:.3f} degrees, {count} samples")
        before = drawn(browser)
        time.sleep(0.7)
        after = drawn(browser)
        check("the head is drawn and turns", before[0] > before[2] / 20 and before[1] != after[1], f"{before} {after}")
        check("no command without the token",
              browser.run("[...document.querySelectorAll('.commands button')].every(b => b.disabled)"))

        browser.enter("another token 123")
        check("a wrong token is said at once", browser.until(
            "document.getElementById('message').textContent.includes('not the token')"))
        check("and unlocks nothing", browser.run(
            "[...document.querySelectorAll('.commands button')].every(b => b.disabled) && "
            "!document.getElementById('locked').hidden"))
        # The token, and a command with the keyboard alone.
        browser.enter(token)
        range_of = f"{card('feelspace')}.querySelector('input[type=range]')"
        check("the token is taken with Enter", browser.until(f"!{range_of}.disabled"))
        browser.run(f"{range_of}.value = 89; {range_of}.focus(); window.lit = new Set();"
                    f"new MutationObserver(() => window.lit.add({card('feelspace')}.dataset.motors || ''))"
                    f".observe({card('feelspace')}, {{ attributes: true }})")
        for key, code in (("ArrowRight", 39), ("Tab", 9), (" ", 32)):
            text = {"text": " "} if key == " " else {}
            browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, code="Space" if key == " " else key,
                         windowsVirtualKeyCode=code, **text)
            browser.call("Input.dispatchKeyEvent", type="keyUp", key=key, code="Space" if key == " " else key,
                         windowsVirtualKeyCode=code)
        lit = browser.until("[...window.lit].includes('4') && [...window.lit].join()")
        check("the motor that a command switched on is shown", lit, browser.run("[...window.lit].join() + "
              "document.getElementById('message').textContent"))
        check("and the belt has switched it on", belt_vibrates(belt_file, 4) == [4], belt_vibrates(belt_file, 4))
        mode = f"{card('feelspace')}.querySelector('select')"
        # Moving through the list sends nothing: only the button does.
        browser.run(f"{mode}.value = 'standby'; {mode}.dispatchEvent(new Event('change', {{ bubbles: true }}))")
        browser.run(f"{mode}.value = 'compass'; {mode}.parentNode.nextSibling.click()")
        check("a mode is set", browser.until(f"{card('feelspace')}.dataset.mode == 'compass'"))
        check("and the belt was not switched off", browser.run(f"{card('feelspace')}.dataset.connected") == "true")
        marks = f"{card('activ5')}.querySelectorAll('.squeeze')"
        wide = browser.until(f"[...{marks}].some(m => m.getAttribute('width') > 4)", 12)
        check("a squeeze is marked", wide, browser.run(f"{marks}.length"))
        points = browser.run(f"{card('activ5')}.querySelector('.curve').getAttribute('points').split(' ').length")
        check("the curve of the force is drawn", points > 20, points)
        check("the keys of the grip move", browser.until(f"{card('fjorden')}.dataset.grip"))
        rate = browser.until("[...document.querySelectorAll('#links [data-name=rate]')].some(c => parseFloat("
                             "c.textContent) > 40) && document.querySelector('#links').innerText", 4)
        check("connections: rate and signal", rate and "-40 dBm" in rate, rate)

        # What no simulated device does during a run: the page gets the event as if it was received.
        browser.run(f"""{{
            const device = {{ key: 'C0:00:00:00:00:99/random', family: 'obvious', address: 'C0:00:00:00:00:99',
              address_type: 'random', name: '<img src=x onerror=alert(1)>', connected: true, state: {{}}, commands: [] }}
            tendon.take({{ event: 'device', ...device }})
            const base = {{ address: device.address, address_type: 'random', time: new Date().toISOString() }}
            tendon.take({{ ...base, event: 'feature', feature: 3, state: 'enabled', toggle: 'activated', title: 'Boost' }})
            tendon.take({{ ...base, event: 'progress', what: 'firmware', percent: 42, time_left_s: 8 }}) }}""")
        shown = browser.run(f"(c => [c.querySelector('progress').value, c.innerText, c.querySelectorAll('img').length])"
                            f"({card('obvious')})")
        check("a feature, and the progress of a transfer", shown[0] == 42 and "Boost" in shown[1], shown)
        check("the name of a device is text", shown[2] == 0 and "<img" in shown[1], shown)
        if pictures:
            take_pictures(browser, pictures, range_of)
        browser.shape(320, 740, "dark")
        time.sleep(0.2)
        check("it fits a phone", browser.run("document.documentElement.scrollWidth <= 320"),
              browser.run("[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > 321)"
                          ".map(e => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 20)).slice(0, 12)"))
        dark = browser.run("getComputedStyle(document.body).backgroundColor")
        browser.shape(1180, 1100, "light")
        check("dark and light", dark != browser.run("getComputedStyle(document.body).backgroundColor"), dark)
        nameless = browser.run(
            "[...document.querySelectorAll('button, select, input, canvas, svg[role=img], progress')].filter(e => "
            "!(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map(e => e.outerHTML)")
        check("all controls and drawings have names", nameless == [], nameless)
        check("nothing is requested from elsewhere",
              all(one.startswith(url) for one in browser.requests() if not one.startswith("about:")),
              browser.requests())
        check("the browser has no complaints", browser.problems() == [], browser.problems())
        blocked = browser.run("new Promise(done => { addEventListener('securitypolicyviolation', e => done("
                              "e.violatedDirective)); const s = document.createElement('script'); s.textContent = "
                              "'window.bad = 1'; document.head.append(s); setTimeout(() => done(''), 1000) })")
        check("a script that was brought in does not run", "script-src" in blocked, blocked)
    finally:
        browser.close()


def take_pictures(browser, directory, range_of):
    browser.run("tendon.take({ event: 'device', key: 'C0:00:00:00:00:99/random', family: 'obvious', address: "
                "'C0:00:00:00:00:99', address_type: 'random', name: 'Obvious device', connected: true, state: {}, commands: [] })")
    for name, width, height, scheme in (("light", 1280, 1200, "light"), ("dark", 1280, 1200, "dark"),
                                        ("phone", 390, 844, "dark")):
        browser.shape(width, height, scheme)
        browser.run(f"{range_of}.closest('.range').querySelector('button').click()")
        time.sleep(0.6)
        browser.picture(os.path.join(directory, name + ".png"), width > 600)
    for number in range(1, 5):
        browser.run(f"scrollTo(0, {number * 800})")
        browser.picture(os.path.join(directory, f"phone{number}.png"), False)


main()
sys.exit(outcome())

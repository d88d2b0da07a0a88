#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A firmware upgrade that the page begins. browser_upgrade.py URL TOKEN [DIRECTORY]: for a screenshot"""

import os
import sys

from checking import check, outcome
from chromium import Browser, card


def main():
    url, token = sys.argv[1:3]
    browser = Browser()
    unit = card("obvious")
    button = f"[...{unit}.querySelectorAll('.commands button')].find(b => b.textContent.startsWith('Upgrade'))"
    transfer = f"{unit}.querySelector('.transfer')"
    try:
        browser.open(url)
        check("the page offers the newer firmware",
              browser.until(f"{unit} && {button} && !{button}.hidden && {button}.textContent == 'Upgrade to 1.4.0'"),
              browser.run("document.body.innerText"))
        check("not without the token", browser.run(f"{button}.disabled"))
        switches = browser.run(f"[...{unit}.querySelectorAll('.features li')].map(li => li.querySelectorAll('button').length)")
        check("a feature that has no switch has no button", switches == [1, 1, 1, 0], switches)
        check("no transfer is shown before", browser.run(f"{transfer}.hidden"))
        browser.enter(token)
        browser.until(f"!{button}.disabled")
        browser.run(f"""window.percents = []; new MutationObserver(() => {{
            const text = {transfer}.firstChild.textContent
            if (!{transfer}.hidden) percents.push([text.split(':')[0], {unit}.querySelector('progress').value]) }})
            .observe({transfer}, {{ attributes: true, childList: true, characterData: true, subtree: true }});
            {button}.click()""")
        check("a click begins the transfer",
              browser.until("percents.some(([what, percent]) => what == 'transfer' && percent > 20)", 20),
              browser.run(f"document.getElementById('message').textContent + {unit}.innerText"))
        if len(sys.argv) > 3:
            browser.picture(os.path.join(sys.argv[3], "upgrade.png"))
        # A page that is opened meanwhile shows it too, from what is known of the device.
        browser.open(url + "?again")
        check("a page that is opened meanwhile shows it",
              browser.until(f"{unit} && !{transfer}.hidden && {unit}.querySelector('progress').value > 20"),
              browser.run("document.body.innerText"))
        check("it is over when the device runs the new firmware",
              browser.until(f"{unit}.querySelector('.log').textContent.includes('firmware: success') && "
                            f"{transfer}.hidden && {button}.hidden", 60), browser.run(f"{unit}.innerText"))
        check("the version on the card is the new one",
              browser.until(f"{unit}.querySelector('.sub').textContent.includes('firmware 1.4.0')"),
              browser.run(f"{unit}.querySelector('.sub').textContent"))
        check("the browser has no complaints", browser.problems() == [], browser.problems())
    finally:
        browser.close()


main()
sys.exit(outcome())

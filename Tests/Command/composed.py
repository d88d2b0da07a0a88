# SPDX-License-Identifier: MIT
"""The page in a browser with a stream that a test composes: its own files come from the gateway; `fetch` of the live data and of
commands is the test's."""

import json

from chromium import Browser

STREAM = """
window.sent = []; window.opened = 0; window.refuse = 0; window.answer = { status: 'ok' }
window.fetch = async (path, options) => {
  if (path === 'set') {
    const { actions } = JSON.parse(options.body)
    if (actions) sent.push(actions)
    if (!answer) throw new Error('no network')
    return new Response(JSON.stringify(answer))
  }
  opened++
  if (refuse) return new Response('{}', { status: refuse })
  return new Response(new ReadableStream({ start: stream => { window.stream = stream } }))
}
window.bytes = text => stream.enqueue(new TextEncoder().encode(text))
"""
FAMILIES = ("activ5", "bose", "feelspace", "fjorden", "obvious", "strap")
VALUES = {"strap": [{"title": "Heart rate", "path": "heart_bpm", "unit": "bpm"}, {"title": "Contact", "path": "contact"},
                    {"title": "Yaw", "path": "motion.yaw_deg", "unit": "°"}]}
COMMANDS = {
    "feelspace": [{"id": "angle", "title": "Angle", "kind": "number", "action": "vibrate", "from": 0, "to": 359,
                   "unit": "°"}],
    "bose": [{"id": "stop", "title": "Stop", "kind": "button", "actions": {"stop": True}},
             {"id": "show", "title": "Show", "kind": "text", "action": "show", "most": 4, "pattern": "^[ab]*$"}],
}


def key(family):
    return f"C0:00:00:00:00:0{FAMILIES.index(family)}/random"


class ComposedBrowser(Browser):
    def __init__(self):
        super().__init__()
        self.call("Page.addScriptToEvaluateOnNewDocument", source=STREAM)

    def give(self, event, **members):
        message = json.dumps({"time": "2026-01-01T12:00:00.000000Z", "event": event, **members})
        self.run(f"bytes('data: ' + {json.dumps(message)} + '\\n\\n')")

    def of(self, family, event, **members):
        self.give(event, family=family, address=key(family)[:17], address_type="random", **members)

    def describe(self, family, **members):
        self.give("device", **{"key": key(family), "family": family, "address": key(family)[:17],
                               "address_type": "random", "name": family, "connected": True, "state": {},
                               "commands": COMMANDS.get(family, []), "values": VALUES.get(family, []), **members})

    def gateway(self, keys, commands=True):
        self.give("gateway", version="1", commands=commands, devices=keys)

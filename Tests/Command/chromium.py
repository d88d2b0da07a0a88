# SPDX-License-Identifier: MIT
"""The page in a real browser: Chromium without a window, driven through the pipe of its DevTools protocol."""

import base64
import json
import os
import select
import subprocess
import tempfile
import time


def card(family):
    return f"document.querySelector('.card[data-family={family}]')"


class Browser:
    def __init__(self, width=1180, height=1100):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.number, self.buffer, self.events = 0, b"", []
        # The browser reads descriptor 3 and writes descriptor 4.
        theirs_in, self.to = os.pipe()
        self.source, theirs_out = os.pipe()

        def prepare():
            one, other = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(one, 3)
            os.dup2(other, 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--mute-audio", "--hide-scrollbars",
             f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}", "--remote-debugging-pipe",
             "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False,
            preexec_fn=prepare, env={**os.environ, "HOME": self.profile.name})
        os.close(theirs_in)
        os.close(theirs_out)
        pages = [one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        end = time.time() + 20
        while time.time() < end:
            answer = self.receive(end)
            if answer and answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
        raise RuntimeError(f"{method}: no response")

    def receive(self, end):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.source], [], [], max(0, end - time.time()))
            part = os.read(self.source, 1 << 16) if ready else b""
            if not part:
                raise RuntimeError("the browser does not respond")
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(line)
        if "method" in message:
            self.events.append(message)
        return message

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "exception"))
        return answer["result"].get("value")

    def until(self, script, seconds=30):
        """The value as soon as it is true. An element that is not there yet is no mistake until the time is over."""
        end = time.time() + seconds
        while time.time() < end:
            try:
                value = self.run(script)
            except RuntimeError as error:
                if "of null" not in str(error):
                    raise
                value = None
            if value:
                return value
            time.sleep(0.05)
        return None

    def enter(self, token):
        """Types the token and presses Enter."""
        self.run(f"document.getElementById('token').focus(); document.execCommand('insertText', false, '{token}')")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r",
                      windowsVirtualKeyCode=13)

    def open(self, url):
        self.call("Page.navigate", url=url)

    def shape(self, width, height, scheme, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path, whole=True):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def problems(self):
        """What the console and the network complain about, but not that a token is tried: with a request that asks for
        nothing, refused with 401 if it is the wrong one, else with 400."""
        found = []
        for event in self.events:
            if event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                text, url = event["params"]["entry"]["text"], event["params"]["entry"].get("url", "")
                if not (url.endswith("/set") and (" 400 " in text or " 401 " in text)):
                    found.append(f"{text} {url}")
            if event["method"] == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"].get("exception", {}).get("description", "exception"))
        return found

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events
                if event["method"] == "Network.requestWillBeSent"]

    def close(self):
        self.process.terminate()
        self.process.wait(10)
        os.close(self.to)
        os.close(self.source)
        self.profile.cleanup()

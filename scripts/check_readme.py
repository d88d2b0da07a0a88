#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs what the README and the guides show. Needs a release build of the command in $BUILD/swift/release, or in $TENDON_BIN.

Pages: the README, docs/getting-started.md, docs/c-tutorial.md, docs/simulator.md,
docs/recipes.md, docs/home-assistant.md and docs/devices/*.md. Each page has a scratch directory as
home and as runtime directory, so that the pages run at the same time.

- ```sh blocks are run by bash in the order of the page, with the command on PATH. A block that only consists of
  `tendon simulate ...` starts the devices of the page, which must run until its end; a page without one gets devices of
  all families. A block of `make` lines is checked against the Makefile instead: its targets are stages of their own.
- ```c blocks must stand, to the letter, in a file under examples/c, which another stage builds and runs.
- ```swift blocks must stand in a file under examples/ or Tests/Phone, or in a catalog of DocC: other stages build them.
- ```ini blocks must pass `tendon config check`. Each line of a ```json block is an event, whose members docs/events.md must
  list, or actions for `set`, which the family must have.
- The events of a page of a device must be in docs/events.md.
- Blocks that need a broker, an adapter or root are ```console: they are not run, and at most MOST_CONSOLE a page.
- docs/index.md has a link to each page of docs/ and to each example, and the README to the index.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / ".build")).resolve()
COMMAND = pathlib.Path(os.environ.get("TENDON_BIN", BUILD / "swift/release")).resolve()
PAGES = ["README.md", "docs/getting-started.md", "docs/c-tutorial.md", "docs/simulator.md", "docs/recipes.md",
         "docs/home-assistant.md"]
EVERY_FAMILY = "tendon simulate bose feelspace activ5 fjorden obvious --radio virtual"
SOURCES = {"c": ["examples/c/*.c"], "swift": ["examples/**/*.swift", "Tests/Phone/**/*.swift", "Sources/*/*.docc/*.md"]}
KINDS = ("sh", "c", "swift", "ini", "json", "console", "text")
MOST_CONSOLE = 3


def events():
    """Members of each event, those of every line included."""
    text = (ROOT / "docs/events.md").read_text()
    common = {name for row in re.findall(r"^\| (`\w+`) \| ", text.split("## Conventions")[0], re.M)
              for name in re.findall(r"\w+", row)}
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| .* \|$", text.split("## All events")[1], re.M)
    return {name: common | set(re.findall(r"`(\w+)`", members + more)) for name, members, more in rows}


EVENTS = events()


class Page:
    """One page, its results, and its devices while it is checked."""

    def __init__(self, name):
        self.name = name
        self.text = (ROOT / name).read_text()
        self.blocks = re.findall(r"^```(\w*)\n(.*?)^```$", self.text, re.M | re.S)
        self.results = []

    def report(self, good, text, detail=""):
        self.results.append((good, f"{self.name}: {text}", detail))

    def check(self):
        is_device = [kind == "sh" and is_simulation(block) for kind, block in self.blocks]
        command = self.blocks[is_device.index(True)][1] if any(is_device) else EVERY_FAMILY
        with tempfile.TemporaryDirectory() as directory:
            environment = dict(os.environ, XDG_RUNTIME_DIR=directory, HOME=directory, NO_COLOR="1",
                               XDG_STATE_HOME=f"{directory}/state", PATH=f"{COMMAND}:{os.environ['PATH']}")
            device = start_devices(command, environment) if any(kind == "sh" for kind, _ in self.blocks) else None
            try:
                for (kind, block), skipped in zip(self.blocks, is_device):
                    if not skipped:
                        self.check_block(kind, block, environment)
                if device is not None:
                    self.report(device.poll() is None, f"its devices run until its end: {command.strip()}")
            finally:
                if device is not None:
                    device.terminate()
                    device.wait(10)
        if "devices/" in self.name:
            self.check_events()
        console = sum(kind == "console" for kind, _ in self.blocks)
        self.report(console <= MOST_CONSOLE, f"{console} blocks are not run, at most {MOST_CONSOLE}")
        unknown = sorted({kind for kind, _ in self.blocks} - set(KINDS))
        self.report(not unknown, "each block is of a kind that is checked", f"unknown: {unknown}")

    def check_block(self, kind, block, environment):
        lines = [line for line in block.splitlines() if line.strip() and not line.startswith("#")]
        if kind in SOURCES:
            self.check_source(kind, block)
        elif kind == "ini":
            self.check_configuration(block, f"configuration: {lines[0]}", environment)
        elif kind == "json":
            self.check_json(lines, environment)
        elif kind == "sh" and all(line.startswith("make ") for line in lines):
            self.check_make(lines)
        elif kind == "sh":
            self.run(["bash", "-euo", "pipefail", "-c", block], lines[0], environment)

    def run(self, command, title, environment):
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment,
                                    cwd=environment["HOME"], stdin=subprocess.DEVNULL)
            self.report(result.returncode == 0, title, result.stdout + result.stderr)
        except subprocess.TimeoutExpired:
            self.report(False, title, "no end within 60 s")

    def check_make(self, lines):
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
        for line in lines:
            target = line.split("#")[0].split()[1]
            self.report(target in targets, f"make {target} is a target of the Makefile")

    def check_source(self, kind, block):
        for pattern in SOURCES[kind]:
            for path in sorted(ROOT.glob(pattern)):
                if block.strip() in path.read_text():
                    self.report(True, f"a {kind} block stands in {path.relative_to(ROOT)}")
                    return
        self.report(False, f"a {kind} block stands in a file that is compiled", block)

    def check_json(self, lines, environment):
        for line in lines:
            try:
                value = json.loads(line)
            except ValueError as error:
                self.report(False, "a json block", f"{error}: {line}")
                continue
            if "event" in value:
                unknown = set(value) - EVENTS.get(value["event"], set())
                self.report(not unknown, f"an event {value['event']}", f"not in docs/events.md: {sorted(unknown)}")
            else:
                self.check_actions(value, environment)

    def check_actions(self, actions, environment):
        """The actions of `set` are those of rules: a configuration with a rule that has them is without mistakes."""
        family = pathlib.Path(self.name).stem if "devices/" in self.name else "activ5"
        for name, value in actions.items():
            arguments = [] if value in (True, None) else value if isinstance(value, list) else [value]
            action = " ".join([f"{family}.{name}", *map(str, arguments)])
            self.check_configuration(f"[rules]\nrule = {family}.connected => {action}\n", f"set: {action}", environment)

    def check_configuration(self, text, title, environment):
        path = pathlib.Path(environment["HOME"]) / "block.conf"
        path.write_text(text)
        self.run(["tendon", "config", "check", str(path)], title, environment)

    def check_events(self):
        """The first column of the table of events, on a page of a device."""
        section = re.search(r"^## Events\n(.*?)^## ", self.text, re.M | re.S)
        names = [name for row in re.findall(r"^\| (`[^|]*) \|", section[1], re.M) for name in re.findall(r"`(\w+)`", row)]
        unknown = sorted(set(names) - set(EVENTS))
        self.report(names and not unknown, f"{len(names)} events are in docs/events.md", f"not there: {unknown}")


def is_simulation(block):
    return bool(re.fullmatch(r"tendon simulate [^|&;\n]*\n", block)) and "--for" not in block


def start_devices(command, environment):
    """Starts simulated devices; returns when all of them advertise."""
    lines = pathlib.Path(environment["HOME"]) / "devices"
    with lines.open("w") as output:
        device = subprocess.Popen(command.split() + ["--json"], env=environment, cwd=environment["HOME"], stdout=output,
                                  stderr=subprocess.DEVNULL)
    devices = command.split(" --")[0].split()[2:]
    until = time.monotonic() + 10
    while lines.read_text().count('"event":"ready"') < len(devices) and device.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    return device


def check_index():
    page = Page("docs/index.md")
    links = set(re.findall(r"\]\(([^)#]+)\)", page.text))
    expected = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")} - {"index.md"}
    expected |= {f"../examples/c/{path.name}" for path in (ROOT / "examples/c").glob("*.c")}
    page.report(not expected - links, "links all pages and examples", f"without: {sorted(expected - links)}")
    missing = sorted(link for link in links if not (ROOT / "docs" / link).exists())
    page.report(not missing, "its links exist", f"do not exist: {missing}")
    page.report("(docs/index.md)" in (ROOT / "README.md").read_text(), "is linked by the README")
    return page


def main():
    pages = [Page(name) for name in PAGES] + \
        [Page(str(path.relative_to(ROOT))) for path in sorted((ROOT / "docs/devices").glob("*.md"))]
    with concurrent.futures.ThreadPoolExecutor(max_workers=len(pages)) as pool:
        list(pool.map(Page.check, pages))
    failed = False
    for page in pages + [check_index()]:
        for good, text, detail in page.results:
            failed |= not good
            print(("ok" if good else "not ok") + f" - {text}")
            if not good:
                print("\n".join("#   " + line for line in detail.splitlines()[-15:]))
    return 1 if failed or not all(page.blocks for page in pages) else 0


sys.exit(main())

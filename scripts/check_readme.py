#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs what the README shows. Needs a release build of the command in $BUILD/swift/release.

- ```sh blocks: each is run by bash, in a scratch runtime directory, with the command on PATH and a simulated Bose device
  on the virtual radio. A block of `make` lines is checked against the Makefile instead: its targets are stages of their own.
- ```c and ```swift blocks must stand, to the letter, in a file under examples/, where another stage builds and runs them.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / ".build")).resolve()
failed = False


def report(good, text, detail=""):
    global failed
    failed |= not good
    print(("ok" if good else "not ok") + f" - {text}")
    if not good:
        print("\n".join("#   " + line for line in detail.splitlines()[-15:]))


def check_make(lines):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for line in lines:
        target = line.split("#")[0].split()[1]
        report(target in targets, f"README: make {target} is a target of the Makefile")


def run_block(block, environment):
    first = block.strip().splitlines()[0]
    try:
        result = subprocess.run(["bash", "-euo", "pipefail", "-c", block], capture_output=True, text=True, timeout=60,
                                env=environment, cwd=environment["HOME"], stdin=subprocess.DEVNULL)
        report(result.returncode == 0, f"README: {first}", result.stdout + result.stderr)
    except subprocess.TimeoutExpired:
        report(False, f"README: {first}", "no end within 60 s")


def check_source(language, block):
    for path in (ROOT / "examples").rglob("*." + language):
        if block.strip() in path.read_text():
            report(True, f"README: its {language} program is {path.relative_to(ROOT)}")
            return
    report(False, f"README: its {language} program stands in examples/", block)


def main():
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"^```(sh|c|swift)\n(.*?)^```", text, re.M | re.S)
    with tempfile.TemporaryDirectory() as directory:
        environment = dict(os.environ, XDG_RUNTIME_DIR=directory, HOME=directory, NO_COLOR="1",
                           PATH=f"{BUILD / 'swift/release'}:{os.environ['PATH']}")
        device = subprocess.Popen(["tendon", "simulate", "bose", "--radio", "virtual"], env=environment,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for language, block in blocks:
                lines = [line for line in block.splitlines() if line.strip() and not line.startswith("#")]
                if language != "sh":
                    check_source(language, block)
                elif all(line.startswith("make ") for line in lines):
                    check_make(lines)
                else:
                    run_block(block, environment)
            report(device.poll() is None, "README: the simulated device is still there")
        finally:
            device.terminate()
            device.wait(10)
    return 1 if failed or not blocks else 0


sys.exit(main())

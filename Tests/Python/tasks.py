#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ten tasks as programs of this package (Python/examples/tasks) and of bleak or pybelt (Tests/Peers/tasks); docs/python.md has the
table.

  tasks.py test                      those of this package do what they say, against simulated devices; TENDON: the command; TAP
  tasks.py run ours|theirs TASK      one of them over the adapter hci0
  tasks.py expect TASK LINES OUTPUT  whether the program printed, and the device received, what it should"""

import os
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
PLACES = {"ours": SOURCE / "Python/examples/tasks", "theirs": SOURCE / "Tests/Peers/tasks"}
STRAP = str(SOURCE / "packaging/devices/heart_rate.json")
NUMBER = r"-?[\d.]+(?:e-\d+)?"
# The device, its scenario from the first connection, what is printed, and what the device must have received.
TASKS = {
    "find": ("bose", "", r"(bose )?.*C?\w\w:\w\w:.* -?\w+\n", ""),
    "information": ("bose", "", r"\d+\.\d+\.\d+\n", ""),
    "battery": ("heart_rate", "", r"\d+\n", ""),
    "notifications": ("heart_rate", "", r"(\d+\n){10}", ""),
    "write": ("heart_rate", "", "", r'"bytes":"01"'),
    "orientation": ("bose", "", rf"({NUMBER}\n){{100,}}", ""),
    "record": ("bose", "", rf"({NUMBER}(,{NUMBER}){{4}}\r?\n){{100,}}", ""),
    "reconnect": ("heart_rate", "at 8s disconnect\n", r"(\d+\n)+lost\n\d+\n", ""),
    "vibrate": ("feelspace", "", "", r'"bytes":"\w*5a00'),
    "button": ("feelspace", "at 8s press home\n", r"(home short|4)\n", ""),
}


def lines_of(path):
    """Without comments and empty lines."""
    return sum(bool(line.strip()) and not line.startswith("#") for line in path.read_text().splitlines())


def run(whose, task):
    if whose == "ours":
        import tendon

        # As an argument it would be one more line that is of the test.
        tendon.Gateway.__init__.__kwdefaults__["radio"] = os.environ.get("TENDON_RADIO")
    else:
        from bleak.backends.bluezdbus.manager import BlueZManager

        # bluetoothd's default may be the adapter of the simulated device.
        BlueZManager.get_default_adapter = lambda _: "/org/bluez/hci0"
    runpy.run_path(str(PLACES[whose] / f"{task}.py"), run_name="__main__")


def is_right(task, device_lines, output):
    _, _, printed, received = TASKS[task]
    return re.fullmatch(printed, output) is not None and re.search(received, device_lines) is not None


def report(good, name, detail=""):
    print(f"{'ok' if good else 'not ok'} - python: {name}", flush=True)
    if not good:
        print("\n".join("#   " + line for line in detail[-2000:].splitlines()), flush=True)
    return good


def test(task, place):
    family, scenario, _, _ = TASKS[task]
    (place / "scenario").write_text(scenario)
    words = [os.environ["TENDON"], "simulate", family, "--radio", "virtual", "--json", "--scenario", str(place / "scenario"),
             "--scenario-from", "connection", *(["--define", STRAP] if family == "heart_rate" else [])]
    with open(place / "device", "w") as device_lines:
        device = subprocess.Popen(words, stdout=device_lines)
        try:
            end = time.monotonic() + 30
            while '"ready"' not in (place / "device").read_text() and time.monotonic() < end:
                time.sleep(0.05)
            begun = time.monotonic()
            done = subprocess.run([sys.executable, __file__, "run", "ours", task], capture_output=True, text=True, timeout=90,
                                  env={**os.environ, "TENDON_RADIO": "virtual"})
            seconds = time.monotonic() - begun
        finally:
            device.terminate()
            device.wait()
    print(f"# task {task}: {seconds:.1f} s")
    good = done.returncode == 0 and is_right(task, (place / "device").read_text(), done.stdout)
    return report(good, f"task {task}", done.stdout[-500:] + done.stderr)


def table():
    """The lines of both, as docs/python.md has them."""
    page = (SOURCE / "docs/python.md").read_text()
    wrong = [task for task in TASKS if not re.search(
        rf"^\| `{task}` \|.*\| {lines_of(PLACES['ours'] / f'{task}.py')} \| {lines_of(PLACES['theirs'] / f'{task}.py')}( \(pybelt\))? \|", page,
        re.M)]
    return report(not wrong, "the lines of docs/python.md are those of the programs", "\n".join(
        f"{task} {lines_of(PLACES['ours'] / f'{task}.py')} {lines_of(PLACES['theirs'] / f'{task}.py')}" for task in wrong))


def main():
    if sys.argv[1] == "run":
        run(*sys.argv[2:])
    elif sys.argv[1] == "expect":
        sys.exit(not is_right(sys.argv[2], *(pathlib.Path(path).read_text() for path in sys.argv[3:])))
    else:
        with tempfile.TemporaryDirectory() as place:
            os.environ["XDG_RUNTIME_DIR"], os.environ["XDG_STATE_HOME"] = place, place + "/state"
            sys.exit(not all([table(), *(test(task, pathlib.Path(place)) for task in TASKS)]))


main()

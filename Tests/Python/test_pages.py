#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The blocks of docs/python.md and the cells of the notebooks do what they say, against simulated devices, and mypy finds no mistake in
the blocks and the tasks; TAP."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def run(name, *words):
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60)
    good = done.returncode == 0
    print(f"{'ok' if good else 'not ok'} - python: {name}", flush=True)
    if not good:
        print(textwrap.indent(done.stdout[-1000:] + done.stderr[-2000:], "#   "), flush=True)
    return good


def cells(path):
    """The code of a notebook as a program: `await` may stand outside of functions, and the last line of a cell is printed."""
    code = ["import ast, asyncio\nasync def main():\n    scope = {}\n"]
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            code.append(f"    code = compile({''.join(cell['source'])!r}, 'cell', 'exec', ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)\n"
                        "    result = eval(code, scope)\n"
                        "    if result is not None:\n        await result\n")
    code.append("    assert len(scope['turn']) > 50 and len(scope['shown']) > 0, scope\nasyncio.run(main())\n")
    return "".join(code)


def check_types(blocks):
    """Each with the types that the installed package has."""
    good = True
    with tempfile.TemporaryDirectory() as place:
        mypy = ["-m", "mypy", "--check-untyped-defs", "--ignore-missing-imports", "--cache-dir", place + "/cache"]
        for number, block in enumerate(blocks, 1):
            pathlib.Path(place, f"block_{number}.py").write_text(block)
        for program in sorted([*pathlib.Path(place).glob("*.py"), *(SOURCE / "Python/examples/tasks").glob("*.py")]):
            good = run(f"the types of {program.name}", *mypy, str(program)) and good
    return good


def main():
    blocks = re.findall(r"^```python\n(.*?)^```$", (SOURCE / "docs/python.md").read_text(), re.M | re.S)
    good = check_types(blocks) and len(blocks) > 3
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_RUNTIME_DIR"], os.environ["XDG_STATE_HOME"] = place, place + "/state"
        devices = subprocess.Popen([os.environ["TENDON"], "simulate", "bose", "feelspace", "activ5", "--radio", "virtual", "--json"],
                                   stdout=subprocess.DEVNULL)
        try:
            for number, block in enumerate(blocks, 1):
                good = run(f"block {number} of docs/python.md", "-c", block) and good
            for notebook in sorted((SOURCE / "Python/examples").glob("*.ipynb")):
                good = run(f"the cells of {notebook.name}", "-c", cells(notebook)) and good
        finally:
            devices.terminate()
            devices.wait()
    sys.exit(not good)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What DocC does not check. Usage: check_docs.py SYMBOL-GRAPHS MODULES-FOLDER MODULE...

Every public symbol has a doc comment; every public class and protocol has an example in its own; every example, also
those of the catalogues, compiles: each as the body of a method of a class that has what examples take for granted.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What examples take for granted: properties of the class around them, and what its delegates must have.
COMMON = """
    var central: Central { fatalError() }
    var peripheral: Peripheral { fatalError() }
    var address: Address { fatalError() }
    var characteristic: Characteristic { fatalError() }
    var quaternion: Quaternion { fatalError() }
"""
GIVEN = {
    "Tendon": ("", ""),
    "TendonBose": (": WearableDeviceSessionDelegate", """
    var session: WearableDeviceSession { fatalError() }
    var device: WearableDevice { fatalError() }
    func sessionDidOpen(_ session: WearableDeviceSession) {}
    func session(_ session: WearableDeviceSession, didFailToOpenWithError error: (any Error)?) {}
    func session(_ session: WearableDeviceSession, didCloseWithError error: (any Error)?) {}
"""),
    "TendonActiv5": (": A5DeviceDelegate", """
    var device: A5Device { fatalError() }
    var handle: A5Device.Handle { fatalError() }
    var newtons: Double { fatalError() }
    func searchCompleted() {}
    func deviceFound(device: A5Device) {}
    func deviceConnected(device: A5Device) {}
    func deviceDisconnected(device: A5Device) {}
    func deviceInitialized(device: A5Device) {}
"""),
    "TendonFeelSpace": (": FSConnectionDelegate, FSNavigationControllerDelegate", """
    var manager: FSConnectionManager { fatalError() }
    var commandManager: FSCommandManager { fatalError() }
    var belt: FSNavigationController { fatalError() }
    func onBeltFound(device: FSBelt) {}
"""),
    "TendonFjorden": ("", """
    var grip: ConnectedGrip { fatalError() }
"""),
    "TendonObvious": (": OcelotFeatureEventListener, OcelotFirmwareEventListener", """
    var manager: OcelotFeatureManager { fatalError() }
    var status: OcelotFeatureStatus { fatalError() }
    var trust: ObviousTrust { fatalError() }
    func onFeatureUpdateStatus(_ status: Int) {}
    func onFirmwareProgressUpdate(_ serialNumber: String, _ percent: Int) {}
"""),
    "TendonFoundation": ("", ""),
    "TendonObviousCloud": ("", """
    var keys: [ObviousKey] { fatalError() }
"""),
}
# Modules of C that the modules import.
C_MODULES = ["include", "Sources/CObviousCloud/include", "Sources/CSystemCurl", "Sources/CSystemJansson",
             "Sources/CSystemSodium"]
results = []


def report(name, problems):
    results.append(not problems)
    print(("ok" if not problems else "not ok") + f" - {name}")
    for problem in problems:
        print(f"#   {problem}")


def symbols_of(graphs, module):
    for path in sorted(graphs.glob(f"{module}.symbols.json")) + sorted(graphs.glob(f"{module}@*.symbols.json")):
        yield from json.loads(path.read_text())["symbols"]


def comment_of(symbol):
    return "\n".join(line["text"] for line in symbol.get("docComment", {}).get("lines", []))


def place_of(symbol):
    location = symbol.get("location")
    if not location:
        return "made by the compiler"
    return f"{pathlib.Path(location['uri']).name}:{location['position']['line'] + 1}"


def check_comments(graphs, module):
    symbols = list(symbols_of(graphs, module))
    bare = [f"{'.'.join(s['pathComponents'])} ({place_of(s)})" for s in symbols if not comment_of(s).strip()]
    report(f"{module}: each of {len(symbols)} public symbols has a doc comment", bare)
    types = [s for s in symbols
             if len(s["pathComponents"]) == 1 and s["kind"]["identifier"] in ("swift.class", "swift.protocol")]
    bare = [f"{s['pathComponents'][0]} ({place_of(s)})" for s in types if "```swift" not in comment_of(s)]
    report(f"{module}: each of {len(types)} public classes and protocols has an example", bare)


def examples_of(text, source):
    for block in re.findall(r"^```swift\n(.*?)^```", text, re.M | re.S):
        yield source, block


def check_examples(graphs, modules, module):
    examples = []
    for symbol in symbols_of(graphs, module):
        examples += examples_of(comment_of(symbol) + "\n", place_of(symbol))
    for path in sorted((ROOT / "Sources" / module).glob("*.docc/*.md")):
        examples += examples_of(path.read_text(), path.name)
    conforms, members = GIVEN[module]
    text = f"import {module}\n" + ("import Tendon\n" if module != "Tendon" else "")
    text += "import TendonObvious\n" if module == "TendonObviousCloud" else ""
    text += "import Foundation\nimport TendonActiv5\nimport TendonFjorden\n" if module == "TendonFoundation" else ""
    for number, (source, block) in enumerate(examples):
        text += f"@TendonActor\nfinal class Example{number}{conforms} {{{COMMON}{members}\n    func run() async throws {{\n"
        text += f'#sourceLocation(file: "{source}", line: 1)\n{block}#sourceLocation()\n    }}\n}}\n'
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "Examples.swift"
        path.write_text(text)
        compiled = subprocess.run(
            ["swiftc", "-typecheck", "-swift-version", "6", "-package-name", "examples", "-I", modules,
             *(part for folder in C_MODULES for part in ("-I", ROOT / folder)), path], capture_output=True, text=True)
    lines = compiled.stderr.splitlines()
    problems = [line for line in lines if ": error:" in line] or lines[-5:] if compiled.returncode else []
    report(f"{module}: its {len(examples)} examples compile", problems)


graphs, modules = pathlib.Path(sys.argv[1]), sys.argv[2]
for module in sys.argv[3:]:
    check_comments(graphs, module)
    check_examples(graphs, modules, module)
sys.exit(0 if all(results) else 1)

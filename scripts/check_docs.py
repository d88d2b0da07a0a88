#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What DocC does not check. Usage: check_docs.py SYMBOL-GRAPHS MODULES-FOLDER MODULE...

Every public symbol has a doc comment; every public class and protocol has an example in its own; every example of a
comment compiles as the body of a method of a class that has what examples take for granted.

Every ```swift block of the README, of docs/ and of the catalogs compiles as a reader pastes it: a program or a manifest by
itself, a sample as the body of a `main()` that is outside of TendonActor. What the lines around a sample explain, its page
declares below. A block that stands in a program of examples/ or of Tests/Phone is compiled there.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import page_blocks

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
    "TendonGateway": ("", """
    var gateway: Gateway { fatalError() }
    var device: GatewayDevice { fatalError() }
"""),
    "TendonObviousCloud": ("", """
    var keys: [ObviousKey] { fatalError() }
"""),
}
# What the samples of a page import, and what is explained beside them. Others import Tendon; those of a device, its module.
SAMPLES = {
    "docs/pairing.md": ("Tendon", """
    struct User: Sendable {
        func confirms(_ question: String) async -> Bool { false }
        func enters(_ question: String) async -> String? { nil }
        func reads(_ text: String) {}
    }
    static let user = User()
    static var central: Central { get async throws { try await Central.shared } }
"""),
    "docs/swift.md": ("Tendon TendonActiv5", """
    struct Logger: Sendable { func debug(_ text: String) {} }
    static let logger = Logger()
"""),
    "docs/swift-gateway.md": ("Tendon TendonGateway", ""),
    "Sources/TendonFoundation/TendonFoundation.docc/TendonFoundation.md": ("TendonFoundation TendonFjorden", ""),
    "Sources/TendonObviousCloud/TendonObviousCloud.docc/TendonObviousCloud.md": ("TendonObviousCloud TendonObvious", ""),
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
    conforms, members = GIVEN[module]
    text = f"import {module}\n" + ("import Tendon\n" if module != "Tendon" else "")
    text += "import TendonObvious\n" if module == "TendonObviousCloud" else ""
    text += "import Foundation\nimport TendonActiv5\nimport TendonFjorden\n" if module == "TendonFoundation" else ""
    for number, (source, block) in enumerate(examples):
        text += f"@TendonActor\nfinal class Example{number}{conforms} {{{COMMON}{members}\n    func run() async throws {{\n"
        text += f'#sourceLocation(file: "{source}", line: 1)\n{block}#sourceLocation()\n    }}\n}}\n'
    report(f"{module}: its {len(examples)} examples compile",
           errors_of({"Examples.swift": text}, *searched(modules), "-package-name", "examples"))


def searched(modules):
    return ["-parse-as-library", "-I", modules, *(part for folder in C_MODULES for part in ("-I", ROOT / folder))]


def errors_of(files, *options):
    """What the compiler finds in files: a name to a text."""
    with tempfile.TemporaryDirectory() as directory:
        paths = [pathlib.Path(directory) / name for name in files]
        for path in paths:
            path.write_text(files[path.name])
        compiled = subprocess.run(["swiftc", "-typecheck", "-swift-version", "6", *options, *paths],
                                  capture_output=True, text=True)
    lines = compiled.stderr.splitlines()
    return [line for line in lines if ": error:" in line] or lines[-5:] if compiled.returncode else []


def stands_in_program(block):
    """Whether a program that other stages build has the block to the letter, and its imports."""
    lines = block.text.strip("\n").splitlines()
    imports = {line for line in lines if line.startswith("import ")}
    body = "\n".join(line for line in lines if line not in imports).strip("\n")
    programs = [path.read_text() for folder in ("examples", "Tests/Phone") for path in (ROOT / folder).rglob("*.swift")]
    return any(body in program and imports <= set(program.splitlines()) for program in programs)


def module_of(page):
    """What the reader of a page imports: the module of a device, or of a catalog; else Tendon."""
    name = pathlib.Path(page).stem.lower()
    folders = [path.name for path in (ROOT / "Sources").iterdir()]
    wanted = {"docs/devices": "tendon" + name, "docs": "tendon", ".": "tendon"}.get(str(pathlib.Path(page).parent), name)
    return next(folder for folder in folders if folder.lower() == wanted)


def sample(number, block, page):
    """A file with a sample as the body of a program's main()."""
    imported, given = SAMPLES.get(page) or (module_of(page), "")
    imports = "".join(f"import {module}\n" for module in imported.split())
    return (f"{imports}enum Sample{number} {{{given}\n    static func main() async throws {{\n"
            f'#sourceLocation(file: "{page}", line: {block.line + 1})\n{block.text}#sourceLocation()\n    }}\n}}\n')


def check_pages(modules):
    catalogs = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "Sources").glob("*/*.docc/*.md"))
    exempt, samples, built, wrong = page_blocks.exemptions(), {}, 0, []
    resources = json.loads(subprocess.run(["swift", "-print-target-info"], capture_output=True, text=True, check=True).stdout)
    manifest = ["-I", pathlib.Path(resources["paths"]["runtimeResourcePath"]) / "pm/ManifestAPI",
                "-package-description-version", "6.1"]
    library = [*searched(modules), "-warnings-as-errors"]
    for page in page_blocks.pages() + catalogs:
        blocks, problems = page_blocks.blocks_of(page, (ROOT / page).read_text())
        wrong += problems
        for block in blocks:
            if block.language != "swift" or page_blocks.is_exempt(block, exempt):
                continue
            if stands_in_program(block):
                built += 1
            elif block.text.startswith("// swift-tools-version"):
                report(f"{block}: the manifest compiles", errors_of({"Package.swift": block.text}, *manifest))
            elif block.text.startswith(".package("):
                lines = [f"let package{number}: Package.Dependency = {line}\n"
                         for number, line in enumerate(block.text.splitlines())]
                report(f"{block}: {len(lines)} lines of a manifest compile",
                       errors_of({"Package.swift": "import PackageDescription\n" + "".join(lines)}, *manifest))
            elif "@main" in block.text:
                report(f"{block}: the program compiles", errors_of({"Program.swift": block.text}, *library))
            else:
                samples[f"Sample{len(samples)}.swift"] = sample(len(samples), block, page)
    report("each block of a page is of a language that is checked", wrong)
    report(f"{len(samples)} samples of the pages compile outside of TendonActor", errors_of(samples, *library))
    report(f"{built} blocks stand in programs that are built", [] if built else ["none"])


graphs, modules = pathlib.Path(sys.argv[1]), sys.argv[2]
for module in sys.argv[3:]:
    check_comments(graphs, module)
    check_examples(graphs, modules, module)
check_pages(modules)
sys.exit(0 if all(results) else 1)

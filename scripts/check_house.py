#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rules of the house that no compiler checks. Usage: check_house.py MESON_BUILD_DIRECTORY"""

import graphlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPONENTS = {
    # room: rooms whose headers it may include
    "base": {"base"},
    "host": {"base", "host"},
    "motion": {"base", "motion"},
    "osc": {"base", "motion", "osc"},
    "devices": {"base", "host", "motion", "devices"},
    "definition": {"base", "host", "devices", "definition"},
    "gateway": {"base", "host", "motion", "devices", "definition", "gateway"},
    "replay": {"base", "host", "motion", "devices", "definition", "gateway", "replay"},
    "simulate": {"base", "host", "motion", "devices", "definition", "simulate"},
    "linux": {"base", "host", "linux"},
    "linux/gateway.c": {"base", "host", "linux", "bluez"},  # chooses between the two radios
    "linux/adapter_wait.c": {"base", "host", "linux", "bluez"},  # asks for a report of an adapter
    "linux/adapter": {"base", "host", "linux", "bluez"},
    "tools": {"base", "host", "linux", "bluez", "tools"},
    "fleet": {"base", "host", "devices", "definition", "gateway", "linux", "bluez", "fleet"},
}
FREESTANDING = ["base", "host", "motion", "osc", "devices", "definition", "gateway", "replay", "simulate"]
# errno.h is macros only, and taken only where the system has it; the last two are the compilers' vector types.
SYSTEM_HEADERS = {"stdbool.h", "stddef.h", "stdint.h", "string.h", "math.h", "float.h", "limits.h", "errno.h",
                  "emmintrin.h", "arm_neon.h"}
MATH_ROOMS = {"motion", "osc", "devices", "definition", "gateway", "replay", "simulate"}
results = []


def report(name, problems):
    results.append(not problems)
    print(("ok" if not problems else "not ok") + f" - {name}")
    for problem in problems:
        print(f"#   {problem}")


def files_of(room):
    folder = ROOT / "CSources" / room
    for path in [folder] if folder.is_file() else sorted(folder.rglob("*.[ch]")):
        if room == "linux" and (folder / "adapter" in path.parents or f"linux/{path.name}" in COMPONENTS):
            continue
        yield path


def check_imports():
    problems = []
    for room, allowed in COMPONENTS.items():
        for path in files_of(room):
            text = path.read_text()
            for include in re.findall(r'#\s*include\s+"tendon/([a-z_]+)', text):
                if include not in allowed | {"version"}:
                    problems.append(f"{path.relative_to(ROOT)} includes tendon/{include}")
            for include in re.findall(r'#\s*include\s+"(\.\./[^"]+)"', text):
                target = (path.parent / include).resolve().relative_to(ROOT / "CSources")
                if ("bluez" if target.parts[:2] == ("linux", "adapter") else target.parts[0]) not in allowed:
                    problems.append(f"{path.relative_to(ROOT)} includes {include}")
    report("imports between rooms go one way", problems)


def check_circles():
    """A file calls those that it stands on, and these do not call it."""
    code = {path.relative_to(ROOT / "CSources"): re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', "", path.read_text(), flags=re.S)
            for path in sorted((ROOT / "CSources").rglob("*.c"))}
    owner = {name: path for path, text in code.items()
             for name in re.findall(r"^(?!static\b)\w[\w *]*?\b(\w+)\([^;{]*\) \{$", text, re.M)}
    calls = {path: {owner[word] for word in re.findall(r"\w+", text) if word in owner} - {path} for path, text in code.items()}
    problems = []
    try:
        graphlib.TopologicalSorter(calls).prepare()
    except graphlib.CycleError as error:
        problems.append(" is called by ".join(map(str, error.args[1])))
    report("no files call each other in a circle", problems)


def check_system_headers():
    problems = []
    for room in FREESTANDING:
        for path in files_of(room):
            for include in re.findall(r"#\s*include\s+<([^>]+)>", path.read_text()):
                if include not in SYSTEM_HEADERS or (include == "math.h" and room not in MATH_ROOMS):
                    problems.append(f"{path.relative_to(ROOT)} includes <{include}>")
    report("the core includes no system headers", problems)
    problems = []
    for room in [*FREESTANDING, "linux", "linux/gateway.c", "tools", "fleet"]:
        for path in files_of(room):
            if re.search(r"#\s*include\s+<bluetooth/", path.read_text()):
                problems.append(str(path.relative_to(ROOT)))
    report("libbluetooth's headers stay in linux/adapter", problems)


def check_heap():
    call = re.compile(r"\b(malloc|calloc|realloc|strdup|free|alloca)\s*\(")
    problems = []
    for path in sorted((ROOT / "CSources").rglob("*.[ch]")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if call.search(line):
                problems.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    report("no heap calls under CSources", problems)


def compiler_objects(directory, flags):
    objects = []
    for room in FREESTANDING:
        for path in files_of(room):
            if path.suffix == ".c":
                target = pathlib.Path(directory) / (str(path.relative_to(ROOT)).replace("/", "_") + ".o")
                subprocess.run(["gcc", "-std=c11", "-O1", "-I", ROOT / "include", *flags, "-c", path, "-o", target],
                               check=True)
                objects.append(target)
    return objects


def check_freestanding():
    allowed = {"memcpy", "memset", "memcmp", "memmove"}
    libm = {"sin", "cos", "sqrt", "asin", "atan2", "fabs", "fabsf", "copysign", "copysignf", "sincos", "fmod", "floor",
            "rint", "nearbyint", "fmax", "frexp", "ldexp"}
    problems = []
    with tempfile.TemporaryDirectory() as directory:
        objects = compiler_objects(directory, ["-ffreestanding", "-fno-stack-protector"])
        merged = pathlib.Path(directory) / "core.o"
        subprocess.run(["ld", "-r", "-o", merged, *objects], check=True)
        output = subprocess.run(["nm", "-u", merged], check=True, capture_output=True, text=True).stdout
        for symbol in output.split():
            if symbol not in allowed | libm and symbol != "U" and symbol != "_GLOBAL_OFFSET_TABLE_":
                problems.append(f"undefined symbol {symbol}")
        output = subprocess.run(["size", "-A", merged], check=True, capture_output=True, text=True).stdout
        for line in output.splitlines():
            fields = line.split()
            if len(fields) >= 2 and re.match(r"\.(bss|data)($|\.(?!rel\.ro))", fields[0]) and int(fields[1]) > 0:
                problems.append(f"writable static data: {fields[0]} {fields[1]} bytes")
    report("the core links freestanding and has no writable static data", problems)


def meson_lists(build):
    targets = json.loads(subprocess.run(["meson", "introspect", "--targets", build], check=True, capture_output=True,
                                        text=True).stdout)
    sources, defines = set(), set()
    for target in targets:
        if target["name"] not in ("tendon", "tendon-core"):  # the objects of the second are part of the first
            continue
        for group in target["target_sources"]:
            sources |= {str(pathlib.Path(s).relative_to(ROOT)) for s in group.get("sources", [])}
            defines |= {p for p in group.get("parameters", []) if p.startswith("-D") and not p.startswith("-D_FILE")}
    return sources, defines


def swift_lists():
    package = json.loads(subprocess.run(["swift", "package", "dump-package"], check=True, capture_output=True,
                                        text=True, cwd=ROOT).stdout)
    target = next(t for t in package["targets"] if t["name"] == "CTendon")
    # SwiftPM takes every C file under the folders in `sources`.
    sources = set()
    for folder in target["sources"]:
        sources |= {str(p.relative_to(ROOT)) for p in (ROOT / folder).rglob("*.c")}
    defines = set()
    for setting in target["settings"]:
        kind = setting["kind"]
        # Meson's build directory here is one with libbluetooth.
        instead = (setting.get("condition") or {}).get("traits") == ["KernelSockets"]
        if setting["tool"] == "c" and "define" in kind and not instead:
            value = kind["define"]
            defines.add("-D" + (value["_0"] if isinstance(value, dict) else value))
    return sources, defines


def check_builds(build):
    meson_sources, meson_defines = meson_lists(build)
    swift_sources, swift_defines = swift_lists()
    problems = [f"only in Meson: {s}" for s in sorted(meson_sources - swift_sources)]
    problems += [f"only in SwiftPM: {s}" for s in sorted(swift_sources - meson_sources)]
    report(f"both builds compile the same {len(meson_sources)} C files", problems)
    normal = lambda items: {i if "=" in i else i + "=1" for i in items}
    difference = normal(meson_defines) ^ normal(swift_defines)
    report("both builds set the same defines", [f"{d}" for d in sorted(difference)])


def check_swift_imports():
    """Products build with glibc and with musl."""
    problems = []
    guarded = re.compile(
        r"^( *)#if canImport\(Glibc\)\n\1    import Glibc\n\1#else\n\1    import Musl\n\1#endif\n", re.M)
    for path in sorted((ROOT / "Sources").rglob("*.swift")):
        rest = guarded.sub("", path.read_text())
        if path.relative_to(ROOT).parts[1] == "TendonFoundation":
            rest = rest.replace("import Foundation\n", "")
        if re.search(r"^\s*import (Glibc|Musl|Foundation)\b", rest, re.M):
            problems.append(f"{path.relative_to(ROOT)} imports a C library without its alternative, or Foundation")
    report("Swift imports Glibc or Musl, and Foundation only in TendonFoundation", problems)


def check_licences():
    problems = []
    folders = [("CSources", "*.[ch]"), ("include", "*.h"), ("Sources", "*.swift"), ("Tests", "*.swift"), ("examples", "*.swift")]
    for path in [path for folder, names in folders for path in sorted((ROOT / folder).rglob(names))]:
        # The identifier goes to the end of its line.
        if not re.search(r"SPDX-License-Identifier: MIT *(\*/)?$", path.read_text()[:200], re.M):
            problems.append(f"{path.relative_to(ROOT)}: no line that ends with SPDX-License-Identifier: MIT")
    report("every file of C and Swift says its licence", problems)


def check_version():
    """include/tendon/version.h has it; Meson and the command take it from there, the rest is compared."""
    header = (ROOT / "include/tendon/version.h").read_text()
    version = re.search(r'#define TENDON_VERSION "(.*)"', header)[1]
    numbers = ".".join(re.search(rf"#define TENDON_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))
    debian = re.match(r"tendon \((.*)-\d+\) ", (ROOT / "packaging/debian/changelog").read_text())
    places = {"its numbers in version.h": numbers, "packaging/debian/changelog": debian and debian[1],
              "CHANGELOG.md": re.search(r"^## \[(\d.*?)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]}
    recipe = ROOT / "packaging/openwrt/Makefile"
    places["packaging/openwrt/Makefile"] = re.search(r"^PKG_VERSION:=(.*)$", recipe.read_text(), re.M)[1]
    for path in sorted((ROOT / "docs").glob("*.md")):
        for number, required in enumerate(re.findall(r'\.package\(url: .*from: "(.*?)"', path.read_text())):
            places[f"docs/{path.name}, package {number + 1}"] = required
    report(f"the version is {version} everywhere", [f"{place}: {found}" for place, found in places.items() if found != version])


def check_taken_names():
    """Names that a device file cannot give, as the parser has them, are in its document."""
    document = (ROOT / "docs/device-files.md").read_text()
    problems = []
    for path, array in (("file.c", "events"), ("check.c", "taken")):
        source = (ROOT / "CSources/definition" / path).read_text()
        strings = re.search(rf"static const char {array}\[\] =(.*?);\n", source, re.S)[1]
        names = "".join(re.findall('"(.*?)"', strings)).split("\\0")
        # One list: the names are one after the other.
        listed = [set(re.findall("`(.*?)`", part)) for part in document.split("\n\n")] + [
            set(re.findall("`(.*?)`", part)) for part in document.split("\n")]
        wanted = {name for name in names if name}
        problems += [] if any(wanted <= one for one in listed) else [f"{path}: {array}"]
    report("docs/device-files.md has the names that are taken", problems)


def check_build_dependencies():
    libraries = re.search(r"^demo=\((.*?)\)", (ROOT / "scripts/setup.sh").read_text(), re.M | re.S)[1].split()
    control = (ROOT / "packaging/debian/control").read_text().split("\n\n")[0]
    problems = [name for name in libraries if re.fullmatch(r"lib(?!c6|stdc).*-dev", name) and f" {name}," not in control]
    report("packaging/debian/control names the libraries of scripts/setup.sh", problems)


check_imports()
check_circles()
check_system_headers()
check_heap()
check_freestanding()
check_builds(sys.argv[1])
check_swift_imports()
check_licences()
check_version()
check_taken_names()
check_build_dependencies()
sys.exit(0 if all(results) else 1)

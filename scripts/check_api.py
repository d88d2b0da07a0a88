#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a program that imports all modules together sees: no C type in a public declaration, no name in two modules, no
overload that differs from another by `async` alone (a call without `await` would then take one or the other).

Usage: check_api.py GRAPHS MODULE...
GRAPHS: folder of the modules' symbol graphs, as swift symbolgraph-extract writes them.
"""
import json
import pathlib
import re
import sys

from check_cancellation import is_async

# Types of CTendon, and Swift's forms of C pointers and numbers. Buffer pointers are Swift's own: no C declaration has
# one.
C_TYPE = re.compile(
    r"^(_?tendon_\w+|TENDON_\w+|CTendon|Unsafe(Mutable)?(Raw)?Pointer|OpaquePointer|CVaListPointer|CVarArg|Unmanaged|"
    r"C(Char|SignedChar|UnsignedChar|Short|UnsignedShort|Int|UnsignedInt|Long|UnsignedLong|LongLong|"
    r"UnsignedLongLong|Float|Double|Bool))$")
TYPES = {"swift.struct", "swift.class", "swift.enum", "swift.protocol", "swift.typealias", "swift.actor", "swift.func"}


def symbols_of(graphs, module):
    """Public symbols of a module, extensions of other modules' types included."""
    for path in sorted(graphs.glob(f"{module}.symbols.json")) + sorted(graphs.glob(f"{module}@*.symbols.json")):
        for symbol in json.loads(path.read_text())["symbols"]:
            yield symbol


def c_types(symbol):
    """C types in a declaration. Clang's symbols have identifiers that begin with c: in Swift's graphs."""
    found = set()
    for fragment in symbol.get("declarationFragments", []):
        if fragment["kind"] == "typeIdentifier":
            name = fragment["spelling"].split(".")[-1]
            if C_TYPE.match(name) or fragment.get("preciseIdentifier", "").startswith("c:"):
                found.add(name)
        elif "@convention(c" in fragment["spelling"]:
            found.add("@convention(c)")
    return found


def parameters(symbol):
    """The types of the parameters, in order; None: not a function."""
    signature = symbol.get("functionSignature")
    if signature is None:
        return None
    # A fragment is the label, then its colon and the type.
    texts = ["".join(f["spelling"] for f in p.get("declarationFragments", [])) for p in signature.get("parameters", [])]
    return tuple(text.partition(": ")[2] for text in texts)


def waiting_twins(symbols):
    """Functions of the same name, labels and parameter types of which some are asynchronous."""
    kinds = {}
    for symbol in symbols:
        types = parameters(symbol)
        if types is not None:
            key = (tuple(symbol["pathComponents"]), symbol["kind"]["identifier"], types)
            kinds.setdefault(key, set()).add(is_async(symbol.get("declarationFragments", [])))
    return sorted(".".join(path) for (path, _, _), found in kinds.items() if len(found) > 1)


def report(name, problems):
    print(("ok" if not problems else "not ok") + f" - {name}")
    for problem in problems:
        print(f"#   {problem}")
    return bool(problems)


def main():
    graphs, modules = pathlib.Path(sys.argv[1]), sys.argv[2:]
    failures, homes = 0, {}
    for module in modules:
        problems, count = [], 0
        symbols = list(symbols_of(graphs, module))
        for symbol in symbols:
            count += 1
            path = ".".join(symbol["pathComponents"])
            problems += [f"{module}: {path} has the C type {name}" for name in sorted(c_types(symbol))]
            if len(symbol["pathComponents"]) == 1 and symbol["kind"]["identifier"] in TYPES:
                homes.setdefault(path, set()).add(module)
        if count == 0:
            problems.append(f"no symbol graph of {module} in {graphs}")
        failures += report(f"{module}: no C type in {count} public declarations", problems)
        twins = [f"{module}: {name} exists with and without async" for name in waiting_twins(symbols)]
        failures += report(f"{module}: no overload differs by async alone", twins)
    # Two vendors use it: a file that imports both modules names the module.
    homes.pop("FirmwareVersion", None)
    twice = [f"{name} is in {', '.join(sorted(found))}" for name, found in sorted(homes.items()) if len(found) > 1]
    failures += report(f"{len(homes)} names, each in one module", twice)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

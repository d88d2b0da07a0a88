#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the Swift modules' documentation with the toolchain's docc, warnings being errors, into
# $BUILD/documentation/MODULE, and checks what docc does not: see check_docs.py and check_api.py. To read it:
# python3 -m http.server -d $BUILD/documentation/Tendon
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
modules=(Tendon TendonBose TendonActiv5 TendonFeelSpace TendonFjorden TendonObvious TendonObviousCloud
    TendonFoundation TendonGateway)
# Modules of C that they import.
includes=(-I include -I Sources/CObviousCloud/include -I Sources/CSystemCurl -I Sources/CSystemJansson
    -I Sources/CSystemSodium)
# The docc beside the swift that is used; where that is a proxy, the one on PATH.
tools=$(dirname "$(readlink -f "$(command -v swift)")")
docc=$tools/docc
[ -x "$docc" ] || docc=$(command -v docc) || { echo "not ok - the toolchain has no docc"; exit 1; }

for module in "${modules[@]}"; do
    scripts/swift_build.sh --scratch-path "$build/swift" -j "$(nproc 2>/dev/null || echo 2)" --target "$module" >"$build/docs.log" 2>&1 ||
        { cat "$build/docs.log"; exit 1; }
done
products=$(scripts/swift_build.sh --scratch-path "$build/swift" --show-bin-path)
target=$(swift -print-target-info | sed -nE 's/^ *"unversionedTriple": "(.*)",?$/\1/p' | head -1)
graphs=$build/documentation/graphs
rm -rf "$build/documentation"
mkdir -p "$graphs"
for module in "${modules[@]}"; do
    swift symbolgraph-extract -module-name "$module" -target "$target" -I "$products/Modules" "${includes[@]}" \
        -minimum-access-level public -skip-synthesized-members -output-dir "$graphs"
done

failed=0
for module in "${modules[@]}"; do
    mkdir "$graphs/$module"
    cp "$graphs/$module".symbols.json "$graphs/$module"@*.symbols.json "$graphs/$module/" 2>/dev/null || true
    if said=$("$docc" convert "Sources/$module/$module.docc" --additional-symbol-graph-dir "$graphs/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "tendon.$module" --warnings-as-errors \
        --output-path "$build/documentation/$module" 2>&1); then
        echo "ok - docc builds $module without a warning"
    else
        echo "not ok - docc and $module"
        sed 's/^/#   /' <<<"$said"
        failed=1
    fi
done
python3 scripts/check_cancellation.py "$graphs" "${modules[@]}" || failed=1
python3 scripts/check_api.py "$graphs" "${modules[@]}" || failed=1
python3 scripts/check_docs.py "$graphs" "$products/Modules" "${modules[@]}" || failed=1
exit $failed

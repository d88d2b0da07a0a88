#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs written as for a phone, see Tests/Phone: builds them with default isolation MainActor against this package with
# the trait MainActorLoop, and runs each on the virtual radio. With them a program that has the vendors' public signatures,
# one function per signature.
set -euo pipefail
export TENDON_RADIO=virtual
cd "$(dirname "$0")/.."
top=$PWD
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
package=$build/phone
mkdir -p "$package/Sources"
# Bonds of simulated devices, not beside the user's.
XDG_STATE_HOME=$(mktemp -d)
export XDG_STATE_HOME
trap 'rm -rf "$XDG_STATE_HOME"' EXIT
# A package's name is that of its folder.
ln -sfn "$top" "$package/tendon"
apps=()
for folder in Tests/Phone/*App; do
    app=$(basename "$folder")
    apps+=("$app")
    ln -sfn "$top/$folder" "$package/Sources/$app"
done

python3 scripts/check_signatures.py generate "$package/Sources/Signatures"
{
    cat <<'HEAD'
// swift-tools-version: 6.2
import PackageDescription

let modules: [Target.Dependency] = ["Tendon", "TendonBose", "TendonActiv5", "TendonFeelSpace", "TendonFjorden", "TendonFoundation", "TendonObvious"].map {
    .product(name: $0, package: "tendon")
}

let package = Package(
    name: "phone",
    dependencies: [.package(path: "tendon", traits: ["BlueZ", "MainActorLoop"])],
    targets: [
HEAD
    for app in "${apps[@]}" Signatures; do
        echo "        .executableTarget(name: \"$app\", dependencies: modules, swiftSettings: [.defaultIsolation(MainActor.self)]),"
    done
    echo "    ])"
} >"$package/Package.swift"

failed=0
python3 scripts/check_porting.py || failed=1
if output=$(swift build --package-path "$package" -j 2 --disable-index-store 2>&1); then
    echo "ok - programs written as for a phone build: ${apps[*]}"
else
    echo "not ok - programs written as for a phone build"
    grep -E 'error' <<<"$output" | sort -u | sed 's/^/#   /' | head -30
    echo "$output" >"$build/phone.log"
    python3 scripts/check_signatures.py count "$build/phone.log" || true
    exit 1
fi
python3 scripts/check_signatures.py count || failed=1
products=$(swift build --package-path "$package" --show-bin-path)
for app in "${apps[@]}" Signatures; do
    if output=$(timeout 60 "$products/$app" 2>&1); then
        echo "ok - $app runs: ${output##*$'\n'}"
    else
        echo "not ok - $app runs"
        sed 's/^/#   /' <<<"$output" | tail -20
        failed=1
    fi
done
exit $failed

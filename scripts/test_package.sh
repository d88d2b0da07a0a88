#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The package as a dependency: commits a copy of this tree to a new repository with its version as the tag, and builds a package
# that requires it by version and imports all its modules in one file. With the default traits, and without traits: the
# MIT form, which does not link libbluetooth. On a machine without libbluetooth-dev, SwiftPM names that package.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
jobs=$(nproc 2>/dev/null || echo 2)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Nothing of another run: a version that moved is an error for SwiftPM.
swiftpm=(--cache-path "$work/cache" --security-path "$work/security" --config-path "$work/config" -j "$jobs"
    --disable-index-store)
modules=(Tendon TendonActiv5 TendonBose TendonFeelSpace TendonFjorden TendonGateway TendonObvious TendonObviousCloud)
failed=0

# result NAME OUTPUT COMMAND...: prints a TAP line for the command, and the end of the output if the command fails.
result() {
    local name=$1 output=$2
    shift 2
    if "$@"; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        tail -n 30 <<<"$output" | sed 's/^/#   /'
        failed=1
    fi
}

version=$(sed -n 's/^#define TENDON_VERSION "\(.*\)"$/\1/p' include/tendon/version.h)
repository=$work/tendon
mkdir "$repository"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' name; do
    [ ! -e "$name" ] || printf '%s\0' "$name"
done | tar -c --null -T - | tar -x -C "$repository"
git -C "$repository" init -q
git -C "$repository" add -A
git -C "$repository" -c user.name=test -c user.email=test@localhost commit -q -m "Version $version"
git -C "$repository" tag "$version"

# dependent NAME TRAITS: a package whose program uses all modules.
dependent() {
    mkdir -p "$work/$1/Sources/Program"
    cat >"$work/$1/Package.swift" <<PACKAGE
// swift-tools-version: 6.1
import PackageDescription

let modules: [Target.Dependency] = [$(printf '"%s", ' "${modules[@]}")].map { .product(name: \$0, package: "tendon") }

let package = Package(
    name: "$1",
    dependencies: [.package(url: "file://$repository", from: "$version"$2)],
    targets: [.executableTarget(name: "Program", dependencies: modules)])
PACKAGE
    cp "$top/Tests/Package/Program.swift" "$work/$1/Sources/Program/"
}

# build_dependent NAME: $output and $code, and what it writes in the build folder.
build_dependent() {
    code=0
    output=$(swift build "${swiftpm[@]}" --package-path "$work/$1" 2>&1) || code=$?
    printf '%s\n' "$output" >"$build/package-$1.log"
    program=$work/$1/.build/debug/Program
}

dependent default ''
build_dependent default
result "a package that requires its version builds with all modules in one file" "$output" [ "$code" -eq 0 ]
[ "$code" -eq 0 ] || exit 1
result "SwiftPM resolved this version" "$(cat "$work/default/Package.resolved")" \
    grep -q "\"version\" : \"$version\"" "$work/default/Package.resolved"
result "no warning of a dependency" "$output" [ "$(grep -c 'warning:' <<<"$output")" -eq 0 ]
output=$(timeout 60 "$program" 2>&1) && code=0 || code=$?
result "its program runs" "$output" [ "$code" -eq 0 ]
scripts/check_links.sh with "$program" || failed=1

# The first program, as docs/swift-tutorial.md shows it: its two blocks, beside a clone.
page=docs/swift-tutorial.md
block() { awk -v wanted="$1" '/^```swift$/ { on = ++count == wanted; next } /^```$/ { on = 0 } on' "$page"; }
mkdir -p "$work/head/Sources/Head"
block 1 >"$work/head/Package.swift"
block 2 >"$work/head/Sources/Head/Head.swift"
build_dependent head
result "the first program of docs/swift-tutorial.md builds" "$output" [ "$code" -eq 0 ]
result "without a warning" "$output" [ "$(grep -c 'warning:' <<<"$output")" -eq 0 ]
output=$(TENDON_RADIO=virtuel timeout 25 "$work/head/.build/debug/Head" 2>&1) && code=0 || code=$?
result "without a radio it ends with status 1, and prints the reason" "$output" \
    [ "$code:$(grep -c '^no head angles: .*TENDON_RADIO=virtuel' <<<"$output")" = 1:1 ]
if [ -x "$build/swift/release/tendon" ]; then
    export XDG_RUNTIME_DIR=$work/run XDG_STATE_HOME=$work/state
    mkdir -m 700 "$XDG_RUNTIME_DIR"
    "$build/swift/release/tendon" simulate bose --radio virtual --for 30 >/dev/null &
    device=$!
    output=$(TENDON_RADIO=virtual timeout 25 "$work/head/.build/debug/Head" 2>&1) || true
    kill "$device"
    result "it prints ten lines of angles" "$output" [ "$(grep -cE '^pitch -?[0-9.]+ roll -?[0-9.]+ yaw -?[0-9.]+$' <<<"$output")" -eq 10 ]
fi

# pkg-config of a machine that has no libbluetooth-dev.
mkdir "$work/bin"
cat >"$work/bin/pkg-config" <<'PKG_CONFIG'
#!/bin/sh
for argument; do [ "$argument" != pkg-config ] || { echo /nonexistent; exit 0; }; done
exit 1
PKG_CONFIG
chmod +x "$work/bin/pkg-config"
output=$(PATH=$work/bin:$PATH swift build "${swiftpm[@]}" --package-path "$work/default" --target Tendon 2>&1) || true
result "SwiftPM names libbluetooth-dev where it is not installed" "$output" grep -q 'apt-get install libbluetooth-dev' <<<"$output"

dependent mit ', traits: []'
build_dependent mit
result "without traits: builds" "$output" [ "$code" -eq 0 ]
[ "$code" -eq 0 ] || exit 1
output=$(timeout 60 "$program" 2>&1) && code=0 || code=$?
result "without traits: runs" "$output" [ "$code" -eq 0 ]
scripts/check_links.sh without "$program" || failed=1
result "without traits: does not link libcurl" "$(readelf -d "$program")" \
    [ "$(readelf -d "$program" | grep -c 'NEEDED.*libcurl')" -eq 0 ]
exit $failed

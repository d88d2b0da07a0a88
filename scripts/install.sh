#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs libraries, headers, tendon.pc and the command. PREFIX (default /usr/local) and DESTDIR are respected.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
prefix=${PREFIX:-/usr/local}
echo "install: building the libraries"
if [ -f "$build/release/build.ninja" ]; then
    meson configure "$build/release" --prefix "$prefix"
else
    meson setup "$build/release" . --prefix "$prefix" -Dtests=false -Dbuildtype=release >/dev/null
fi
ninja -C "$build/release" >/dev/null
echo "install: building the command (release; a few minutes the first time)"
scripts/swift_build.sh --scratch-path "$build/swift" -c release --static-swift-stdlib --product tendon
meson install -C "$build/release" --no-rebuild >/dev/null
install -D -m 755 "$build/swift/release/tendon" "${DESTDIR:-}$prefix/bin/tendon"
packaging/generate.sh "$build/swift/release/tendon" "${DESTDIR:-}$prefix"
echo "install: done; try: $prefix/bin/tendon doctor"

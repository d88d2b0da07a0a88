#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes docs/pictures/page.png again: the page with simulated devices, in Chromium. Needs the command in $BUILD/swift/release.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "${BUILD:-.build}" && pwd)
pictures=$(mktemp -d)
trap 'rm -rf "$pictures"' EXIT
TENDON=$build/swift/release/tendon PICTURES=$pictures bash Tests/Command/web.sh >"$pictures/results" ||
    { grep -A3 '^not ok' "$pictures/results" && exit 1; }
mkdir -p docs/pictures
cp "$pictures/light.png" docs/pictures/page.png

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes an image for docker and podman: the command in the build that is MIT (trait KernelSockets in the place of BlueZ), the
# libraries that it is linked with, and certificates. No shell, no package manager, no D-Bus. docs/packages.md says how it is run.
# Usage: scripts/container.sh      prints the path of the archive, for `docker load -i` or `podman load -i`
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
output=$build/container
scripts/swift_build.sh --scratch-path "$build/swift-container" -c release --static-swift-stdlib -j "$(nproc)" \
    --disable-default-traits --traits KernelSockets,MQTT,Metrics,OSC,ObviousCloud,Web --product tendon >&2
scripts/check_links.sh without "$build/swift-container/release/tendon" >&2
mkdir -p "$output"
strip -o "$output/tendon" "$build/swift-container/release/tendon"
python3 packaging/container/image.py "$output/tendon" "$output/tendon.tar.new"
mv "$output/tendon.tar.new" "$output/tendon.tar"
echo "$output/tendon.tar"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the examples as a user would and runs them against a simulated device on the virtual radio.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
prefix=$build/install/bluez
if [ -f "$build/install-bluez/build.ninja" ]; then
    meson setup --reconfigure "$build/install-bluez" . >/dev/null && meson install -C "$build/install-bluez" >/dev/null
else
    scripts/test_install.sh >/dev/null
fi
scripts/swift_build.sh --scratch-path "$build/swift" -c release --product tendon | tail -1
scripts/swift_build.sh --scratch-path "$build/swift" -c release --product stream-bose | tail -1

XDG_RUNTIME_DIR=$(mktemp -d)
export XDG_RUNTIME_DIR
"$build/swift/release/tendon" simulate bose --radio virtual >/dev/null 2>&1 &
device=$!
cleanup() {
    kill "$device" 2>/dev/null && wait "$device" || true
    rm -rf "$XDG_RUNTIME_DIR"
}
trap cleanup EXIT

# ten_lines NAME COMMAND...: it ends well and prints ten lines of angles.
ten_lines() {
    local name=$1 output
    shift
    if output=$(timeout 60 "$@" 2>&1) && [ "$(grep -cE 'pitch *[+-]? *[0-9]' <<<"$output")" -eq 10 ]; then
        echo "ok - $name prints ten head poses"
    else
        echo "not ok - $name"
        sed 's/^/#   /' <<<"$output"
        return 1
    fi
}

# shellcheck disable=SC2046
gcc -std=c11 -Wall -Wextra -Werror examples/c/stream_bose.c -o "$build/stream_bose" \
    $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs tendon)
LD_LIBRARY_PATH=$prefix/lib ten_lines examples/c/stream_bose.c "$build/stream_bose"
ten_lines examples/swift "$build/swift/release/stream-bose"

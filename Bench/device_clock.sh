#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The table of docs/device-clock.md: Bench/device_clock.sh [--seed N]. Exit 1: a limit is not kept.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
[ -f "$build/bench/build.ninja" ] ||
    meson setup "$build/bench" . -Dtests=false -Dbench=true -Dbuildtype=release >/dev/null
ninja -j2 -C "$build/bench" Bench/bench_device_clock >"$build/device_clock.log" || { cat "$build/device_clock.log"; exit 1; }
"$build/bench/Bench/bench_device_clock" "$@"

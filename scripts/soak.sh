#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The long runs of which `make test-all` takes a fixed sample. SOAK_MINUTES (default 60) is shared by the fuzz targets.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
export BUILD=$build
# shellcheck source=scripts/stages.sh
. scripts/stages.sh
minutes=${SOAK_MINUTES:-60}
targets=$(find Tests/Fuzz -name 'fuzz_*.c' | wc -l)

echo "== C tests with their long loops (all quaternions, two million advertisements, 1,000 firmware upgrades)"
[ -f "$build/soak/build.ninja" ] || meson setup "$build/soak" . -Dbuildtype=release >/dev/null
ninja -C "$build/soak" >/dev/null
TENDON_SOAK=1 meson test -C "$build/soak" --no-rebuild --timeout-multiplier 60 --print-errorlogs
echo "== 120,000 connections under the sanitizers"
[ -f "$build/asan/build.ninja" ] || meson setup "$build/asan" . "${sanitized[@]}" >/dev/null
ninja -C "$build/asan" >/dev/null
TENDON_SOAK=1 meson test -C "$build/asan" --no-rebuild --timeout-multiplier 60 --print-errorlogs linux_soak
echo "== chaos: broker and gateway killed 50 times each, network cut, disk full (about 8 minutes)"
scripts/swift_build.sh --scratch-path "$build/swift" -c release --static-swift-stdlib --product tendon
python3 Tests/Chaos/chaos.py "$build/swift/release/tendon" --seed 1
echo "== the Lab Streaming Layer: every sample of ten minutes, twice"
TENDON_LSL_SECONDS=600 TENDON=$build/swift/release/tendon Tests/Command/lsl.sh
echo "== 1,000 gateways with a connection each, from Python"
TENDON_PYTHON_ROUNDS=1000 scripts/test.sh python
echo "== fuzzing $targets targets, $((minutes * 60 / targets)) s each"
Tests/Fuzz/run.sh $((minutes * 60 / targets))
echo "== proofs"
Tests/Proof/run.sh
echo "== all C tests on 32-bit ARM and MIPS, and in a release without libbluetooth"
scripts/cross.sh
scripts/test.sh c_without_bluez
echo "== all tests of the Swift modules with the main queue, and the programs without libbluetooth"
scripts/test.sh swift_main_queue_all swift_kernel_sockets
echo "== the OpenWrt recipe, with stubs of its build system"
scripts/test_openwrt.sh
echo "== the kernel's stack: every case with every kind of controller, long streams"
TENDON_SOAK=1 scripts/test.sh kernel_all

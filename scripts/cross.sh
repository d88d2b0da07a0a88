#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Cross builds of the C side without libbluetooth, with all C tests run under qemu-user: 32-bit ARM and 32-bit big-endian
# MIPS; and a build with another C library, musl. cmocka is built from Debian's source package, as there is no binary one for MIPS.
# Usage: scripts/cross.sh [--sample]   --sample: on ARM without the tests of linux, tools, simulate and the corpora, which MIPS runs;
# and without musl, with which the stage `examples` builds the library and two programs.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
work=$build/cross
sample=${1:-}
mkdir -p "$work"

# build_cmocka MACHINE COMPILER: a static library of its one source file.
build_cmocka() {
    local out=$work/$1-prefix
    mkdir -p "$out"
    : >"$out/config.h"
    "$2" -O1 -I"$work/cmocka/include" -I"$out" -DHAVE_CONFIG_H -DHAVE_SIGNAL_H -DHAVE_MALLOC_H -DHAVE_INTTYPES_H \
        -DHAVE_STRINGS_H -DHAVE_STDINT_H -DHAVE_UNISTD_H -DHAVE_TIME_H -DHAVE_CLOCK_GETTIME -DHAVE_CLOCK_REALTIME \
        -DHAVE_STRUCT_TIMESPEC -DHAVE_GCC_THREAD_LOCAL_STORAGE -D_GNU_SOURCE -DPACKAGE='"cmocka"' -w \
        -c "$work/cmocka/src/cmocka.c" -o "$out/cmocka.o"
    ar rcs "$out/libcmocka.a" "$out/cmocka.o"
}

scripts/debian_source.sh cmocka "$work/cmocka"
status=0
for machine in armhf mips; do
    compiler=$(sed -n "s/^c = '\(.*\)'/\1/p" "cross/$machine.ini")
    build_cmocka "$machine" "$compiler"
    [ -f "$work/$machine/build.ninja" ] ||
        meson setup "$work/$machine" . --cross-file "cross/$machine.ini" -Dbluez=disabled -Doptimization=2 -Ddebug=false \
            -Dcmocka_prefix="$work/$machine-prefix" -Dcmocka_include="$work/cmocka/include"
    suites=()
    if [ "$sample" = --sample ] && [ "$machine" != mips ]; then
        suites=(--no-suite linux --no-suite tools --no-suite simulate --no-suite fuzz) # builds what the others need
    else
        ninja -C "$work/$machine"
    fi
    meson test -C "$work/$machine" "${suites[@]}" --print-errorlogs \
        --timeout-multiplier "$((10 * ${TENDON_TIMEOUT_MULTIPLIER:-1}))" || status=1
    sed "s/^\(not \)\?ok \([0-9]*\) - /&$machine: /" "$work/$machine/meson-logs/testlog.txt"
done

[ "$sample" != --sample ] || exit $status
# Another C library: everything against musl, the radio by our own description of the kernel's sockets; warnings are errors,
# and the example is linked with it.
[ -f "$work/musl/build.ninja" ] || CC="musl-gcc -idirafter /usr/include -idirafter /usr/include/$(gcc -print-multiarch)" meson setup "$work/musl" . -Dbluez=kernel -Dtests=false
if ninja -C "$work/musl" && musl-gcc -std=c11 -Wall -Wextra -Werror -static -Iinclude examples/c/stream_bose.c \
    "$work/musl/libtendon.a" -lm -o "$work/stream_bose-musl"; then
    echo "ok - musl: the library, the kernel's radio included, and a program with it"
else
    echo "not ok - musl: the library, the kernel's radio included, and a program with it"
    status=1
fi
exit $status

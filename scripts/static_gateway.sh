#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The program tendon-gateway (programs/gateway) as a static program for another machine: musl, and the kernel's radio by our own
# description of its sockets. It needs no library there. Debian has musl for none of these compilers, so it is built from
# Debian's source package.
# Usage: scripts/static_gateway.sh MACHINE...     armhf, arm64, mips; each program is $BUILD/static/MACHINE/tendon-gateway
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
# As it is without links: musl's compiler has the path of its folder, which a later build may reach over another link.
work=$(mkdir -p "$build/static" && cd "$build/static" && pwd -P)
# The whole program at once (-flto): 12 KB less.
small=(-Os -flto=auto -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables)

# quietly COMMAND...: its output only if it fails.
quietly() {
    "$@" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2 && exit 1; }
}

# build_musl TRIPLET PREFIX OPTION...: with bin/musl-gcc, which calls the compiler of the triplet.
build_musl() {
    rm -rf "$2" "$2.build"
    mkdir -p "$2.build"
    (
        cd "$2.build"
        quietly "$work/musl/configure" --prefix="$2" --syslibdir="$2/lib" --disable-shared --enable-wrapper=gcc CC="$1-gcc" \
            CROSS_COMPILE="$1-" CFLAGS="${*:3}"
        quietly make -j "$(nproc)"
        quietly make install
    )
    rm -rf "$2.build"
    touch "$2/built"
}

# build_arithmetic TRIPLET ARCHIVE: floating-point numbers without an FPU, as the compiler's own library has them for machines
# with one only: from glibc, whose license permits to distribute what they are linked into without conditions.
build_arithmetic() {
    local from=$work/glibc objects=$2.objects name
    scripts/debian_source.sh glibc "$from"
    rm -rf "$objects"
    mkdir -p "$objects"
    for name in {add,sub,mul,div}{df,sf}3 {eq,ge,le,neg,unord}{df,sf}2 fix{,uns}{df,sf}{si,di} float{,un}{si,di}{df,sf} \
        extendsfdf2 truncdfsf2; do
        quietly "$1-gcc" -msoft-float -Os -w -D__LITTLE_ENDIAN=1234 -D__BIG_ENDIAN=4321 -D__BYTE_ORDER=4321 \
            '-Dstrong_alias(name, other)=extern __typeof(name) other __attribute__((alias(#name)))' -I"$from/soft-fp" \
            -I"$from/sysdeps/mips/mips32" -I"$from/stdlib" -c "$from/soft-fp/$name.c" -o "$objects/$name.o"
    done
    "$1-ar" rcs "$2.new" "$objects"/*.o
    mv "$2.new" "$2"
    rm -rf "$objects" "$from"
}

scripts/debian_source.sh musl "$work/musl"
for machine in "$@"; do
    triplet=$(sed -n "s/^c = '\(.*\)-gcc'/\1/p" "cross/$machine.ini")
    output=$work/$machine musl=$work/$machine-musl options=() arithmetic=()
    # Routers have no FPU, and the kernel of OpenWrt does not emulate one.
    if [ "$machine" = mips ]; then
        options=(-msoft-float)
        [ -e "$work/mips-arithmetic.a" ] || build_arithmetic "$triplet" "$work/mips-arithmetic.a"
        # Whole: else the compiler's library has them first. Its parts without such numbers fit.
        arithmetic=(-Wl,--whole-archive "$work/mips-arithmetic.a" -Wl,--no-whole-archive,--no-warn-mismatch)
    fi
    [ -e "$musl/built" ] || build_musl "$triplet" "$musl" "${options[@]}"
    # Behind musl's headers, of glibc's folder the kernel's.
    compiler=("$musl/bin/musl-gcc" -static "${options[@]}" -idirafter "/usr/$triplet/include")
    rm -rf "$output"
    mkdir -p "$output"
    printf "[binaries]\nc = [%s]\nar = '%s-gcc-ar'\n" "$(printf "'%s', " "${compiler[@]}")" "$triplet" >"$output/musl.ini"
    quietly meson setup "$output/library" . --cross-file "cross/$machine.ini" --cross-file "$output/musl.ini" -Dbluez=kernel \
        -Dtests=false -Dprograms=false -Dbuildtype=minsize -Ddefault_library=static "-Dc_args=${small[*]:1}"
    quietly ninja -C "$output/library" libtendon.a
    "${compiler[@]}" -std=c11 "${small[@]}" -Wall -Wextra -Werror -s -Wl,--gc-sections -D_GNU_SOURCE \
        -DTENDON_HAVE_BLUEZ=1 -DTENDON_KERNEL_SOCKETS=1 -Iinclude programs/gateway/*.c "$output/library/libtendon.a" -lm "${arithmetic[@]}" -o "$output/tendon-gateway"
    [ "$machine" != armhf ] || [ "$(stat -c %s "$output/tendon-gateway")" -le 300000 ] ||
        { echo "the program for armhf is larger than 300000 bytes" >&2 && exit 1; }
    echo "$output/tendon-gateway"
done

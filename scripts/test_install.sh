#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs both builds into scratch prefixes and runs C programs built against what was installed.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)

# install_and_try NAME MESON-ARGUMENTS...
install_and_try() {
    local name=$1 prefix=$build/install/$1
    shift
    rm -rf "$prefix" "$build/install-$name"
    meson setup "$build/install-$name" . --prefix "$prefix" --libdir lib -Dtests=false -Dbuildtype=release "$@" >/dev/null
    ninja -C "$build/install-$name" >/dev/null
    meson install -C "$build/install-$name" --no-rebuild >/dev/null
    local pc=$prefix/lib/pkgconfig
    for file in lib/libtendon.so.1 lib/libtendon.a lib/libtendon-core.a lib/pkgconfig/tendon.pc \
        include/tendon/tendon.h include/tendon/host/att.h; do
        [ -e "$prefix/$file" ] || { echo "not ok - $name: $file is not installed"; return 1; }
    done
    echo "ok - $name: libraries, headers and tendon.pc are installed"

    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Wextra -Werror Tests/C/install/uses_library.c -o "$prefix/shared" \
        $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs tendon)
    LD_LIBRARY_PATH=$prefix/lib "$prefix/shared"
    echo "ok - $name: a program runs against the shared library"

    local compiler
    for compiler in 'g++ -std=c++17' 'clang++ -std=c++20'; do
        # shellcheck disable=SC2046,SC2086
        $compiler -Wall -Wextra -Wconversion -Wshadow -Werror Tests/C/install/uses_library.cpp -o "$prefix/shared++" \
            $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs tendon)
        LD_LIBRARY_PATH=$prefix/lib "$prefix/shared++"
    done
    echo "ok - $name: C++ programs compile without a warning and run"

    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Wextra -Werror Tests/C/install/uses_core.c -o "$prefix/core" -static \
        $(PKG_CONFIG_PATH=$pc pkg-config --static --cflags --libs tendon-core)
    "$prefix/core"
    echo "ok - $name: a static program runs against the core alone"

    # grep reads to the end: with -q it may stop early, and the signal to the writer would be a failure of the pipe.
    readelf -d "$prefix/lib/libtendon.so" | grep 'SONAME.*\[libtendon.so.1\]' >/dev/null
    echo "ok - $name: soname is libtendon.so.1"
    local foreign
    foreign=$(nm -D --defined-only "$prefix/lib/libtendon.so" | awk '{print $3}' | grep -vE '^(tendon_|TENDON_)' || true)
    [ -z "$foreign" ] || { echo "not ok - $name: other names are exported: $foreign"; return 1; }
    nm -D --defined-only "$prefix/lib/libtendon.so" | grep ' tendon_version@@TENDON_1' >/dev/null
    echo "ok - $name: only versioned tendon_ names are exported"
}

# With Meson's defaults, warnings as errors: the oldest clang that is supported, and the debug form of the installed one.
# gcc's debug and clang's release form are built by other stages.
builds() { # COMPILER BUILDTYPE
    rm -rf "$build/compiler"
    CC=$1 meson setup "$build/compiler" . -Dbuildtype="$2" -Dtests=false --werror >/dev/null
    ninja -C "$build/compiler" >/dev/null
    echo "ok - $1, $2: builds without a warning"
}
builds clang-14 release
builds clang debug

install_and_try bluez -Dbluez=enabled
scripts/check_links.sh with "$build/install/bluez/lib/libtendon.so"
# A program that is compiled without the define of pkg-config must see the same layout.
layout() {
    gcc "$@" -I"$build/install/bluez/include" -x c -o "$build/layout" - <<'SOURCE'
#include <stddef.h>
#include <stdio.h>
#include <tendon/tendon.h>
int main(void) { printf("%zu %zu", sizeof(tendon_gateway), offsetof(tendon_gateway, radio)); }
SOURCE
    "$build/layout"
}
[ "$(layout -DTENDON_HAVE_BLUEZ=1)" = "$(layout -UTENDON_HAVE_BLUEZ)" ]
echo "ok - bluez: the layout of a gateway does not depend on TENDON_HAVE_BLUEZ"
install_and_try mit -Dbluez=disabled
scripts/check_links.sh without "$build/install/mit/lib/libtendon.so"
[ ! -e "$build/install/mit/include/tendon/bluez.h" ] && [ ! -e "$build/install/mit/include/tendon/tools/monitor.h" ]
echo "ok - mit: no header of the kernel's radio is installed"

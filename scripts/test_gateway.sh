#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The program tendon-gateway as routers have it, static with musl, beside simulated devices on the virtual radio: its size, its
# lines, its memory. Prints TAP. Usage: scripts/test_gateway.sh TENDON, the command that simulates the devices.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
library=$build/musl-static

# As scripts/static_gateway.sh builds it for other machines. scripts/test_examples.sh has the library in the same folder.
small=(-ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables)
[ -f "$library/build.ninja" ] ||
    CC="musl-gcc -idirafter /usr/include -idirafter /usr/include/$(gcc -print-multiarch)" \
        meson setup "$library" . -Dbluez=kernel -Dtests=false -Dprograms=false -Dbuildtype=minsize -Ddefault_library=static >/dev/null
meson configure "$library" -Dprograms=false "-Dc_args=${small[*]}"
ninja -C "$library" libtendon.a >/dev/null
musl-gcc -std=c11 -Os "${small[@]}" -Wall -Wextra -Wconversion -Werror -static -s -Wl,--gc-sections -D_GNU_SOURCE \
    -DTENDON_HAVE_BLUEZ=1 -DTENDON_KERNEL_SOCKETS=1 -Iinclude programs/gateway/*.c "$library/libtendon.a" -lm \
    -o "$build/tendon-gateway"
# That for 32-bit ARM has 300000 bytes at most, which scripts/static_gateway.sh checks; code of x86-64 is larger.
size=$(stat -c %s "$build/tendon-gateway")
if [ "$size" -le 400000 ] && ! readelf -l "$build/tendon-gateway" | grep INTERP >/dev/null; then
    echo "ok - tendon-gateway: static, at most 400000 bytes: $size bytes"
else
    echo "not ok - tendon-gateway: static, at most 400000 bytes: $size bytes"
    exit 1
fi
python3 Tests/Gateway/gateway.py "$build/tendon-gateway" "$1"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Size report: code of the core at -Os for 32-bit ARM (Thumb-2), and memory per connection, each beside its budget.
# One JSON object per figure in $BUILD/sizes.jsonl; a figure over its budget is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
out=$build/sizes.jsonl
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
compiler=(arm-linux-gnueabihf-gcc -std=c11 -Os -march=armv7-a -mthumb -mfpu=vfpv3-d16 -fno-pie -Iinclude)
status=0
: >"$out"

# text_of ROOM...: bytes of code and constants.
text_of() {
    local room list=()
    rm -f "$objects"/*
    for room in "$@"; do
        while read -r file; do
            # What does not compile is over every budget.
            "${compiler[@]}" -c "$file" -o "$objects/$(tr / _ <<<"$file").o" || { echo 2147483647 0 && return; }
            list+=("$objects/$(tr / _ <<<"$file").o")
        done < <(find "CSources/$room" -name '*.c' | sort)
    done
    size "${list[@]}" | awk 'NR > 1 { text += $1; data += $2 + $3 } END { print text, data }'
}

# figure NAME VALUE BUDGET
figure() {
    echo "{\"size\":\"$1\",\"bytes\":$2,\"budget\":$3}" >>"$out"
    if [ "$2" -le "$3" ]; then
        echo "ok - $1: $2 of $3 bytes"
    else
        echo "not ok - $1: $2 bytes, budget $3"
        status=1
    fi
}

read -r text data < <(text_of base host)
figure "base and host, -Os, armv7 thumb2: text" "$text" 40960
figure "base and host: writable static data" "$data" 0
read -r text data < <(text_of motion)
figure "motion: text" "$text" 3072
read -r text data < <(text_of osc)
figure "osc: text" "$text" 8192 # 8 KiB: a router that sends orientations needs this and motion
figure "osc: writable static data" "$data" 0
for family in CSources/devices/*/; do
    family=$(basename "$family")
    read -r text data < <(text_of "devices/$family")
    case $family in
        obvious) budget=17408 ;; # 17 KiB: firmware updates and signed packages
        *) budget=14848 ;; # 14.5 KiB
    esac
    figure "$family: text" "$text" "$budget"
done
read -r text data < <(text_of base host motion devices)
figure "base, host, motion and all devices: text" "$text" 120832
figure "base, host, motion and all devices: writable static data" "$data" 0
read -r text data < <(text_of definition)
figure "definition: text" "$text" 28672 # 28 KiB: the reader of device files is three quarters of it
figure "definition: writable static data" "$data" 0
read -r text data < <(text_of gateway)
figure "gateway: text" "$text" 36864 # 36 KiB
figure "gateway: writable static data" "$data" 0
"${compiler[@]}" -static Tests/C/install/sizes.c -o "$objects/sizes"
while read -r name bytes budget; do
    figure "${name//_/ }" "$bytes" "$budget"
done < <(qemu-arm-static "$objects/sizes")
exit $status

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the examples as a user would and runs them against a simulated device on the virtual radio.
set -euo pipefail
export TENDON_RADIO=virtual
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
prefix=$build/install/bluez
if [ -f "$build/install-bluez/build.ninja" ]; then
    meson setup --reconfigure "$build/install-bluez" . >/dev/null && meson install -C "$build/install-bluez" >/dev/null
else
    scripts/test_install.sh >/dev/null
fi
scripts/swift_build.sh --scratch-path "$build/swift" -c release --static-swift-stdlib --product tendon | tail -1
scripts/swift_build.sh --scratch-path "$build/swift" -c release --static-swift-stdlib --product stream-bose | tail -1
scripts/swift_build.sh --scratch-path "$build/swift" -c release --static-swift-stdlib --product heart-rate | tail -1
scripts/swift_build.sh --scratch-path "$build/swift" -c release --static-swift-stdlib --product gateway-service | tail -1

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

# A page of the documentation shows them: all are compiled as its reader would.
for name in stream_bose belt_heading belt_vibrate trainer_force grip_keys obvious_features choose_adapter heart_rate; do
    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Wextra -Werror "examples/c/$name.c" -o "$build/$name" \
        $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs tendon)
done
export LD_LIBRARY_PATH=$prefix/lib

# prints NAME STATUS COUNT PATTERN: it ends with the status, and COUNT lines have the pattern.
prints() {
    local name=$1 status=$2 count=$3 pattern=$4 output code=0
    output=$(timeout 60 "$build/$name" 2>&1) || code=$?
    if [ "$code" -eq "$status" ] && [ "$(grep -cE "$pattern" <<<"$output")" -eq "$count" ]; then
        echo "ok - examples/c/$name.c ends with status $status, and prints $count times: $pattern"
    else
        echo "not ok - examples/c/$name.c: status $code"
        tail -5 <<<"$output" | sed 's/^/#   /'
        return 1
    fi
}

# gives_reason NAME STATUS WORD=VALUE...: with this environment it ends with the status, and prints why.
gives_reason() {
    local name=$1 status=$2 output code=0
    shift 2
    output=$(env "$@" timeout 60 "$build/$name" 2>&1 >/dev/null) || code=$?
    if [ "$code" -eq "$status" ] && [ -n "$output" ]; then
        echo "ok - examples/c/$name.c ends with status $status, and the reason: $output"
    else
        echo "not ok - examples/c/$name.c with $*: status $code, '$output'"
        return 1
    fi
}
for name in stream_bose belt_heading belt_vibrate trainer_force grip_keys obvious_features heart_rate; do
    gives_reason "$name" 3 TENDON_RADIO=virtuel
done
# Each searches for 10 s; what follows runs meanwhile.
mkdir -m 700 "$XDG_RUNTIME_DIR/empty"
searches=()
for name in stream_bose belt_heading belt_vibrate trainer_force grip_keys obvious_features; do
    gives_reason "$name" 4 XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR/empty" HOME="$XDG_RUNTIME_DIR" &
    searches+=($!)
done

# The families at the same time, each with a simulated device: the examples of C need about 3 s together.
HOME=$XDG_RUNTIME_DIR "$build/swift/release/tendon" simulate feelspace activ5 fjorden obvious --radio virtual --json \
    >"$XDG_RUNTIME_DIR/devices" 2>&1 &
families=$!
for _ in $(seq 100); do
    [ "$(grep -c '"event":"ready"' "$XDG_RUNTIME_DIR/devices")" -eq 4 ] && break
    sleep 0.1
done
ten_lines examples/c/stream_bose.c "$build/stream_bose" &
jobs=($!)
# One after the other: a belt has one central.
{ prints belt_heading 0 10 '^heading +[0-9]+ degrees' && prints belt_vibrate 0 1 '^the belt vibrates$'; } &
jobs+=($!)
prints trainer_force 0 22 'force +-?[0-9.]+ N|^maximum [1-9]|^squeezed' &
jobs+=($!)
HOME=$XDG_RUNTIME_DIR XDG_STATE_HOME=$XDG_RUNTIME_DIR/grip prints grip_keys 0 5 'count [0-9]+, at [0-9]+ ms' &
jobs+=($!)
HOME=$XDG_RUNTIME_DIR XDG_STATE_HOME=$XDG_RUNTIME_DIR/obvious prints obvious_features 0 2 '^feature 1[67]: enabled 0' &
jobs+=($!)
# Where no bond can be stored, a grip does not pair: the reason is printed, and not only what the grip makes of it.
{
    output=$(HOME=$XDG_RUNTIME_DIR XDG_STATE_HOME=/proc/nope timeout 60 "$build/grip_keys" 2>&1 >/dev/null) || true
    if grep -E "^(the radio|no file of bonds): " <<<"$output" >/dev/null; then
        echo "ok - examples/c/grip_keys.c says why no bond can be stored"
    else
        echo "not ok - examples/c/grip_keys.c without a place for bonds: $output"
        false
    fi
} &
jobs+=($!)
good=0
for job in "${jobs[@]}"; do wait "$job" || good=1; done
kill "$families" && wait "$families" || true
[ "$good" -eq 0 ]
grep '"characteristic":"fe03".*"motors":\[[1-9]' "$XDG_RUNTIME_DIR/devices" >/dev/null
echo "ok - examples/c/belt_heading.c: the belt vibrates at its front, where north is"
grep '"characteristic":"fe03".*"mode":"app","motors":\[0,0,0,0,[1-9]' "$XDG_RUNTIME_DIR/devices" >/dev/null
echo "ok - examples/c/belt_vibrate.c: the belt vibrates at its right, in app mode"

# An adapter that does not exist, here and on a machine with others: docs/c-tutorial.md shows the message.
if output=$("$build/choose_adapter" hci99 2>&1); then code=0; else code=$?; fi
message=$(tail -1 <<<"$output")
if [ "$code" -eq 3 ] && grep -F "${message#hci99: }" docs/c-tutorial.md >/dev/null && [ -n "$message" ]; then
    echo "ok - examples/c/choose_adapter.c hci99: $message"
else
    echo "not ok - examples/c/choose_adapter.c hci99: status $code, $message"
    exit 1
fi
ten_lines examples/swift "$build/swift/release/stream-bose"
for search in "${searches[@]}"; do wait "$search"; done

# A device of the program's own, in each language; the central is the Swift example's.
for sensor in "$build/heart_rate" "$build/swift/release/heart-rate"; do
    HOME=$XDG_RUNTIME_DIR timeout 60 "$sensor" >"$XDG_RUNTIME_DIR/sensor" 2>&1 &
    serving=$!
    output=$(timeout 60 "$build/swift/release/heart-rate" watch 2>&1) && code=0 || code=$?
    wait "$serving" || code=1
    if [ "$code" -eq 0 ] && [ "$(grep -cE '^(7[2-9]|8[01]) per minute$' <<<"$output")" -eq 10 ] &&
        grep -x 'location 1' <<<"$output" >/dev/null && grep ' resets$' "$XDG_RUNTIME_DIR/sensor" >/dev/null; then
        echo "ok - the heart rate of ${sensor#"$build/"} is read, reset and received ten times"
    else
        echo "not ok - the heart rate of ${sensor#"$build/"}: status $code"
        { tail -5 "$XDG_RUNTIME_DIR/sensor" && tail -5 <<<"$output"; } | sed 's/^/#   /'
        exit 1
    fi
done

# Every wearable in range, in Swift: a squeeze of the trainer reaches the belt.
HOME=$XDG_RUNTIME_DIR "$build/swift/release/tendon" simulate feelspace activ5 --radio virtual --json \
    >"$XDG_RUNTIME_DIR/devices" 2>&1 &
wearables=$!
output=$(XDG_STATE_HOME=$XDG_RUNTIME_DIR/service timeout 60 "$build/swift/release/gateway-service" 600 2>&1) && code=0 || code=$?
kill "$wearables" && wait "$wearables" || true
samples() { grep -cE " ($1) -?[0-9.]+ " <<<"$output"; }
if [ "$code" -eq 0 ] && [ "$(samples 'force force|orientation heading|rotation x')" -ge 550 ] &&
    [ "$(samples 'force force')" -ge 20 ] && [ "$(samples 'orientation heading')" -ge 5 ] &&
    grep -x 'the belt vibrates' <<<"$output" >/dev/null &&
    grep '"event":"write".*"motors":.*[1-9]' "$XDG_RUNTIME_DIR/devices" >/dev/null; then
    echo "ok - examples/swift/GatewayService.swift prints samples, and a squeeze reaches the belt's motors"
else
    echo "not ok - examples/swift/GatewayService.swift: status $code"
    tail -5 <<<"$output" | sed 's/^/#   /'
    exit 1
fi

# The gateway as a static program: musl, the kernel's radio without libbluetooth; here it finds the virtual one.
if [ -f "$build/musl-static/build.ninja" ]; then
    meson setup --reconfigure "$build/musl-static" . -Dprograms=false >/dev/null
else
    CC="musl-gcc -idirafter /usr/include -idirafter /usr/include/$(gcc -print-multiarch)" \
        meson setup "$build/musl-static" . -Dbluez=kernel -Dtests=false -Dprograms=false -Dbuildtype=minsize \
        -Ddefault_library=static -Dc_args='-ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables' >/dev/null
fi
ninja -C "$build/musl-static" libtendon.a >/dev/null
musl-gcc -std=c11 -Wall -Wextra -Werror -static -Iinclude examples/c/stream_bose.c "$build/musl-static/libtendon.a" -lm \
    -o "$build/stream_bose-musl"
ten_lines "examples/c/stream_bose.c with musl" "$build/stream_bose-musl"
musl-gcc -std=c11 -Os -Wall -Wextra -Wconversion -Werror -static -s -Wl,--gc-sections -Iinclude examples/c/gateway.c \
    "$build/musl-static/libtendon.a" -lm -o "$build/gateway"
size=$(stat -c %s "$build/gateway")
if [ "$size" -le 300000 ] && ! readelf -l "$build/gateway" | grep INTERP >/dev/null; then
    echo "ok - examples/c/gateway.c is static: $size bytes"
else
    echo "not ok - examples/c/gateway.c is static, and 300000 bytes at most: $size bytes"
    exit 1
fi
gives_reason gateway 3 TENDON_RADIO=virtuel
"$build/swift/release/tendon" simulate feelspace activ5 --radio virtual --json >"$XDG_RUNTIME_DIR/devices" 2>&1 &
wearables=$!
output=$(timeout 60 "$build/gateway" 5 2>&1) && code=0 || code=$?
kill "$wearables" && wait "$wearables" || true
if [ "$code" -eq 0 ] && grep -E '"event":"force","force_n":[0-9]' <<<"$output" >/dev/null &&
    grep '"event":"write".*"motors":.*[1-9]' "$XDG_RUNTIME_DIR/devices" >/dev/null; then
    echo "ok - examples/c/gateway.c prints the force, and a squeeze reaches the belt's motors"
else
    echo "not ok - examples/c/gateway.c: status $code"
    tail -5 <<<"$output" | sed 's/^/#   /'
    exit 1
fi

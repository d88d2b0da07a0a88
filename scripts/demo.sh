#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The main job on the virtual radio: a simulated Bose wearable in one process, `tendon run` in another. Shows decoded head
# angles beside the true ones of the device's motion script, and fails when they disagree. Ends by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
seconds=${DEMO_SECONDS:-6}

echo "demo: building the command (a few minutes the first time)"
if [ -t 1 ]; then
    swift build --scratch-path "$build/swift" -c release --product tendon
else
    swift build --scratch-path "$build/swift" -c release --product tendon | tail -1
fi
tendon=$build/swift/release/tendon

XDG_RUNTIME_DIR=$(mktemp -d)
export XDG_RUNTIME_DIR
device=
cleanup() {
    [ -z "$device" ] || { kill "$device" && wait "$device"; } 2>/dev/null || true
    rm -rf "$XDG_RUNTIME_DIR"
}
trap cleanup EXIT

echo "demo: a simulated Bose wearable on the virtual radio, and: tendon run --radio virtual --for $seconds"
"$tendon" simulate bose --radio virtual --truth "$XDG_RUNTIME_DIR/truth" >"$XDG_RUNTIME_DIR/device" 2>&1 &
device=$!
"$tendon" run --radio virtual --for "$seconds" --json >"$XDG_RUNTIME_DIR/run"
kill "$device" && wait "$device" || true
device=

# Decoded angles against the script's, by the device's clock.
awk '
    function number(key) {
        return match($0, "\"" key "\":-?[0-9.e+-]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0 : "none"
    }
    function away(a, b) { d = a - b; while (d > 180) d -= 360; while (d < -180) d += 360; return d < 0 ? -d : d }
    FNR == NR { t = number("device_ms"); pitch[t] = number("pitch_deg"); roll[t] = number("roll_deg"); yaw[t] = number("yaw_deg"); next }
    /"event":"opened"/ { print "demo: opened " $0 }
    /"event":"sample"/ && /"sensor":"rotation"/ {
        t = number("device_ms")
        if (!(t in pitch)) { print "demo: no truth for " t " ms"; bad++; next }
        worst = away(number("pitch_deg"), pitch[t])
        if (away(number("roll_deg"), roll[t]) > worst) worst = away(number("roll_deg"), roll[t])
        if (away(number("yaw_deg"), yaw[t]) > worst) worst = away(number("yaw_deg"), yaw[t])
        if (worst > most) most = worst
        if (worst > 0.05) bad++
        if (samples++ % 25 == 0) {
            if (samples == 1) print "    time     decoded pitch   roll    yaw      true pitch   roll    yaw   (degrees)"
            printf "%6.2f s        %8.2f %7.2f %7.2f        %8.2f %6.2f %6.2f\n", t / 1000, number("pitch_deg"), \
                number("roll_deg"), number("yaw_deg"), pitch[t], roll[t], yaw[t]
        }
    }
    END {
        if (samples < 50 || bad) { print "not ok - demo: " samples + 0 " samples, " bad + 0 " away from the script"; exit 1 }
        printf "ok - demo: %d samples decoded, at most %.4f degrees from the script\n", samples, most
    }
' "$XDG_RUNTIME_DIR/truth" "$XDG_RUNTIME_DIR/run"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The main job on the virtual radio: simulated devices of all four families in one process, `tendon run` in another, which
# streams them side by side and makes the belt vibrate when the trainer is squeezed twice. Shows decoded head angles
# beside the true ones of the device's motion script, and what each of the others said; fails when the angles are not
# the script's, when a family is silent, or when the belt did not get its signal. Ends by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
seconds=${DEMO_SECONDS:-13}
rule='activ5.double_squeeze => feelspace.signal warning'

echo "demo: building the command (a few minutes the first time)"
if [ -t 1 ]; then
    swift build --scratch-path "$build/swift" -c release --product tendon
else
    swift build --scratch-path "$build/swift" -c release --product tendon | tail -1
fi
tendon=$build/swift/release/tendon

XDG_RUNTIME_DIR=$(mktemp -d)
XDG_STATE_HOME=$XDG_RUNTIME_DIR/state
export XDG_RUNTIME_DIR XDG_STATE_HOME
devices=
cleanup() {
    [ -z "$devices" ] || { kill "$devices" && wait "$devices"; } 2>/dev/null || true
    rm -rf "$XDG_RUNTIME_DIR"
}
trap cleanup EXIT

echo "demo: simulated wearables of four families on the virtual radio, and:"
echo "demo: tendon run --radio virtual --pair --for $seconds --rule '$rule'"
"$tendon" simulate bose feelspace activ5 fjorden --radio virtual --json --ground-truth "$XDG_RUNTIME_DIR/truth" \
    >"$XDG_RUNTIME_DIR/devices" 2>&1 &
devices=$!
"$tendon" run --radio virtual --pair --for "$seconds" --rule "$rule" --json >"$XDG_RUNTIME_DIR/run"
kill "$devices" && wait "$devices" || true
devices=

# Decoded angles against the script's, by the device's clock; then the other families.
awk '
    function number(key) {
        return match($0, "\"" key "\":-?[0-9.e+-]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0 : "none"
    }
    function word(key) {
        return match($0, "\"" key "\":\"[^\"]*") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) : ""
    }
    function away(a, b) { d = a - b; while (d > 180) d -= 360; while (d < -180) d += 360; return d < 0 ? -d : d }
    function check(good, what) { print (good ? "ok - demo: " : "not ok - demo: ") what; if (!good) failed = 1 }
    FILENAME ~ /truth$/ { t = number("device_time_ms"); pitch[t] = number("pitch_deg"); roll[t] = number("roll_deg"); yaw[t] = number("yaw_deg"); next }
    FILENAME ~ /devices$/ { if (word("event") == "summary" && word("family") == "feelspace") felt = number("signals"); next }
    { family = word("family"); event = word("event") }
    event == "connected" { opened++; printf "demo: opened %-10s %s\n", family, word("address") }
    event == "sample" || event == "grip" { heard[family]++ }
    event == "sample" && family == "activ5" && number("force_n") > force { force = number("force_n") }
    event == "double_squeeze" { squeezed++; print "demo: the trainer was squeezed twice" }
    event == "action" { acted++; print "demo: the belt does: " word("action") }
    event == "sample" && word("sensor") == "rotation" {
        t = number("device_time_ms")
        if (!(t in pitch)) { print "demo: no truth for " t " ms"; bad++; next }
        worst = away(number("pitch_deg"), pitch[t])
        if (away(number("roll_deg"), roll[t]) > worst) worst = away(number("roll_deg"), roll[t])
        if (away(number("yaw_deg"), yaw[t]) > worst) worst = away(number("yaw_deg"), yaw[t])
        if (worst > most) most = worst
        if (worst > 0.05) bad++
        if (samples++ % 50 == 0) {
            if (samples == 1) print "    time     decoded pitch   roll    yaw      true pitch   roll    yaw   (degrees)"
            printf "%6.2f s        %8.2f %7.2f %7.2f        %8.2f %6.2f %6.2f\n", t / 1000, number("pitch_deg"), \
                number("roll_deg"), number("yaw_deg"), pitch[t], roll[t], yaw[t]
        }
    }
    END {
        check(opened == 4, opened + 0 " of 4 devices opened")
        check(samples >= 50 && !bad, sprintf("bose: %d samples decoded, at most %.4f degrees from the script", samples, most))
        check(heard["activ5"] >= 20, sprintf("activ5: %d samples, up to %.1f newtons", heard["activ5"], force))
        check(heard["fjorden"] >= 3, heard["fjorden"] + 0 " events of the fjorden grip")
        check(heard["feelspace"] >= 5, heard["feelspace"] + 0 " orientations of the feelspace belt")
        check(squeezed >= 1 && acted == squeezed && felt == acted,
            sprintf("%d double squeezes, %d actions of the rule, %d signals felt by the belt", squeezed, acted, felt))
        exit failed
    }
' "$XDG_RUNTIME_DIR/truth" "$XDG_RUNTIME_DIR/devices" "$XDG_RUNTIME_DIR/run"

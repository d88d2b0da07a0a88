#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The main job on the virtual radio: simulated devices of all five families in one process, `tendon run` in another, which
# streams them side by side and makes the belt vibrate when the trainer is squeezed twice. Meanwhile a feature of the
# Obvious device is bought in the reference cloud (TLS on loopback, a test card), unlocked on the device by a signed
# package, and switched off and on. Shows decoded head angles beside the true ones of the device's motion script, and what each
# of the others reported; fails when the angles are not the script's, when a family is silent, when the belt did not get
# its signal, or when the feature is not unlocked. Ends by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
seconds=${DEMO_SECONDS:-13}
rule='activ5.double_squeeze => feelspace.signal warning'

build_command() {
    local release=(--scratch-path "$build/swift" -c release --static-swift-stdlib --product tendon)
    echo "demo: building the command (a few minutes the first time)"
    if [ -t 1 ]; then
        scripts/swift_build.sh "${release[@]}"
        return
    fi
    # A sign of life every half minute, and the last line.
    scripts/swift_build.sh "${release[@]}" | {
        said=$SECONDS line=
        while IFS= read -r line || [ -n "$line" ]; do
            latest=$line
            [ $((SECONDS - said)) -lt 30 ] || { echo "demo: $line" && said=$SECONDS; }
        done
        echo "${latest:-}"
    }
}

# TENDON_BIN: a directory in which the command was built already.
[ -n "${TENDON_BIN:-}" ] || build_command
export tendon=${TENDON_BIN:-$build/swift/release}/tendon

XDG_RUNTIME_DIR=$(mktemp -d)
XDG_STATE_HOME=$XDG_RUNTIME_DIR/state
export XDG_RUNTIME_DIR XDG_STATE_HOME
devices= cloud=
stop() { [ -z "$1" ] || { kill "$1" && wait "$1"; } 2>/dev/null || true; }
cleanup() {
    stop "$devices"
    stop "$cloud"
    rm -rf "$XDG_RUNTIME_DIR"
}
trap cleanup EXIT

# The cloud: development server, with a key, a certificate authority and an API key that it makes.
mkdir -m 700 "$XDG_RUNTIME_DIR/cloud"
python3 examples/cloud/tendon-obvious-cloud --port 0 --data "$XDG_RUNTIME_DIR/cloud" --quiet \
    >"$XDG_RUNTIME_DIR/site" 2>"$XDG_RUNTIME_DIR/cloud.log" &
cloud=$!
for _ in $(seq 100); do
    [ -s "$XDG_RUNTIME_DIR/site" ] && break
    sleep 0.1
done
site() { sed -n "s/.*\"$1\": \"\([^\"]*\)\".*/\1/p" "$XDG_RUNTIME_DIR/site"; }
TENDON_OBVIOUS_BASE_URL=$(site url)
TENDON_OBVIOUS_CA_FILE=$(site ca)
TENDON_OBVIOUS_API_KEY_FILE=$(site apiKeyFile)
TENDON_OBVIOUS_KEYS_FILE=$XDG_RUNTIME_DIR/keys
export TENDON_OBVIOUS_BASE_URL TENDON_OBVIOUS_CA_FILE TENDON_OBVIOUS_API_KEY_FILE TENDON_OBVIOUS_KEYS_FILE
echo "1234 1 $(site 1)" >"$TENDON_OBVIOUS_KEYS_FILE"

# Buys a feature with a test card and unlocks it, while `tendon run` streams.
buy() {
    set -e
    local device=(--serial 1122334455667788 --product 1234) cart
    until grep -q '"connected","family":"obvious"' "$XDG_RUNTIME_DIR/run"; do sleep 0.1; done
    cart=$("$tendon" obvious checkout 7 "${device[@]}" --json | sed 's/.*"cart":\([0-9]*\).*/\1/')
    "$tendon" obvious pay "$cart" "${device[@]}" --card-fd 3 --json 3< <(printf '%s\n' 4242424242424242 04/33 123)
    "$tendon" obvious update --radio virtual --json
    "$tendon" obvious toggle 16 off --radio virtual --json
    "$tendon" obvious toggle 16 on --radio virtual --json
}

echo "demo: simulated wearables of five families on the virtual radio, the reference cloud on loopback, and:"
echo "demo: tendon run --radio virtual --pair --for $seconds --rule '$rule'"
"$tendon" simulate bose feelspace activ5 fjorden obvious --unprovisioned --radio virtual --json \
    --ground-truth "$XDG_RUNTIME_DIR/truth" >"$XDG_RUNTIME_DIR/devices" 2>&1 &
devices=$!
: >"$XDG_RUNTIME_DIR/run"
timeout "$((seconds + 5))" bash -c "$(declare -f buy); buy" >"$XDG_RUNTIME_DIR/bought" 2>&1 &
buyer=$!
"$tendon" run --radio virtual --pair --for "$seconds" --rule "$rule" --json >"$XDG_RUNTIME_DIR/run"
wait "$buyer" || true
stop "$devices"
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
    event == "payment" && word("state") == "succeeded" { paid++; print "demo: a feature of the obvious device is paid" }
    event == "update" { print "demo: update of the obvious device, " word("step") ": " word("status") }
    event == "update" && word("step") == "features" && word("status") == "SUCCESS" { updated++ }
    event == "feature" && FILENAME ~ /run$/ && number("feature") == 16 {
        unlocked = unlocked word("state") " "
        print "demo: feature " word("title") " of the obvious device is " word("state") ", its switch is " word("toggle")
    }
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
        check(opened == 5, opened + 0 " of 5 devices opened")
        check(samples >= 50 && !bad, sprintf("bose: %d samples decoded, at most %.4f degrees from the script", samples, most))
        check(heard["activ5"] >= 20, sprintf("activ5: %d samples, up to %.1f newtons", heard["activ5"], force))
        check(heard["fjorden"] >= 3, heard["fjorden"] + 0 " events of the fjorden grip")
        check(heard["feelspace"] >= 5, heard["feelspace"] + 0 " orientations of the feelspace belt")
        check(squeezed >= 1 && acted == squeezed && felt == acted,
            sprintf("%d double squeezes, %d actions of the rule, %d signals felt by the belt", squeezed, acted, felt))
        check(paid == 1 && updated == 1 && unlocked == "disabled enabled enabled ",
            "obvious: a feature was bought and unlocked meanwhile: " unlocked)
        exit failed
    }
' "$XDG_RUNTIME_DIR/truth" "$XDG_RUNTIME_DIR/devices" "$XDG_RUNTIME_DIR/bought" "$XDG_RUNTIME_DIR/run"

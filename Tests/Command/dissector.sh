#!/bin/bash
# SPDX-License-Identifier: MIT
# The dissector for Wireshark: what it shows of devices of all families, and of all vectors, is what the library decodes.
. "$(dirname "$0")/tap.bash"
lua=$work/tendon.lua

command -v tshark >/dev/null
result $? "tshark is installed" "apt-get install tshark"
python3 "$root/scripts/generate_dissector.py" "$lua"
result $? "the dissector is generated from the table of fields" ""

# Each family with what its device does by itself, and some of what its user does.
device() { # family, events, options
    local family=$1
    printf '%s' "$2" | tr ';' '\n' >"$work/$family.scenario"
    shift 2
    start "$family" simulate "$family" --radio virtual --json --scenario "$work/$family.scenario" "$@"
    until_true ready "$family"
}
device bose 'at 1.5s gesture double_tap;at 1.8s suspend voice_assistant;at 2s resume;'
device feelspace 'at 1.6s press home;at 1.9s press compass long;at 2.2s battery 12;at 2.4s turn 20;'
device activ5 'at 1.5s squeeze;at 1.8s stale_tails on;'
device fjorden 'at 1.4s shutter half;at 1.6s dial cw 3;at 1.7s lose 1;at 1.8s lever left;at 2s battery 20;at 2.2s shutter released;'
device obvious 'at 1.5s disable 16;at 1.8s enable 16;at 2.2s battery 50;'
# A busy machine needs longer to open all of them.
for seconds in 3 12; do
    run capture "$work/capture" --replace --radio virtual --pair --json --for $seconds --sensors all --gestures all
    [ "$("$TENDON" replay "$work/capture" --json | grep -o 'force_n\|yaw_deg\|heading_deg\|"event":"grip"\|"event":"ogp"' |
        sort -u | wc -l)" = 5 ] && break
done
like "$out" '"records":[0-9]{3}' "capture of devices of all families"
run replay "$work/capture" --json --att --exact
is "$status" 0 "replay of the capture"
grep '^{' "$work/out" >"$work/replayed"

python3 "$here/check_dissector.py" live "$CONFORMANCE" "$lua" "$work/capture" "$work/replayed" >"$work/live" 2>&1
results "$work/live"
like "$(cat "$work/live")" '^ok values of all families' "the comparison with devices came to its end"
python3 "$here/check_dissector.py" vectors "$CONFORMANCE" "$lua" "$work" >"$work/vectors" 2>&1
results "$work/vectors"
like "$(cat "$work/vectors")" '^ok fjorden command' "the comparison with vectors came to its end"
finish

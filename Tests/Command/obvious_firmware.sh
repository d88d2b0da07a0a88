#!/bin/bash
# SPDX-License-Identifier: MIT
# obvious firmware check and upgrade with a simulated device and the reference cloud: progress, an upgrade that is
# interrupted and continues, a device that loses its power, and what must be rejected.
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/cloud.bash"
unit=C0:00:00:00:00:0D
start_cloud
echo "1234 1 $cloud_key" >"$work/keys"
export TENDON_OBVIOUS_KEYS_FILE=$work/keys
simulate() { # name, arguments
    export XDG_STATE_HOME=$work/state.$1 XDG_CACHE_HOME=$work/cache.$1
    mkdir -p "$XDG_CACHE_HOME"
    start "$1" simulate obvious --radio virtual --json --address $unit/random --keys-file "$work/keys" "${@:2}"
    device=$child
    until_true ready "$1"
}
end() {
    kill -INT "$device"
    wait "$device" 2>/dev/null
}
firmware() {
    run obvious info --radio virtual --json
    field firmware "$out"
}

simulate first
run obvious firmware check --radio virtual --json
is "$status" 0 "firmware check"
like "$(timeless <<<"$out")" '"event":"firmware_check",.*"firmware":"1\.3\.0","available":"1\.4\.0","release_notes":"Better battery life\.","text":"A restart is required\."' \
    "firmware check: both versions, and what is new"
people obvious firmware check --radio virtual
like "$out" 'firmware 1\.3\.0, 1\.4\.0 is available' "firmware check: for people"
run obvious firmware check --radio virtual --app-version 1
is "$status" 2 "a version of another form"
run obvious firmware upgrade --radio virtual --resume --no-resume
is "$status" 2 "options that contradict each other"
run obvious firmware upgrade --radio virtual --dry-run --json
is "$status" 0 "firmware upgrade --dry-run"
like "$out" '"text":"would write firmware 1\.4\.0"' "says what"
is "$(firmware)" "1.3.0" "and changes nothing"
printf '1234 1 %064d\n' 7 >"$work/wrong"
run obvious firmware upgrade --radio virtual --keys-file "$work/wrong"
is "$status" 1 "a manifest that is not signed with our key"
like "$err" 'try: check --keys-file' "says what to check"
is "$(grep -c 'GET .*\.bin' "$work/cloud.log")" 0 "and its image is not downloaded"

asked=$(grep -c 'GET .*/firmware/latest' "$work/cloud.log")
run obvious firmware upgrade --radio virtual --json
is "$status" 0 "firmware upgrade"
is "$(grep -c 'GET .*/firmware/latest' "$work/cloud.log")" "$((asked + 1))" "the cloud is asked once for the release"
is "$(grep -c 'firmware-result' "$work/cloud.log")" 1 "and was told the result before the command ended"
is "$(grep -oE '"event":"(firmware_check|progress)"(.*"what":"[a-z]*"|)' <<<"$out" | sed 's/.*:"//; s/"//' | uniq | tr '\n' ' ')" \
    "firmware_check download transfer " "what there is, then the download, then the transfer"
like "$out" '"what":"download","percent":100,"bytes":65536,"total_bytes":65536' "progress of the download: to the end"
is "$(grep '"event":"update"' <<<"$out" | sed 's/.*"status":"\([A-Z]*\)".*/\1/' | tr '\n' ' ')" "PREPARING RESETTING SUCCESS " \
    "firmware upgrade: its steps"
is "$(grep '"what":"transfer"' <<<"$out" | grep -oE '"percent":[0-9]+' | sort | uniq -d)" "" "no percent twice"
like "$out" '"what":"transfer","percent":0,"bytes":0,"total_bytes":65536' "progress: from the beginning"
like "$out" '"what":"transfer","percent":100,"bytes":65536,"total_bytes":65536' "progress: to the end"
is "$(firmware)" "1.4.0" "the device runs the new firmware"
run obvious firmware check --radio virtual --json
like "$out" '"firmware":"1\.4\.0","available":null' "nothing newer"
run obvious firmware upgrade --radio virtual
is "$status" 0 "firmware upgrade: nothing to do"
end
like "$(cat "$work/first.out")" '"firmware":"1\.4\.0","trial":false' "the trial is confirmed"

# A slow radio, so that there is time to interrupt. The file is the device's memory: both ends are killed.
simulate slow --flash "$work/flash" --fault delay=20%,delay_ms=60 --seed 3
timeout 60 "$TENDON" obvious firmware upgrade --radio virtual --json >"$work/killed.out" 2>"$work/killed.err" </dev/null &
upgrade=$!
until_true grep -qE '"what":"transfer","percent":(3|4|5)[0-9]' "$work/killed.out"
kill -KILL "$(pgrep -P "$upgrade")"
wait "$upgrade" 2>/dev/null
reached=$(grep '"what":"transfer"' "$work/killed.out" | grep -oE '"percent":[0-9]+' | tail -1 | cut -d: -f2)
result "$([ "${reached:-0}" -ge 30 ]; echo $?)" "the command is killed in the middle of the transfer" "$reached"
run obvious firmware upgrade --radio virtual --json
is "$status" 0 "the same command again: done"
begun=$(grep '"what":"transfer"' <<<"$out" | grep -oE '"percent":[0-9]+' | cut -d: -f2 | sed -n '1,2p' | sort -n | tail -1)
result "$([ "${begun:-0}" -ge 20 ]; echo $?)" "it continues where it was killed, not at 0" "at $begun %, killed at $reached %"
is "$(firmware)" "1.4.0" "the device runs the new firmware"
end

# Ctrl-C in the middle of a transfer.
simulate stopped --flash "$work/flash2" --fault delay=20%,delay_ms=60 --seed 3
start left obvious firmware upgrade --radio virtual --json
until_true grep -qE '"what":"transfer","percent":(3|4|5)[0-9]' "$work/left.out"
kill -INT "$child"
wait "$child"
is "$? $(grep -c . "$work/left.err")" "1 2" "Ctrl-C in the middle of the transfer: status 1, one message with what to do"
like "$(cat "$work/left.err")" 'interrupted: the device keeps what it has received' "says what happened"
like "$(cat "$work/left.err")" 'try: the same command, which continues' "and how to go on"
reached=$(grep '"what":"transfer"' "$work/left.out" | grep -oE '"percent":[0-9]+' | tail -1 | cut -d: -f2)
run obvious firmware upgrade --radio virtual --json
is "$status" 0 "the same command again: done"
unlike "$out" '"what":"download"' "the image is still there"
begun=$(grep '"what":"transfer"' <<<"$out" | grep -oE '"percent":[0-9]+' | cut -d: -f2 | sed -n '1,2p' | sort -n | tail -1)
result "$([ "${begun:-0}" -ge 20 ]; echo $?)" "it continues where it was interrupted, not at 0" "at $begun %, interrupted at $reached %"
end

# The power of the device is cut in the middle; the command reconnects and continues.
echo 'at 0ms power_cut 40000' >"$work/scenario"
simulate cut --scenario "$work/scenario" --scenario-from connection
run obvious firmware upgrade --radio virtual --json --no-resume
is "$status" 0 "a power cut in the middle: the upgrade comes through"
is "$(firmware)" "1.4.0" "the device runs the new firmware"
is "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'tendon-??????' -user "$(id -u)" -newer "$work/scenario" | wc -l)" 0 \
    "--no-resume leaves no folder behind"
end
like "$(cat "$work/cut.out")" '"power_cuts":1' "the power was cut"

# On a terminal: a bar, drawn in its place.
simulate seen
env -u NO_COLOR TERM=xterm python3 - "$TENDON" >"$work/out" 2>&1 <<'PY'
import os, pty, sys
pty.spawn([sys.argv[1], "obvious", "firmware", "upgrade", "--radio", "virtual"])
PY
out=$(cat -v "$work/out")
like "$out" 'download  \[#* *\] +[0-9]+ %' "on a terminal: a bar of the download"
like "$out" 'transfer  \[#+ *\] +[0-9]+ %' "then one of the transfer"
like "$out" '\[2Kfirmware: RESETTING|firmware: RESETTING' "which makes room for the next line"
unlike "$out" '"event"' "and no JSON"
end

# A rollback: its version is newer, its security epoch is below that of the firmware before.
simulate guarded
run obvious firmware upgrade --radio virtual
is "$status $(firmware)" "0 1.4.0" "a firmware of epoch 1"
stop_cloud
head -c 1000 /dev/zero >"$work/image"
start_cloud --firmware "1234:1.5.0@0:$work/image"
run obvious firmware check --radio virtual
is "$status" 1 "a newer version of epoch 0 is not offered"
like "$err" 'DOWNGRADE' "says why"
run obvious firmware upgrade --radio virtual
is "$status $(firmware)" "1 1.4.0" "and is not installed"
is "$(grep -c 'GET .*\.bin' "$work/cloud.log")" 0 "nor downloaded"
unlike "$err" 'DOWNLOAD_FAILED' "which is no failure of a download"
like "$err" 'DOWNGRADE' "says why"
like "$err" 'try: another release in the cloud' "and that the same command again is of no use"
end
finish

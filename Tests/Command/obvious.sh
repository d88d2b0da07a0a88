#!/bin/bash
# SPDX-License-Identifier: MIT
# obvious info, features, update, toggle with a simulated device and the reference cloud; stream with rules, simulate
# with a scenario and with its memory in a file, replay, decode and encode.
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/cloud.bash"
unit=C0:00:00:00:00:0D
who='"address":"C0:00:00:00:00:0D","address_type":"random","name":"Obvious Simulator"'
start_cloud
echo "1234 1 $cloud_key # of the reference cloud" >"$work/keys"
simulate() { # name, arguments
    # A new device has no bonds, so that those of the device before do not serve.
    [ "$1" = again ] || export XDG_STATE_HOME=$work/state.$1
    start "$@" --radio virtual --json --address $unit/random
    device=$child
    until_true ready "$1"
}
end() {
    kill -INT "$device"
    wait "$device" 2>/dev/null
}

# Without product and keys.
run obvious info --radio virtual
is "$status" 2 "the product is not known: a usage error"
like "$err" 'try: --product ID, or --keys-file FILE' "says how to name it"
run obvious update --radio virtual --product 1234
is "$status" 2 "update without keys: a usage error"
like "$err" 'no package can be verified' "says why"
echo "1234 1 00" >"$work/wrong"
run obvious info --radio virtual --keys-file "$work/wrong"
is "$status" 1 "a file that is not keys"
like "$err" 'line 1 is not a key' "says which line"
export TENDON_OBVIOUS_KEYS_FILE=$work/keys
run obvious info --radio virtual --timeout 0.5
is "$status" 4 "no device in range: status 4"
like "$err" 'no Obvious device was found' "says so"
like "$err" "try: tendon scan --families obvious --radio virtual" "and the command to try is for the same radio"

# A new device whose memory is in a file.
simulate new simulate obvious --keys-file "$work/keys" --flash "$work/flash" --unprovisioned
run simulate obvious --radio virtual --serial ffffffffffffffff --count 2 --for 0.2
is "$status" 0 "the serial number behind the last one is the first"
run simulate obvious --radio virtual --keys-file "$work/keys" --flash "$work/flash" --for 1
is "$status" 1 "the file of a device that runs"
like "$err" 'another simulated device uses this file' "says so"
run obvious info --radio virtual --json
is "$status" 0 "info"
is "$(timeless <<<"$out")" \
    '{"event":"information","family":"obvious",'"$who"',"product":"1234","serial":"1122334455667788","firmware":"1.3.0","bootloader":"1.0.2","radio_stack":"6.1.1","battery_percent":87,"provisioned":false,"counter":0}' \
    "info: what the device reports"
people obvious info --radio virtual
like "$out" 'serial: 1122334455667788' "info: for people"
(unset TENDON_OBVIOUS_KEYS_FILE; exec timeout 20 "$TENDON" run --radio virtual --families obvious --pair --json --for 2) \
    >"$work/out" 2>"$work/err"
is "$(grep -c 'the product of the device is not known; try: --product ID' "$work/err")" 1 \
    "run without the product: a warning, once"
run obvious info --radio virtual --product 4711
is "$status" 1 "another product than the device's"
like "$err" 'WRONG_PRODUCT' "says so"
like "$err" 'try: --product' "and what to do"

run obvious features --radio virtual --json
is "$(sed 's/.*"feature":\([0-9]*\),"state":"\([a-z]*\)".*"title":"\([^"]*\)".*/\1 \2 \3/' <<<"$out" | tr '\n' ';')" \
    "16 disabled Led;17 disabled Night mode;18 disabled Boost;19 enabled Basic;" "features: all of the product"
# The device sends switch 1 of feature 16: what is not bought has none.
like "$(grep '"feature":16,' <<<"$out")" '"state":"disabled","toggle":"unsupported"' "features: a disabled one has no switch"
people obvious features 19 --radio virtual
like "$out" '   19 .* enabled' "features: one, without a cloud, for people"
run obvious features 4711 --radio virtual
is "$status" 2 "a feature's number is at most 1024"
run obvious features 99 --radio virtual
is "$status" 0 "a feature that the device does not have"
like "$out" 'unknown' "is unknown"
run obvious toggle 99 on --radio virtual
is "$status" 1 "and cannot be switched"
like "$err" 'UNKNOWN_FEATURE' "says so"
run obvious toggle 16 on --radio virtual
is "$status" 1 "a feature that was not bought cannot be switched"
like "$err" 'try: tendon obvious catalog' "says how to buy it"
run obvious toggle 16 --radio virtual
is "$status" 2 "toggle needs the state"

# The update. A key of somebody else's rejects the package before a byte is sent.
run obvious update --radio virtual --dry-run --json
is "$status $(field event "$out")" "0 dry_run" "update --dry-run"
like "$out" 'would provision the device, then set the features of device 1122334455667788' "says what"
is "$(grep -c 'POST' "$work/cloud.log")" 0 "and requests nothing of the cloud that changes it"
printf '1234 1 %064d\n' 7 >"$work/wrong"
run obvious update --radio virtual --keys-file "$work/wrong"
is "$status" 1 "a package that is not signed with our key"
like "$err" 'try: check --keys-file' "says what to check"
run obvious info --radio virtual --json
is "$(field provisioned "$out") $(field counter "$out")" "false 0" "nothing reached the device"
run obvious update --radio virtual --json
is "$status" 0 "update"
is "$(sed 's/.*"step":"\([a-z]*\)","status":"\([A-Z_]*\)".*/\1 \2/' <<<"$out" | tr '\n' ';')" \
    "provisioning START;provisioning SUCCESS;features SUCCESS;" "update: provisions, then sets the features"
device_of=(--serial 1122334455667788 --product 1234)
buy() { # item
    run obvious checkout "$1" "${device_of[@]}" --json
    run obvious pay "$(field cart "$out")" "${device_of[@]}" --card-fd 3 --json \
        3< <(printf '%s\n' 4242424242424242 04/33 123)
}
buy 7
like "$out" '"state":"succeeded"' "a feature is bought"
run obvious features 16 --radio virtual --json
like "$out" '"state":"disabled"' "the device does not have it yet"
people obvious update --radio virtual
like "$out" 'update: SUCCESS' "update: for people"
run obvious features 16 --radio virtual --json
like "$out" '"feature":16,"state":"enabled","toggle":"activated"' "the feature is unlocked"
run obvious toggle 16 off --radio virtual --json
like "$out" '"feature":16,"state":"enabled","toggle":"deactivated"' "toggle off"
run obvious toggle 16 flip --radio virtual --dry-run --json
like "$out" 'feature 16 is enabled, off; would switch it on' "toggle --dry-run: says what"
run obvious toggle 16 flip --radio virtual --json
like "$out" '"toggle":"activated"' "toggle flip: nothing had changed before"

# Killed, without a chance to write anything: the memory has everything.
kill -KILL "$(pgrep -P "$device")"
wait "$device" 2>/dev/null
simulate again simulate obvious --keys-file "$work/keys" --flash "$work/flash"
# A cloud that accepts and is silent keeps nobody from the device for longer than 5 s.
python3 -c 'import socket, time
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(50)
print(listener.getsockname()[1], flush=True)
time.sleep(120)' >"$work/silent.port" &
silent=$!
children+=("$silent")
until_true [ -s "$work/silent.port" ]
TENDON_OBVIOUS_BASE_URL=http://127.0.0.1:$(cat "$work/silent.port") TENDON_OBVIOUS_INSECURE_LOOPBACK=1 \
    TENDON_OBVIOUS_API_KEY=abcdefgh start toggles run --radio virtual --families obvious --pair --json \
    --rule 'obvious.connected => obvious.toggle 16 on, obvious.toggle 16 off, obvious.toggle 16 on'
patience=200 until_true eval '[ "$(grep -c "\"event\":\"action\"" "$work/toggles.out")" = 3 ]'
result $? "toggles beside a silent cloud, within ten seconds" "$(grep -e action -e failed "$work/toggles.out"; cat "$work/toggles.err")"
ended "$child"
kill "$silent"
run obvious info --radio virtual --json
is "$(field provisioned "$out") $(field counter "$out")" "true 4" "the device survives its process"
run obvious features 16 --radio virtual --json
like "$out" '"state":"enabled","toggle":"activated"' "with its features"
end
truncate -s 100 "$work/flash"
run simulate obvious --radio virtual --flash "$work/flash" --for 1
is "$status" 1 "a file of another size"
like "$err" 'not the flash memory of such a device: 100 bytes' "says so"
run simulate obvious --radio virtual --flash "$work/none/flash" --for 1
is "$status" 1 "a file that cannot be made"
run simulate obvious --count 2 --radio virtual --flash "$work/new" --for 1
is "$status" 2 "one file for two devices"
run simulate bose --radio virtual --flash "$work/new" --for 1
is "$status" 2 "--flash is an option of obvious"

# stream: states at the beginning, which a busy machine has in two seconds, changes, a rule, a reboot, and what is captured.
cat >"$work/scenario" <<'E3'
at 2000ms enable 17
at 2300ms toggle 17 off
at 3000ms reboot
E3
simulate scripted simulate obvious --keys-file "$work/keys" --scenario "$work/scenario" --scenario-from connection
run stream obvious --radio virtual --pair --json --for 7 --capture "$work/capture" \
    --rule 'obvious.feature deactivated => obvious.toggle 17 on'
is "$status" 0 "stream obvious: done"
is "$(grep '"event":"feature"' <<<"$out" | sed 's/.*"feature":\([0-9]*\),"state":"\([a-z]*\)","toggle":"\([a-z]*\)".*/\1 \2 \3/' |
    head -7 | tr '\n' ';')" \
    "16 disabled unsupported;17 disabled unsupported;18 disabled unsupported;19 enabled unsupported;17 enabled activated;17 enabled deactivated;17 enabled activated;" \
    "stream: all states, each change, and what the rule did"
like "$out" '"event":"connected","family":"obvious",.*"product":"1234","firmware":"1\.3\.0","serial":"1122334455667788"' \
    "stream: what the device is"
like "$out" '"event":"action".*"action":"obvious.toggle 17 on"' "stream: the rule switched the feature"
is "$(grep -c '"event":"connected"' <<<"$out")" 2 "stream: reconnects after the reboot"
counters=$(grep '"event":"summary"' <<<"$out")
is "$(field samples "$counters") $(field dropped "$counters")" "$(grep -c '"event":"feature"' <<<"$out") 0" "stream: counters"
end
like "$(cat "$work/scripted.out")" '"event":"summary".*"boots":2' "simulate: what happened to the device"
run replay "$work/capture" --json
is "$status" 0 "replay"
like "$out" '"event":"protocol","family":"obvious",.*"protocol":"OGP/1","flags":0' "replay: the protocol"
like "$out" '"opcode":"EVT_FEATURE_CHANGED","kind":"event","corr":0,"features":\[\{"feature":17,"state":"enabled"' \
    "replay: messages in both directions, put together"
like "$out" '"opcode":"FEATURE_TOGGLE","kind":"request"' "replay: requests"
is "$(field undecoded "$(summary "$work/out")") $(field malformed "$(summary "$work/out")")" "0 0" "replay: nothing stays undecoded"
run run --radio virtual --rule 'obvious.feature purple => obvious.toggle 16 on'
is "$status" 2 "a rule with an unknown state is refused"
run run --radio virtual --rule 'obvious.feature => obvious.toggle 16'
is "$status" 2 "a rule with half an action is refused"
printf 'at 1s wrong moon\n' >"$work/scenario"
run simulate obvious --radio virtual --scenario "$work/scenario" --for 1
is "$status" 2 "a scenario with an unknown word is refused"
like "$err" 'accepted: crc, next, offset, product, serial, session' "with the words that are known"

# A bad radio: the update comes through.
simulate lossy simulate obvious --keys-file "$work/keys" --serial 00000000000000B2 --unprovisioned \
    --fault drop=5%,notifications_only --seed 7
run obvious update --radio virtual --timeout 18 --json
is "$status" 0 "update over a connection that drops 5 %"
end

# A device that is lost, one that rejects pairing, and one that answers wrongly.
cat >"$work/scenario" <<'E3'
at 0ms mute on
at 1s stop
E3
simulate lost simulate obvious --keys-file "$work/keys" --scenario "$work/scenario" --scenario-from connection
run obvious features 16 --radio virtual --timeout 5
is "$status" 1 "the device is lost in the middle: status 1"
like "$err" 'tendon: .+' "says why"
wait "$device" 2>/dev/null
simulate refuses simulate obvious --keys-file "$work/keys" --pairing required
run obvious info --radio virtual --timeout 5
is "$status" 1 "a device that rejects pairing: status 1"
like "$err" 'pairing' "says so"
end

# Bytes; the frames are those of docs/protocols/obvious.md.
run encode obvious feature_toggle features=16:off corr=4
like "$out" '"bytes":"780000001200''4f42010004001100040001100002af241de8"' "encode: a request as one segment"
run encode obvious feature_status features=16,17 corr=3
like "$out" '4f4201000300100005000210001100e67dfb2a"' "encode: the states of two features"
run encode obvious feature_status features=0
is "$status" 2 "encode: feature 0"
run decode obvious data 7800000012004f42010004001100040001100002af241de8 --json
is "$(timeless <<<"$out")" \
    '{"event":"ogp","family":"obvious","opcode":"FEATURE_TOGGLE","kind":"request","corr":4,"features":[{"feature":16}]}' "decode: a message"
run decode obvious data 7800000012004f42010004001100040001100002af241de9
is "$status" 1 "decode: a wrong CRC"
like "$out" '"error":"FRAME_BAD_CRC"' "says so"
run decode obvious status 4f4750020000
is "$status $(field error "$out")" "1 UNSUPPORTED_PROFILE" "decode: another protocol"

# Ctrl-C while the cloud does not answer: one message, and the device is free for the next command.
simulate full simulate obvious --keys-file "$work/keys"
reports=$(grep -c 'feature-update/result' "$work/cloud.log")
calls=$(grep -c 'feature-update HTTP' "$work/cloud.log")
asked() { [ "$(grep -c 'feature-update HTTP' "$work/cloud.log")" -gt "$calls" ]; }
admin faults '{"do": "drip", "bytes": 1, "pause": 1, "match": "POST /v1/devices/"}'
start stopped obvious update --radio virtual --json
until_true asked
kill -INT "$child"
wait "$child"
is "$? $(grep -c . "$work/stopped.err")" "1 2" "Ctrl-C during an update: status 1, one message with what to do"
like "$(cat "$work/stopped.err")" 'interrupted: the update is not complete' "says what happened"
like "$(cat "$work/stopped.err")" 'try: the same command again' "and how to go on"
run obvious update --radio virtual --json
is "$status" 0 "the same command again: done"
is "$(grep -c 'feature-update/result' "$work/cloud.log")" "$((reports + 1))" "the command ends after its report"
for words in 'info' 'features 16' 'toggle 19 on --dry-run' 'update --dry-run' 'update'; do
    # shellcheck disable=SC2086
    timeout 20 "$TENDON" obvious $words --radio virtual >/dev/full 2>"$work/full.err" </dev/null
    is "$? $(grep -c 'No space left on device' "$work/full.err")" "1 1" "/dev/full: obvious $words"
done
is "$(grep -rlaF 4242424242424242 "$work")" "" "the card's number is in no output and no file"
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Pairing with passkeys and comparisons, headless and on a terminal; the bonds that it leaves, listed, exported, forgotten.
. "$(dirname "$0")/tap.bash"

# Runs the program on a terminal; its standard input is what the function "$1" prints. It leaves out and status.
terminal() { # function, words of the command
    local typist=$1 words
    shift
    words=$(printf '%q ' "$TENDON" "$@")
    : >"$work/screen"
    rm -f "$work/ended"
    # The input stays open until the program ends.
    { "$typist" && until_true test -e "$work/ended"; } | {
        timeout 30 script -qefc "stty -echo; $words" "$work/screen" >/dev/null 2>&1
        echo $? >"$work/ended"
    }
    status=$(cat "$work/ended")
    out=$(tr -d '\r' <"$work/screen")
}
asked() { [ "$(grep -ao "$1" "$work/screen" | wc -l)" -ge "${2:-1}" ]; }
# The passkey that the simulated device NAME showed last.
shown() { grep '"event":"passkey"' "$work/$1.out" | tail -n 1 | sed -E 's/.*"passkey":"([0-9]{6})".*/\1/'; }

run bonds list --json
is "$status" 0 "bonds list: no file is no error"
is "$out" "" "bonds list: nothing"
like "$err" "no device is bonded; 'tendon pair' makes a bond" "bonds list: says how to make one"
run bonds
is "$status" 2 "bonds alone: usage"
like "$err" "needs one of: list, export, forget" "bonds alone: what it can do"

# ---- usage
run pair feelspace --radio virtual --passkey 12345
is "$status" 2 "five digits: usage"
like "$err" "--passkey: a passkey has six digits, not '12345'" "five digits: the reason"
run pair feelspace --radio virtual --passkey 123456 --passkey-file x
is "$status" 2 "two answers: usage"
like "$err" "use --passkey or --passkey-file, not both" "two answers: the reason"
run pair feelspace --radio virtual --require-authentication
is "$status" 2 "authentication without anybody to ask: usage"
like "$err" "try: add --passkey PASSKEY or --passkey-file FILE" "authentication without anybody to ask: what to do"
run run --radio virtual --require-authentication
is "$status" 2 "run, authentication without a passkey: usage"
like "$err" "try: add --passkey-file FILE" "run, authentication without a passkey: what to do"
run pair feelspace --radio virtual --key-size-min 17
is "$status" 2 "a key of 17 bytes: usage"

# ---- a device that shows a passkey
belt=C0:00:00:00:00:41
start display simulate feelspace --radio virtual --json --generation 2 --io display --address $belt/random
until_true ready display
run pair feelspace --radio virtual --json --address $belt --require-authentication --passkey 000000
is "$status" 1 "a wrong passkey: status 1"
like "$err" "RADIO_ERROR_PAIRING_FAILED" "a wrong passkey: the cause"

type_passkey() {
    until_true asked 'passkey that' && printf '12345\n' # one digit is missing: asked again
    until_true asked 'passkey that' 2
    until_true shown_again
    printf ' %s \n' "$(shown display)"
}
# No answer: why, and what to do, instead of what the device makes of it.
wait_for_question() { until_true asked 'passkey that'; }
terminal wait_for_question pair feelspace --radio virtual --address $belt --timeout 3
is "$status" 1 "on a terminal: no answer"
like "$out" "tendon: no passkey was entered in time" "no answer: the reason"
like "$out" "try: tendon pair feelspace again, and an answer within the 30 s" "no answer: what to do"
end_input() { until_true asked 'passkey that' && printf '\4'; }
terminal end_input pair feelspace --radio virtual --address $belt
is "$status" 1 "on a terminal: Ctrl-D"
like "$out" "tendon: pairing was cancelled: the input ended without an answer" "Ctrl-D: the reason"
unlike "$out" "the passkey is wrong" "Ctrl-D: no passkey was entered"

earlier=$(shown display)
shown_again() { [ "$(shown display)" != "$earlier" ]; }
terminal type_passkey pair feelspace --radio virtual --address $belt
is "$status" 0 "on a terminal: the passkey is typed"
like "$out" "passkey that C0:00:00:00:00:41 shows: " "on a terminal: the question"
is "$(printf '%s' "$out" | grep -ao 'passkey that' | wc -l)" 2 "on a terminal: asked again after five digits"
like "$out" "C0:00:00:00:00:41 is paired" "on a terminal: paired"

run bonds list --json
is "$(printf '%s' "$out" | timeless)" \
    '{"event":"bond","address":"C0:00:00:00:00:41","address_type":"random","role":"peripheral","adapter":null,"authenticated":true,"secure_connections":true,"key_size_bytes":16,"private_addresses":false}' \
    "bonds list: an authenticated bond"
people bonds list
like "$out" "C0:00:00:00:00:41/random: peripheral, virtual radio, Secure Connections with a passkey, key of 16 bytes" \
    "bonds list on a terminal"

# ---- a device with neither: Just Works
plain=C0:00:00:00:00:42
start plain simulate feelspace --radio virtual --json --generation 2 --address $plain/random
until_true ready plain
run pair feelspace --radio virtual --json --address $plain --passkey 123456
is "$status" 1 "a passkey for a device without a display: rejected"
like "$err" "RADIO_ERROR_PAIRING_TOO_WEAK.*use 'tendon pair feelspace --radio virtual( --state [^']*)?' without options such as --passkey" \
    "a passkey for a device without a display: what to do"
run bonds list --json
unlike "$out" "$plain" "and no bond is left"
run pair feelspace --radio virtual --json --address $plain
is "$status" 0 "no terminal, no option: Just Works"
nobody() { :; }
run forget --radio virtual --address $plain
terminal nobody pair feelspace --radio virtual --address $plain --accept
is "$status" 0 "--accept on a terminal: nothing is asked"
run bonds list --json
like "$out" '"address":"C0:00:00:00:00:42".*"authenticated":false' "bonds list: a bond without a passkey"

# ---- a device with a display and buttons: the virtual radio compares nothing
buttons=C0:00:00:00:00:43
start buttons simulate feelspace --radio virtual --json --generation 2 --io yes-no --address $buttons/random
until_true ready buttons
shows_one() { [ -n "$(shown buttons)" ]; }
type_shown() {
    until_true asked 'passkey that' && until_true shows_one && printf '%s\n' "$(shown buttons)"
}
terminal type_shown pair feelspace --radio virtual --address $buttons --require-authentication --secure-connections-only
is "$status" 0 "a device with buttons: paired"
run simulate feelspace --radio virtual --json --generation 2 --io keyboard --passkey 111111
is "$status" 2 "a virtual device with a keyboard: usage"
like "$err" "--io keyboard is for --radio bluez" "a virtual device with a keyboard: the reason"
run simulate feelspace --json --io keyboard --passkey 111111
like "$status $err" "^2 .*--io keyboard is for --radio bluez" "without a radio, too"
unlike "$err" "on the virtual radio" "and it does not say before that the device is there"

# ---- the file of passkeys
printf '# made by hand\n%s 654321\n' "$belt" >"$work/passkeys"
run pair feelspace --radio virtual --address $belt --passkey-file "$work/missing"
is "$status" 1 "a file that is missing: status 1"
like "$err" "$work/missing: No such file or directory$" "a file that is missing: its name"
chmod 644 "$work/passkeys"
run pair feelspace --radio virtual --address $belt --passkey-file "$work/passkeys"
like "$err" "try: chmod 600 $work/passkeys" "a file that others can read: what to do"
chmod 600 "$work/passkeys"
# A mistake in the file: with its line, before a radio is opened, and without what is in it.
wrong() { # line, text of the file, name
    printf "$2" >"$work/wrong"
    chmod 600 "$work/wrong"
    for command in "pair feelspace" run; do
        # shellcheck disable=SC2086
        run $command --adapter hci99 --passkey-file "$work/wrong"
        like "$status $err" "^1 tendon: $work/wrong:$1: neither an address \\(or \\*\\) with six digits, nor a comment" "$command, $3: the line"
        unlike "$err" "654321" "$command, $3: and no passkey"
    done
}
wrong 3 '# by hand\n* 000000\nC0:00:00:00:00:41 65432\n* 654321\n' "five digits"
wrong 1 'belt 654321\n' "a name"
wrong 2 '\nC0:00:00:00:00:41 654321 Annas belt\n' "a word too many"
wrong 2 '* 654321\nC0:00:00:00:00:41\n' "no passkey"
run pair feelspace --radio virtual --passkey-file "$work"
like "$status $err" "^1 .*$work: Is a directory" "a directory in the place of the file: says so"
unlike "$err" "chmod" "and does not advise to close it to others"
run pair feelspace --radio virtual --address $belt --passkey-file "$work/passkeys" --json
is "$status" 0 "a bonded device pairs no second time, so its passkey is not needed"
run run --radio virtual --json --passkey-file "$work/passkeys" --require-authentication --for 3 --notifications 1 --address $belt
like "$out" '"event":"connected"' "run: a bond with a passkey is good enough"
run run --radio virtual --json --passkey-file "$work/passkeys" --require-authentication --for 2 --address $plain
unlike "$out" '"event":"connected"' "run: a bond without one is not"
like "$out" '"event":"connect_failed"' "run: and the event says so"

run run --radio virtual --json --require-encryption --for 3 --notifications 1 --address $plain
like "$out" '"event":"connected"' "run --require-encryption: a bonded device is used"
run run --radio virtual --json --require-encryption --passkey-file "$work/passkeys" --require-authentication --for 2 --address $plain
unlike "$out" '"event":"connected"' "run --require-encryption: a key without a passkey does not count with --require-authentication"

# ---- export and forget
run bonds export
is "$status" 2 "bonds export: needs a file"
run bonds export "$work/keys.json" --json
is "$status" 0 "bonds export: done"
like "$out" '"event":"exported","file":"[^"]*keys.json","bonds":3' "bonds export: how many"
is "$(stat -c %a "$work/keys.json")" 600 "bonds export: for its owner alone"
is "$(python3 - "$work/keys.json" <<'END'
import json, sys
document = json.load(open(sys.argv[1]))
assert document["format"] == "tendon bonds" and document["version"] == 1
for bond in document["bonds"]:
    assert len(bytes.fromhex(bond["key"])) == 16 and any(bytes.fromhex(bond["key"])), bond
    print(bond["address"], bond["authenticated"], end=" ")
END
)" "$belt True $plain False $buttons True " "bonds export: the bonds with their keys"
key=$(sed -E 's/.*"key":"([0-9a-fA-F]{32})".*/\1/' "$work/keys.json")
is "${#key}" 32 "a key"
people bonds list
unlike "$out" "$key" "bonds list: no keys on a terminal"
run bonds list --json
unlike "$out" "$key|\"key\"" "bonds list: no keys in JSON"
run bonds export "$work/keys.json"
like "$status $err" "^1 .*keys.json exists" "bonds export: a file that exists is left alone"
like "$err" "try: --replace" "bonds export: and how to replace it"
run bonds export "$work/keys.json" --replace
is "$status" 0 "bonds export --replace"
run bonds export "$work/keys.json/none"
is "$status" 1 "bonds export: a path that cannot be: status 1"
mkdir "$work/fixed" && cp "$work/keys.json" "$work/fixed/" && chmod 500 "$work/fixed"
if [ "$(id -u)" != 0 ]; then
    run bonds export "$work/fixed/keys.json" --replace
    is "$status" 1 "bonds export: a folder that cannot be written: status 1"
    is "$(cmp "$work/keys.json" "$work/fixed/keys.json" && echo same)" same "bonds export: the old file stays whole"
fi
chmod 700 "$work/fixed"
run bonds forget --radio virtual
is "$status" 2 "bonds forget: needs an address"
like "$err" "try: tendon bonds list" "bonds forget: where the addresses are"
printf '[device %s]\nname = buttons\n[device C0:00:00:00:00:99]\nname = absent\n' "$buttons" >"$work/names.conf"
people forget --radio virtual --config "$work/names.conf" --address absent
like "$out" "the virtual radio has no bond with absent \(C0:00:00:00:00:99\)" "forget: a name, and which radio has no bond"
like "$out" "try: tendon bonds list" "forget: where they are"
run forget --radio virtual --config "$work/names.conf" buttons
like "$err" "try: tendon forget --address buttons --radio virtual$" "forget NAME: the command"
run bonds forget --radio virtual --config "$work/names.conf" --address buttons --json
like "$out" '"event":"forgotten","address":"C0:00:00:00:00:43"' "bonds forget: done"
run bonds list --json
unlike "$out" "$buttons" "bonds list: it is no longer there"
# ---- the bonds of another user, such as the service: root acts as that user, and no file changes its owner
run bonds list --state service
is "$status" 2 "--state without a path: usage"
run bonds list --state "$work/none/tendon"
is "$status" 1 "--state of no directory: fails"
like "$err" "$work/none/tendon: No such file" "--state of no directory: says so"
before=$XDG_STATE_HOME
mkdir -p "$work/service" && cp -a "$before/tendon" "$work/service/tendon"
XDG_STATE_HOME=$work/empty run bonds list --state "$work/service/tendon/" --json
is "$(cut -d, -f2- <<<"$out")" "$("$TENDON" bonds list --json | cut -d, -f2-)" "--state: the bonds in that directory"
if [ "$(id -u)" = 0 ]; then
    install -d -o nobody -m 700 "$work/nobody"
    chown -R nobody "$work/service/tendon"
    chmod 700 "$work/service"
    run bonds list --state "$work/service/tendon" --json
    is "$(cut -d, -f2- <<<"$out")" "$("$TENDON" bonds list --json | cut -d, -f2-)" "--state: as the user that they belong to"
    XDG_RUNTIME_DIR=$work/nobody run forget --radio virtual --state "$work/service/tendon" --address $plain --json
    like "$out" '"event":"forgotten"' "--state: forgets"
    is "$(stat -c '%U %a' "$work/service/tendon/bonds")" "nobody 600" "--state: the file stays that user's"
    run bonds list --state "$work/service/tendon" --json
    unlike "$out" "$plain" "--state: the bond is gone there"
    run bonds list --json
    like "$out" "$plain" "--state: and not here"
    setpriv --reuid=nobody --clear-groups env HOME="$work/nobody" "$TENDON" bonds list --state "$before/tendon" >"$work/out" 2>&1
    is $? 1 "--state: another user may not"
fi

chmod 644 "$XDG_STATE_HOME/tendon/bonds"
run bonds list
is "$status" 1 "a file of bonds that others can read: status 1"
like "$err" "ERROR_FILE_PERMISSION" "a file of bonds that others can read: the cause"
like "$err" "try: chmod 600 $XDG_STATE_HOME/tendon/bonds" "a file of bonds that others can read: what to do"
# A belt would let itself be used without encryption.
open=C0:00:00:00:00:73
start open simulate feelspace --radio virtual --json --generation 2 --address $open/random
until_true ready open
run run --radio virtual --address $open/random --no-reconnect --for 10 --json
is "$status" 1 "a belt is not used without encryption because the file of bonds cannot be used"
unlike "$out" '"event":"connected"' "it does not connect"
like "$out$err" "$XDG_STATE_HOME/tendon/bonds" "and the reason names the file"
stop open
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$work"
    chmod 600 "$XDG_STATE_HOME/tendon/bonds"
    setpriv --reuid=nobody --clear-groups "$TENDON" bonds list >"$work/out" 2>&1
    like "$? $(cat "$work/out")" "^1 tendon: $XDG_STATE_HOME/tendon/bonds: .*ERROR_FILE_PERMISSION" "a file of another user's: its path"
    like "$(cat "$work/out")" "try: the same as the user that it belongs to" "and no advice to change it"
fi
finish

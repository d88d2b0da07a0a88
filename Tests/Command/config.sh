#!/bin/bash
# SPDX-License-Identifier: MIT
# The configuration file: what it sets, what is refused and with which words, names of devices.
. "$(dirname "$0")/tap.bash"
unset TENDON_CONFIG

conf() { cat >"$work/tendon.conf"; }

mistake() { # content, line, pattern, what
    printf '%b' "$1" >"$work/wrong.conf"
    run config check "$work/wrong.conf"
    is "$status" 2 "$4: status 2"
    like "$out" "^$work/wrong.conf:$2: $3" "$4: place and reason"
    run run --radio virtual --for 0.1 --config "$work/wrong.conf"
    is "$status" 2 "$4: run refuses it"
    like "$err" "wrong.conf:$2: $3" "$4: with the same words"
}

mistake '[gateway]\nradoi = virtual\n' 2 "unknown key of \[gateway\] 'radoi'; did you mean 'radio'" "an unknown key"
mistake '[gatewya]\nradio = virtual\n' 1 "unknown section 'gatewya'; did you mean 'gateway'" "an unknown section"
mistake '[gateway]\nperiod = 20\n' 2 "period is a key of \[family bose\], not of \[gateway\]" "a key of another section"
mistake '[gateway]\nradio = wifi\n' 2 "radio takes bluez or virtual, not 'wifi'" "a value that is not allowed"
mistake '[mqtt]\nstate-interval = 49ms\n' 2 "state-interval takes a time from 50 to 3600000 ms, such as 500, 500ms or 2s, not '49ms'" \
    "a time that is too short"
mistake '[family bose]\nperiod = 7\n' 2 "period: it takes 5, 10, 20" "a number that is not allowed"
mistake '[family activ5]\nevergreen = mabye\n' 2 "evergreen takes yes or no" "a switch"
mistake '[family activ5]\n\nrate = 1\nrate = 2\n' 4 "rate was set before, in line 3" "a key that is set twice"
mistake 'radio = virtual\n' 1 "'radio' stands before the first section" "a key without a section"
mistake '[gateway\nradio = virtual\n' 1 "\] is missing: \[gateway\]" "a section without its bracket"
mistake '[gateway]\nradio\n' 2 "this is neither \[SECTION\] nor KEY = VALUE" "a line without a value"
mistake '[gateway]\nadapter =\n' 2 "adapter needs a value" "an empty value"
mistake '[device 12]\nname = x\n' 1 "a section of a device is .*, not \[device 12\]" "no address"
mistake '[family bose]\nrate = 5\n' 2 "rate is a key of \[osc\] and \[family activ5\]" "a key of two other sections"
mistake '[device AA:BB:CC:DD:EE:FF]\nradio = virtual\n' 2 "radio is a key of \[gateway\]" "a setting that no device has"
mistake '[device AA:BB:CC:DD:EE:FF]\nname = a\n[device AA:BB:CC:DD:EE:FF public]\nname = b\n' 3 \
    "\[device AA:BB:CC:DD:EE:FF\] in line 1 is the same device" "a device twice"
mistake '[device AA:BB:CC:DD:EE:FF]\nname = a\n[device AA:BB:CC:DD:EE:FE]\nname = a\n' 4 \
    "the device of line 2 has this name" "a name twice"
mistake '[device AA:BB:CC:DD:EE:FF]\nname = a b\n' 2 "name: a name has letters" "a name with a space"
mistake '[device AA:BB:CC:DD:EE:FF]\nname = belt\n' 2 "name: 'belt' has another meaning" "a family's name"
mistake '[gateway]\naddress = nobody\n' 2 "address takes .*the name of a device of this file, not 'nobody'" "a name that no device has"
mistake '[gateway]\nradio = virtual\nadapter = hci0\n' 3 "adapter is for radio bluez" "an adapter of the virtual radio"
mistake '[gateway]\nconnection = quick\n' 2 "connection: 'quick' .*fast, balanced, low-power, or MIN-MAX" "parameters that are none"
mistake '[family bose]\nsensors = rotation accelerometer\n' 2 "sensors: .*a list has commas" "a list without commas"
mistake '[web]\naddress = 0.0.0.0:8098\n' 2 "address: 0.0.0.0 can be reached by others" "a page for others without a token"
mistake '[mqtt]\nbroker = mqtt://localhost\ngateway = a/b\n' 3 "gateway: the name of the gateway 'a/b'" "a name that is no level"
mistake '[mqtt]\nbroker = mqtts://localhost\ncertificate = x\n' 3 "certificate: a client certificate needs its key" \
    "a certificate without its key"
mistake '[rules]\nrule = bose.gestur => bose.x\n' 2 "rule: the rule '.*': unknown event of bose 'gestur'" "a wrong rule"
mistake '[programs x]\ncommand = /bin/true\n' 1 "unknown section 'programs x'; did you mean 'program x'" "a section of two words"
mistake '[include x]\n' 1 "unknown section 'include x'; known: gateway, " "one of another kind"
mistake '[mqtt]\npassword = secret\n' 2 "unknown key of \[mqtt\] 'password'; did you mean 'password-file'" "the beginning of a key"
mistake '[output]\nlog-level = warn\n' 2 "log-level takes .*, not 'warn'; did you mean 'warning'" "the beginning of a word"
mistake '[mqtt]\nbroker = mqtt://localhost\nstream-rate = 5\n' 3 "stream-rate needs stream" "a rate of nothing"
mistake '[gateway]\nradio = virtual\n[gatway]\n' 3 "unknown section 'gatway'; did you mean 'gateway'" "an unknown section without keys"
mistake '[device ZZ:00:00:00:08:01]\n' 1 "a section of a device is .*, not \[device ZZ" "no address, without keys"
mistake '[device AA:BB:CC:DD:EE:FF]\n[device AA:BB:CC:DD:EE:FF public]\n' 2 "\[device AA:BB:CC:DD:EE:FF\] in line 1 is the same device" \
    "a device twice, without keys"
install -m 600 /dev/null "$work/key.sh"
mistake "[program x]\ncommand = $work/key.sh\n" 2 "command: '.*key.sh': Permission denied; 'chmod \+x $work/key.sh' permits" "a program that cannot be executed"
mistake '[program x]\n' 1 "\[program x\] needs the key command" "a program without keys"
mistake '[rules]\nrule = activ5.squeeze => publish a/b yes\n' 2 "rule: the rule '.*': 'a/b' .*\(column 27\)" "a topic with another level"
printf '[gateway]\nnope\nradoi = virtual\nneither\n' >"$work/wrong.conf"
run config check "$work/wrong.conf"
is "$(cut -d: -f2 <<<"$out" | xargs)" "2 3 4" "each line that is wrong is named"
mistake '[rules]\nrule = activ5.squeeze => feelspace.signal "warning\n' 2 \
    "rule: the rule '.*': what begins with a quotation mark ends with one, .*: '\"warning' \(column 36\)" "an open quotation mark"
mistake '[rules]\nrule = activ5.squeeze => publish a "x\n' 2 "rule: the rule '.*': what begins with .*: '\"x' \(column 29\)" "of publish, too"
printf '[rules]\nrule = activ5.squeeze => publish a "x ; \\" y" b ; a comment\n' >"$work/quoted.conf"
run config show "$work/quoted.conf"
like "$out" 'rule = activ5.squeeze => publish a "x ; \\" y" b +; ' "no comment begins between quotation marks"
run config show --rule 'activ5.squeeze => publish a "two  blanks"'
like "$out" 'rule = activ5.squeeze => publish a "two  blanks" +; option' "config show keeps the blanks of a text"
printf '[rules]\nrule = activ5.squeeze => exec none\nrule = activ5.bogus => publish a b\nrule = activ5.squeeze => bose.stop\n' >"$work/rules.conf"
run config check "$work/rules.conf"
is "$(cut -d: -f2 <<<"$out" | tr '\n' ' ')" "2 3 4 " "each wrong rule, with its line"
printf '[rules]\nrule = activ5.squeeze => %s\n' "feelspace.signal warning$(printf ', feelspace.signal warning%.0s' $(seq 20))" >"$work/long.conf"
run config check "$work/long.conf"
is "$status" 0 "a line may be long"

printf '[gateway]\nradoi = virtual\nradio = virtual\nadapter = x\n' >"$work/wrong.conf"
run config check "$work/wrong.conf"
is "$(printf '%s\n' "$out" | wc -l)" 2 "check prints all mistakes"
run run --config "$work/wrong.conf"
like "$err" "wrong.conf:2: .* \(and 1 more\)" "run prints the first, and how many there are"
like "$err" "try: tendon config check" "and which command prints all"
run config check "$work/wrong.conf" --json
like "$out" '"event":"mistake","file":".*wrong.conf","line":4,"text":' "check as JSON"
run config check "$work/none.conf"
is "$status" 1 "a file that is not there"
run run --config "$work/none.conf"
is "$status" 1 "run: a file that is not there"

conf <<'CONF'
# A gateway.
[gateway]
radio = virtual
reconnect = no ; comment
[family bose]
sensors = rotation,
    accelerometer
period = 40
[family activ5]
evergreen = yes
[device C0:00:00:00:00:10 random]
name = head
period = 80
[device C0:00:00:00:00:12/random]
serve = no
[rules]
rule = activ5.squeeze => feelspace.signal warning
rule = activ5.double_squeeze => feelspace.stop
CONF
"$TENDON" config check - <"$work/tendon.conf" >"$work/out" 2>"$work/err"
is "$? $(cat "$work/out" "$work/err")" "0 /dev/stdin: no mistakes" "config check -: standard input"
printf '[program lamp]\ncommand = /tmp\n' >"$work/folder.conf"
run config check "$work/folder.conf"
like "$status $out$err" "^2 .*folder.conf:2: command: '/tmp' is a directory, not a program" "a program that is a directory"
printf '[recording]\ndirectory = %s\n' "$work/folder.conf" >"$work/recording.conf"
run config check "$work/recording.conf"
like "$status $out$err" "^2 .*recording.conf:2: directory: $work/folder.conf: Not a directory" "recordings where a file is"
printf '[recording]\ndirectory = %s\n' "$work/new" >"$work/recording.conf"
run config check "$work/recording.conf"
is "$status" 0 "a directory that the first recording makes"
run config check "$work/tendon.conf"
is "$status" 0 "a file without mistakes"
like "$out" "no mistakes" "says so"
run config show "$work/tendon.conf" --period 160 --rule 'bose.connected => activ5.tare'
is "$status" 0 "show"
like "$out" "^radio = virtual +; $work/tendon.conf:3" "show: a line of the file"
like "$out" "^reconnect = no +; .*:4" "show: a switch that is off"
like "$out" "^queue-size = 16384 +; default" "show: a default"
like "$out" "^period = 160 +; option" "show: an option is above the file"
like "$out" "^sensors = rotation, accelerometer +; .*:6" "show: a value of two lines"
like "$out" "^; rate is not set" "show: what nothing sets"
is "$(grep -c '^rule = ' <<<"$out")" 3 "show: the rules of file and options"
printf '%s\n' "$out" >"$work/shown.conf"
run config check "$work/shown.conf"
is "$status" 0 "what show prints is a configuration file"
run config show "$work/shown.conf"
is "$(sed 's/ *;.*//' <<<"$out")" "$(sed 's/ *;.*//' "$work/shown.conf")" "with the same settings"
run config show --json
is "$(printf '%s\n' "$out" | grep -v '"origin":"default"' | grep -o '"key":"[a-z]*"')" '"key":"json"' "show without a file: defaults, and the option"

# Settings and names at work: three devices, one of them left alone, each with its own sample period.
start heads simulate bose --radio virtual --json --count 3 --address C0:00:00:00:00:10/random
heads=$child
until_true eval '[ "$(grep -c ready "$work/heads.out")" = 3 ]'
run run --config "$work/tendon.conf" --for 2
is "$(printf '%s\n' "$out" | grep '"event":"connected"' | grep -o 'C0:[0-9A-F:]*' | sort | xargs)" \
    "C0:00:00:00:00:10 C0:00:00:00:00:11" "serve = no leaves a device alone"
like "$out" '"event":"sensor_configuration".*"address":"C0:00:00:00:00:10".*"name":"head".*"period_ms":80' "a device's own setting"
like "$out" '"event":"sensor_configuration".*"address":"C0:00:00:00:00:11".*"period_ms":40' "that of the family"
like "$out" '"event":"sample".*"name":"head"' "samples have the name"
run run --config "$work/tendon.conf" --for 2 --period 160 --address head
is "$(printf '%s\n' "$out" | grep '"event":"connected"' | grep -o 'C0:[0-9A-F:]*')" "C0:00:00:00:00:10" "--address takes a name"
like "$out" '"event":"sensor_configuration".*"period_ms":160' "an option is above the device's setting"
run run --config "$work/tendon.conf" --for 2 --known-only
is "$(printf '%s\n' "$out" | grep -c '"event":"connected"')" 1 "--known-only: only what the file names"
run run --config "$work/tendon.conf" --for 1 --ignore bose
is "$status" 4 "--ignore: no device of the family"
printf '[gateway]\nradio = virtual\nknown-only = yes\n[device C0:00:00:00:00:11 random]\n' >"$work/known.conf"
run run --config "$work/known.conf" --for 2
is "$(printf '%s\n' "$out" | grep '"event":"connected"' | grep -o 'C0:[0-9A-F:]*')" "C0:00:00:00:00:11" "a section without keys makes a device known"
sed 's/^known-only.*/&\nfamilies = all/; /^\[device/d' "$work/known.conf" >"$work/unknown.conf"
run run --config "$work/unknown.conf" --for 0.5
like "$status $err" "^4 .*--known-only leaves every device alone: the configuration has no section of a device that is served" \
    "known-only without a section: the reason"
like "$err" "try: \[device ADDRESS\] in $work/unknown.conf for each device; 'tendon scan --families all --radio virtual' shows addresses" \
    "and what to do"
run run --radio virtual --known-only --for 0.5
like "$err" "try: \[device ADDRESS\] in the file of --config for each device" "--known-only without a configuration: what to do"
limit=3 start alone run --radio virtual --known-only
until_true grep -q "^tendon: --known-only leaves every device alone" "$work/alone.err"
result $? "a run without end says it when it begins" "$(cat "$work/alone.err")"
for choice in "--families bose --ignore bose" "--families bose,activ5 --ignore all" "--families all --ignore all"; do
    # shellcheck disable=SC2086
    run run --radio virtual $choice --for 0.5
    like "$status $err" "^2 .*--ignore leaves none of the families that --families takes" "$choice: a contradiction"
done
printf '[gateway]\nfamilies = bose\nignore = bose\n' >"$work/none.conf"
run config check "$work/none.conf"
like "$status $out" "^2 $work/none.conf:[23]: ignore leaves none of the families that families takes" "config check: the same, with the keys"
run run --radio virtual --ignore all --for 0.5
like "$status $err" "^4 .*no family is served: see --families and --ignore" "no family at all is possible, and said"
run stream bose --ignore bose --radio virtual --for 0.5
like "$status $err" "^2 .*'tendon stream' has no option --ignore" "stream has one family"
printf '[gateway]\nradio = virtual\nfamilies = activ5\n' >"$work/one.conf"
run stream bose --config "$work/one.conf" --for 2 --notifications 1
like "$out" '"event":"connected".*"family":"bose"' "stream serves its family, whatever the file has"
run run --radio virtual --for 1 --families activ5,fjorden
is "$status" 4 "--families: no device of another family"
export TENDON_CONFIG=$work/tendon.conf
run bose info --radio virtual --address head
is "$status" 0 "another command takes the name too"
like "$out" '"address":"C0:00:00:00:00:10".*"name":"head"' "and prints it"
run scan --radio virtual --for 1
like "$out" '"address":"C0:00:00:00:00:10".*"name":"head"' "scan prints it"
run bose info --radio virtual --address haed
is "$status" 2 "an unknown name"
like "$err" "unknown name of a device 'haed'; did you mean 'head'" "the nearest one"
unset TENDON_CONFIG
kill -INT "$heads"
wait "$heads"

# The belt takes its default intensity when it connects.
start belt simulate feelspace --radio virtual --json --address C0:00:00:00:00:20/random
belt=$child
until_true ready belt
printf '[device C0:00:00:00:00:20]\nname = living-belt\ndefault-intensity = 35\n' >"$work/belt.conf"
run run --config "$work/belt.conf" --radio virtual --pair --for 3
like "$out" '"event":"default_intensity".*"name":"living-belt","intensity_percent":35' "a default intensity of one belt"
run run --config "$work/belt.conf" --radio virtual --pair --for 3
like "$out" '"event":"connected".*"intensity_percent":35' "the belt has it"
unlike "$out" '"event":"default_intensity"' "and it is not written again"
kill -INT "$belt"
wait "$belt"

printf '[device C0:00:00:00:00:01 random]\nname = trainer\n[rules]\nrule = trainr.force > 20 => publish pressed yes\n' >"$work/named.conf"
run config check "$work/named.conf"
is "$status" 2 "config check: a rule about a device that has no such name"
like "$out$err" "unknown family or device 'trainr'; did you mean 'trainer'" "the nearest name, of a device too"

# What other files allow.
printf '[gateway]\nradio = virtual # simulated\nfamilies = "bose"\n' >"$work/other.conf"
run config check "$work/other.conf"
like "$out" "other.conf:2: .*; a comment has a line of its own, or begins with ; after white space" "config check: a comment behind a value"
like "$out" "other.conf:3: .*; a value stands without quotes" "config check: quotes"

# What run would refuse, check refuses: a page for others without a token, an option of a page without one.
printf '[web]\naddress = 0.0.0.0:8099\n' >"$work/open.conf"
run config check "$work/open.conf"
is "$status" 2 "config check: a page for others without a token"
is "$out" "$work/open.conf:2: address: 0.0.0.0 can be reached by others: it needs a token (token-file)" "with the line and the key"
printf '[mqtt]\nbroker = mqtt://localhost\nuser = somebody\npassword-file = %s\n' "$work/none" >"$work/password.conf"
run config check "$work/password.conf"
is "$status" 2 "config check: a password file that is not there"
like "$out" "^$work/password.conf:4: password-file: .*$work/none" "with its line"
# What systemd gives to the service is not there before it runs: a note. Elsewhere, and in a run, it is missing.
credentials=/run/credentials/tendon-test-$$.service
cat >"$work/service.conf" <<CONF
[mqtt]
broker = mqtts://localhost
user = tendon
password-file = $credentials/password
certificate = $credentials/certificate
key = $credentials/key
[web]
address = 127.0.0.1:8099
token-file = $credentials/token
CONF
run config check "$work/service.conf"
is "$status" 0 "config check: files of a service that does not run"
like "$out" "note: $credentials/password is there only while the service runs, and was not read" "with a note"
is "$(grep -c 'note: ' <<<"$out") $(grep -c 'no mistakes$' <<<"$out")" "4 1" "one for each file"
run config check "$work/service.conf" --json
like "$out" "\"unchecked\":\[\"$credentials/password\",\"$credentials/key\"" "as JSON"
cat >"$work/turned.conf" <<'CONF'
[rules]
rule = bose.gesture double_tap => osc.recenter
CONF
run config check "$work/turned.conf"
is "$status $out" "0 $work/turned.conf: note: rules: osc.recenter does nothing: no orientation of a device is sent; see [osc]
$work/turned.conf: no mistakes" "config check: a rule that does nothing without an output"
run config check "$work/turned.conf" --json
like "$out" '"notes":\["rules: osc.recenter does nothing' "as JSON"
printf '[gateway]\nignore = all\n' >"$work/nothing.conf"
run config check "$work/nothing.conf"
like "$status $out" "^0 .*note: no family is served: see --families and --ignore" "config check: nothing is served"
run run --config "$work/service.conf" --radio virtual --for 0.1
like "$status $err" "^1 .*$credentials/password: No such file" "run: such a file is missing"
# Every mistake, as many as there are sections: files that run would open, folders that it would write to.
cat >"$work/meeting.conf" <<CONF
[gateway]
passkey-file = $work/none/passkeys
[output]
capture = $work/none/capture
[metrics]
file = $work/none/tendon.prom
[web]
token-file = $work/none/token
address = 127.0.0.1:8099
[mqtt]
user = somebody
CONF
run config check "$work/meeting.conf"
is "$status" 2 "config check: what run would find later"
is "$(cut -d: -f2,3 <<<"$out")" "2: passkey-file
4: capture
6: file
8: token-file
11: user needs broker" "each with its line and key"
run config check "$work/meeting.conf" --json
is "$(field line "$(head -1 <<<"$out")")" 2 "as JSON, too"
run run --config "$work/meeting.conf" --radio virtual --for 1
is "$((status > 0))" 1 "run refuses it, too"

# docs/configuration.md has the tables of this program.
"$TENDON" --generate-settings >"$work/settings.md"
sed -n '/^<!-- settings -->/,/^<!-- end of settings -->/p' "$root/docs/configuration.md" | sed '1d;$d' >"$work/documented.md"
is "$(diff "$work/documented.md" "$work/settings.md")" "" "docs/configuration.md: scripts/settings_tables.sh makes its tables again"
# What the manual pages say beside it.
like "$("$TENDON" --generate-man tendon.conf)" "white space, ; also begins one within a line" "tendon.conf(5): both kinds of comments"
for variable in $(grep -ohE '\$(TENDON|XDG)_[A-Z_]+' <<<"$("$TENDON" run --help; "$TENDON" obvious firmware upgrade --help)" | tr -d '$' | sort -u); do
    like "$("$TENDON" --generate-man | sed -n '/^.SH ENVIRONMENT/,$p')" "(^| )$variable([ ,]|$)" "tendon(1), ENVIRONMENT: $variable"
done
# The same as options: wrong usage, as a mistake in the file is.
for words in "--web 0.0.0.0:8098" "--mqtt mqtt://localhost --mqtt-gateway a/b" "--mqtt mqtt://localhost --mqtt-certificate x"; do
    # shellcheck disable=SC2086
    run run --radio virtual --for 0.1 $words
    is "$status" 2 "run $words: status 2"
done
run config check ""
like "$status $err" "^2 .*the name of a file is empty" "config check: a name that is empty"
TENDON_CONFIG='' run scan --radio virtual --for 0.2
is "$status" 4 "TENDON_CONFIG that is empty is not set"
run run --radio virtual --for 0.1 --config=
like "$status $err" "^2 .*the name of a file is empty" "--config=: the same"
cp "$root/packaging/devices/heart_rate.json" "$work/strap.txt"
run config check "$work/strap.txt"
like "$status $err" "^2 .*strap.txt begins as a device file: the name of one ends in .json" "a device file with another name"
finish

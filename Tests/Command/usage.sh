#!/bin/bash
# SPDX-License-Identifier: MIT
# Help, options, exit statuses: what a person meets first.
. "$(dirname "$0")/tap.bash"

run
is "$status" 2 "no command: usage"
is "$out" "" "no command: nothing on standard output"
like "$err" "Usage:.* tendon COMMAND" "no command: the overview on standard error"

run --help
is "$status" 0 "--help: done"
for command in run scan doctor report pair forget stream bose simulate capture replay decode encode help; do
    like "$out" "^  $command" "the overview names $command"
done
like "$out" "^  4  " "the overview tells the exit statuses"

run --version
like "$out" "^tendon [0-9]+\.[0-9]+\.[0-9]+" "--version"

for command in run scan doctor report "stream" "bose info" "bose configure" simulate capture replay decode encode; do
    # shellcheck disable=SC2086
    run help $command
    is "$status" 0 "help $command: done"
    like "$out" "Examples:" "help $command: has examples"
    like "$out" "^  tendon $command" "help $command: an example of itself"
done
run scan --help
like "$out" "^Usage:.* tendon scan" "--help after a command is that command's"

for group in feelspace "obvious firmware" cache; do
    # shellcheck disable=SC2086
    run help $group
    list=$out
    # shellcheck disable=SC2086
    run $group --help
    is "$status $out" "0 $list" "$group --help: the same list as help $group"
done
like "$list" "^tendon cache drop  " "a list of one command"
run scna
is "$status" 2 "unknown command: usage"
like "$err" "did you mean 'scan'" "unknown command: the nearest one"
run run --jsn
is "$status" 2 "unknown option: usage"
like "$err" "did you mean '--json'" "unknown option: the nearest one"
run doctor --sensors rotation
is "$status" 2 "another command's option: usage"
run feelspace mode --for 2ms --timeout 0.2 --radio virtual
is "$status" 4 "--for begins with the connection: the limit of the search is that of --timeout"
run activ5 battery --for 2 --radio virtual
is "$status" 2 "a command that does one thing has no --for"
run help run
headings=$(grep -E '^[A-Z].*:$' <<<"$out" | tr '\n' ' ')
is "$headings" "Devices and connections: Rules: Output: Pairing: MQTT broker: Metrics: Page: Family activ5: Family bose: Family feelspace: Family fjorden: Family obvious: Common options: Examples: " "the many options of run stand under headings"
is "$(grep -oE '^  --[a-z0-9-]+' <<<"$out" | sort | uniq -d)" "" "each of them once"
like "$(tr -s ' \n' ' ' <<<"$out")" 'fjorden.event \[shutterButtonHalfDown \| .* \| zoomLeverNeutral\]' "what can stand behind an event is listed"
run help scan
like "$out" "^Options:$" "a short list has one heading"
run help obvious
like "$out" "^tendon obvious firmware upgrade +write " "the list of a group has columns"
run help nothing
like "$err" "try: tendon --help" "help about nothing that there is: where the list is"
run help run extra
like "$status $err" "^2 .*'extra' is no part of 'tendon run'" "help: a word too many"
for command in "bose info" "activ5 battery" "obvious pay"; do
    # shellcheck disable=SC2086
    run help $command
    unlike "$out" "time of --for" "help $command: no word about an option that it does not have"
done
run help activ5 force
like "$(tr -s ' \n' ' ' <<<"$out")" "before the time of --for begins" "help activ5 force: when the time of --for begins"
run bond
like "$err" "did you mean 'bonds'" "bond: bonds"
run run --radio virtual --log-level inf
like "$err" "did you mean 'info'" "a value that is mistyped: the nearest one"
run feelspace vibrate --angle 9 --pattern single_log
like "$err" "did you mean 'single_long'" "a pattern that is mistyped"
run scan --for
is "$status" 2 "option without its value: usage"
run scan --for soon --radio virtual
is "$status" 2 "a duration that is none: usage"
like "$err" "for takes a time from 0 to 1000000000 s, such as 90, 500ms, 2min or 1h, not 'soon'" "a duration that is none: says what it takes"
run simulate bose --radio virtual --scenario-from connection
like "$status $err" "^2 .*--scenario-from needs --scenario" "the start of a scenario that is not there"
run run --radio virtual --mqtt mqtt://127.0.0.1:1 --mqtt-stream-rate 5
like "$status $err" "^2 .*--mqtt-stream-rate needs --mqtt-stream" "the rate of streams that are not published"
run run --radio virtual --passkey-file "$work/none" --for 0.1
like "$status $err" "^1 .*$work/none: No such file or directory" "a file of passkeys that is not there"
run scan --for "50 ms" --radio virtual
is "$status" 4 "a duration with its unit is taken: no device in that time"
run scan --for 2d --radio virtual
is "$status" 2 "a unit that is none of ours: usage"
run scan --radio wifi
is "$status" 2 "an unknown radio: usage"
like "$err" "bluez or virtual" "an unknown radio: says which there are"
run run --radio virtual --connection 31-50
is "$status" 2 "connection parameters that are none: usage"
like "$err" 'connection 15-30,0,4000' "and which would be"
run --json=1 scan
is "$status" 2 "a switch takes no value"
run run --radio virtual --for 0.1 --families bose --families activ5
like "$status $err" "^2 .*--families is given twice; a list has commas" "a list that is given twice: usage"
like "$err" "try: --families bose,activ5$" "and the list that is meant"
run run --radio virtual $'\u2014for' 0.1
like "$status $err" "^2 .*begins with a dash of another kind than -" "a dash of a web page: usage"
like "$err" "try: --for$" "and the option that is meant"
run run --radio virtual fro 0.1
like "$status $err" "^2 .*run takes no operands, such as 'fro'" "a word that is no option: which"
run simulate toaster
is "$status" 2 "an unknown family: usage"

run bose info --radio virtual --address mytrainer
is "$status" 2 "a name without a configuration: usage"
like "$err" "a name needs a configuration that gives it: --config FILE" "and what a name needs"
(unset TENDON_OBVIOUS_BASE_URL; "$TENDON" obvious features --radio virtual --product 1234) >"$work/out" 2>"$work/err"
is $? 2 "obvious features without numbers and cloud: usage"
like "$(cat "$work/err")" "features needs the numbers of features, or a cloud" "and what is missing"

# Options are accepted anywhere, and -- ends them.
run --json decode bose gesture_data c12710
a=$(timeless <<<"$out")
run decode bose gesture_data c12710 --json
is "$(timeless <<<"$out")" "$a" "an option before and after the command means the same"
run decode --json bose -- gesture_data c12710
is "$(timeless <<<"$out")" "$a" "-- ends options"
run decode bose gesture_data -- --json
is "$status" 2 "after -- an option is an operand"

# What packaging makes from the same table.
run --generate-man
like "$out" "^\.TH TENDON 1" "the man page"
for shell in bash zsh fish; do
    run --generate-completion $shell
    is "$status" 0 "completion for $shell"
done
"$TENDON" --generate-completion bash | bash -n
result $? "bash reads its completion" ""
COMPLETED=$(bash -c 'eval "$("$0" --generate-completion bash)"; COMP_WORDS=(tendon sim); COMP_CWORD=1; _tendon; echo "${COMPREPLY[*]}"' "$TENDON")
is "$COMPLETED" "simulate" "bash completes a command"

"$root/packaging/generate.sh" "$TENDON" "$work/usr"
result $? "packaging makes its files" ""
is "$(cd "$work/usr/share" && find . -type f | wc -l)" $((6 + $(ls "$root/packaging/devices" | wc -l))) \
    "two man pages, three completions, the dissector and the device files"
for page in man1/tendon.1 man5/tendon.conf.5; do
    if command -v groff >/dev/null; then
        is "$(groff -man -Tutf8 -ww -z "$work/usr/share/man/$page" 2>&1)" "" "$page: groff has no warnings"
    else
        skip "$page: groff has no warnings" "groff is not installed"
    fi
done
# Each key of the tables of docs/configuration.md has its entry, in the section of that name.
sed -n 's/^### `\(.*\)`$/\1/p; s/^| `\([a-z-]*\)` |.*/\1/p' "$root/docs/configuration.md" >"$work/keys.documented"
sed -n 's/\\-/-/g; s/^\.SH \(\[.*\]\)$/\1/p; s/^\\fB\([a-z-]*\)\\fR = .*/\1/p' "$work/usr/share/man/man5/tendon.conf.5" \
    >"$work/keys.manual"
is "$(diff "$work/keys.documented" "$work/keys.manual")" "" "tendon.conf(5) has every key of docs/configuration.md"

unlike "$("$TENDON" --help | cat -v)" '\^\[' "no colours in a pipe"
# What does not apply is refused, with what applies.
run stream bose --rate 50
is "$status" 2 "stream: an option of another family"
like "$err" "rate is an option of activ5" "stream: whose option it is"
run simulate bose --generation 2 --for 0.1
is "$status" 2 "simulate: an option of another family"
run decode bose gesture_data c12710 --radio virtual
is "$status" 2 "decode has no radio"
run decode --help
unlike "$out" "--radio" "decode --help lists the options that it has"
run -v
like "$out" "^tendon [0-9]" "-v is --version"
run run extra
like "$err" "tendon run --help" "run: an operand that is no family"
run run bose
like "$err" "tendon stream bose" "run: a family"
run run --nope
unlike "$err" "once|mean" "an option that resembles none"
run bose configure --help
like "$out" "gestures .*" "bose configure: its options"
like "$(tr -s ' \n' ' ' <<<"$out")" "or all, or none; default: none" "bose configure: no gestures unless they are named"

# Summaries begin with a verb.
"$TENDON" help 2>/dev/null | sed -n '/^Commands:/,/^$/p' | sed 1d | grep -vE '^$' |
    grep -vE '  +(find|list|check|pair|delete|remove|stream|print|set|draw|make|navigate|pay|start|stop|switch|simulate|write|decode|encode) ' >"$work/summaries"
is "$(cat "$work/summaries")" "" "summaries begin with a verb"

# Completion: words by place, values by option.
complete() {
    "$TENDON" --generate-completion bash >"$work/completion"
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tendon; echo "${COMPREPLY[@]}"' - "$work/completion" "$@"
}
like "$(complete tendon feelspace "")" "vibrate .*watch" "completion: subcommands"
unlike "$(complete tendon feelspace mode "")" "vibrate" "completion: no subcommands after a subcommand"
like "$(complete tendon feelspace mode "")" "standby .*compass" "completion: modes"
like "$(complete tendon obvious firmware "")" "check upgrade" "completion: the third word of a command"
run feelspace vibrate --nope
is "$status" 2 "an unknown option of a command"
like "$err" "try: tendon help feelspace vibrate$" "its help"
run feelspace vibrate --bearing 90 --intensity 400 --radio virtual
is "$status" 2 "a value that is wrong"
like "$err" "try: tendon help feelspace vibrate$" "the help of its command"
run feelspace vibrate 90
like "$err" "try: --bearing 90 or --angle 90" "feelspace vibrate: a number without its option"
run feelspace vibrate --bearing 90 --angle 90
like "$err" "either --bearing or --angle, not both" "feelspace vibrate: two directions"
run help feelspace vibrate
flat=$(tr -s ' \n' ' ' <<<"$out")
like "$flat" "--pattern NAME continuous, single_short, .*front_cross; default: continuous" "help feelspace vibrate: the patterns"
like "$flat" "--intensity PERCENT 0 to 100;" "help feelspace vibrate: the range of the intensity"
like "$flat" "--angle DEGREES .*clockwise; whole turns do not count" "help feelspace vibrate: angles beyond a turn"
run scan --radio virtual --families activ5 --for 0.2
like "$status $err" "^4 .*" "scan takes the families as run does"
like "$err" "try: tendon simulate activ5 --radio virtual" "a search for a family: how to simulate one"
run stream fjorden --radio virtual --for 0.2
like "$err" "try: tendon simulate fjorden --radio virtual" "stream: how to simulate the family"
run run --family bose --radio virtual --for 0.2
is "$status" 4 "run --family: another spelling of --families"
like "$err" "try: tendon simulate bose --radio virtual" "run --family: for this family"
run run --radio virtual --sensors rotation,all
like "$status $err" "^2 .*'all' stands alone" "all and a sensor"
run run --radio virtual --measure none,imu
like "$status $err" "^2 .*'none' stands alone" "none and a measure"
run run --radio virtual --gatt-cache=
like "$status $err" "^2 .*--gatt-cache= needs a value; without '=' it stands alone" "an optional value that is empty"
run simulate activ5 --radio virtual --fault drop=200% --for 0.1
like "$status $err" "^2 .*probabilities are 0 to 100 %" "a fault that is more than certain"
run simulate activ5 --radio virtual --scenario none --for 0.1
like "$status $err" "^1 .*--scenario none: No such file" "a scenario that is not there: the option"
run replay none
like "$status $err" "^1 .*tendon: none: No such file" "a capture that is not there"
run run --radio virtual --rule 'activ5.squeeze => exec beep'
like "$err" "try: --config FILE" "a rule with a program, without a configuration"
run bose watch
like "$status $err" "^2 .*unknown command 'watch' of bose; known: info, configure" "a command that a family does not have: those that it has"
like "$err" "try: tendon help bose$" "and their help"
run obvious firmware
is "$status" 2 "a command whose third word is missing"
like "$err" "'tendon obvious firmware' needs one of: check, upgrade" "says which"
run obvious firmware chekc
like "$err" "did you mean 'check'" "a third word that is mistyped"
like "$(complete tendon stream bose --sensors "")" "rotation" "completion: sensors"
like "$(complete tendon scan --families "")" "fjorden obvious all" "completion: families"
like "$(complete tendon decode bose "")" "gesture_data" "completion: kinds"
is "$(complete tendon bonds forget --addr)" "--address" "completion: options of each command of a group"
is "$(complete tendon obvious --ser)" "--serial" "completion: each word once"

# Options whose value follows = only.
for page in "run --help" "help run" "replay --help"; do
    # shellcheck disable=SC2086
    run $page
    like "$out" "^  --gatt-cache\[=DIR\] " "$page: the form of an option that may stand alone"
done
run run --help
like "$out" "^  --pair\[=SECONDS\] " "run --help: --pair"
unlike "$out" "--pair SECONDS|--gatt-cache DIR" "run --help: no other form"
run --generate-man
like "$out" 'gatt.*cache.*R\[=.*DIR' "the man page: the same form"
cd "$work" || exit 1
touch directory-of-caches
unlike "$(complete tendon run --gatt-cache dir)" "directory" "completion: no value after a space"
is "$(complete tendon run --gatt-c)" "--gatt-cache --gatt-cache=" "completion: both forms"
is "$(complete tendon run --gatt-cache = dir)" "directory-of-caches" "completion: the value after ="
is "$(complete tendon run --gatt-cache=dir)" "--gatt-cache=directory-of-caches" "completion: the value in the same word"
is "$(complete tendon run --capture dir)" "directory-of-caches" "completion: a value after a space"
is "$(complete tendon run --radio = v)" "virtual" "completion: a choice after ="
like "$(complete tendon run --capture =)" "directory-of-caches" "completion: = and no letter yet"
cd "$root" || exit 1
like "$("$TENDON" --generate-completion fish)" "-l pair -d '\[=SECONDS\] [^']*'\$" "fish: no word after it is its value"
like "$("$TENDON" --generate-completion fish)" "-l capture -d '[^']*' -r" "fish: a value that is required"
run run --pair 60
is "$status" 2 "--pair 60: usage"
like "$err" "run takes no operands, such as .60.; a value of --pair follows =" "--pair 60: what is wrong"
like "$err" "try: tendon run --pair=60$" "--pair 60: what is right"
run cache drop --gatt-cache caches
like "$err" "try: tendon cache drop --gatt-cache=caches$" "cache drop --gatt-cache DIR: what is right"
run replay --gatt-cache caches file
like "$err" "try: tendon replay --gatt-cache=caches$" "replay --gatt-cache DIR FILE: what is right"
run stream bose extra --gatt-cache
unlike "$err" "follows =" "another operand too many"
run run extra --pair bose
unlike "$err" "follows =" "a word that is not its value"

run run --radio virtual --rule 'trainer.force > 20 => feelspace.signal warning'
like "$status $err" "^2 .*unknown family 'trainer'; known: .*, or the name of a device in the configuration [(]--config[)]; that of a device file needs --define FILE" \
    "a rule with a name that needs a configuration"
run capture -
is "$status" 2 "capture -: standard output is no file for it"
like "$err" "capture writes to a named file" "capture -: says so"
[ ! -e ./- ]
result $? "capture -: no file of that name" "$(ls)"
for file in "$here/usage.sh" /dev/null; do
    run replay "$file"
    is "$status" 1 "replay $(basename "$file"): status 1"
    like "$err" "$(basename "$file"): this is not a btsnoop file [(]ERROR_" "replay $(basename "$file"): what is wrong"
done
run replay /
like "$err" "^tendon: /: Is a directory" "replay of a directory: the system's words, as of other files"
unlike "$err" "errno" "replay of a directory: no number"
run help
like "$(tr -s ' \n' ' ' <<<"$out")" "Lost devices: If a connection is lost, run, stream and 'fjorden watch' connect again" "help: what happens when a device is lost"
run forget --help
like "$(tr -s ' \n' ' ' <<<"$out")" "without a type, both types match" "forget --help: an address without a type"
run simulate --help
like "$(tr -s ' \n' ' ' <<<"$out")" "timed events; they happen once" "simulate --help: a scenario runs once"

# Words that people try.
run stream --family bose
like "$status $err" "^2 .*'tendon stream' has no option --family; the family is no option: 'tendon stream FAMILY'" "a family is an operand of stream"
spelling() { # words, what is meant, where to read on
    # shellcheck disable=SC2086
    run $1
    like "$status $err" "^2 .*did you mean '$2'" "tendon $1: $2 is meant"
}
spelling "scan --timeout 5" --for
spelling "pair bose --for 5" --timeout
spelling "scan --duration 5" --for
spelling "forget --device C0:00:00:00:00:01" --address
spelling "forget --name trainer" --address
spelling "scan --interface hci0" --adapter
spelling "scan --virtual" "--radio virtual"
spelling "run --verbose" --log-level
spelling "run --broker mqtt://localhost" --mqtt
spelling "run --mqtt-password secret" --mqtt-password-file
spelling "pair bose --pin 123456" --passkey
spelling "capture --force FILE" --replace
spelling discover scan
spelling connect run
spelling unpair forget
spelling sniff capture
spelling version --version
spelling "belt vibrate" feelspace
spelling vibrate "feelspace vibrate"
run doctor --filter bose
unlike "$err" "did you mean" "nothing is meant that the command does not have"
run --radio virtual
is "$status $out" "2 " "an option and no command: usage"
like "$err" "^tendon: a command is missing" "says what is missing"
run scan --name --radio virtual
like "$status $err" "^2 .*--name needs a value: --name TEXT, and '--radio' is an option; a value that begins so follows =" \
    "an option in the place of a value"
run scan --name=--radio --radio virtual --for 0.2
is "$status" 4 "such a value after ="

# A device, or a list, that stands as an operand.
for command in forget "bonds forget" "bose info" run; do
    # shellcheck disable=SC2086
    run $command C0:00:00:00:00:01 --radio virtual
    like "$status $err" "^2 .*; a device follows --address" "$command ADDRESS: where the address belongs"
    like "$err" "try: tendon $command --address C0:00:00:00:00:01 --radio virtual$" "and the command, for the same radio"
done
run pair feelspace C0:00:00:00:00:01
like "$err" "try: tendon pair feelspace --address C0:00:00:00:00:01$" "pair FAMILY ADDRESS: the command"
run pair C0:00:00:00:00:01
like "$status $err" "^2 .*'C0:00:00:00:00:01' is a device, and no family; a device follows --address" "pair ADDRESS: a family is missing"
run run --radio virtual --families bose activ5
like "$status $err" "^2 .*; a list has commas" "a list with blanks: usage"
like "$err" "try: --families bose,activ5$" "and the list"
run stream bose --radio virtual --sensors rotation, gyroscope
like "$err" "try: --sensors rotation,gyroscope$" "a list with commas and blanks"
for option in --families --ignore --sensors --gestures; do
    run run --radio virtual $option '' --for 0.2
    like "$status $err" "^2 tendon: $option needs at least one of: " "$option without a word: usage"
done
run run --adapter , --for 0.2
like "$status $err" "^2 tendon: --adapter needs a value: ADAPTER" "a list of nothing, where anything can stand"
for command in "report $work --radio virtual" "capture $work --radio virtual" "bonds export $work" "replay --to-test $work $0"; do
    # shellcheck disable=SC2086
    run $command
    like "$status $err" "^1 tendon: $work: Is a directory" "${command%% /*}: a folder is no file to be replaced"
    unlike "$err" "--replace" "${command%% /*}: and --replace does not help"
done
run stream bose --radio virtual --period 40ms --for 0.2
is "$status" 4 "a period with its unit"
run stream bose --radio virtual --period 25ms --for 0.2
like "$status $err" "^2 .*it takes 5, 10, 20, 40, 80, 160 or 320, not '25ms'" "a period that is none"
run decode bose sensor_data 0x03ffff
like "$err" "hexadecimal digits; write them without 0x" "bytes with 0x: says so"

# On a narrow terminal words stay whole.
narrow() { # columns, words
    local columns=$1 words
    shift
    words=$(printf '%q ' "$TENDON" "$@")
    out=$(timeout 20 script -qec "stty cols $columns rows 24; $words" /dev/null </dev/null 2>&1 | tr -d '\r')
}
for columns in 40 60 80; do
    for page in --help "scan --help" "help run" "help obvious"; do
        # shellcheck disable=SC2086
        narrow $columns $page
        # A line to be copied, the name of an option with its value and a single word are longer than some terminals.
        is "$(grep -vE '^ *(tendon|sudo tendon|--[a-z0-9-]+) |^Usage: | \| grep' <<<"$out" | awk -v n=$columns 'NF > 1 && length > n')" "" \
            "$page in $columns columns: no line is longer"
    done
done
narrow 40 scan --help
like "$out" "^  --coded$" "in 40 columns an option has a line of its own"
is "$(tr -s ' \n' ' ' <<<"$out")" "$("$TENDON" scan --help | tr -s ' \n' ' ')" "and the text is the same"
run --help
like "$out" "^  report +write a file for a bug report: .* without keys and names$" "in a pipe a command is one line"
like "$(complete tendon --radio virtual "")" "scan .*doctor" "completion: a command after an option"
like "$(complete tendon --radio virtual fe)" "feelspace" "completion: its beginning"
unlike "$(complete tendon feelspace signal --)" "--bearing|--motors" "completion: no options of other commands of the group"
unlike "$(complete tendon config check --)" "--mqtt" "completion: config check has few options"
like "$(complete tendon help bose "")" "info configure" "completion: help of a group"
run simulate bose --radio virtual --name "$(printf 'x%.0s' $(seq 40))" --for 0.1
like "$status $err" "^2 .*--name takes at most 29 bytes" "a name that is too long"
run simulate feelspace --radio virtual --passkey 123456 --for 0.1
like "$status $err" "^2 .*--passkey needs a device that enters it" "a passkey that nothing enters"
run run --radio virtual --for 0.1 --capture ""
like "$status $err" "^2 .*--capture: it takes the path of a file" "a capture without a name"
run run --radio virtual --for 0.1 --mqtt mqtt://localhost:1 --mqtt-queue /dev/full
like "$status $err" "^2 .*--mqtt-queue takes a file; /dev/full is a device or a pipe" "a device in the place of a queue"
run run --radio virtual --for 0.1 --mqtt mqtt://localhost:1 --mqtt-version 4
unlike "$err" "did you mean" "of single letters none is near"
finish

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
for command in run scan doctor stream bose simulate capture replay decode encode help; do
    like "$out" "^  $command" "the overview names $command"
done
like "$out" "^  4  " "the overview tells the exit statuses"

run --version
like "$out" "^tendon [0-9]+\.[0-9]+\.[0-9]+" "--version"

for command in run scan doctor "stream" "bose info" "bose configure" simulate capture replay decode encode; do
    # shellcheck disable=SC2086
    run help $command
    is "$status" 0 "help $command: done"
    like "$out" "Examples:" "help $command: has examples"
    like "$out" "^  tendon $command" "help $command: an example of itself"
done
run scan --help
like "$out" "^Usage:.* tendon scan" "--help after a command is that command's"

run scna
is "$status" 2 "unknown command: usage"
like "$err" "did you mean 'scan'" "unknown command: the nearest one"
run run --jsn
is "$status" 2 "unknown option: usage"
like "$err" "did you mean '--json'" "unknown option: the nearest one"
run doctor --sensors rotation
is "$status" 2 "another command's option: usage"
run scan --for
is "$status" 2 "option without its value: usage"
run scan --for soon --radio virtual
is "$status" 2 "a duration that is none: usage"
like "$err" "number" "a duration that is none: says what it takes"
run scan --radio wifi
is "$status" 2 "an unknown radio: usage"
like "$err" "bluez or virtual" "an unknown radio: says which there are"
run --json=1 scan
is "$status" 2 "a switch takes no value"
run simulate toaster
is "$status" 2 "an unknown family: usage"

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
is "$(cd "$work/usr/share" && find . -type f | wc -l)" 4 "a man page and three completions"

unlike "$("$TENDON" --help | cat -v)" '\^\[' "no colours in a pipe"
finish

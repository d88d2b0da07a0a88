#!/bin/bash
# SPDX-License-Identifier: MIT
# Which radio a command uses, and what it does without one: nothing ever uses the virtual radio in the place of an adapter.
. "$(dirname "$0")/tap.bash"
. "$here/broker.bash"
unset TENDON_RADIO
hold_port port
# No machine has that many: no adapter of this one is touched.
missing=(--adapter hci9999)

# A device on the virtual radio, which a command for an adapter must not find.
start head simulate bose --radio virtual --json --address C0:00:00:00:0C:01/random
until_true ready head

# Commands that do one thing.
for words in "scan --for 1" "bose info" "bose info --address C0:00:00:00:0C:01/random" "activ5 battery" "pair bose" \
    "capture /dev/null"; do
    # shellcheck disable=SC2086
    run $words "${missing[@]}"
    is "$status" 3 "$words without an adapter: status 3"
    like "$err" "--radio virtual" "and it says how to get simulated devices"
done

# A run waits for its adapter.
python3 "$here/notify_socket.py" "$work/notify" "$work/told" &
children+=("$!")
until_true test -e "$work/told"
hold_port web
broker "allow_anonymous true"
listen all
NOTIFY_SOCKET=$work/notify start waits run "${missing[@]}" --json --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway g \
    --web "127.0.0.1:$web"
gateway=$child
until_true grep -q '"event":"radio_waiting"' "$work/waits.out"
result $? "a run reports that it waits" "$(cat "$work/waits.out" "$work/waits.err")"
like "$(cat "$work/waits.err")" "^tendon: waiting for a Bluetooth adapter: .*Try: tendon doctor" "and says so on standard error, with what to do"
like "$(grep radio_waiting "$work/waits.out")" '"remedy":"tendon doctor; for simulated devices: --radio virtual"' "the event has that too"
until_true grep -q "^STATUS=waiting for a Bluetooth adapter" "$work/told"
result $? "the service manager knows that it waits" "$(cat "$work/told")"
is "$(head -n 1 "$work/told")" "READY=1" "READY before: the configuration is valid, the outputs are open"
until_true seen all tendon/bridge/g/info 'm["radios_open"] == 0 and "waiting for a Bluetooth adapter" in m["waiting"][0]'
result $? "the broker knows it" "$(payload all tendon/bridge/g/info)"
answer=$(curl -s "http://127.0.0.1:$web/metrics")
like "$answer" "^tendon_radios_waiting 1" "the metrics count it"
like "$answer" "^tendon_radios_open 0" "no radio is open"
answer=$(timeout 2 curl -sN "http://127.0.0.1:$web/events")
like "$answer" '"event":"gateway".*"waiting":\["waiting for a Bluetooth adapter' "the page shows it"
kill -TERM "$(pgrep -P "$gateway")"
wait "$gateway"
is $? 0 "a service that is stopped while it waits has not failed"
unlike "$(cat "$work/waits.out")" C0:00:00:00:0C:01 "the device of the virtual radio was not found"
run run "${missing[@]}" --json --for 1
is "$status" 3 "a run that never had a radio: status 3"
like "$err" "--radio virtual" "and it says how to get simulated devices"
run run "${missing[@]}" --no-reconnect
is "$status" 3 "with --no-reconnect it does not wait"
people run "${missing[@]}" --for 1
like "$out" "waiting for a Bluetooth adapter" "on a terminal, too"
like "$(tr -s ' \n' ' ' <<<"$out" | sed 's/\x1b\[[0-9;?]*[A-Za-z]//g')" "waiting for a Bluetooth adapter: .*\.\.\. try: tendon doctor; for simulated devices: --radio virtual" "and the reason is not cut, with what to do"

# The virtual radio is asked for by name.
TENDON_RADIO=virtual run run --json --for 20 --notifications 5
is "$status" 0 "TENDON_RADIO=virtual"
like "$out" '"event":"connected".*C0:00:00:00:0C:01' "finds the simulated device"
TENDON_RADIO=virtual run scan --for 1 "${missing[@]}"
is "$status" 3 "--adapter is stronger than the variable"
TENDON_RADIO=wifi run scan --for 1
is "$status" 2 "another word in TENDON_RADIO: status 2"
like "$err" "TENDON_RADIO is bluez or virtual, not 'wifi'" "with the reason"

# The virtual radio has no adapters.
for words in "run" "stream bose" "scan" "simulate bose" "doctor" "doctor --watch 1" "doctor --neighbors $work/none" "capture $work/none" \
    "pair bose" "forget --address C0:00:00:00:0C:01" "bose info"; do
    read -ra words <<<"$words"
    run "${words[@]}" --radio virtual --adapter hci0
    like "$status $err" '^2 tendon: --adapter is for --radio bluez$' "${words[*]}: an adapter of the virtual radio"
done
finish

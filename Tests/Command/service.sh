#!/bin/bash
# SPDX-License-Identifier: MIT
# run as a service: what systemd is told, reload by SIGHUP, the end by SIGTERM, levels of messages, the unit file.
. "$(dirname "$0")/tap.bash"
unset TENDON_CONFIG

manager() { # socket, file
    python3 "$here/notify_socket.py" "$1" "$2" &
    children+=("$!")
    until_true test -e "$2"
}
told() { grep -q "^$1" "$work/told"; }
times() { grep -c "$1" "$work/gateway.out"; }
conf() { # name and period of the first head
    printf '[gateway]\nradio = virtual\n[output]\nlog-level = info\n[device C0:00:00:00:00:10 random]\nname = %s\nperiod = %s\n' \
        "$1" "$2" >"$work/tendon.conf"
}

start heads simulate bose --radio virtual --json --count 2 --address C0:00:00:00:00:10/random
until_true eval '[ "$(grep -c ready "$work/heads.out")" = 2 ]'
manager "$work/notify" "$work/told"
conf head 80
NOTIFY_SOCKET=$work/notify WATCHDOG_USEC=400000 start gateway run --config "$work/tendon.conf"
until_true told READY=1
result $? "ready when it searches" "$(cat "$work/told")"
gateway=$(pgrep -P "$child")
until_true eval '[ "$(times "\"event\":\"sensor_configuration\"")" = 2 ]'
until_true eval '[ "$(grep -c WATCHDOG=1 "$work/told")" -ge 4 ]'
result $? "signs of life, at half of the watchdog's time" "$(cat "$work/told")"

# Only the session whose settings changed ends.
conf head 160
kill -HUP "$gateway"
until_true eval 'times "\"event\":\"reloaded\"" | grep -q 1'
like "$(cat "$work/gateway.out")" '"event":"reloaded".*"restarted":1,"needs_restart":\[\]' "SIGHUP reads the file: one device has other settings"
until_true eval '[ "$(times "\"period_ms\":160")" = 1 ]'
result $? "it connects again, with its new setting" "$(grep -v sample "$work/gateway.out")"
like "$(cat "$work/gateway.out")" '"event":"disconnected".*C0:00:00:00:00:10.*"reason":"requested"' "its connection was ended"
unlike "$(cat "$work/gateway.out")" '"event":"disconnected".*C0:00:00:00:00:11' "the other one has its connection still"
is "$(grep -A1 RELOADING=1 "$work/told" | head -n 2 | sed 's/=[0-9]*$//' | xargs)" "RELOADING MONOTONIC_USEC" "systemd is told that it reloads"

# A name needs no new connection.
ends=$(times '"event":"disconnected"')
conf cap 160
kill -HUP "$gateway"
until_true eval 'grep "\"event\":\"sample\"" "$work/gateway.out" | grep -q "\"name\":\"cap\""'
result $? "a new name: in the next lines" "$(tail -n 3 "$work/gateway.out")"
is "$(times '"event":"disconnected"')" "$ends" "no connection ended for it"
sed -i 's/\[output\]/queue-size = 5\n[output]/; s/radio = virtual/&\nreconnect = no/' "$work/tendon.conf"
kill -HUP "$gateway"
until_true eval 'times "\"event\":\"reload_failed\"" | grep -q 1'
like "$(cat "$work/gateway.out")" '"event":"reload_failed".*tendon.conf:4: queue-size is a key of \[output\]' "a wrong file: file, line and reason"
sed -i '/queue-size/d' "$work/tendon.conf"
kill -HUP "$gateway"
until_true eval 'times "\"needs_restart\":\[\"gateway.reconnect\"\]" | grep -q 1'
result $? "what takes effect at a restart is named" "$(grep reloaded "$work/gateway.out")"
rm "$work/tendon.conf"
kill -HUP "$gateway"
until_true eval 'times "\"event\":\"reload_failed\"" | grep -q 2'
result $? "a file that is not there any more" ""
is "$(times '"event":"disconnected"')" "$ends" "with wrong files no connection ended"
samples=$(times '"event":"sample"')
until_true eval '[ "$(times "\"event\":\"sample\"")" -gt $((samples + 10)) ]'
result $? "and samples go on" ""

kill -TERM "$gateway"
wait "$child"
is $? 0 "SIGTERM: status 0"
told STOPPING=1
result $? "SIGTERM: systemd is told" "$(tail -n 3 "$work/told")"
like "$(tail -n 1 "$work/gateway.out")" '"event":"summary"' "SIGTERM: the summary is printed"
is "$(grep '"event":"disconnected"' "$work/gateway.out" | tail -n 2 | grep -c '"reason":"requested"')" 2 "SIGTERM: connections are ended, not lost"
like "$(cat "$work/gateway.err")" "^tendon: connected bose head C0:00:00:00:00:10" "log-level info: connections on standard error"
like "$(cat "$work/gateway.err")" "^tendon: reload_failed .*queue-size" "and mistakes of the file"
unlike "$(cat "$work/gateway.err")" "sample" "but no samples"

# A socket in the abstract namespace; a service without devices has not failed.
conf head 80
rm -f "$work/told"
manager "@tendon-test-$$" "$work/told"
NOTIFY_SOCKET=@tendon-test-$$ start idle run --radio virtual --families activ5
until_true told READY=1
result $? "a socket without a file" "$(cat "$work/told")"
kill -TERM "$(pgrep -P "$child")"
wait "$child"
is $? 0 "a service that found no device has not failed"
unlike "$(cat "$work/told")" WATCHDOG "no signs of life unless they are expected"

# Levels.
journal=$work/journal
: >"$journal"
JOURNAL_STREAM=$(stat -c %d:%i "$journal") timeout 20 "$TENDON" run --radio virtual --for 4 --no-lines --log-level info \
    >"$work/nolines.out" 2>>"$journal" </dev/null
is "$(cat "$work/nolines.out")" "" "--no-lines: nothing on standard output"
like "$(cat "$journal")" "^<6>connected bose .*C0:00:00:00:00:1" "the journal gets levels"
: >"$journal"
JOURNAL_STREAM=$(stat -c %d:%i "$journal") timeout 20 "$TENDON" run --radio wifi 2>>"$journal"
like "$(cat "$journal")" "^<3>--radio takes bluez or virtual" "an error that ends it too"
JOURNAL_STREAM=1:1 run run --radio virtual --for 3 --no-lines
is "$out$err" "" "standard error is another file than the journal: default level, no prefix"
run run --log-level loud
like "$err" "log-level takes error or warning or notice" "an unknown level"

# The service's files.
unit=$root/packaging/systemd/tendon.service
run config check "$root/packaging/tendon.conf"
is "$status" 0 "the sample configuration has no mistakes"
# By hand, as docs/service.md says it: the command where `make install` puts it.
(cd "$root" && sed -n "s/^\(sed .*tendon\.service\) >tendon\.service$/\1/p" docs/service.md | bash) >"$work/by-hand.service"
prefix=$(sed -n 's/^prefix=${PREFIX:-\(.*\)}$/\1/p' "$root/scripts/install.sh")
like "$(cat "$work/by-hand.service")" "^ExecStart=$prefix/bin/tendon run --config" "the unit that is installed by hand starts the command of make install"
if command -v systemd-analyze >/dev/null; then
    figure=$(systemd-analyze security --offline=true --no-pager "$unit" | sed -n 's/.*Overall exposure level for tendon.service: \([0-9.]*\).*/\1/p')
    like "$(cat "$root/docs/service.md")" "exposure level $figure " "docs/service.md has the figure of systemd-analyze security"
    sed "s#/usr/bin/tendon#$TENDON#" "$unit" >"$work/tendon.service"
    is "$(systemd-analyze verify "$work/tendon.service" 2>&1 | grep -v "'man tendon(1)' failed")" "" "systemd-analyze verify finds nothing"
else
    skip "the unit file" "no systemd-analyze here"
fi
finish

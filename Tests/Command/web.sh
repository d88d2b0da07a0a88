#!/bin/bash
# SPDX-License-Identifier: MIT
# run --web: the page in a real browser, hostile requests, slow browsers; no socket without it.
. "$(dirname "$0")/tap.bash"
belt=C0:00:00:00:0B:01
sockets() { python3 "$root/Tests/Command/check_web.py" sockets "$(pgrep -P "$1")" || echo "no process"; }
listens() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
in_background() { # name, command
    local name=$1
    shift
    (
        "$@" >"$work/$name.results" 2>&1
        [ $? -le 1 ] || echo "not ok $name: $(tail -1 "$work/$name.results")" >>"$work/$name.results"
    ) &
    waits+=("$!")
}
waits=()

hold_port port
token=$(head -c 18 /dev/urandom | od -An -tx1 | tr -d ' \n')
printf '%s\n' "$token" >"$work/token"
chmod 600 "$work/token"
start belt simulate feelspace --radio virtual --json --address "$belt/random"
start head simulate bose --radio virtual --json --count 1 --ground-truth "$work/truth"
start others simulate activ5 fjorden --radio virtual --json
until_true ready belt
until_true ready head
until_true eval '[ "$(grep -c ready "$work/others.out")" = 2 ]'

start none run --radio virtual --json --families activ5
none=$child
until_true grep -q '"event":"connected"' "$work/none.out"
is "$(sockets "$none")" "" "without --web there is no socket that others can reach"
kill "$none"
wait "$none" 2>/dev/null

web=(--radio virtual --pair --json --web "127.0.0.1:$port" --web-token-file "$work/token" --web-name gateway.test)
start one run "${web[@]}" --log-level notice
gateway=$child
until_true eval '[ "$(grep -c "\"event\":\"connected\"" "$work/one.out")" = 4 ]'
is "$(sockets "$gateway")" "tcp 0100007F $port" "with it there is one, of this machine alone"
if command -v chromium >/dev/null; then
    in_background browser python3 "$root/Tests/Command/browser.py" "http://127.0.0.1:$port/" "$token" \
        "$work/truth" "$work/belt.out" ${PICTURES:+"$PICTURES"}
    in_background cards python3 "$root/Tests/Command/browser_cards.py" "http://127.0.0.1:$port/"
    in_background prefix python3 "$root/Tests/Command/browser_prefix.py" "$port" "$token"
    axe=$(find "${BUILD:-$root/.build}/axe" -name '*.min.js' 2>/dev/null)
    if [ -n "$axe" ]; then
        in_background axe python3 "$root/Tests/Command/browser_axe.py" "http://127.0.0.1:$port/" "$axe"
    else
        skip "the page is accessible" "axe-core is not there: scripts/axe.sh"
    fi
else
    skip "the page in a browser" "chromium is not installed"
fi

# Another gateway takes the hostile requests meanwhile, a third one the slow browser.
export XDG_RUNTIME_DIR=$work/run2 XDG_STATE_HOME=$work/state2
mkdir -m 700 "$XDG_RUNTIME_DIR"
hold_port second
start belt2 simulate feelspace --radio virtual --json --address "$belt/random"
until_true ready belt2
start two run --radio virtual --pair --json --web "127.0.0.1:$second" --web-token-file "$work/token" --web-name gateway.test
until_true grep -q '"event":"connected"' "$work/two.out"
in_background hostile python3 "$root/Tests/Command/check_web.py" hostile "$second" "$token" "$belt/random" \
    "$(pgrep -P "$child")"

export XDG_RUNTIME_DIR=$work/run3 XDG_STATE_HOME=$work/state3
mkdir -m 700 "$XDG_RUNTIME_DIR"
hold_port third
start heads simulate bose --radio virtual --json --count 3
until_true eval '[ "$(grep -c ready "$work/heads.out")" = 3 ]'
start three run --radio virtual --json --no-lines --sensors all --period 20 --web "127.0.0.1:$third"
until_true listens "$third"
in_background slow python3 "$root/Tests/Command/check_web.py" slow "$third"

# Addresses, tokens.
export XDG_RUNTIME_DIR=$work/run4
mkdir -m 700 "$XDG_RUNTIME_DIR"
hold_port fourth
run run --radio virtual --for 1 --web "0.0.0.0:$fourth"
like "$status $err" "^2 .*can be reached by others: it needs a token" "an address of others needs a token"
chmod 644 "$work/token"
run run --radio virtual --for 1 --web "127.0.0.1:$fourth" --web-token-file "$work/token"
like "$status $err" "^1 .*other users can read" "a token that others can read is refused"
chmod 600 "$work/token"
printf 'short\n' >"$work/short"
chmod 600 "$work/short"
run run --radio virtual --for 1 --web "127.0.0.1:$fourth" --web-token-file "$work/short"
like "$status $err" "^1 .*a token has 16 or more characters" "a short token is refused"
run run --radio virtual --for 1 --web "127.0.0.1:$port"
like "$status $err" "^1 .*Address already in use" "a port that is in use: an error"
like "$err" "try: another port: --web 127\.0\.0\.1:PORT" "and what to do"
run run --radio virtual --web "example.com:80"
is "$status" 2 "an address that is none is refused"
run run --radio virtual --web-name x
is "$status" 2 "options of the page without its address are refused"
start guarded run --radio virtual --json --web "0.0.0.0:$fourth" --web-token-file "$work/token" --for 8
guarded=$child
until_true listens "$fourth"
in_background guarded python3 "$root/Tests/Command/check_web.py" guarded "$fourth" "$token"

# Without a token nobody commands.
hold_port fifth
export XDG_RUNTIME_DIR=$work/run5
mkdir -m 700 "$XDG_RUNTIME_DIR"
start five run --radio virtual --json --web "127.0.0.1:$fifth" --for 3
until_true listens "$fifth"
answer=$(curl -s -H 'Content-Type: application/json' -H 'Authorization: Bearer x' -d '{}' "http://127.0.0.1:$fifth/set")
like "$answer" "commands need a token" "without a token file there are no commands"
curl -s "http://127.0.0.1:$fifth/metrics" >"$work/metrics"
answer=$(python3 "$root/Tests/Command/check_metrics.py" "$work/metrics" format 2>&1)
result $? "/metrics is OpenMetrics" "$answer"
is "$(python3 "$root/Tests/Command/check_metrics.py" "$work/metrics" value tendon_web_refused_requests_total)" 1 "and counts refused requests"

wait "${waits[@]}"
for name in browser cards prefix axe hostile slow guarded; do [ -e "$work/$name.results" ] && results "$work/$name.results"; done
process=$(pgrep -P "$gateway")
unlike "$(tr '\0' ' ' <"/proc/$process/cmdline"; cat "$work"/{one,two,guarded}.{err,out})" "$token" "the token is nowhere to be read"
begun=$(date +%s%N)
kill "$gateway"
wait "$gateway"
is "$(($(date +%s%N) - begun < 3000000000))" 1 "the end does not wait for browsers"
finish

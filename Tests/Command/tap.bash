# SPDX-License-Identifier: MIT
# Sourced by the tests of the command: TAP output, one program under test, one directory that goes away.
# TENDON names the program; default: what `swift build` made.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
TENDON=${TENDON:-$root/.build/debug/tendon}
[ -x "$TENDON" ] || { echo "Bail out! no program at $TENDON: swift build --product tendon, or set TENDON"; exit 1; }
CONFORMANCE=${CONFORMANCE:-$(dirname "$TENDON")/tendon-conformance}
work=$(mktemp -d)
export XDG_RUNTIME_DIR=$work/run XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache NO_COLOR=1 TERM=xterm
mkdir -m 700 "$XDG_RUNTIME_DIR"
count=0 failed=0 holders=0 children=()
out='' err='' status=0

# Runs the program; leaves out, err and status.
run() {
    timeout 20 "$TENDON" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    out=$(cat "$work/out") err=$(cat "$work/err")
    cat "$work/out" >>"$work/all.lines"
    cat "$work/err" >>"$work/all.err"
}

# The same with a reader that stops for so many seconds at the first sample.
slowly() {
    timeout 20 python3 "$here/slow_reader.py" "$1" "$TENDON" "${@:2}" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    out=$(cat "$work/out") err=$(cat "$work/err")
    cat "$work/out" >>"$work/all.lines"
}

# The same on a terminal of 80 columns and 24 rows: what people see.
people() {
    local words
    words=$(printf '%q ' "$TENDON" "$@")
    timeout 20 script -qec "stty cols 80 rows 24; $words" /dev/null </dev/null 2>&1 | tr -d '\r' >"$work/out"
    out=$(cat "$work/out")
}

# Lines of JSON without their time.
timeless() { sed -E 's/"time":"[^"]*",//'; }

# Starts the program in the background, for $limit seconds (120) at most, output in $work/NAME.out; leaves its id in child.
start() {
    local name=$1
    shift
    timeout "${limit:-120}" "$TENDON" "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null &
    child=$!
    children+=("$child")
}

# Waits until a command succeeds. Ends after 30 s (or patience times 50 ms): outside of a condition this fails the script.
until_true() {
    local i
    for i in $(seq "${patience:-600}"); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    in_vain=$*
    return 99
}

# Bash runs it after a command that fails, unless its status is part of a condition; also in functions and subshells, where
# only a file outlives the failure.
set -E
in_vain=''
trap '[ $? != 99 ] || [ -z "$in_vain" ] || overdue' ERR
overdue() {
    echo "# waited in vain: $in_vain" >&2
    echo "$in_vain" >>"$work/in_vain"
    in_vain=''
}

result() { # truth, name, explanation
    count=$((count + 1))
    if [ "$1" = 0 ]; then
        echo "ok $count - $2"
    else
        failed=$((failed + 1))
        echo "not ok $count - $2"
        printf '%s\n' "$3" | tail -12 | cut -c1-300 | sed 's/^/#   /'
    fi
}

is() { # got, expected, name
    [ "$1" = "$2" ]
    result $? "$3" "got:      $1
expected: $2
stderr:   $err"
}

like() { # got, extended regular expression, name
    printf '%s' "$1" | grep -Eq -- "$2"
    result $? "$3" "got:      $1
expected: $2"
}

unlike() {
    ! printf '%s' "$1" | grep -Eq -- "$2"
    result $? "$3" "got:         $1
not expected: $2"
}

skip() { # name, reason
    if [ -n "${CI:-}" ]; then
        result 1 "$1" "skipped, and CI is set: $2"
    else
        count=$((count + 1))
        echo "ok $count - $1 # SKIP $2"
    fi
}

# hold_port NAME: leaves a port of loopback in the variable NAME. A socket is bound to it until the script ends, so that
# nobody else gets it; a server may listen on it beside, as it has SO_REUSEADDR.
hold_port() {
    local file=$work/held.$((holders += 1))
    python3 -c 'import signal, socket
held = socket.socket()
held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
held.bind(("127.0.0.1", 0))
print(held.getsockname()[1], flush=True)
signal.pause()' >"$file" &
    children+=("$!")
    until_true test -s "$file"
    printf -v "$1" '%s' "$(cat "$file")"
}

results() { # what a program printed: "ok NAME" and "not ok NAME: DETAIL"
    local line
    while read -r line; do
        case "$line" in
            "ok "*) result 0 "${line#ok }" "" ;;
            "not ok "*) result 1 "$(printf '%s' "${line#not ok }" | cut -d: -f1)" "$line" ;;
            *) echo "# $line" ;;
        esac
    done <"$1"
}

# What liblsl reads in a test: streams of this machine, found by the ports of its streams, and of no other test. A receiver that
# looks for lost streams takes some of these ports for itself, and a stream beyond them is not found.
lsl_of_this_test() {
    printf '[ports]\nIPv6 = disable\nPortRange = 192\n[multicast]\nResolveScope = machine\n[lab]\nKnownPeers = {127.0.0.1}\n'
    printf 'SessionID = tendon-%s\n[log]\nlevel = -2\n' "$$"
}

# Lines of JSON.
field() { # name, JSON line
    printf '%s' "$2" | grep -oE "\"$1\":(\"[^\"]*\"|[-0-9.e+]+|true|false|null)" | head -n 1 | cut -d: -f2- | tr -d '"'
}
summary() { grep '"event":"summary"' "$1" | tail -n 1; }
ready() { grep -q '"event":"ready"' "$work/$1.out"; }

# Checks everything that was printed against docs/events.schema.json.
check_events() {
    local answer
    answer=$(python3 "$root/Tests/Command/check_events.py" $(find "$work" -maxdepth 1 -name '*.out') \
        $(find "$work" -maxdepth 1 -name '*.lines') 2>&1)
    result $? "all events follow the schema" "$answer"
}

finish() {
    local id line
    check_events
    if [ -e "$work/in_vain" ]; then
        while read -r line; do result 1 "waited in vain: $line" ''; done <"$work/in_vain"
    fi
    for id in "${children[@]:-}"; do [ -n "$id" ] && kill "$id" 2>/dev/null; done
    wait
    rm -rf "$work"
    echo "1..$count"
    [ "$failed" = 0 ]
}

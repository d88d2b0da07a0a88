# SPDX-License-Identifier: MIT
# Sourced by each scenario, in the virtual machine, as root of its Debian. What the results are taken from: broker.jsonl
# (mosquitto_sub), wearables.jsonl (Tests/Peers/bumble_wearables.py), btmon. The journal of the service is kept, and not read.
# shellcheck shell=bash
WEARABLES=$CASE_DIR/wearables.jsonl BROKER=$CASE_DIR/broker.jsonl

# The programs of the host's file system, which share nothing with the Debian of the machine but the kernel.
on_host() { chroot /host /usr/bin/env PATH="$PATH" "$@"; }

record() { # COMMAND...: see record.py
    on_host /usr/bin/python3 "$PROJECT/Tests/Deployed/record.py" --broker "$BROKER" --wearables "$WEARABLES" --since "$since" "$@"
}

# What is told and received counts from here on. Before what is to lead to it.
mark() { since=$(date +%s.%N); }
mark

# An adapter and wearables, at first switched off and not there. They need a few seconds to start.
wearables_start() {
    mkfifo /run/wearables
    on_host "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_wearables.py" </run/wearables >"$WEARABLES" 2>"$CASE_DIR/wearables.err" &
    exec {COMMANDS}>/run/wearables
}

wearables_ready() {
    if ! wait_for 90 grep -q '"ready"' "$WEARABLES"; then
        not_ok "the wearables are ready: $(tail -n 1 "$CASE_DIR/wearables.err")"
        exit 1
    fi
}

wear() { # COMMAND: of bumble_wearables.py; until it is done
    local done before
    before=$(grep -c "\"command\": \"$1\"" "$WEARABLES")
    echo "$1" >&"$COMMANDS"
    wait_for 30 eval "[ \$(grep -c '\"command\": \"$1\"' '$WEARABLES') -gt $before ]" || not_ok "the wearables: $1"
}

sent_more() { # FAMILY COUNT: until the wearable has sent so many more values
    local before
    before=$(sent "$1")
    wait_for 240 eval "[ \$(sent $1) -ge $((before + $2)) ]" || not_ok "$1 sends"
}
sent() { # FAMILY: as the wearables count
    tail -n 200 "$WEARABLES" | sed -n "s/.*\"event\": \"sent\".*\"$1\": \([0-9]*\).*/\1/p" | tail -n 1
}

# What the broker carries, from outside of the service; at first what it retains.
listen() { # [OPTION...] of mosquitto_sub
    wait_for 60 systemctl is-active mosquitto || not_ok "the broker runs"
    mosquitto_sub -h localhost -V 5 "$@" -t '#' -F '{"at":%U,"t":%J}' >"$BROKER" 2>"$CASE_DIR/listen.err" &
}

FAMILIES=(bose feelspace activ5 fjorden obvious)
declare -A TOPICS=([bose]=tendon/F0:F1:F2:F3:F6:01 [feelspace]=tendon/F0:F1:F2:F3:F6:02 [activ5]=tendon/F0:F1:F2:F3:F6:03
    [fjorden]=tendon/F0:F1:F2:F3:F6:04 [obvious]=tendon/F0:F1:F2:F3:F6:05)

# streams SECONDS WHEN [OPTION...] [FAMILY...]: results that all, or these, stream. Times are from the latest mark.
streams() {
    local seconds=$1 when=$2 options=()
    shift 2
    while [[ ${1:-} == --* ]]; do options+=("$1" "$2") && shift 2; done
    record --text "$when: " "${options[@]}" streams "$seconds" "${@:-${FAMILIES[@]}}"
}

# told SECONDS EXPRESSION: the broker carries such a message; received SECONDS EXPRESSION: a wearable receives that.
told() { record await "$1" broker "$2"; }
received() { record await "$1" wearables "$2"; }

active() { [ "$(systemctl is-active "$1")" = active ]; }

post() { # TOPIC MESSAGE
    mosquitto_pub -h localhost -t "$1" -m "$2"
}

# Kept for people.
keep_journal() {
    journalctl -b --no-pager -o short-monotonic >"$CASE_DIR/journal.txt" 2>&1
    systemctl status --no-pager -l tendon >"$CASE_DIR/status.txt" 2>&1
}
trap keep_journal EXIT

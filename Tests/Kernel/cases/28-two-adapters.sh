# SPDX-License-Identifier: MIT
# title: two adapters of one run: connections are spread; one is unplugged, its device changes to the other; it comes back
# sample: nothing
# lane: 2
# needs: venv
# kinds: none
# controllers: bumble
# limit: 120
source "$KERNEL_TESTS/command.sh"
# hci0 and hci1 are the gateway's. They and the devices are bumble's: an adapter of btvirt or RootCanal cannot be unplugged
# alone.
RUN=$CASE_DIR/run.jsonl
ADDRESSES=(F0:F1:F2:F3:F5:00 F0:F1:F2:F3:F5:01)

COMMANDS=/tmp/commands.$BASHPID
mkfifo "$COMMANDS"
"$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_adapters.py" --limit 230 <"$COMMANDS" >"$CASE_DIR/bumble.txt" 2>&1 &
PEERS=$!
exec 3>"$COMMANDS"

# Meanwhile: what needs no adapter.
expect "an adapter twice" 2 "$TENDON" run --adapter hci0,hci0
expect "a command with one radio" 2 "$TENDON" scan --adapter hci0,hci1
expect "a capture of two adapters" 2 "$TENDON" run --adapter hci0,hci1 --capture "$CASE_DIR/two.btsnoop"
expect "neither is there" 3 "$TENDON" run --adapter hci8 --adapter hci9 --for 5

wait_for 60 grep -q ready "$CASE_DIR/bumble.txt" || not_ok "the adapters are ready: $(tail -n 3 "$CASE_DIR/bumble.txt")"
for n in 0 1; do wait_for 30 adapter_ready hci$n || not_ok "the adapter hci$n is ready"; done
unplug() { echo "unplug ${1#hci}" >&3; } # hciN
plug() { echo "plug ${1#hci}" >&3; }     # hciN
lines() { grep -c "$1" "$RUN"; }
has() { [ "$(lines "$1")" -ge "$2" ]; } # PATTERN COUNT
of() { echo "\"event\":\"$1\".*\"address\":\"${ADDRESSES[$2]}\"${3:+.*$3}"; } # EVENT N [PATTERN]
adapter_of() { grep "$(of connected "$1")" "$RUN" | tail -n 1 | sed -n 's/.*"adapter":"\(hci[0-9]*\)".*/\1/p'; } # N
streams() { # N: its samples grow
    local before
    before=$(lines "$(of sample "$1")")
    wait_for 40 has "$(of sample "$1")" $((before + 20))
}

# Devices that the configuration names have 4 s to respond, which a busy host needs.
printf '[gateway]\nradio = bluez\nadapter = hci0, hci1, hci9\nconnection = fast\n' >"$CASE_DIR/two.conf"
for n in 0 1; do printf '[device %s/random]\nname = device-%d\n' "${ADDRESSES[n]}" $n >>"$CASE_DIR/two.conf"; done
"$TENDON" run --config "$CASE_DIR/two.conf" --json --for 400 >"$RUN" 2>"$CASE_DIR/run.err" &
GATEWAY=$!
check "one that is missing is waited for" wait_for 40 has '"radio_waiting".*"adapter":"hci9"' 1
if ! check "both devices are connected" wait_for 60 eval 'has "$(of connected 0)" 1 && has "$(of connected 1)" 1'; then
    grep -v '"sample"' "$RUN" | cut -c1-300 | sed 's/^/# /'
    stop $GATEWAY $PEERS
    exit 1
fi
first=$(adapter_of 0)
second=$(adapter_of 1)
check "each over an adapter of its own: $first, $second" test "$first-$second" = hci0-hci1 -o "$first-$second" = hci1-hci0
check "both stream" eval 'streams 0 && streams 1'

# The first device's adapter, in the middle of its stream: the device comes over the other one.
unplug "$first"
check "unplugged: reported" wait_for 15 has "\"radio_lost\".*\"adapter\":\"$first\"" 1
check "its connection ends with the reason" wait_for 5 has "$(of disconnected 0 '"reason":"radio_failed".*RADIO_ERROR_NO_ADAPTER')" 1
check "the other device streams on" streams 1
check "the device connects again" wait_for 60 has "$(of connected 0)" 2
check "over the other adapter: $(adapter_of 0)" test "$(adapter_of 0)" = "$second"
check "both stream over $second" eval 'streams 0 && streams 1'
check "the other device has its first connection" test "$(lines "$(of connected 1)") $(lines "$(of disconnected 1)")" = "1 0"

# It comes back, and takes part again: now the other one is unplugged.
plug "$first"
check "plugged in again: reported" wait_for 30 has "\"radio_restored\".*\"adapter\":\"$first\"" 1
check "nothing else changes" test "$(lines '"event":"connected"') $(lines '"event":"disconnected"')" = "3 1"
unplug "$second"
check "the other adapter is unplugged: reported" wait_for 15 has "\"radio_lost\".*\"adapter\":\"$second\"" 1
check "both devices connect again" wait_for 60 eval 'has "$(of connected 0)" 3 && has "$(of connected 1)" 2'
check "over the adapter that came back" test "$(adapter_of 0) $(adapter_of 1)" = "$first $first"
check "both stream over $first" eval 'streams 0 && streams 1'
kill -INT $GATEWAY
check "it ends in time" wait_for 15 eval "! kill -0 $GATEWAY"
wait $GATEWAY
check "and well" test $? -eq 0
grep -v '"sample"' "$RUN" >"$CASE_DIR/short.jsonl"
cut -c1-200 "$CASE_DIR/run.err" | sed 's/^/# /'
stop $PEERS

# SPDX-License-Identifier: MIT
# title: two adapters of one run: connections are spread; one is unplugged while both stream, the other one goes on
# lane: 2
# needs: venv build
# kinds: none
# controllers: rootcanal
# sample: nothing
# limit: 240
source "$KERNEL_TESTS/command.sh"
# hci0 and hci1 are the devices'; hci2 and hci3 the gateway's, each with a bridge that unplugs it alone.
RUN=$CASE_DIR/run.jsonl

bridge_start() { # N
    "$BUILD/Tests/Kernel/c/bridge" 6402 2>"$CASE_DIR/bridge$1.txt" &
    BRIDGES[$1]=$!
    wait_for 30 adapter_listed "hci$1" && hciconfig "hci$1" up || not_ok "the adapter hci$1"
}
unplug() { # N
    kill -USR1 "${BRIDGES[$1]}"
}
device_start_on() { # N
    "$TENDON" simulate bose --radio bluez --adapter "hci$1" --json >"$CASE_DIR/device$1.jsonl" 2>"$CASE_DIR/device$1.err" &
    DEVICES[$1]=$!
    wait_for 60 grep -q '"ready"' "$CASE_DIR/device$1.jsonl" || not_ok "the device on hci$1"
}
lines() { grep -c "$1" "$RUN"; }
has() { [ "$(lines "$1")" -ge "$2" ]; } # PATTERN COUNT
of() { echo "\"event\":\"$1\".*\"address\":\"${ADDRESSES[$2]}\"${3:+.*$3}"; } # EVENT N [PATTERN]
adapter_of() { grep "$(of connected "$1")" "$RUN" | tail -n 1 | sed -n 's/.*"adapter":"\(hci[0-9]*\)".*/\1/p'; } # N
streams() { # N: its samples grow
    local before
    before=$(lines "$(of sample "$1")")
    wait_for 40 has "$(of sample "$1")" $((before + 20))
}

rootcanal_start 2
for n in 0 1; do ADDRESSES[n]=$(address_of hci$n); done
for n in 2 3; do bridge_start $n; done
for n in 0 1; do device_start_on $n; done

expect "an adapter twice" 2 "$TENDON" run --adapter hci2,hci2
expect "a command with one radio" 2 "$TENDON" scan --adapter hci2,hci3
expect "a capture of two adapters" 2 "$TENDON" run --adapter hci2,hci3 --capture "$CASE_DIR/two.btsnoop"
expect "neither is there" 3 "$TENDON" run --adapter hci8 --adapter hci9 --for 5

# Devices that the configuration names have 4 s to respond, which a busy host needs.
printf '[gateway]\nradio = bluez\nadapter = hci2, hci3, hci9\nconnection = fast\n' >"$CASE_DIR/two.conf"
for n in 0 1; do printf '[device %s]\nname = device-%d\n' "${ADDRESSES[n]}" $n >>"$CASE_DIR/two.conf"; done
"$TENDON" run --config "$CASE_DIR/two.conf" --json --for 400 >"$RUN" 2>"$CASE_DIR/run.err" &
GATEWAY=$!
check "one that is missing is waited for" wait_for 40 has '"radio_lost".*"adapter":"hci9"' 1
check "both devices are connected" wait_for 120 eval 'has "$(of connected 0)" 1 && has "$(of connected 1)" 1'
first=$(adapter_of 0)
second=$(adapter_of 1)
check "each over an adapter of its own: $first, $second" test "$first-$second" = hci2-hci3 -o "$first-$second" = hci3-hci2
check "both stream" eval 'streams 0 && streams 1'

# The first device's adapter, in the middle of its stream.
unplug "${first#hci}"
check "unplugged: reported" wait_for 15 has "\"radio_lost\".*\"adapter\":\"$first\"" 1
check "its connection ends with the reason" wait_for 5 has "$(of disconnected 0 '"reason":"radio_failed".*RADIO_ERROR_NO_ADAPTER')" 1
check "the other device streams on" streams 1
expect "over the same connection" 1 has "$(of disconnected 1)" 1
kill -INT $GATEWAY
check "it ends in time" wait_for 15 eval "! kill -0 $GATEWAY"
wait $GATEWAY
check "and well" test $? -eq 0
grep -v '"sample"' "$RUN" >"$CASE_DIR/short.jsonl"
cut -c1-200 "$CASE_DIR/run.err" | sed 's/^/# /'
stop "${DEVICES[@]}"

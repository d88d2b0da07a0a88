# SPDX-License-Identifier: MIT
# title: the adapter is unplugged while a device streams, and plugged in again, with its index and with another
# kinds: none
# limit: 180
source "$KERNEL_TESTS/command.sh"

lines() { grep -c "\"event\":\"$1\"" "$CASE_DIR/run.jsonl"; }
has_lines() { [ "$(lines "$1")" -ge "$2" ]; }
descriptors() { ls "/proc/$GATEWAY/fd" | wc -l; }
memory() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$GATEWAY/status"; }
switches() { grep -H ctxt_switches "/proc/$GATEWAY"/task/*/status | sort; } # of each thread
wakeups() { # in 2 s
    local before
    before=$(switches)
    sleep 2
    awk '{ if (NR == FNR) before[$1] = $2; else sum += $2 - before[$1] } END { print sum }' <(echo "$before") <(switches)
}
gateway_start() { # ARGUMENT...
    "$TENDON" run --radio bluez --json --connection fast --for 170 "$@" >"$CASE_DIR/run.jsonl" 2>>"$CASE_DIR/run.err" &
    GATEWAY=$!
    wait_for 20 has_lines sample 20
}
device_on() { # hciN
    "$TENDON" simulate bose --radio bluez --adapter "$1" --json >"$CASE_DIR/device.jsonl" 2>"$CASE_DIR/device.err" &
    DEVICE=$!
    wait_for 15 grep -q '"ready"' "$CASE_DIR/device.jsonl"
}
unplug() {
    kill -9 $DEVICE
    wait $DEVICE 2>/dev/null
    controllers_stop
}
reported() { # as many connections as COUNT have the parameters that the peripheral, a kernel, asks for after the connect
    test "$(grep '"connection_parameters"' "$CASE_DIR/run.jsonl" | grep -c '"interval_ms":30,')" -ge "$1"
}
streams_on() { # the lines of samples grow
    local before
    before=$(lines sample)
    wait_for 30 has_lines sample $((before + 20))
}

# The same index, three times.
controllers_start -L -l2
device_on hci1
gateway_start --adapter hci0
open=$(descriptors)
used=
for cycle in 1 2 3; do
    check "connection parameters reported ($cycle)" wait_for 10 reported $cycle
    unplug
    check "unplugged ($cycle): reported" wait_for 10 has_lines radio_lost $cycle
    sleep 1
    if [ $cycle -eq 1 ]; then
        count=$(wakeups)
        check "it waits without polling: $count wake-ups in 2 s" test "$count" -lt 200
    fi
    controllers_start -L -l2
    device_on hci1
    check "plugged in again ($cycle): opened" wait_for 20 has_lines radio_restored $cycle
    check "it streams on ($cycle)" streams_on
    [ -n "$used" ] || used=$(memory)
done
check "descriptors stay: $open, $(descriptors)" test "$(descriptors)" -le $((open + 1))
check "memory stays: $used kB, $(memory) kB" test "$(memory)" -le $((used + 2048))
check "connection parameters reported (4)" wait_for 10 reported 4
unplug
wait_for 10 has_lines radio_lost 4
kill -INT $GATEWAY
check "while it waits, it ends at once" wait_for 3 eval "! kill -0 $GATEWAY"
wait $GATEWAY
check "and well" test $? -eq 0
check "one end of each connection" test "$(lines disconnected)" -eq 4
check "each with the reason" \
    test "$(grep -c '"disconnected".*"reason":"radio_failed".*"error":"RADIO_ERROR_NO_ADAPTER"' "$CASE_DIR/run.jsonl")" -eq 4
check "the loss is reported once each time" test "$(lines radio_lost)" -eq 4
grep -v '"sample"' "$CASE_DIR/run.jsonl" >"$CASE_DIR/same.jsonl"

# Another index: a controller that answers nothing is hci0, which the kernel never lists.
controllers_start -L -l2
device_on hci1
gateway_start
unplug
check "unplugged: reported" wait_for 10 has_lines radio_lost 1
/usr/bin/python3 -c 'import time
with open("/dev/vhci", "r+b", buffering=0) as controller:
    controller.write(b"\xff\x00")
    time.sleep(100)' &
PLACE=$!
wait_for 30 test -e /sys/class/bluetooth/hci0
btvirt -L -l2 >"$CASE_DIR/btvirt.log" 2>&1 &
CONTROLLERS=$!
check "another index: opened" wait_for 20 has_lines radio_restored 1
wait_for 10 adapter_ready hci1
wait_for 10 adapter_ready hci2
# It takes the one that the kernel has set up first; the device is on the other one.
other=hci2
grep '"radio_restored"' "$CASE_DIR/run.jsonl" | grep -q "$(address_of hci2)" && other=hci1
device_on $other
check "it streams on, with the device on $other" streams_on
stop $GATEWAY $DEVICE
kill -9 $PLACE $CONTROLLERS
wait 2>/dev/null
cut -c1-200 "$CASE_DIR/run.err" | sed 's/^/# /'

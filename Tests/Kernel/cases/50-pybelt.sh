# SPDX-License-Identifier: MIT
# title: feelSpace's own Python client (pybelt over bleak and bluetoothd) controls our simulated belt
# needs: venv
# lane: 2
# limit: 300
source "$KERNEL_TESTS/command.sh"

if ! "$VENV/bin/python" -c 'import pybelt.belt_controller' 2>"$CASE_DIR/import.txt"; then
    ok "# SKIP pybelt cannot be had: $(tail -n 1 "$CASE_DIR/import.txt") $(cat "$VENV/pybelt.txt" 2>/dev/null | tail -n 1)"
    exit 0
fi
cat >"$CASE_DIR/scenario" <<'EVENTS'
at 0s   heading 90
at 45s  battery 37 on_battery
at 46s  press home
at 47s  press compass
EVENTS
bluetoothd_start || not_ok "bluetoothd starts"
adapters_on
FAMILY=feelspace device_start --scenario "$CASE_DIR/scenario" --scenario-from connection
/usr/bin/python3 "$KERNEL_TESTS/advertise_again.py" hci1 "$CASE_DIR/found" &
again=$!
timeout -k 5 240 "$VENV/bin/python" "$PROJECT/Tests/Peers/pybelt_belt.py" --found "$CASE_DIR/found" \
    --expect "$CASE_DIR/expect.txt" \
    >"$CASE_DIR/pybelt.txt" 2>"$CASE_DIR/pybelt.err"
code=$?
stop $again
cat "$CASE_DIR/pybelt.txt"
check "pybelt ends well" test $code -eq 0 || tail -n 20 "$CASE_DIR/pybelt.err"
device_stop

# Byte for byte: what pybelt says it sent, in this order, and nothing else but the questions of its handshake.
received() {
    sed -n 's/.*"event":"write".*"characteristic":"\([^"]*\)","bytes":"\([^"]*\)".*"outcome":"\([^"]*\)".*/\1 \2 \3/p' \
        "$CASE_DIR/device.jsonl" | grep -vxE 'fe05 (0101|0102|0103|100103) taken'
}
received >"$CASE_DIR/received.txt"
check "all $(wc -l <"$CASE_DIR/expect.txt") writes arrived byte for byte" \
    diff "$CASE_DIR/expect.txt" "$CASE_DIR/received.txt"
summary=$(grep '"event":"summary"' "$CASE_DIR/device.jsonl")
echo "# $summary"
check "the belt refused nothing and hung up on nobody" \
    grep -q '"lost":0,.*"disconnects":0,.*"ignored":0,"refused_writes":0' <<<"$summary"

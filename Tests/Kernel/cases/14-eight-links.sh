# SPDX-License-Identifier: MIT
# title: eight connections of one adapter at once, a stream of 50 Hz on each: no value lost, none twice, none of another's
# lane: 3
# needs: build venv
# kinds: none
# controllers: bumble
# limit: 120
# The adapter and the eight devices are bumble's: btvirt loses data of all devices but the first.
values=500
"$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_many.py" --devices 8 --values $values --rate 50 --limit 230 \
    >"$CASE_DIR/devices.txt" 2>&1 &
peers=$!
wait_for 120 grep -q ready "$CASE_DIR/devices.txt" || { not_ok "the devices are ready"; sed 's/^/#   /' "$CASE_DIR/devices.txt"; }
wait_for 60 adapter_ready hci0 || not_ok "the adapter is ready"
handle=$(sed -n 's/^ready //p' "$CASE_DIR/devices.txt")
mapfile -t addresses < <(printf 'F0:F1:F2:F3:F4:%02X/random\n' {0..7})
streams() {
    radio_check many hci0 150000 $values "$handle" "${addresses[@]}" >"$CASE_DIR/client.txt"
    local code=$?
    sed 's/^/# /' "$CASE_DIR/client.txt"
    return $code
}
code=0
streams || code=$?
check "all eight at once, $values values of each, in order" test $code -eq 0
check "eight connections were up together" grep -q '^8 connections at once' "$CASE_DIR/client.txt"
check "the devices have sent as many" wait_for 20 eval \
    '[ "$(grep -c "^device [0-7] sent '$values'," "$CASE_DIR/devices.txt")" -eq 8 ]'
grep '^device' "$CASE_DIR/devices.txt" | sed 's/^/# /'
stop $peers

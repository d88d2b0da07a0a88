# SPDX-License-Identifier: MIT
# title: connection parameters: what run requests is what the controller is asked for, and what the connection has is reported
# kinds: extended legacy rootcanal
# needs: build venv
# limit: 90
source "$KERNEL_TESTS/command.sh"

# The peripheral is this machine's kernel too: its own parameters are 30 to 50 ms, and it asks for them after the connect.
device_start
for profile in fast low-power; do
    monitor_start "$CASE_DIR/$profile.btsnoop"
    check "run --connection $profile" stream_into "$CASE_DIR/$profile.jsonl" 60 --connection $profile --notifications 100
    monitor_stop
    btmon -r "$CASE_DIR/$profile.btsnoop" >"$CASE_DIR/$profile.txt" 2>/dev/null
    sed -n 's/.*Connection interval: \([0-9.]*\) msec.*/\1/p' "$CASE_DIR/$profile.txt" >"$CASE_DIR/$profile.controller"
    sed -n 's/.*"event":"connection_parameters".*"interval_ms":\([0-9.]*\).*/\1/p' "$CASE_DIR/$profile.jsonl" \
        >"$CASE_DIR/$profile.told"
    echo "# $profile: the controller reports $(tr '\n' ' ' <"$CASE_DIR/$profile.controller"), told $(tr '\n' ' ' <"$CASE_DIR/$profile.told")"
    check "$profile: what is told last is what the controller reports last" \
        awk 'FNR == 1 { file++ } { last[file] = $1 } END { exit !(file == 2 && last[1] + 0 == last[2] + 0) }' \
        "$CASE_DIR/$profile.controller" "$CASE_DIR/$profile.told"
done
check "the data length is told" grep -q '"tx_packet_bytes":27,"rx_packet_bytes":27' "$CASE_DIR/fast.jsonl"
if [ "$KIND" = legacy ]; then # the other one cannot be asked for its PHY
    check "and the PHY" grep -q '"tx_phy":"1m","rx_phy":"1m"' "$CASE_DIR/fast.jsonl"
fi
asked() { # PROFILE MIN MAX LATENCY: of the kernel's command to connect
    grep -q "Min connection interval: $2 msec" "$CASE_DIR/$1.txt" &&
        grep -q "Max connection interval: $3 msec" "$CASE_DIR/$1.txt" && grep -q "Connection latency: $4 " "$CASE_DIR/$1.txt"
}
check "fast: the controller is asked for 7.5 to 15 ms" asked fast 7.50 15.00 0
check "low-power: for 100 to 125 ms, latency 2" asked low-power 100.00 125.00 2
check "and connects with them" eval 'test "$(head -n 1 "$CASE_DIR/fast.controller")" = 15.00 &&
    test "$(head -n 1 "$CASE_DIR/low-power.controller")" = 125.00'
device_stop

# SPDX-License-Identifier: MIT
# title: CPU of a published sample: run --mqtt, run --json into mosquitto_pub, and bleak with paho over bluetoothd
# needs: venv
# kinds: legacy
# sample: nothing
# lane: 2
# limit: 200
# A Bose wearable sends 50 rotations per second. Each way publishes each of them, and is measured for ten seconds once it
# does: the CPU time of its processes, divided by the messages that a subscriber got.
source "$KERNEL_TESTS/command.sh"

PORT=18890
printf 'listener %s 127.0.0.1\nallow_anonymous true\n' $PORT >"$CASE_DIR/broker.conf"
mosquitto -c "$CASE_DIR/broker.conf" >"$CASE_DIR/broker.log" 2>&1 &
BROKER=$!
wait_for 10 mosquitto_pub -h 127.0.0.1 -p $PORT -t started -m 1 || not_ok "the broker starts"

# ticks PROCESS...: 10 ms of CPU time each, user and system, that they used so far.
ticks() {
    local process sum=0 fields
    for process in "$@"; do
        fields=$(sed 's/.*) //' "/proc/$process/stat") || continue
        # shellcheck disable=SC2086
        set -- $fields
        sum=$((sum + ${12} + ${13}))
    done
    echo $sum
}

# measure NAME TOPIC PROCESS...: prints what a message costs; COST has it in microseconds.
measure() {
    local name=$1 topic=$2 before after broker messages
    shift 2
    if ! timeout 60 mosquitto_sub -h 127.0.0.1 -p $PORT -t "$topic" -C 50 >"$CASE_DIR/$name.first"; then
        not_ok "$name publishes"
        return
    fi
    before=$(ticks "$@") broker=$(ticks $BROKER)
    messages=$(mosquitto_sub -h 127.0.0.1 -p $PORT -t "$topic" -W 10 | wc -l)
    after=$(ticks "$@") broker=$(($(ticks $BROKER) - broker))
    COST=$(((after - before) * 10000 / (messages > 0 ? messages : 1)))
    # The emulated machine is slow: half of the rate is enough to compare.
    check "$name: $messages messages in 10 s" test "$messages" -ge 250
    echo "# $name: $COST us of CPU for a message, the broker $((broker * 10000 / (messages > 0 ? messages : 1))) us"
    echo "{\"bench\":\"publish_cost\",\"way\":\"$name\",\"us_per_message\":$COST,\"messages\":$messages}" >>"$CASE_DIR/cost.jsonl"
}

run_options=(--radio bluez --adapter hci0 --families bose --sensors rotation --period 20 --gestures none)
device_start
"$TENDON" run "${run_options[@]}" --no-lines --mqtt mqtt://127.0.0.1:$PORT --mqtt-stream rotation --mqtt-stream-rate 1000 \
    --mqtt-queue "$CASE_DIR/queue.db" 2>"$CASE_DIR/mqtt.err" &
client=$!
measure run_mqtt 'tendon/+/stream/rotation' $client
mqtt=$COST
kill -INT $client
wait $client
device_stop

device_start
lines=/tmp/lines.$$ # the folder of the case is on 9p, which has no fifos
mkfifo "$lines"
mosquitto_pub -h 127.0.0.1 -p $PORT -t cost/rotation -l <"$lines" &
publisher=$!
"$TENDON" run "${run_options[@]}" --json >"$lines" 2>"$CASE_DIR/lines.err" &
client=$!
measure run_json_pipe cost/rotation $client $publisher
pipe=$COST
kill -INT $client
wait $client $publisher
device_stop

bluetoothd_start || not_ok "bluetoothd starts"
adapters_on
device_start
/usr/bin/python3 "$KERNEL_TESTS/advertise_again.py" hci1 "$CASE_DIR/found" &
again=$!
"$VENV/bin/python" "$PROJECT/Tests/Peers/bleak_publish.py" hci0 $PORT "$CASE_DIR/found" >"$CASE_DIR/bleak.txt" 2>&1 &
client=$!
measure bleak_paho cost/rotation $client "$(pidof bluetoothd)" "$(pidof dbus-daemon)"
bleak=$COST
kill -9 $client
stop $again
device_stop
echo "# of run --mqtt's $mqtt us: the pipe $((100 * pipe / mqtt)) %, bleak and paho $((100 * bleak / mqtt)) %"

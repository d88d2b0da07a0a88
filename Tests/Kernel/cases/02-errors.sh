# SPDX-License-Identifier: MIT
# title: what is missing has its own error
# needs: build

fails_with() { # NAME COMMAND...
    local output name=$1
    shift
    output=$("$@" 2>&1)
    echo "$output"
    [[ $output == *"$name"* ]]
}
nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
}
program=$BUILD/Tests/Kernel/c/radio_check

check "no such adapter" fails_with RADIO_ERROR_NO_ADAPTER radio_check open hci9
check "no such kind of name" fails_with ERROR_INVALID_ARGUMENT radio_check open eth0
check "no rights" fails_with RADIO_ERROR_NO_CAP_NET_RAW nobody "$program" open hci0
check "listing needs no rights" nobody "$program" list any
radio_check open hci0 >/dev/null
check "no rights, adapter on" fails_with RADIO_ERROR_NO_CAP_NET_RAW nobody "$program" open hci0

radio_check idle hci0 10000 >"$CASE_DIR/idle.txt" &
idle=$!
wait_for 5 grep -q open "$CASE_DIR/idle.txt"
rfkill block bluetooth
wait_for 5 grep -q failure "$CASE_DIR/idle.txt"
check "blocked while open: told" grep -q 'failure RADIO_ERROR_RFKILL' "$CASE_DIR/idle.txt"
wait $idle
check "blocked before: refused" fails_with RADIO_ERROR_RFKILL radio_check open hci0
check "the list says so" eval 'radio_check list any | grep -q "^hci0.* blocked"'
rfkill unblock bluetooth
check "unblocked: works again" radio_check open hci0

radio_check idle hci0 10000 >"$CASE_DIR/idle.txt" &
idle=$!
wait_for 5 grep -q open "$CASE_DIR/idle.txt"
hciconfig hci0 down
wait_for 5 grep -q failure "$CASE_DIR/idle.txt"
check "switched off while open: told" grep -q 'failure RADIO_ERROR_ADAPTER_DOWN' "$CASE_DIR/idle.txt"
wait $idle

radio_check idle hci0 10000 >"$CASE_DIR/idle.txt" &
idle=$!
wait_for 5 grep -q open "$CASE_DIR/idle.txt"
controllers_stop
wait_for 5 grep -q failure "$CASE_DIR/idle.txt"
check "unplugged while open: told" grep -q 'failure RADIO_ERROR_NO_ADAPTER' "$CASE_DIR/idle.txt"
wait $idle
check "no adapter at all" fails_with RADIO_ERROR_NO_ADAPTER radio_check open any

# SPDX-License-Identifier: MIT
# title: a program without any right: links to known addresses, and nothing else
# kinds: legacy extended
# needs: build
source "$KERNEL_TESTS/scripted.sh" # fails_with

nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
}
with() { # CAPABILITY COMMAND...: runs as the user nobody with this capability only
    local capability=$1
    shift
    setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+"$capability" --ambient-caps=-all,+"$capability" "$@"
}
program=$BUILD/Tests/Kernel/c/radio_check

peer=$(address_of hci1)
serve_start hci1 120 "Tendon Wearable"
check "the adapter is off: CAP_NET_ADMIN is missing" fails_with RADIO_ERROR_NO_CAP_NET_ADMIN nobody "$program" open links:hci0
check "with it: switched on" with net_admin "$program" open links:hci0
hciconfig hci0 up
check "not enough for all of a radio: CAP_NET_RAW is missing" fails_with RADIO_ERROR_NO_CAP_NET_RAW with net_admin "$program" open hci0
check "opened without a right" nobody "$program" open links:hci0
check "500 notifications without a right" nobody "$program" connect links:hci0 10000 "$peer" 5000 500
check "and again" nobody "$program" connect links:hci0 15000 "$peer" 10000 10
check "a scan is refused" fails_with 'scan RADIO_ERROR_NO_CAP_NET_RAW' nobody "$program" scan links:hci0 1000 active Nobody -
expect "so is advertising" 1 nobody "$program" advertise links:hci0 1000 "Tendon"
# A controller that is switched off tells nobody: the peer would keep a link of before, and mistake the next one for it.
no_link() {
    ! hcitool con | grep -q handle
}
wait_for 10 no_link
hciconfig hci0 down
check "off, with CAP_NET_RAW alone: CAP_NET_ADMIN is missing" fails_with RADIO_ERROR_NO_CAP_NET_ADMIN with net_raw "$program" open hci0
hciconfig hci0 up
check "on, with CAP_NET_RAW alone: it scans" with net_raw "$program" scan hci0 5000 active - fdd2
expect "passively: the name is in the scan response" 1 with net_raw "$program" scan hci0 3000 active "Tendon Wearable" -
check "the kernel has taken that for no search: it connects" with net_raw "$program" connect hci0 15000 "$peer" 10000 10
stop $SERVER

# The command: it falls back to connections if the address has its type, and says what is missing.
source "$KERNEL_TESTS/command.sh"
controllers_stop
case_begin
with net_admin "$program" open links:hci0 >/dev/null # LE is enabled, too
hciconfig hci0 up
device_start
device=$(sed -n 's/.*"event":"ready".*"address":"\([^"]*\)","address_type":"\([^"]*\)".*/\1\/\2/p' "$CASE_DIR/device.jsonl" | head -n 1)
mkdir -p "$CASE_DIR/nobody" && chmod 777 "$CASE_DIR/nobody"
unprivileged() { # NAME COMMAND...
    local name=$1 code=0
    shift
    XDG_STATE_HOME=$CASE_DIR/nobody nobody timeout -k 5 50 "$TENDON" "$@" --radio bluez --adapter hci0 --json \
        >"$CASE_DIR/$name.jsonl" 2>"$CASE_DIR/$name.err" || code=$?
    cat "$CASE_DIR/$name.err"
    [ $code -eq 0 ] && grep -q 'without CAP_NET_RAW only a connection to' "$CASE_DIR/$name.err"
}
check "tendon stream without a right" unprivileged stream stream bose --address "$device" --for 20 --notifications 20
check "which streams" grep -q '"event":"sample"' "$CASE_DIR/stream.jsonl"
check "tendon run without a right: the family over a first connection" \
    unprivileged run run --address "$device" --for 40 --notifications 20
check "which streams, too" grep -q '"event":"sample"' "$CASE_DIR/run.jsonl"
check "tendon bose info without a right" unprivileged info bose info --address "$device" --timeout 20
check "without the type of the address: what is missing" fails_with 'has the type of the address' \
    nobody "$TENDON" stream bose --radio bluez --adapter hci0 --address "${device%/*}" --for 5
scan_alone() { # PROGRAM: as a user without capabilities, whose programs can get some
    setpriv --reuid=65534 --regid=65534 --clear-groups "$1" scan --radio bluez --adapter hci0 --service fdd2 --count 1 --for 10
}
check "tendon scan stays refused" fails_with RADIO_ERROR_NO_CAP_NET_RAW scan_alone "$TENDON"

# The command that tendon doctor prints for this, in place of sudo's.
own=/tmp/own.$BASHPID
mkdir -m 755 "$own"
cp "$TENDON" "$own/tendon"
remedy=$(nobody "$own/tendon" doctor --json | grep -o 'setcap cap_net_raw,cap_net_admin+eip [^,}]*' | head -n 1 | sed 's/"$//; s/\\//g')
check "tendon doctor names the command that grants it: $remedy" test -n "$remedy"
check "which can be run" eval 'PATH=$own:$PATH; eval "$remedy"'
check "then the same user scans" scan_alone "$own/tendon"
rm -rf "$own"
device_stop

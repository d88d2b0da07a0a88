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
serve_start hci1 60 "Tendon Wearable"
check "the adapter is off: CAP_NET_ADMIN is missing" fails_with RADIO_ERROR_NO_CAP_NET_ADMIN nobody "$program" open links:hci0
check "with it: switched on" with net_admin "$program" open links:hci0
hciconfig hci0 up
check "not enough for all of a radio: CAP_NET_RAW is missing" fails_with RADIO_ERROR_NO_CAP_NET_RAW with net_admin "$program" open hci0
check "opened without a right" nobody "$program" open links:hci0
check "500 notifications without a right" nobody "$program" connect links:hci0 10000 "$peer" 5000 500
check "and again" nobody "$program" connect links:hci0 15000 "$peer" 10000 10
check "a scan is refused" fails_with 'scan RADIO_ERROR_NO_CAP_NET_RAW' nobody "$program" scan links:hci0 1000 active Nobody -
expect "so is advertising" 1 nobody "$program" advertise links:hci0 1000 "Tendon"
stop $SERVER
serve_start hci1 40 "Tendon Wearable"
hciconfig hci0 down
check "off, with CAP_NET_RAW alone: CAP_NET_ADMIN is missing" fails_with RADIO_ERROR_NO_CAP_NET_ADMIN with net_raw "$program" open hci0
hciconfig hci0 up
check "on, with CAP_NET_RAW alone: all but power" with net_raw "$program" scan hci0 5000 active "Tendon Wearable" -
stop $SERVER

# SPDX-License-Identifier: MIT
# Sourced by the scenarios beside bluetoothd: its mouse, which it is bonded with, and whose key must stay the kernel's.
# shellcheck shell=bash
MOUSE=F0:F1:F2:F3:F6:09
mouse=/org/bluez/hci0/dev_${MOUSE//:/_}
asks() { # OBJECT METHOD [ARGUMENT...]: of bluetoothd
    dbus-send --system --print-reply --reply-timeout=40000 --dest=org.bluez "$1" "org.bluez.$2" "${@:3}"
}
property() { # OBJECT INTERFACE NAME
    asks_properties=$(dbus-send --system --print-reply --dest=org.bluez "$1" org.freedesktop.DBus.Properties.Get \
        string:"org.bluez.$2" string:"$3" 2>&1) && grep -oE '(boolean|string) .*' <<<"$asks_properties"
}
is_true() { [ "$(property "$@")" = "boolean true" ]; }
powered() { is_true /org/bluez/hci0 Adapter1 Powered; }

# One client all the time: a search ends with the client that asked for it.
pair() {
    (printf 'scan on\n'; wait_for 40 property "$mouse" Device1 Address; printf 'scan off\npair %s\n' "$MOUSE"; wait_for 40 is_true "$mouse" Device1 Paired
        printf 'trust %s\nconnect %s\n' "$MOUSE" "$MOUSE"; wait_for 20 is_true "$mouse" Device1 ServicesResolved; printf 'quit\n') |
        bluetoothctl >"$CASE_DIR/bluetoothctl.txt" 2>&1
    is_true "$mouse" Device1 Bonded || { tail -n 20 "$CASE_DIR/bluetoothctl.txt" && return 1; }
}

# works WHEN: the mouse comes back; bluetoothd connects, the old key encrypts, and it takes the mouse's reports.
works() {
    mark
    wear "start mouse"
    check "$1: the mouse's record: the connection is encrypted" received 60 'm["event"] == "encrypted" and m["device"] == "mouse" and m["on"]'
    check "$1: the mouse's record: bluetoothd takes its reports" received 30 'm["event"] == "reports" and m["device"] == "mouse"'
    check "$1: with the key of before" eval '! received 0 "m[\"event\"] in (\"paired\", \"pairing_failed\") and m[\"device\"] == \"mouse\""'
}
absent() {
    mark
    wear "stop mouse"
    received 10 'm["event"] == "disconnected" and m["device"] == "mouse"'
}

# The adapter, bluetoothd on it, and the mouse bonded, away again. What must be bonded is for an adapter without bluetoothd
# (docs/pairing.md).
BESIDE=(bose activ5)
mouse_bonds() {
    wear plug
    wear "start mouse"
    check "the adapter's arrival starts bluetoothd, which powers it on" wait_for 60 powered
    check "bluetoothd pairs with its mouse" pair
    check "it goes away" absent
}

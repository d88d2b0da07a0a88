# SPDX-License-Identifier: MIT
# title: an independent client (bleak over bluetoothd) discovers, configures and streams from our simulated device
# needs: venv
# lane: 2
# limit: 180
source "$KERNEL_TESTS/command.sh"

bluetoothd_start || not_ok "bluetoothd starts"
for address in "$(address_of hci0)" "$(address_of hci1)"; do
    printf 'select %s\npower on\n' "$address"
    sleep 1
done | timeout 10 bluetoothctl >"$CASE_DIR/bluetoothctl.txt" 2>&1
device_start
# btvirt tells a scanner of an advertiser when either is switched on, and the kernel does not listen yet when its scan
# begins: advertising goes off and on until a client has come.
until grep -q 'mtu\|^ok' "$CASE_DIR/bleak.txt" 2>/dev/null; do
    for enable in 00 01; do
        hcitool -i hci1 cmd 0x08 0x000a $enable
        sleep 0.3
    done
done >/dev/null 2>&1 &
toggling=$!
timeout -k 5 160 "$VENV/bin/python" "$PROJECT/Tests/Peers/bleak_bose.py" --adapter hci0 --notifications 500 \
    >"$CASE_DIR/bleak.txt" 2>&1
code=$?
stop $toggling
cat "$CASE_DIR/bleak.txt"
check "the client ends well" test $code -eq 0
device_stop

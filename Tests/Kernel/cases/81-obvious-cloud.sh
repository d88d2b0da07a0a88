# SPDX-License-Identifier: MIT
# title: an Obvious device with the reference cloud over TLS: pairing, provisioning, a purchase with authentication, toggle, firmware
# sample: nothing
# kinds: legacy extended
# limit: 240
# lane: 2
FAMILY=obvious
source "$KERNEL_TESTS/command.sh"

source "$KERNEL_TESTS/obvious.sh"

cloud_start
case $TENDON_OBVIOUS_BASE_URL in https://*) ok "over TLS" ;; *) not_ok "over TLS: $TENDON_OBVIOUS_BASE_URL" ;; esac

device_start --keys-file "$CASE_DIR/keys" --flash "$DATA/flash" --unprovisioned
check "info: connects and pairs" obvious info
check "Just Works, through the pairing service" test -s "$XDG_STATE_HOME/tendon/bonds"
check "info: a new device" says '"provisioned":false'
check "update: provisions the device" obvious update
check "update: provisioning came first" says '"step":"provisioning","status":"SUCCESS"'
check "features: what it has" obvious features 16
check "features: not bought yet" says '"feature":16,"state":"disabled"'

# ---- a purchase that asks the user first
buyer=(--serial 1122334455667788 --product 1234)
"$TENDON" obvious checkout 7 "${buyer[@]}" --json >"$CASE_DIR/cart.txt" 2>&1
cart=$(sed 's/.*"cart":\([0-9]*\).*/\1/' "$CASE_DIR/cart.txt" | tail -1)
timeout 60 "$TENDON" obvious pay "$cart" "${buyer[@]}" --card-fd 3 --json \
    3< <(printf '%s\n' 4000000000003220 04/33 123) >"$CASE_DIR/pay.txt" 2>"$CASE_DIR/pay.err" &
PAY=$!
check "pay: asks for authentication" wait_for 30 grep -q action_url "$CASE_DIR/pay.txt"
page=$(sed -n 's/.*"action_url":"\([^"]*\)".*/\1/p' "$CASE_DIR/pay.txt")
/usr/bin/python3 -c 'import ssl, sys, urllib.request
urllib.request.urlopen(sys.argv[1], context=ssl.create_default_context(cafile=sys.argv[2])).read()' "$page" "$TENDON_OBVIOUS_CA_FILE"
check "pay: ends after the user's answer" wait_for 40 eval "! kill -0 $PAY"
wait $PAY
check "pay: succeeded" grep -q '"state":"succeeded"' "$CASE_DIR/pay.txt"
check "update: unlocks what was bought" obvious update
check "features: asks again" obvious features 16
check "features: it is unlocked on the device" says '"feature":16,"state":"enabled","toggle":"activated"'
check "toggle" obvious toggle 16 off
check "toggle: the device switched it off" says '"feature":16,"state":"enabled","toggle":"deactivated"'

device_stop

# ---- firmware: while the same flash memory takes it, the device loses its power
echo 'at 0ms power_cut 40000' >"$CASE_DIR/scenario"
device_start --scenario "$CASE_DIR/scenario" --scenario-from connection --keys-file "$CASE_DIR/keys" --flash "$DATA/flash"
check "firmware check" obvious firmware check
check "firmware check: what is there" says '"firmware":"1.3.0","available":"1.4.0"'
check "firmware upgrade" obvious firmware upgrade
check "firmware upgrade: came through" says '"status":"SUCCESS"'
check "info: the new firmware" obvious info
check "info: runs" says '"firmware":"1.4.0"'
check "features: kept" obvious features 16
check "features: as they were" says '"feature":16,"state":"enabled","toggle":"deactivated"'
device_stop
check "the power was cut, and the trial confirmed" grep -q '"trial":false.*"power_cuts":1\|"power_cuts":1.*"trial":false' "$CASE_DIR/device.jsonl"
kill $CLOUD
check "no card number in any file" eval '! grep -rlaE "40000000000032(20)" "$CASE_DIR" "$DATA"'

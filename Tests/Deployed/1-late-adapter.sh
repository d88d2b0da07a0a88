# SPDX-License-Identifier: MIT
# title: boot without an adapter; it appears 20 s later; the five families stream to the broker and are commanded from it
# kinds: none
# needs: venv
# mask: bluetooth
# limit: 150
source "$PROJECT/Tests/Deployed/lib.sh"
wearables_start
listen
check "without an adapter the service becomes active" wait_for 60 active tendon
check "systemd knows what it waits for" eval 'systemctl show -p StatusText tendon | tee /dev/stderr | grep -qi adapter'
check "the gateway is online" told 20 'topic == "tendon/bridge/gw/state" and m["state"] == "online"'
wearables_ready
for family in "${FAMILIES[@]}"; do wear "start $family"; done
check "and has no device" eval '! grep -q "F0:F1:F2:F3:F6" "$BROKER"'

# Since the service is active, and not since the start of the machine: it shares one emulated processor.
active_at=$(($(systemctl show -p ActiveEnterTimestampMonotonic --value tendon) / 1000000))
until read -r up _ </proc/uptime && [ "${up%.*}" -ge $((active_at + 20)) ]; do sleep 0.5; done
mark
wear plug
streams 90 "the adapter appeared"
# In its sandbox the service has the kernel's stamps, and its monotonic clock is that of the machine.
check "samples have the time of their arrival" told 20 \
    '0 <= __import__("time").monotonic() - (m.get("rotation") or m)["received_at"] < 60'

# commanded FAMILY MESSAGE BYTES: the wearable receives that.
commanded() {
    mark
    post "${TOPICS[$1]}/set" "$2"
    received 15 "m['event'] == 'written' and m['device'] == '$1' and m['bytes'].startswith('$3')"
}
check "set: the belt receives Channel Configuration, 90 degrees" commanded feelspace '{"vibrate": 90}' 0001aaaa0000025a00
check "set: the trainer receives TARE!" commanded activ5 '{"tare": true}' 41544152452113
grip_led() {
    mark
    post "${TOPICS[fjorden]}/set" '{"led": ["blinkSlow", 500]}'
    received 15 'm["event"] == "written" and m["device"] == "fjorden" and m["bytes"][:2] + m["bytes"][4:] == "0202f401"'
}
check "set: the grip receives Set LED, blink slowly, 500 ms" grip_led
obvious_off() {
    mark
    post "${TOPICS[obvious]}/set" '{"toggle": ["16", "on"]}'
    received 15 'm["event"] == "toggled" and m["features"]["16"] == 1'
}
check "set: the switch of a feature of the Obvious device is on" obvious_off
bose_get() {
    mark
    post "${TOPICS[bose]}/get" ''
    told 10 "topic == '${TOPICS[bose]}'"
}
check "get: the state of the Bose wearable, which has no actions" bose_get
since=0
check "its sensors are configured as the configuration says" received 1 \
    'm["event"] == "written" and m["device"] == "bose" and m["bytes"] == "000000010000020050030000"'
check "libdispatch may do what it does in the sandbox" eval '! journalctl -u tendon | grep "thread priority"'

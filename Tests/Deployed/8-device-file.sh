# SPDX-License-Identifier: MIT
# title: a device file in /etc/tendon/devices under the service's unit; one with a mistake, and one that it may not read
# kinds: none
# needs: venv
# mask: bluetooth
# limit: 150
source "$PROJECT/Tests/Deployed/lib.sh"
devices=/etc/tendon/devices
wearables_start
listen
check "the service becomes active" wait_for 60 active tendon
wearables_ready
wear plug
mark
wear "start bose"
wear "start heart_rate"
streams 60 "without a device file" bose
strap() { received "$1" "m['event'] == 'connected' and m['device'] == 'heart_rate'"; }
check "the heart rate sensor is not of a known family, and is left alone" eval '! strap 0'

# since_start TEXT: the journal of the service of now has it; systemd gives each start an identity.
since_start() {
    journalctl --no-pager "_SYSTEMD_INVOCATION_ID=$(systemctl show -p InvocationID --value tendon)" | grep -qF "$1"
}
# restarted: the service of now is another process than before, by its owner's word, and not because it failed.
restarted() {
    mark
    systemctl restart tendon
    active tendon && [ "$(systemctl show -p NRestarts --value tendon)" = 0 ]
}

mkdir -p $devices
cp /usr/share/tendon/devices/heart_rate.json $devices
check "the service is restarted with the file of the package" restarted
streams 60 "with a device file" bose heart_rate
check "the lines of the sensor are those of the file" told 10 \
    'm.get("event") == "heart_rate" and m["family"] == "heart_rate" and m["contact"] == "unsupported"'
check "the journal has no complaint about it" eval "! since_start $devices"

# A mistake in another file: that device is left out, with file, line and column. Everything else is served.
cat >$devices/watch.json <<'END'
{
  "name": "watch", "title": "Watch", "find": {"name": "Watch*"},
  "characteristics": [
    {"name": "steps", "service": "fff0", "uuid": "fff1", "notify": [{"name": "steps", "type": "uint16"}]}
  ]
}
END
check "a file with a mistake does not stop the start" restarted
streams 60 "beside a file with a mistake" bose heart_rate
check "the journal says file, line, column and what was meant" wait_for 5 since_start \
    "$devices/watch.json:4:96: 'uint16' is no type; did you mean 'u16'?; the device is left out"
check "config check says the same to a person" eval "tendon config check $devices/watch.json 2>&1 | tee /dev/stderr | grep -qF 'watch.json:4:96: '\''uint16'\'' is no type'"

# A mistake in the file itself, and one that only root may read: the service runs as a user without rights.
sed -i 's/"find"/"fnid"/' $devices/heart_rate.json
sed -i 's/uint16/u16/' $devices/watch.json
chmod 600 $devices/watch.json
check "a mistake in the sensor's own file does not stop the start" restarted
streams 60 "without the sensor's file" bose
check "the sensor is not served" eval '! strap 0'
check "the journal says why" wait_for 5 since_start "$devices/heart_rate.json:4:4: 'fnid' is not a member of the file; did you mean 'find'?"
check "the journal names the file that it may not read" wait_for 5 since_start "$devices/watch.json: Permission denied"

sed -i 's/"fnid"/"find"/' $devices/heart_rate.json
chmod 644 $devices/watch.json
check "the service is restarted with the files repaired" restarted
streams 60 "repaired" bose heart_rate
check "the journal has no complaint any more" eval "! since_start $devices"

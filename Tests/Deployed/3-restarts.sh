# SPDX-License-Identifier: MIT
# title: restart of bluetoothd; restart, reload, upgrade and purge of the service, while wearables stream
# kinds: none
# needs: venv
# limit: 200
source "$PROJECT/Tests/Deployed/lib.sh"
wearables_start
listen
wearables_ready
# What must be bonded is for an adapter without bluetoothd (docs/pairing.md).
BESIDE=(bose activ5)
wear plug
powered() { busctl get-property org.bluez /org/bluez/hci0 org.bluez.Adapter1 Powered | grep -q true; }
check "the adapter's arrival starts bluetoothd, which powers it on" wait_for 60 powered
mark
for family in "${BESIDE[@]}"; do wear "start $family"; done
streams 90 "beside bluetoothd" "${BESIDE[@]}"
service() { systemctl show -p MainPID,NRestarts tendon; }
process=$(service)
mark
systemctl restart bluetooth
check "bluetoothd is restarted" active bluetooth
streams 60 "bluetoothd was restarted" "${BESIDE[@]}"
mark
check "bluetoothd is stopped for good" systemctl mask --now bluetooth
streams 60 "bluetoothd was stopped" "${BESIDE[@]}"
check "the service waited for the adapter, and was not started again" test "$(service)" = "$process"

mark
for family in feelspace fjorden obvious; do wear "start $family"; done
streams 60 "three are paired"
mark
check "the service is restarted" systemctl restart tendon
streams 60 "the service was restarted"

# A name is taken at once: the topics change, and nothing else does.
mark
printf '[device %s random]\nname = living-belt\n' "${TOPICS[feelspace]#tendon/}" >>/etc/tendon/tendon.conf
check "the configuration is read again" systemctl reload tendon
check "the belt has its new name at the broker" told 20 'topic == "tendon/living-belt/stream/orientation"'
streams 60 "reloaded" bose activ5 fjorden obvious
check "no wearable was disconnected" eval '! received 0 "m[\"event\"] == \"disconnected\""'

bonds() { sha256sum /var/lib/private/tendon/bonds | cut -d ' ' -f 1; }
before=$(bonds)
mark
check "a newer package is installed, and asks nothing" dpkg --force-unsafe-io -i "/host$TENDON_PACKAGES"/newer/tendon_*.deb
check "it is a newer one" eval 'dpkg-query -W -f "\${Version}" tendon | grep -q +newer'
streams 60 "upgraded" bose activ5 fjorden obvious
check "the belt streams, with its name" told 10 'topic == "tendon/living-belt/stream/orientation"'
check "no wearable was paired again" eval '! received 0 "m[\"event\"] == \"paired\""'
check "the bonds are those of before" test "$(bonds)" = "$before"

mark
check "the package is purged" dpkg -P tendon
check "the broker: the gateway is offline" told 10 'topic == "tendon/bridge/gw/state" and m["state"] == "offline"'
for family in "${FAMILIES[@]}"; do
    check "the $family wearable is disconnected" received 10 "m['event'] == 'disconnected' and m['device'] == '$family'"
done
left() { # but the libraries, the documentation, dpkg's own notes
    find /etc /var /usr /run -path '*tendon*' -not -path '/usr/share/doc/*' -not -path '/var/lib/dpkg/*' -not -name '*libtendon*' \
        -not -path '/usr/include/tendon*' -not -name 'tendon*.pc' -not -path '/run/systemd/*tendon-scenario*' -not -path '/var/log/*'
    grep -la '^/usr/bin/tendon' /proc/[0-9]*/cmdline
}
answer=$(left)
check "nothing of it is left: $answer" test -z "$answer"

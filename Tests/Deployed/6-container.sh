# SPDX-License-Identifier: MIT
# title: the gateway in a container, beside the bluetoothd of the host and its bonded mouse; restarts of both, a new container
# kinds: none
# needs: venv image
# disable: tendon
# limit: 300
source "$PROJECT/Tests/Deployed/lib.sh"
source "$PROJECT/Tests/Deployed/mouse.sh"
# The root of this machine is an overlay, which takes no other one.
printf '[storage]\ndriver = "vfs"\nrunroot = "/run/containers/storage"\ngraphroot = "/var/lib/containers/storage"\n' >/etc/containers/storage.conf
check "the image is loaded" podman load -q -i "/host$TENDON_IMAGE"
wearables_start
listen

# The command of docs/packages.md.
mapfile -t words < <(sed -n '/^podman run/,/[^\\]$/p' "$PROJECT/docs/packages.md" | tr -d '\\' | xargs -n 1)
container_starts() { "${words[@]}"; }
inside() { # FILE of /proc/PID, of the gateway
    readlink "/proc/$(podman inspect --format '{{.State.Pid}}' tendon)/ns/$1"
}

wearables_ready
mouse_bonds
works "before the container"
check "it goes away again" absent
for family in "${BESIDE[@]}"; do wear "start $family"; done
monitor_start "$CASE_DIR/btmon.snoop"
mark
check "the container starts: ${words[*]}" container_starts
streams 120 "while the mouse is absent" "${BESIDE[@]}"
check "it has processes of its own" test "$(inside pid)" != "$(readlink /proc/1/ns/pid)"
check "and the network of the host" test "$(inside net)" = "$(readlink /proc/1/ns/net)"
check "nothing of D-Bus is in it" eval '! podman export tendon | tar t | grep -iE "d-?bus"'
check "nor a socket of it" eval '! podman inspect tendon | grep -iE "d-?bus"'
check "it has two capabilities" eval 'grep CapEff "/proc/$(podman inspect --format "{{.State.Pid}}" tendon)/status" | grep -q 0000000000003000'
works "beside the container"
streams 60 "while the mouse is there" "${BESIDE[@]}"
check "it goes away once more" absent
mark
post tendon/bridge/gw/request/rename '{"from": "F0:F1:F2:F3:F6:03", "to": "squeezed"}'
check "the trainer gets a name" told 20 'topic == "tendon/squeezed/stream/force"'

mark
check "bluetoothd is restarted" systemctl restart bluetooth
check "and powers the adapter on" wait_for 60 powered
streams 90 "bluetoothd was restarted" bose
check "so does the trainer" told 30 'topic == "tendon/squeezed/stream/force"'
works "after the restart of bluetoothd"
check "it goes away for good" absent
mark
check "the container is restarted" podman restart -t 10 tendon
streams 90 "the container was restarted" bose
check "the trainer has its name" told 30 'topic == "tendon/squeezed/stream/force"'
monitor_stop
record keys 0 "$CASE_DIR/btmon.snoop" bluetoothd # which is restarted

# Bonds: on an adapter without bluetoothd.
check "bluetoothd is stopped for good" systemctl mask --now bluetooth
mark
for family in feelspace fjorden obvious; do wear "start $family"; done
streams 90 "three are paired" bose feelspace fjorden obvious
volume=$(podman volume inspect --format '{{.Mountpoint}}' tendon)
bonds() { sha256sum "$volume/bonds" | cut -d ' ' -f 1; }
before=$(bonds)
mark
check "the container is removed" podman rm -f -t 10 tendon
check "the broker: the gateway is offline" told 10 'topic == "tendon/bridge/gw/state" and m["state"] == "offline"'
check "a new one starts" container_starts
streams 120 "with a new container" bose feelspace fjorden obvious
check "no wearable was paired again" eval '! received 0 "m[\"event\"] == \"paired\""'
check "the bonds are those of before" test "$(bonds)" = "$before"
check "the trainer still has its name" told 30 'topic == "tendon/squeezed/stream/force"'
podman logs tendon >"$CASE_DIR/container.txt" 2>&1

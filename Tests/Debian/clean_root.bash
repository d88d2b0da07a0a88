# SPDX-License-Identifier: MIT
# Sourced by scripts/test_debian.sh: the packages in a clean Debian root.
# shellcheck shell=bash
base=$BUILD/debian-root archives=$BUILD/debian-archives
machine=$work/machine shared=$work/radio
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
checker=$root/Tests/Command/check_mqtt.py
chmod 711 "$work"

# ---- a root with systemd and a broker; made once
make_base() {
    local mirror
    mirror=$(apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" "Origin: Debian" "Codename: $codename" \
        "Component: main" | head -1)
    rm -rf "$base.new" "$base"
    mmdebstrap --quiet --variant=minbase --skip=cleanup/apt --include=systemd,systemd-sysv,mosquitto,mosquitto-clients \
        "$codename" "$base.new" "$mirror" && mv "$base.new" "$base"
}
# The same address resolution as this machine, for apt.
in_base() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8 \
        ${http_proxy:+http_proxy="$http_proxy"} ${HTTP_PROXY:+HTTP_PROXY="$HTTP_PROXY"} chroot "$machine" "$@"
}
if ! unshare --cgroup --pid --mount --uts --ipc --net --fork true 2>"$work/refused"; then
    skip "installed in a clean Debian root" "$(tail -n 1 "$work/refused")"
    return
fi
if [ ! -d "$base" ]; then
    answer=$(make_base 2>&1)
    result $? "a clean root of Debian $codename is made" "$answer"
fi

# What the test changes is in a layer of its own.
mkdir -p "$machine" "$work/upper" "$work/overlay" "$shared/packages" "$archives/partial"
chmod 755 "$work/upper"
mount -t overlay overlay -o "lowerdir=$base,upperdir=$work/upper,workdir=$work/overlay" "$machine" ||
    cp -a "$base/." "$machine/"
# Before anything is removed: what is mounted is not ours to delete.
leave() {
    [ -z "${system:-}" ] || kill -KILL "$system" 2>/dev/null
    mountpoint -q "$machine/var/cache/apt/archives" && umount "$machine/var/cache/apt/archives"
    mountpoint -q "$machine" && umount -l "$machine"
    return 0
}
trap leave EXIT
for item in /etc/resolv.conf /etc/hosts; do
    if [ -e $item ]; then rm -f "$machine$item" && cp -L $item "$machine$item"; fi
done

# ---- the packages that they depend on, by apt
mount --bind "$archives" "$machine/var/cache/apt/archives"
mkdir -p "$machine/srv/packages"
cp "$packages"/libtendon1_*.deb "$packages"/libtendon-dev_*.deb "$packages"/tendon_*.deb "$packages"/tendon-doc_*.deb \
    "$machine/srv/packages"
mapfile -t ours < <(cd "$machine" && printf '/%s\n' srv/packages/libtendon1_*.deb srv/packages/tendon_*.deb srv/packages/tendon-doc_*.deb)
fetch() { in_base apt-get install -q -y --no-install-recommends --download-only "${ours[@]}"; }
answer=$(fetch 2>&1 || { in_base apt-get update -q && fetch; } 2>&1)
result $? "apt finds what they depend on" "$answer"
umount "$machine/var/cache/apt/archives"
mkdir -p "$machine/var/cache/apt/archives/partial"
cp "$archives"/*.deb "$machine/var/cache/apt/archives/" 2>/dev/null

# ---- boot, and what runs in the booted system
inside() {
    nsenter -t "$system" -m -p -u -i -n -C -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        LANG=C.UTF-8 "$@"
}
boot() {
    bash "$root/Tests/Debian/boot.sh" "$machine" "$shared" >>"$work/boot.log" 2>&1 &
    namespaces=$!
    disown "$namespaces" # its end is no message of this shell
    until_true pgrep -P "$namespaces" -x systemd || return 1
    system=$(pgrep -P "$namespaces" -x systemd)
    until_true inside systemctl is-system-running --wait
}
goes_down() { # verb of systemctl
    stop_listening # what belongs to no unit holds up the end
    inside systemctl "$1" >/dev/null 2>&1
    local status=0
    until_true eval '! kill -0 "$namespaces"' || status=1
    kill -KILL "$system" 2>/dev/null
    system=
    return $status
}
running() { [ "$(inside systemctl is-active tendon)" = active ]; }
stop_listening() {
    [ -z "${listener:-}" ] || kill "$(pgrep -P "$listener")"
    listener=
}
listen() { # name
    stop_listening
    inside mosquitto_sub -h localhost -V 5 -t '#' -F '{"t":%J}' >"$work/$1.mqtt" 2>>"$work/listen.err" &
    listener=$!
}
seen() { python3 "$checker" "$work/$1.mqtt" has "$2" "${3:-}"; }
times() { python3 "$checker" "$work/$1.mqtt" count "$2" "$3"; }
journal() { inside journalctl -b -u tendon -o cat --no-pager | tail -12; }
boot
result $? "its systemd boots" "$(cat "$work/boot.log")"

# ---- install: the service starts by itself
answer=$(inside apt-get install -q -y --no-install-recommends "${ours[@]}" 2>&1 </dev/null)
good=$?
result $good "the packages are installed" "$answer"
if [ $good -ne 0 ]; then
    leave
    return
fi
until_true running
result $? "the service runs then (Type=notify: it is ready)" "$(journal)"
is "$(inside systemctl is-enabled tendon)" enabled "and starts at boot"
is "$(inside tendon --version)" "tendon $upstream" "the command runs without Swift"
like "$(inside tendon config check /etc/tendon/tendon.conf 2>&1)" "no mistakes" "the configuration that is installed is right"
user=$(stat -c %u "$machine/var/lib/private/tendon")
[ "$user" -ge 61184 ] && [ "$user" -le 65519 ]
result $? "the service has a user of its own: $user" ""

# ---- simulated wearables of this machine: they stay when the gateway reboots, as devices do
mkdir -p "$work/devices" "$shared/tendon"
cp "$TENDON" "$work/devices/tendon"
chown "$user" "$shared" "$shared/tendon" "$work/devices"
chmod 700 "$shared/tendon"
conf() { # further lines of [gateway]
    cat >"$work/conf" <<CONF
[gateway]
radio = virtual
$1
[output]
lines = no
log-level = info
[mqtt]
broker = mqtt://localhost
gateway = gw
[device C0:7E:01:00:00:01 random]
name = living-belt
[rules]
rule = activ5.squeeze every 2 s => living-belt.signal warning
CONF
    inside tee /etc/tendon/tendon.conf <"$work/conf" >/dev/null
}
number=0
families=(bose feelspace activ5 fjorden)
simulate() {
    local family
    for family in "${families[@]}"; do
        setpriv --reuid "$user" --regid "$user" --clear-groups env XDG_RUNTIME_DIR="$shared" XDG_STATE_HOME="$work/devices" \
            "$work/devices/tendon" simulate "$family" --radio virtual --json --address "C0:7E:0$number:00:00:01/random" \
            >"$work/$family.out" 2>"$work/$family.err" </dev/null &
        children+=("$!")
        number=$((number + 1))
    done
}
simulate
for family in "${families[@]}"; do until_true ready "$family"; done
result $? "four families are simulated" "$(cat "$work"/*.err)"
listen first
inside mkdir -p /etc/systemd/system/tendon.service.d
printf '[Service]\nEnvironment=XDG_RUNTIME_DIR=/srv/shared\nReadWritePaths=/srv/shared\n' |
    inside tee /etc/systemd/system/tendon.service.d/virtual-radio.conf >/dev/null
conf 'pair = 60'
inside systemctl daemon-reload
inside systemctl restart tendon
result $? "the service restarts with another configuration" "$(journal)"

topic() { # family
    case $1 in
        bose) echo tendon/C0:7E:00:00:00:01 ;;
        feelspace) echo tendon/living-belt ;;
        activ5) echo tendon/C0:7E:02:00:00:01 ;;
        fjorden) echo tendon/C0:7E:03:00:00:01 ;;
    esac
}
available() { # listener
    local family
    for family in "${families[@]}"; do
        until_true seen "$1" "$(topic "$family")/availability" 'm["state"] == "online"'
        result $? "$2: $family is available" "$(journal)"
    done
}
works() { # listener, when
    available "$1" "$2"
    until_true seen "$1" tendon/living-belt/event 'm["event"] == "action" and m["action"] == "living-belt.signal warning"'
    result $? "$2: a squeeze of the trainer: the rule applies to the belt" "$(journal)"
    inside mosquitto_pub -h localhost -t tendon/living-belt/set -m '{"vibrate": 90}'
    until_true seen "$1" tendon/living-belt/event 'm["event"] == "action" and m["action"] == "feelspace.vibrate 90"'
    result $? "$2: set: the belt vibrates" "$(journal)"
}
works first "installed"
for family in "${families[@]}"; do
    until_true seen first "$(topic "$family")" 'm["message_id"].startswith("gw-")'
    result $? "the state of $family is published" "$(journal)"
done
until_true grep -q '"event":"write".*"motors":\[0,0,0,0,[1-9]' "$work/feelspace.out"
result $? "the motor of the belt at 90 degrees is on" "$(tail -n 3 "$work/feelspace.out")"
answer=$(python3 "$root/Tests/Command/check_discovery.py" "$work/first.mqtt" 2>&1)
result $? "Home Assistant's discovery is as its schemas require" "$answer"
printf '%s\n' "$answer" | sed 's/^/# /'
state=$machine/var/lib/private/tendon
is "$(stat -c '%a %u' "$state" "$state/bonds" | xargs)" "700 $user 600 $user" "bonds are readable by the service only"
until_true seen first tendon/bridge/gw/state 'm["state"] == "online"'
result $? "the gateway is online" ""

# ---- reboot; new devices may not pair any more
conf ''
bonds=$(sha256sum <"$state/bonds")
goes_down reboot
result $? "the system goes down" "$(tail -n 3 "$work/boot.log")"
boot
result $? "and boots again" "$(tail -n 3 "$work/boot.log")"
listen second
works second "rebooted"
is "$(sha256sum <"$state/bonds")" "$bonds" "rebooted: the bonds are those of before"

# ---- upgrade
dpkg-deb -R "$(deb tendon)" "$work/newer"
sed -i "s/^Version: .*/Version: $version+test/" "$work/newer/DEBIAN/control"
dpkg-deb --root-owner-group -Zgzip -z1 -b "$work/newer" "$machine/srv/newer.deb" >/dev/null
listen third
answer=$(inside dpkg -i /srv/newer.deb 2>&1 </dev/null)
result $? "the upgrade asks nothing" "$answer"
is "$(inside dpkg-query -W -f '${Version} ${db:Status-Status}' tendon)" "$version+test installed" "the newer version is installed"
is "$(inside sha256sum /etc/tendon/tendon.conf | cut -d' ' -f1)" "$(sha256sum <"$work/conf" | cut -d' ' -f1)" "upgrade: the configuration is kept"
until_true eval '[ "$(times third "$(topic fjorden)/event" "m[\"event\"] == \"connected\"")" -ge 1 ]'
result $? "upgrade: the service restarted, and connects to a bonded device" "$(journal)"
is "$(sha256sum <"$state/bonds")" "$bonds" "upgrade: the bonds are kept"

# ---- remove, purge
answer=$(inside dpkg -r tendon 2>&1)
result $? "removed" "$answer"
is "$(inside systemctl is-active tendon)" inactive "removed: the service ended"
until_true seen third tendon/bridge/gw/state 'm["state"] == "offline"'
result $? "removed: the broker knows that the gateway is offline" ""
is "$(sha256sum <"$state/bonds") $(inside sha256sum /etc/tendon/tendon.conf | cut -d' ' -f1)" \
    "$bonds $(sha256sum <"$work/conf" | cut -d' ' -f1)" "removed: configuration and bonds are still there"
answer=$(inside dpkg -P tendon 2>&1)
result $? "purged" "$answer"
is "$(inside find /etc /var /usr /run -path '*tendon*' -not -path '*/doc/*' -not -path '/var/lib/dpkg/*' \
    -not -path '/etc/systemd/system/tendon.service.d*' -not -name 'libtendon*' -not -path '*/tendon-doc*' 2>/dev/null | xargs)" "" \
    "purged: nothing of it is left"
goes_down poweroff
result $? "the system is switched off" "$(tail -n 3 "$work/boot.log")"
leave

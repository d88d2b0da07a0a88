# SPDX-License-Identifier: MIT
# title: adapters that cannot be used: blocked by rfkill, with the address of another one, not configured; what the owner is told
# kinds: none
# needs: venv
# mask: bluetooth
# limit: 120
source "$PROJECT/Tests/Deployed/lib.sh"
sed -i 's/^\[gateway\]$/&\nadapter = hci0, hci1/' /etc/tendon/tendon.conf
printf '[web]\naddress = 127.0.0.1:8099\n' >>/etc/tendon/tendon.conf
systemctl restart tendon
wearables_start
listen
check "without an adapter the service becomes active" wait_for 60 active tendon
wearables_ready
for family in "${FAMILIES[@]}"; do wear "start $family"; done

status() { systemctl show -p StatusText --value tendon; }
page() { # the first event of the page: the gateway, and what it waits for
    on_host /usr/bin/python3 -c 'from urllib.request import urlopen
with urlopen("http://127.0.0.1:8099/events", timeout=10) as events:
    print(next(line.decode() for line in events if b"\"gateway\"" in line))'
}
# told_everywhere WORDS COMMAND: status, journal, broker, page and doctor have the words, doctor the command that helps.
told_everywhere() {
    check "the status of the unit: $1" wait_for 40 eval "status | grep -q '$1'"
    check "the journal" eval "journalctl -u tendon | grep -q '$1'"
    check "the broker" told 20 "topic == 'tendon/bridge/gw/info' and '$1' in str(m.get('waiting'))"
    check "the page" eval "page | grep -q '$1'"
    check "doctor, with a command: $2" eval "tendon doctor 2>&1 | tee -a '$CASE_DIR/doctor.txt' | grep -q '$2'"
}
block_all() { # 1 or 0: every Bluetooth adapter, those that come later among them (struct rfkill_event)
    printf "\\0\\0\\0\\0\\2\\3\\$1\\0" >/dev/rfkill
}
controller() { # OPTION...: another one
    # Not by on_host: its process is the one that is ended.
    chroot /host /usr/bin/env PATH="$PATH" /usr/bin/python3 "$PROJECT/Tests/Kernel/controller.py" \
        --log "$CASE_DIR/controller.txt" "$@" &
    OTHER=$!
}
gone() { # its adapter
    kill -9 $OTHER
    wait_for 10 eval "[ ! -e /sys/class/bluetooth/$1 ]" || not_ok "$1 goes away"
}

mark
block_all 1
wear plug
told_everywhere "rfkill" "rfkill unblock"
mark
block_all 0
streams 90 "unblocked"

# The same address: only the first of the two can have connections, which Linux makes by address.
mark
controller --address 00:53:00:5E:04:01 # bumble's
told_everywhere "same address" "address"
streams 60 "beside an adapter with the same address"
check "neither adapter was reset" eval '! received 0 "m[\"event\"] == \"reset\""'
gone hci1

mark
controller --unconfigured
told_everywhere "btmgmt public-addr" "public-addr"
streams 60 "beside an adapter that is not configured"
gone hci1
mark
controller
check "one that can be used is opened" wait_for 40 eval "! status | grep -q waiting"
streams 60 "with a second adapter"

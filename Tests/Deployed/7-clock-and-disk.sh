# SPDX-License-Identifier: MIT
# title: the clock begins in 1970 and jumps; suspend; a state disk that is full, or read-only; brokers that are no good
# kinds: none
# needs: venv
# mask: bluetooth
# disable: tendon
# limit: 450
true_time=$(date +%s)
read -r true_uptime _ </proc/uptime
set_clock() { # [SECONDS]: to the time that it is, and so much more
    local up
    read -r up _ </proc/uptime
    date -s "@$((true_time + ${up%.*} - ${true_uptime%.*} + ${1:-0}))" >/dev/null
}
# A machine without a battery for its clock. Above this line nothing has a time.
date -s @3600 >/dev/null
source "$PROJECT/Tests/Deployed/lib.sh"

# A disk that is soon full.
state=/var/lib/private/tendon
mkdir -p "$state"
mount -t tmpfs -o size=256k,mode=700 state "$state"
fill() { dd if=/dev/zero of="$state/fill" bs=1k >/dev/null 2>&1 || true; }
room() { rm "$state/fill"; }
said() { journalctl -b -o cat -u tendon | grep -c "$1"; }

# What a machine with a read-only root has in memory. A project that is below one of them stays there.
mount --rbind "$PROJECT" /mnt
for directory in /var/log /var/lib/mosquitto /tmp; do mount -t tmpfs -o mode=1777 memory $directory; done
[ -d "$PROJECT" ] || { mkdir -p "$PROJECT" && mount --rbind /mnt "$PROJECT"; }
mkdir -m 777 /var/log/mosquitto

# The broker keeps the session of the record over its own restarts: the record has all that it ever got. The gateway has a port
# of its own, where other things can be in the place of the broker.
printf 'max_queued_messages 0\nallow_anonymous true\nlistener 1883\nlistener 1884\n' >/etc/mosquitto/conf.d/record.conf
sed -i 's|^broker = .*|broker = mqtt://localhost:1884|' /etc/tendon/tendon.conf
systemctl restart mosquitto
listen -q 1 -c -i record -x 86400
broker_stops() { systemctl stop mosquitto; }
broker_starts() { systemctl start mosquitto; }
sessions() { grep -c 'as tendon-gw' /var/log/mosquitto/mosquitto.log; }
undisturbed() { ! received 0 'm["event"] == "disconnected"'; }

wearables_start
wearables_ready
for family in "${FAMILIES[@]}"; do wear "start $family"; done
wear plug
mark
check "the service starts" systemctl start tendon
streams 120 "in 1970"
check "events have the time of the clock" told 10 'topic.endswith("/event") and m["time"].startswith("1970-01-01T01:0")'

# The clock is set while the broker is away.
mark
began=$since
broker_stops
sent_more fjorden 4
set_clock
sent_more fjorden 4
mark
broker_starts
streams 120 "the clock was set"
check "events have its time" told 10 "topic.endswith('/event') and m['time'].startswith('$(date -u +%F)')"
since=$began
check "no wearable was disconnected" undisturbed
record --text "the clock was set while the broker was away: " order 0 any

# An hour back, and on again.
mark
before=$(sessions) lines=$(wc -l <"$BROKER")
set_clock -3600
sent_more fjorden 4
check "an hour back: the broker carries on" wait_for 20 eval '[ "$(tail -n "+$((lines + 1))" "$BROKER" | grep -c "\"grip\\\\*\"")" -ge 3 ]'
set_clock
streams 60 "and on again"
check "no wearable was disconnected by it" undisturbed
check "nor the broker" eval 'test "$before" -gt 0 && test "$(sessions)" = "$before"'

# Suspended: the kernel ends all connections, and every process stands still. The devices of the machine stay awake, because its file
# systems do not survive their sleep, and CLOCK_MONOTONIC goes on.
echo 5 >/sys/module/suspend/parameters/pm_test_delay
echo freezer >/sys/power/pm_test
mark
check "the machine is suspended, and wakes up" eval 'echo freeze >/sys/power/state'
check "all connections have ended" received 20 'm["event"] == "disconnected" and m["device"] == "bose"'
streams 90 "awake"
wear unplug
echo freeze >/sys/power/state
mark
wear plug
streams 90 "awake, with an adapter that was gone"

# The disk of the state is full; the broker goes away, so that it is needed.
mark
fill
broker_stops
# What the log of the file has room for is written first.
check "full disk: said" wait_for 90 eval '[ "$(said "queue cannot be written")" = 1 ]'
sent_more fjorden 12
check "and not again" eval 'test "$(said "queue cannot be written" | tee /dev/stderr)" = 1'
broker_starts
streams 90 "on a full disk"
check "no wearable was disconnected by a full disk" undisturbed
record --text "on a full disk: " order 0 any
# Its end makes room.
systemctl stop tendon
fill
mark
check "it starts on a full disk" systemctl start tendon
streams 90 "started on a full disk"
room
broker_stops
sent_more fjorden 8
check "with room there is a queue again" eval 'test "$(said "queue cannot be written")" -le 2 && [ "$(stat -c %s "$state"/mqtt-gw.db-wal)" -gt 0 ]'
broker_starts
streams 90 "with room"

# Nothing can be written but what is in memory.
systemctl stop tendon
# As the kernel does it after an error of the disk: the file system, and not this mount of it, which the service gets a copy of.
check "the root and the disk of the state are read-only" eval 'mount -o remount,ro "$state" && mount -o remount,bind,rw "$state" && mount -o remount,ro /'
mark
check "it starts on a read-only root" systemctl start tendon
streams 90 "read-only"
check "it says so" wait_for 20 eval '[ "$(said "Read-only file system")" = 1 ]'
before=$(said "queue is written again")
mount -o remount,rw "$state"
check "and that it is over" wait_for 30 eval '[ "$(said "queue is written again")" = $((before + 1)) ]'
mount -o remount,rw /

# An hour with a broker that is no good: ReportTests plays it. Here each kind of it for half a minute: few lines, and the attempts are
# fewer and fewer.
mark
# Its attempts begin with short pauses again.
check "the service starts again" systemctl restart tendon
streams 90 "before the broken brokers"
mark
cursor=$(journalctl -b -n 0 --show-cursor -u tendon | sed -n 's/^-- cursor: //p')
lines_of_broker() { journalctl -b -o cat -u tendon --after-cursor "$cursor" | grep 'MQTT'; }
broker_stops
for mode in closes silent refuses dies; do
    chroot /host /usr/bin/env PATH="$PATH" /usr/bin/python3 "$PROJECT/Tests/Deployed/broken_broker.py" 1884 $mode >"$CASE_DIR/$mode.txt" 2>&1 &
    broken=$!
    sent_more fjorden 30
    kill $broken
    wait $broken 2>/dev/null
done
lines_of_broker >"$CASE_DIR/broken.txt"
check "broken brokers: something is said" test -s "$CASE_DIR/broken.txt"
often=$(sort "$CASE_DIR/broken.txt" | uniq -c | awk '$1 > 2')
check "no line more than twice: $often" test -z "$often"
check "in 10 lines at most: $(wc -l <"$CASE_DIR/broken.txt")" eval '[ "$(wc -l <"$CASE_DIR/broken.txt")" -le 10 ]'
attempts=$(cat "$CASE_DIR"/{closes,silent,refuses,dies}.txt | wc -l)
check "with 3 to 14 attempts: $attempts" eval '[ "$attempts" -ge 3 ] && [ "$attempts" -le 14 ]'
broker_starts
streams 120 "with a broker again"
check "no wearable was disconnected by brokers" undisturbed
record --text "after the broken brokers: " order 0 any

#!/bin/bash
# SPDX-License-Identifier: MIT
# run --metrics-file: OpenMetrics text for a node exporter's textfile collector.
. "$(dirname "$0")/tap.bash"
belt=C0:00:00:00:0A:01 trainer=C0:00:00:00:0A:02
mkdir "$work/textfile"
file=$work/textfile/tendon.prom
value() { python3 "$root/Tests/Command/check_metrics.py" "$file" value "$@"; }
above() { [ -e "$file" ] && awk -v "value=$(value "${@:2}")" -v "limit=$1" 'BEGIN { exit !(value + 0 > limit) }'; }

start belt simulate feelspace --radio virtual --json --address "$belt/random"
belt_id=$child
start trainer simulate activ5 --radio virtual --json --address "$trainer/random" --name 'a "grip" \ of ours'
trainer_id=$child
until_true ready belt
until_true ready trainer
ln -s "$work/other" "$file.new"
start one run --radio virtual --pair --json --metrics-file "$file" --metrics-interval 0.2
gateway=$child
until_true above 20 tendon_device_samples_total "address=$trainer"
result $? "samples are counted" "$(cat "$file" "$work/one.err")"
until_true above 0 tendon_device_battery_ratio "address=$belt"
cp "$file" "$work/copy"
# Debian's Python has the parser, if another one is first in PATH.
python=python3
"$python" -c 'import prometheus_client' 2>/dev/null || python=/usr/bin/python3
answer=$("$python" "$root/Tests/Command/check_metrics.py" "$work/copy" format 2>&1)
result $? "the format is OpenMetrics" "$answer"
echo "# $answer"
is "$(stat -c %a "$file")" 644 "the collector's user may read the file"
[ ! -e "$work/other" ]
result $? "a link in the place of the new file is not followed" "$(ls -l "$work" "$work/textfile")"
is "$(value tendon_device_connected family=feelspace "address=$belt" address_type=random)" 1 "a device: family, address, type"
like "$(cat "$work/copy")" 'address="'"$trainer"'",address_type="random",name="a \\"grip\\" \\\\ of ours"' "a name is escaped"
until_true above 0.1 tendon_device_battery_ratio family=activ5
result $? "battery, as a ratio" "$(value tendon_device_battery_ratio)"
awk -v "signal=$(value tendon_device_rssi_dbm "address=$belt")" 'BEGIN { exit !(signal < 0 && signal > -127) }'
result $? "signal, in dBm" "$(value tendon_device_rssi_dbm "address=$belt")"
is "$(value tendon_lost_packets_total)" 0 "the virtual radio loses nothing, and that is counted"
for metric in tendon_connect_reissues tendon_scan_restarts tendon_adapter_power_cycles; do
    like "$(cat "$work/copy")" "${metric}_total 0" "${metric}_total: the virtual radio needs no watchdog"
done
above 1e6 tendon_process_resident_memory_bytes
result $? "memory of the process" "$(value tendon_process_resident_memory_bytes)"
process=$(pgrep -P "$gateway")
expected=$(find "/proc/$process/fd" -mindepth 1 | wc -l)
measured=$(value tendon_process_open_fds)
# The file itself is open while it is composed in some moments of the run.
[ $((measured - expected)) -le 1 ] && [ $((expected - measured)) -le 1 ]
result $? "descriptors of the process" "got $measured, expected $expected"
started=$(value tendon_process_start_time_seconds) expected=$(date -d "$(ps -o lstart= -p "$process")" +%s)
# ps cuts two times to whole seconds, and the machine's clock may have been corrected since it was started.
awk -v "got=$started" -v "expected=$expected" 'BEGIN { exit !(got - expected < 3 && expected - got < 3) }'
result $? "the start of the process" "$started, expected $expected"
like "$(cat "$work/copy")" 'tendon_build_info\{version="[0-9.]+"\} 1' "the version"

# Connections are lost, and return: the trainer's at once, the belt's not, because the new belt does not have the bond.
kill -KILL "$(pgrep -P "$belt_id")" "$(pgrep -P "$trainer_id")"
wait "$belt_id" "$trainer_id" 2>/dev/null
until_true above 0 tendon_device_disconnections_total "address=$trainer" reason=device_disconnected
result $? "a connection that ended is counted, with its reason" "$(grep disconn "$file")"
is "$(value tendon_device_connected "address=$trainer")" 0 "and the device is not connected"
start belt2 simulate feelspace --radio virtual --json --address "$belt/random"
start trainer2 simulate activ5 --radio virtual --json --address "$trainer/random"
until_true above 0 tendon_device_reconnections_total "address=$trainer"
result $? "a new connection is counted" "$(grep reconn "$file")"
until_true above 0 tendon_device_failed_connections_total "address=$belt"
result $? "and one that failed" "$(grep failed "$file")"
is "$(value tendon_device_reconnections_total "address=$belt")" 0 "which is no connection"

# The directory goes away for a time.
mv "$work/textfile" "$work/away"
until_true grep -q "metrics: .*tendon.prom: No such file" "$work/one.err"
result $? "a file that cannot be written is reported" "$(cat "$work/one.err")"
sleep 0.5
mv "$work/away" "$work/textfile"
until_true above 1 tendon_metrics_file_failures_total
result $? "counted, and written again later" "$(cat "$work/one.err")"
is "$(grep -c 'No such file' "$work/one.err")" 1 "the report comes once"
kill "$gateway"
wait "$gateway"
is "$(find "$work/textfile" -type f)" "" "a gateway that ended leaves no figures"

# The example of the service's configuration is in a folder that its page tells to open in the unit.
folder=$(sed -n 's,^# file = \(/.*\)/tendon.prom$,\1,p' "$root/packaging/tendon.conf")
is "$(grep -c "^ReadWritePaths=$folder$" "$root/docs/metrics.md")" 1 "docs/metrics.md: the drop-in for the folder of the example"
is "$(grep -B1 '^# \[metrics\]' "$root/packaging/tendon.conf" | grep -c 'docs/metrics.md')" 1 "the example names the page"
run run --radio virtual --for 1 --metrics-file "$work/none/tendon.prom"
like "$status $err" "^1 .*metrics: .*No such file" "a file that cannot be written at the start: an error"
mkfifo "$work/pipe"
run run --radio virtual --for 1 --metrics-file "$work/pipe"
is "$status $(stat -c %F "$work/pipe")" "2 fifo" "a pipe is no file: usage, and it stays"
run run --radio virtual --metrics-interval 5
is "$status" 2 "an interval without a file is refused"
# What is no file of metrics stays as it is.
echo notes >"$work/notes.txt"
run run --radio virtual --families activ5 --metrics-file "$work/notes.txt" --for 1 --no-lines
like "$status $err" "^1 .*notes.txt exists and has no metrics of tendon; it is not replaced" "--metrics-file: another file"
is "$(cat "$work/notes.txt")" notes "it is left alone"

# The battery of a device file, in a sample: 64 %, and then the device does not know it.
cat >"$work/tag.json" <<'END'
{"name": "tag", "title": "Tag", "find": {"name": "Tag"}, "events": [{"name": "level", "sample": true}],
 "characteristics": [{"name": "level", "service": "180f", "uuid": "2a19", "every_ms": 1000, "examples": ["40", "ff"],
  "notify": [{"name": "battery_percent", "type": "u8", "unknown": 255}]}]}
END
start tag simulate tag --define "$work/tag.json" --radio virtual --json
tag=$child
until_true ready tag
file=$work/textfile/tag.prom
start two run --define "$work/tag.json" --families tag --radio virtual --json --metrics-file "$file" --metrics-interval 0.2
gateway=$child
until_true eval '[ "$(value tendon_device_battery_ratio family=tag)" = 0.64 ]'
result $? "the battery of a device file" "$(cat "$file")"
until_true eval '! grep -q "^tendon_device_battery_ratio{" "$file"'
result $? "what it does not know any more is gone" "$(grep battery "$file")"
kill -INT "$gateway" "$tag"
wait "$gateway" "$tag" 2>/dev/null

finish

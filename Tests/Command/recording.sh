#!/bin/bash
# SPDX-License-Identifier: MIT
# --record and export: folders that pandas reads, whatever happened to the program and the disk.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"

# What pandas says of a folder: EXPRESSION of `wide(PATTERN)`, `long`, `session` and `events`.
folder() { # FOLDER EXPRESSION
    /usr/bin/python3 - "$1" "$2" <<'END' 2>&1
import glob, json, pandas, sys
folder = sys.argv[1]
def wide(pattern):
    return pandas.read_csv(glob.glob(f"{folder}/{pattern}")[0], parse_dates=["time"])
long = pandas.read_csv(f"{folder}/samples.csv", parse_dates=["time"])
session = json.load(open(f"{folder}/session.json"))
events = [json.loads(line) for line in open(f"{folder}/events.jsonl")]
print(eval(sys.argv[2]))
END
}
newest() { find "$1" -mindepth 1 -maxdepth 1 -type d | sort | tail -n 1; }

limit=3600
start head simulate bose --radio virtual --json --address C0:00:00:00:00:10/random
start trainer simulate activ5 --radio virtual --json --address C0:00:00:00:00:12/random
until_true grep -q ready "$work/head.out"
until_true grep -q ready "$work/trainer.out"

printf '[gateway]\nradio = virtual\n[recording]\ndirectory = %s\n[device C0:00:00:00:00:10 random]\nname = left\n' \
    "$work/recordings" >"$work/tendon.conf"
timeout 20 "$TENDON" run --config "$work/tendon.conf" --sensors rotation,accelerometer --measure force,imu --json --for 4 \
    >"$work/run.out" 2>"$work/run.err"
is $? 0 "run with [recording]"
one=$(newest "$work/recordings")
is "$(stat -c %a "$one") $(stat -c %a "$one/samples.csv")" "700 600" "a folder for its owner only"
printed() { grep '"event":"sample"' "$work/run.out" | grep -c "\"sensor\":\"$1\""; }
for sensor in rotation accelerometer; do
    is "$(folder "$one" "len(wide('left-C00000000010.$sensor.csv'))")" "$(printed $sensor)" "each sample: $sensor"
done
for sensor in force imu; do
    is "$(folder "$one" "len(wide('activ5-C00000000012.$sensor.csv'))")" "$(printed $sensor)" "each sample: $sensor"
done
is "$(folder "$one" "sum(len(wide(s['file'])) * len(s['channels']) for d in session['devices'] for s in d['sensors']) == len(long)")" \
    True "the long form has a row for each number"
angles() { grep '"event":"sample"' "$work/run.out" | grep '"rotation"' | sed "s/.*\"$1\":\([-0-9.e]*\).*/\1/" | head -n 1; }
is "$(folder "$one" "abs(wide('*.rotation.csv').yaw_deg[0] - ($(angles yaw_deg))) < 0.1")" True "the numbers of the lines"
is "$(folder "$one" "[list(wide('*.rotation.csv').columns)[-1], wide('*.rotation.csv').accuracy_rad.round(3).unique().tolist(), wide('*.accelerometer.csv').accuracy.unique().tolist()]")" \
    "['accuracy_rad', [0.01], [3]]" "how accurate they are"
is "$(folder "$one" "(wide('*.rotation.csv').received_at.diff().dropna() >= 0).all() and (wide('*.rotation.csv').sampled_at <= wide('*.rotation.csv').received_at).all()")" \
    True "times go on, and no sample was measured after it arrived"
is "$(folder "$one" "wide('*.imu.csv').device_time_ms.is_monotonic_increasing and wide('*.imu.csv').device_time_ms.notna().all()")" True \
    "the device's time of a trainer"
is "$(folder "$one" "(wide('*.rotation.csv').time - pandas.Timestamp.now('UTC')).dt.total_seconds().abs().max() < 60")" True \
    "the time of the wall"
is "$(folder "$one" "[sorted(s['sensor'] for s in d['sensors']) for d in sorted(session['devices'], key=lambda d: d['label'])]")" \
    "[['force', 'imu'], ['accelerometer', 'rotation']]" "the description: sensors"
is "$(folder "$one" "all(s['samples'] == len(wide(s['file'])) for d in session['devices'] for s in d['sensors'])")" True \
    "the description: how many"
is "$(folder "$one" "[d['connections'][0]['reason'] for d in session['devices']] + [session['ended'] > session['began'], session['program'][:7]]")" \
    "['requested', 'requested', True, 'tendon ']" "the description: connections and the end"
is "$(folder "$one" "[s['key'] for s in session['settings'] if s['section'] == 'recording']")" "['directory']" "the settings"
is "$(folder "$one" "sorted({e['event'] for e in events} & {'connected', 'disconnected', 'sample'})")" \
    "['connected', 'disconnected']" "events without samples"

# Killed in the middle: what was there a second before is there, each file ends with a whole row, and the next run says so.
start killed run --radio virtual --record "$work/killed" --sensors rotation --measure none --no-lines
until_true eval 'test -s "$work"/killed/*/*.rotation.csv'
sleep 2.5
kill -KILL "$(pgrep -P "$child")"
wait "$child" 2>/dev/null
two=$(newest "$work/killed")
like "$(cat "$two/session.json")" '"ended":null' "a recording that was killed has no end"
printf '2026-11-29T1' >>"$two"/samples.csv
run run --radio virtual --record "$work/killed" --no-lines --for 0.5
like "$err" "its program was killed" "the next run says it"
is "$(folder "$two" "[g['reason'] for g in session['gaps']][-1:] + [session['ended'] is not None]")" "['killed', True]" \
    "what is missing is in its description"
is "$(folder "$two" "len(wide('*.rotation.csv')) >= 50 and not wide('*.rotation.csv').yaw_deg.isna().any()")" True \
    "all but the last second is there, and no half row"
is "$(folder "$two" "[s['samples'] for d in session['devices'] for s in d['sensors']] == [len(wide('*.rotation.csv'))]")" True "and counted"

# A disk that is full: the run goes on, the loss is reported once and is in the description.
(
    trap '' XFSZ
    ulimit -f 24
    exec timeout 20 "$TENDON" run --radio virtual --record "$work/full" --sensors rotation --measure none --no-lines --for 6
) >"$work/full.out" 2>"$work/full.err"
is $? 1 "a full disk does not end a run, which has failed"
like "$(tail -n 1 "$work/full.err")" "recording: the recording $work/full/[^ ]* lacks [1-9][0-9]* rows: see gaps in session.json" "and its last sentence says what is missing"
is "$(grep -c 'samples are lost until it can be written' "$work/full.err")" 1 "it is reported once"
three=$(newest "$work/full")
is "$(folder "$three" "all(g['reason'] == 'not_written' and g['samples'] > 0 for g in session['gaps']) and session['gaps'][0]['file']")" samples.csv \
    "the gap says how many"
is "$(folder "$three" "not wide('*.rotation.csv').yaw_deg.isna().any()")" True "no half row"

(
    trap '' XFSZ
    ulimit -f 0
    exec timeout 20 "$TENDON" run --radio virtual --record "$work/none" --no-lines --for 1
) 2>&1 | cat >"$work/none.err"
like "$(cat "$work/none.err")" "--record: $work/none/.*session.json: File too large" "a recording that cannot begin"
is "$(ls "$work/none")" "" "leaves no folder"

# A disk that is full to the end, of which the description takes the room that was kept for it.
small() { # OPTION...: a run on a disk of 200 kB, whose folder is copied
    local user=()
    [ "$(id -u)" = 0 ] || user=(--map-root-user)
    mkdir -p "$work/small"
    # shellcheck disable=SC2016
    unshare "${user[@]}" --mount bash -c 'mount -t tmpfs -o size=200k small "$0" && cd "$0" && "$@"; cp -r . "$0.copy"' \
        "$work/small" timeout 20 "$TENDON" run --radio virtual --record . --sensors all --json "$@"
}
small --for 6 >"$work/small.out" 2>"$work/small.err"
counted=$(tail -n 1 "$work/small.out" | sed 's/.*"missing_rows":\([0-9]*\).*/\1/')
said=$(sed -n 's/.* lacks \([0-9]*\) rows.*/\1/p' "$work/small.err")
like "$counted $((said - counted))" '^[1-9][0-9]* [01]$' "the summary counts them, before its own line is lost"
four=$(newest "$work/small.copy")
is "$(folder "$four" "all(g['reason'] == 'not_written' and g['samples'] > 0 and g['to'] for g in session['gaps']) and bool(session['gaps'])")" \
    True "a disk that stays full: the gaps and their samples"
is "$(folder "$four" "session['ended'] > '2' and session['ended'] >= session['gaps'][-1]['to']")" True "and the end"
is "$(find "$four" -name '*.room')" "" "nothing else stays"
run run --radio virtual --record "$work/small.copy" --no-lines --for 1
unlike "$err" "was killed" "the next run finds it whole"

# Parts, and the oldest that make room.
run run --radio virtual --record "$work/parts" --record-part 1s --sensors rotation --no-lines --for 3.5
is "$status" 0 "run with parts"
parts=$(find "$work/parts" -mindepth 1 -maxdepth 1 -type d | wc -l)
is "$((parts >= 3 && parts <= 5))" 1 "a folder each second"
is "$(folder "$(newest "$work/parts")" "session['previous'] < '3' and len(session['devices']) >= 1")" True \
    "a part names the one before, and has the devices"
total=0
for part in "$work/parts"/*/; do
    total=$((total + $(folder "$part" "sum(len(wide(s['file'])) for d in session['devices'] if d['family'] == 'bose' for s in d['sensors'])")))
done
summary=$(printf '%s\n' "$out" | tail -n 1)
is "$((total >= 150))" 1 "no sample is lost between parts"
mkdir -p "$work/old/2020-01-01T00-00-00Z"
cp "$one"/* "$work/old/2020-01-01T00-00-00Z"
head -c 2000000 /dev/zero >>"$work/old/2020-01-01T00-00-00Z/samples.csv"
run run --radio virtual --record "$work/old" --record-limit 1M --no-lines --for 0.5
is "$status $(find "$work/old" -mindepth 1 -maxdepth 1 | wc -l)" "0 1" "--record-limit removes the oldest"
mkdir -p "$work/old/mine"
touch "$work/old/mine/data"
run run --radio virtual --record "$work/old" --record-limit 1M --no-lines --for 0.5
is "$(ls "$work/old/mine")" data "and nothing that is no recording"
noted=$(find "$work/old" -name session.json -printf '%h\n' | head -n 1)
touch "$noted/analysis.csv"
head -c 1500000 /dev/zero >>"$noted/events.jsonl"
run run --radio virtual --record "$work/old" --record-limit 1M --no-lines --for 0.5
is "$(ls "$noted")" analysis.csv "nor what the user has put into one"

# A capture.
run capture "$work/capture" --radio virtual --sensors rotation --notifications 20 --for 5 --json
run replay "$work/capture" --json
samples=$(printf '%s\n' "$out" | grep -c '"event":"sample"')
yaws=$(printf '%s\n' "$out" | grep -c '"event":"sample".*"sensor":"rotation"')
mkdir "$work/exported"
run export "$work/capture" "$work/exported"
is "$status" 0 "export"
like "$out" "/exported/.*: $samples samples|\"samples\":$samples" "export says where, and how many"
is "$(folder "$(newest "$work/exported")" "len(wide('*.rotation.csv'))")" "$yaws" "export: each sample of replay"
is "$(folder "$(newest "$work/exported")" "[list(wide('*.rotation.csv').columns)[-1], wide('*.rotation.csv').accuracy_rad.round(3).unique().tolist()]")" \
    "['accuracy_rad', [0.01]]" "export: how accurate they are"
is "$(folder "$(newest "$work/exported")" "[pandas.Timestamp(session['began']) <= long.time.min(), 0 <= (pandas.Timestamp(session['ended']) - long.time.max()).total_seconds() < 5]")" \
    "[True, True]" "export: it begins and ends with the capture"
run export "$work/capture" "$work/exported" --json
like "$out" '"event":"exported".*"samples":'"$samples" "export --json"
run export "$work/capture" "$work/nowhere"
is "$status $(find "$work/nowhere" -name samples.csv | wc -l)" "0 1" "export makes its directory, as run does"
run export "$work/capture" "$work/nowhere/and/deeper"
like "$status $err" "^1 .*nowhere/and/deeper: No such file or directory" "and no more than one"
run export "$work/capture" "$work/capture"
like "$status $err" "^1 .*capture: Not a directory" "export into a file"
run export "$work/tendon.conf" "$work/exported"
like "$status $err" "^1 .*not a btsnoop file" "export of another file"
run export
is "$status" 2 "export without a file"

# One that is interrupted leaves nothing: a part would look like the whole.
python3 - "$work/long.btsnoop" "$work/capture" <<'END'
import sys
data = open(sys.argv[2], "rb").read()
open(sys.argv[1], "wb").write(data[:16] + data[16:] * 3000)
END
"$TENDON" export "$work/long.btsnoop" "$work/interrupted" --json >"$work/out" 2>"$work/err" &
exporting=$!
until_true eval 'test -n "$(find "$work/interrupted" -name samples.csv)"'
kill -INT $exporting
wait $exporting
is "$?" 1 "an export that is interrupted"
like "$(cat "$work/err")" "interrupted; nothing was written" "says so"
is "$(find "$work/interrupted" -mindepth 1)$(grep exported "$work/out")" "" "and leaves nothing"

# Words, texts, bytes and integers of 64 bits of a device file: in the cells they are what the lines have.
cat >"$work/odd.json" <<'END'
{
  "name": "odd", "title": "Odd", "find": {"services": ["fff0"], "name": "Odd*"},
  "characteristics": [
    {"name": "mode", "service": "fff0", "uuid": "fff1", "every_ms": 100, "examples": ["01 01000000000020 00 0a0b 4d 00"],
     "notify": [{"name": "state", "type": "u8", "values": [[1, "Off position"]]}, {"name": "big", "type": "u64"},
                {"name": "key", "type": "bytes", "length": 2}, {"name": "note", "type": "utf8"}]},
    {"name": "timer", "service": "fff0", "uuid": "fff2", "every_ms": 100, "examples": ["ea 07 0b 1d 0d 07 1e 03 54 0a 3d"],
     "notify": [{"name": "until", "type": "datetime"},
                {"type": "u8", "bits": [{"name": "door", "bit": 0, "values": [[1, "open"]]}, {"name": "wet", "bit": 1}]}, {"name": "label", "type": "utf8"}]}
  ],
  "events": [{"name": "mode", "sample": true}]
}
END
odd=(--define "$work/odd.json" --radio virtual)
start odd simulate odd "${odd[@]}" --json
until_true grep -q ready "$work/odd.out"
run run "${odd[@]}" --families odd --record "$work/odd" --capture "$work/odd.btsnoop" --json --for 2
line=$(grep -m1 '"event":"sample"' <<<"$out")
like "$line" '"state":"Off position","big":9007199254740993,"key":"0a0b","note":"M"' "the line of a sample with words"
run export "$work/odd.btsnoop" "$work/odd exported" --define "$work/odd.json"
for folder in odd "odd exported"; do
    is "$(cut -d, -f 6- "$(newest "$work/$folder")"/odd-*.mode.csv | uniq | tr '\n' ' ')" \
        "state,big,key,note Off position,9007199254740993,0a0b,M " "$folder: its cells"
    is "$(cut -d, -f 3-6 "$(newest "$work/$folder")/samples.csv" | grep ^mode | sort -u | tr '\n' ' ')" \
        "mode,big,,9007199254740993 mode,key,,0a0b mode,note,,M mode,state,,Off position " "$folder: its rows"
    is "$(cut -d, -f 6- "$(newest "$work/$folder")"/odd-*.timer.csv | uniq | tr '\n' ' ')" \
        "door,wet,until,label open,1,2026-11-29T13:07:30,\"T =\" " "$folder: an event that is no sample has its cells, too"
    is "$(folder "$(newest "$work/$folder")" "[[c['name'] + ' ' + c['kind'] for c in s['channels']] for s in session['devices'][0]['sensors']]")" \
        "[['state word', 'big number', 'key bytes', 'note text'], ['door word', 'wet flag', 'until time', 'label text']]" "$folder: what its cells are"
done

# A row for each record of a list.
belt=(--define "$root/packaging/devices/polar_h10.json" --radio virtual)
start belt simulate polar_h10 "${belt[@]}" --json
until_true grep -q ready "$work/belt.out"
run run "${belt[@]}" --families polar_h10 --record "$work/lists" --capture "$work/lists.btsnoop" --json --for 3
listed=$(printf '%s\n' "$out" | grep -c '"event":"sample".*"samples":\[{"x_g"')
[ "$listed" -gt 2 ]
result $? "a device whose samples have lists" "$out"
run export "$work/lists.btsnoop" "$work/lists exported" "${belt[@]:0:2}"
for folder in lists "lists exported"; do
    is "$(cut -d, -f 6- "$(newest "$work/$folder")"/*.acceleration.samples.csv | head -n 5 | tr '\n' ' ')" \
        "index,x_g,y_g,z_g 0,0,0.016,1 1,0.001,0.017,0.999 0,0,0.016,1 1,0.001,0.017,0.999 " "$folder: the rows of a list"
    is "$(folder "$(newest "$work/$folder")" "[(s['sensor'], s['samples'], [c['unit'] for c in s['channels']]) for d in session['devices'] for s in d['sensors'] if s['sensor'].startswith('acc')]")" \
        "[('acceleration', $listed, ['']), ('acceleration.samples', $((2 * listed)), ['', 'g', 'g', 'g'])]" "$folder: its description"
    is "$(folder "$(newest "$work/$folder")" "[e for e in events if e['event'] == 'sample']")" "[]" "$folder: tables have all of it"
    is "$(folder "$(newest "$work/$folder")" "sum(len(wide(s['file'])) * len(s['channels']) for d in session['devices'] for s in d['sensors']) == len(long)")" \
        True "$folder: as the long form has"
done
is "$(folder "$(newest "$work/lists")" "list(wide('*.samples.csv').received_at) == sorted(2 * list(wide('*.acceleration.csv').received_at))")" True \
    "its times are those of the value"

# A folder that is removed, or moved, while it is written.
for change in "rm -r" "mv -t $work/elsewhere"; do
    mkdir -p "$work/elsewhere" "$work/gone"
    timeout 20 "$TENDON" run --radio virtual --record "$work/gone" --sensors rotation --measure none --json --for 5 \
        >"$work/gone.out" 2>"$work/gone.err" &
    recorder=$!
    until_true eval 'test -s "$work"/gone/*/*.rotation.csv'
    sleep 1
    # Again if the description was written meanwhile.
    until $change "$work"/gone/* 2>/dev/null; do sleep 0.1; done
    wait $recorder
    is $? 1 "a recording is gone ($change): the run has failed"
    like "$(cat "$work/gone.err")" "recording: $work/gone/[^ ]*: No such file or directory; samples are lost" "and the reason is said"
    like "$(tail -n 1 "$work/gone.err")" "recording: $work/gone/[^ ]*/session.json could not be completed: nothing there says what is missing" \
        "and again at the end"
    [ "${change%% *}" = mv ] || like "$(tail -n 1 "$work/gone.out")" '"missing_rows":[1-9]' "rows that are in no file are counted"
done

# The clock is set while it is recorded, as that of a gateway without a battery is when the network comes up.
cat >"$work/clock.c" <<'END'
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    const char *set = getenv("CLOCK_IS_SET");
    if (clock == CLOCK_REALTIME && set != NULL && access(set, F_OK) == 0) {
        time->tv_sec -= 3600;
    }
    return result;
}
END
cc -shared -fPIC -o "$work/clock.so" "$work/clock.c"
result $? "a clock that can be set"
LD_PRELOAD="$work/clock.so" CLOCK_IS_SET="$work/set" timeout 20 "$TENDON" run --radio virtual --record "$work/clock" \
    --sensors rotation --measure none --no-lines --for 4 2>"$work/clock.err" &
recorder=$!
until_true eval 'test -s "$work"/clock/*/*.rotation.csv'
touch "$work/set"
wait $recorder
is $? 0 "a recording whose clock is set"
one=$(newest "$work/clock")
is "$(folder "$one" "[(g['reason'], round((pandas.Timestamp(g['to']) - pandas.Timestamp(g['from'])).total_seconds())) for g in session['gaps'] if g['reason'] != 'disconnected']")" \
    "[('clock_set', -3600)]" "the description says so"
is "$(folder "$one" "[(wide('*.rotation.csv').time.diff().dropna().dt.total_seconds() < -3000).sum(), (wide('*.rotation.csv').received_at.diff().dropna() >= 0).all()]")" \
    "[1, True]" "time jumps once, and received_at goes on"

# Mistakes.
run run --radio virtual --record-part 1h --for 0.1
like "$status $err" "^2 .*--record-part needs --record" "a part of nothing"
run run --radio virtual --record "$work/x" --record-limit 5 --for 0.1
like "$status $err" "^2 .*a size from 1M to 1000T, such as 500M" "a limit that is too small"
run run --radio virtual --record /proc/none --for 0.1
like "$status $err" "^1 .*--record: /proc/none" "a directory that cannot be made"
printf '[recording]\npart = 1h\n' >"$work/wrong.conf"
run config check "$work/wrong.conf"
is "$status" 2 "config check finds it, too"

finish

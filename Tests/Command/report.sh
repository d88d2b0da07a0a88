#!/bin/bash
# SPDX-License-Identifier: MIT
# report: what is in the file, what is not, and that it is a test of replay.
. "$(dirname "$0")/tap.bash"
export HOME=$work/home
mkdir -p "$HOME" "$work/bin"
cd "$work" || exit 1

# contains FILE TEXT...: which of the texts are in the file, or in the bytes of its capture; also each text backwards, as
# addresses and keys are sent.
contains() {
    python3 - "$@" <<'FIND' 2>&1
import json, sys
text = open(sys.argv[1], "rb").read()
lines = [json.loads(line) for line in text.splitlines()]
capture = b"".join(bytes.fromhex(line["capture"]) for line in lines if "capture" in line)
for word in sys.argv[2:]:
    forms = [word.encode()]
    if all(character in "0123456789abcdefABCDEF:" for character in word):
        forms.append(bytes.fromhex(word.replace(":", "")))
    forms += [form[::-1] for form in forms]
    if any(form in text or form in capture or form.hex().encode() in text for form in forms):
        print(word)
FIND
}
notes() { sed -n 's/^{"report":"'"$1"'",//p' "$2"; } # kind, file

# A service that has run before, with a device that is not in range now.
cat >"$work/bin/journalctl" <<'JOURNAL'
#!/bin/sh
echo '2026-11-28T20:00:00+0000 tendon[7]: connected bose Grandmas Glasses C0:00:00:00:0A:77 firmware=1 serial=SERIAL4711'
echo '2026-11-28T20:00:01+0000 tendon[7]: action_failed hall: the broker does not respond'
echo '2026-11-28T20:00:02+0000 tendon[7]: {"time":"2026-11-28T20:00:02.000000Z","event":"sample","name":"Uncles Glasses"}'
JOURNAL
chmod +x "$work/bin/journalctl"
PATH=$work/bin:$PATH

# Each setting that is, or names, a secret.
printf 'PASSWORD4711\n' >"$work/password"
printf 'TOKEN4711TOKEN4711\n' >"$work/token"
printf 'C0:00:00:00:0A:02 471147\n' >"$work/passkeys"
printf 'KEY4711\n' >"$work/key.pem"
chmod 600 "$work/password" "$work/token" "$work/passkeys" "$work/key.pem"
cat >"$work/tendon.conf" <<CONF
[gateway]
radio = virtual
passkey-file = $work/passkeys
allow = kitchen-trainer
[mqtt]
broker = mqtts://broker.example
user = USER4711
password-file = $work/password
certificate = $work/key.pem
key = $work/key.pem
[web]
address = 127.0.0.1:8099
token-file = $work/token
[program door]
command = /bin/echo COMMAND4711
[device C0:00:00:00:0A:01 random]
name = hall
[device C0:00:00:00:0A:02 random]
name = kitchen-trainer
[device C0:00:00:00:00:01 random]
name = pseudonym
[rules]
rule = activ5.squeeze => exec door
rule = kitchen-trainer.force > 20 => publish pressed yes
CONF
cp "$work/tendon.conf" "$HOME/tendon.conf"

start head simulate bose --radio virtual --json --name 'Annas Glasses' --address C0:00:00:00:0A:01/random
start trainer simulate activ5 --radio virtual --json --address C0:00:00:00:0A:02/random
start belt simulate feelspace --radio virtual --json --name 'naviGuertel Anna' --address C0:00:00:00:0A:03/random
until_true eval '[ "$(cat "$work"/*.out | grep -c ready)" = 3 ]'
# A busy machine needs longer to open all.
for seconds in 3 12; do
    run report "$work/report" --replace --config "$HOME/tendon.conf" --json --for $seconds --pair
    code=$status printed=$out
    [ "$(grep -o '^{"time".*\(force_n\|yaw_deg\|heading_deg\)' "$work/report" | grep -o '[a-z_]*$' | sort -u | wc -l)" = 3 ] && break
done
is "$code" 0 "report: done"
run report "$work/two" --adapter hci0,hci1
like "$status $err" "^2 .*a capture is of one adapter" "two adapters: their connections cannot be told apart"
is "$(stat -c %a "$work/report")" 600 "the file is the owner's alone"
is "$(ls "$work"/report*)" "$work/report" "no other file is left"
like "$printed" '"file":"'"$work/report"'","contents":\[.*A capture \(connections: [3-9].*Names of devices are replaced' "what is in it is printed"
is "$(notes contents "$work/report" | sed 's/^"text":\(.*\)}$/\1/' | paste -sd,)" \
    "$(sed 's/.*"contents":\[\(.*\)\]}$/\1/' <<<"$printed")" "and is in the file"
is "$(grep -o '^{"time".*\(force_n\|yaw_deg\|heading_deg\)' "$work/report" | grep -o '[a-z_]*$' | sort -u | xargs)" "force_n heading_deg yaw_deg" \
    "the values of three families are decoded"
is "$(contains "$work/report" PASSWORD4711 TOKEN4711TOKEN4711 471147 KEY4711 USER4711 COMMAND4711)" "" "no secret of the configuration is in it"
is "$(contains "$work/report" 'Annas Glasses' ACTIV5-AC-0002 Anna hall kitchen-trainer pseudonym 'Grandmas Glasses' 'Uncles Glasses' SERIAL4711 "$HOME")" "" \
    "no name is in it"
is "$(contains "$work/report" C0:00:00:00:0A:01 C0:00:00:00:0A:02 C0:00:00:00:0A:03 C0:00:00:00:0A:77)" "" "no address of a device is in it"

like "$(notes tendon "$work/report")" '"version":"[0-9.]+","traits":\[' "the version and the traits"
like "$(notes system "$work/report")" '"kernel":"'"$(uname -r)"'".*"architecture":"'"$(uname -m)"'"' "the kernel"
is "$(notes finding "$work/report" | grep -c '"check"')" 6 "what doctor finds"
like "$(notes setting "$work/report")" '"key":"broker","value":"mqtts://broker.example","origin":"~/tendon.conf:6"' "settings with their lines"
like "$(notes setting "$work/report")" '"key":"user","value":"removed"' "a setting that is private"
like "$(notes setting "$work/report")" '"value":"device-2.force > 20 => publish pressed yes"' "names in rules are replaced"
unlike "$(notes setting "$work/report")" '"origin":"default"' "no defaults"
like "$(notes event "$work/report")" '"event":"connected","family":"activ5"' "the events of the run"
unlike "$(cat "$work/report")" '^\{"report":"event".*"event":"(sample|rule|executed)"' "no samples, and no rules were executed"
unlike "$(notes event "$work/report")" '"name":' "and no names"
is "$(notes journal "$work/report" | sed 's/C0:00:00:00:00:[0-9A-F]*/ADDRESS/')" \
    '"text":"2026-11-28T20:00:00+0000 tendon[7]: connected bose NAME ADDRESS firmware=1"}
"text":"2026-11-28T20:00:01+0000 tendon[7]: action_failed device-1: the broker does not respond"}' "the journal of the service"
# The same device everywhere.
other=$(grep -o '^{"report":"event".*"family":"activ5","address":"[^"]*"' "$work/report" | grep -o '[^"]*"$' | sort -u)
is "$(grep -o '^{"time".*"event":"connected","family":"activ5","address":"[^"]*"' "$work/report" | grep -o '[^"]*"$' | sort -u)" "$other" \
    "an address has the same pseudonym in events and capture"

run replay --test "$work/report" --json
is "$status $(field differences "$out")" "0 0" "it is a test of replay, and passes"
sed '0,/^{"time".*"force_n"/s/^\({"time".*\)"force_n":[^,}]*/\1"force_n":4711/' "$work/report" >"$work/changed"
run replay --test "$work/changed" --json
is "$status $(field differences "$(tail -n 1 <<<"$out")")" "1 1" "with another event it fails"
run replay "$work/changed" --att --to-test "$work/again" --json
is "$status $(field events "$out")" "0 $(grep -c '^{"time"' "$work/report")" "--to-test of a report writes its events again"
is "$(grep -v '^{"report"' "$work/report" | cmp - "$work/again" 2>&1)" "" "as they are"
sed 's/^{"report":"system".*/{"report":"system"}/' "$work/report" >"$work/changed"
run replay --test "$work/changed"
is "$status" 0 "what is said of the machine is not compared"

# Killed in the middle: the capture, which has the names, is gone with the process.
mkdir "$work/killed"
"$TENDON" report "$work/killed/report" --radio virtual --for 60 >"$work/killed.txt" 2>&1 &
killed=$!
until_true eval 'ls -l /proc/'$killed'/fd | grep -q "killed/.*(deleted)"'
like "$(ls -l /proc/$killed/fd)" 'killed/#[0-9]+ \(deleted\)' "the capture never has a name: not even between two system calls"
kill -9 $killed
wait $killed 2>/dev/null
is "$(ls "$work/killed")" "" "killed while it captures: nothing is left"

cp "$work/report" "$work/kept"
run report "$work/report" --radio virtual --for 1
is "$status" 1 "an existing file: fails"
like "$err" "report exists" "says so"
is "$(cmp "$work/report" "$work/kept" 2>&1)" "" "and leaves it"
run report - --radio virtual
is "$status" 2 "standard output: usage"
# What is no file keeps its kind: it is written to.
mkfifo "$work/pipe"
cat "$work/pipe" >"$work/piped" &
reader=$!
run report "$work/pipe" --radio virtual --for 0.5
wait $reader
is "$status $(stat -c %F "$work/pipe")" "0 fifo" "a pipe stays a pipe"
like "$(head -1 "$work/piped")" '^\{"test":' "and gets the report"
run report --radio virtual --for 0.1
like "$(field file "$out")" '^tendon-report-20[0-9-]*T[0-9]{6}\.jsonl$' "without a name: one with the time"
result "$([ -e "$(field file "$out")" ]; echo $?)" "in the current directory" ""
run report "$work/none/report" --radio virtual
is "$status" 1 "a directory that does not exist"
like "$err" "No such file" "with the reason"

# Without an adapter.
PATH=${PATH#*:} run report "$work/without" --adapter hci99 --for 1
is "$status" 0 "no adapter: done"
like "$out" '"No capture: ' "says that there is no capture"
is "$(grep -c '^{"capture"\|^{"time"' "$work/without")" 0 "and has none"
run replay --test "$work/without"
is "$status" 1 "it is no test"
like "$err" "it has no capture" "says so"
# A disk that is full: a file may not be longer than 1 KiB.
(
    trap '' XFSZ
    ulimit -f 1
    "$TENDON" report "$work/full" --adapter hci99 --for 1 >"$work/full.txt" 2>&1
)
is $? 1 "a full disk: fails"
like "$(cat "$work/full.txt")" "full: File too large" "with the reason"
is "$(find "$work" -name 'full*' ! -name full.txt)" "" "and leaves nothing"

# A capture of all packets of a machine: a keyboard's text, pairing, keys, names that are read and set. Literal bytes of the
# Core Specification (Vol 4 Part E 5.4 and 7, Vol 3 Parts A, F and H).
python3 - "$work/machine" <<'CAPTURE'
import struct, sys
records = []
def record(opcode, text):  # of the monitor channel: 2 command, 3 event, 4 ACL sent, 5 ACL received
    data = bytes.fromhex(text)
    records.append(struct.pack(">IIIIQ", len(data), len(data), opcode, 0, 0x00E2E0A5C5B00000 + len(records) * 1000) + data)
def acl(opcode, text, cid="0400"):
    frame = bytes.fromhex(text)
    head = "40 00" if opcode == 4 else "40 20"
    record(opcode, head + struct.pack("<HH", len(frame) + 4, len(frame)).hex() + cid + frame.hex())
hidden = lambda text: text.encode().hex()
# A device of no family: a complete name and data of a manufacturer.
record(3, "3e 1f 02 01 00 01 020b000000c0 13 08 09" + hidden("NAME472") + " 09 ff 5d00" + hidden("DATA47") + "c4")
# A belt: its service in the advertisement, its name in the scan response.
record(3, "3e 10 02 01 00 01 010b000000c0 04 03 03 51 fe c4")
record(3, "3e 1f 02 01 04 01 010b000000c0 13 12 09" + hidden("naviGuertelBELT47") + "c4")
record(3, "3e 13 01 00 4000 00 01 010b000000c0 1800 0000 c800 00")
acl(4, "08 0100 ffff 0328")
acl(5, "09 07 0200 02 0300 002a 0400 10 0500 06fe 0600 10 0700 4d2a 0800 10 0900 192a")
acl(4, "0a 0300")
acl(5, "0b" + hidden("DEVICE4711"))
acl(4, "0c 0300 0a00")
acl(5, "0d" + hidden("LONGER4711"))
acl(4, "08 0100 ffff 002a")
acl(5, "09 0c 0300" + hidden("BYTYPE4711"))
acl(5, "1b 0500 01 04" + hidden("SET4711"))
acl(5, "1b 0700" + hidden("TYPED4711"))
acl(5, "1b 0900 63")
acl(4, "12 2000" + hidden("UNKNOWN4711"))
acl(4, "16 0700 0000" + hidden("PREPARED4711"))
acl(5, "23 0900 0100 62 0700 0900" + hidden("MULTIPLE4"))
acl(5, "f1" + hidden("OPCODE4711"))
# The belt reads from this machine.
acl(5, "0a 0900")
acl(4, "0b" + hidden("OWN4711"))
acl(5, "06 00112233445566778899aabbccddeeff", "0600")
record(2, "1a20 12 4000 00112233445566778899aabbccddeeff")
record(3, "18 17 030b000000c0 00112233445566778899aabbccddeeff 04")
record(3, "07 ff 00 030b000000c0" + hidden("REMOTE4711") + "00" * 238)
record(3, "05 04 00 4000 13")
open(sys.argv[1], "wb").write(b"btsnoop\0" + struct.pack(">II", 1, 2001) + b"".join(records))
CAPTURE
run report "$work/machine.report" --capture "$work/machine" --json
is "$status" 0 "--capture: done"
is "$(contains "$work/machine.report" NAME472 DATA47 BELT47 DEVICE4711 LONGER4711 BYTYPE4711 SET4711 TYPED4711 UNKNOWN4711 PREPARED4711 \
    MULTIPLE4 OPCODE4711 OWN4711 REMOTE4711)" "" "names, what is typed and unknown values are not in it"
is "$(contains "$work/machine.report" 00112233445566778899aabbccddeeff)" "" "no key is in it"
is "$(contains "$work/machine.report" C0:00:00:00:0B:01 C0:00:00:00:0B:02 C0:00:00:00:0B:03)" "" "no address is in it"
like "$(grep '"event":"found","family"' "$work/machine.report")" '"family":"feelspace".*"name":"naviGuertelxxxxxx"' "the belt is recognized"
is "$(grep -c '"pdu":"Handle Value Notification","bytes":"1b090063"' "$work/machine.report")" 1 "values without names stay"
is "$(grep -c '"from":"device","pdu":"Read Response"\|"from":"client","pdu":"Read Response"' "$work/machine.report")" 2 "and all PDUs"
run replay --test "$work/machine.report"
is "$status" 0 "--capture: a test, too"
run report "$work/two" --capture "$work/tendon.conf"
is "$status" 1 "--capture: a file that is no capture"
like "$err" "not a btsnoop file" "with the reason"
head -c 100 "$work/machine" >"$work/cut"
run report "$work/two" --capture "$work/cut"
is "$status" 1 "--capture: a file that is cut"
result "$([ ! -e "$work/two" ]; echo $?)" "no report is written then" ""
people report "$work/people" --capture "$work/machine"
like "$out" "^$work/people has:" "on a terminal: sentences"
like "$out" "^- A capture \(connections: 1, ATT PDUs: 17, advertisements: 3\)" "one by one"
start stopped report "$work/stopped" --radio virtual --for 20
until_true test -d "/proc/$(pgrep -P "$child")"
sleep 0.5
kill -INT "$(pgrep -P "$child")"
wait "$child"
is "$? $(cat "$work/stopped.err")" "1 tendon: interrupted; nothing was written" "Ctrl-C: says that there is no report"
finish

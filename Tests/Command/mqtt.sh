#!/bin/bash
# SPDX-License-Identifier: MIT
# run --mqtt against a real mosquitto: topics, commands, discovery; broker and gateway killed; passwords, TLS; the queue.
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/broker.bash"
if ! command -v mosquitto >/dev/null || ! command -v mosquitto_sub >/dev/null; then
    skip "MQTT" "mosquitto and mosquitto-clients are not installed"
    finish
    exit
fi
belt=C0:00:00:00:08:01 trainer=C0:00:00:00:08:02
limit=300 # the devices are those of all sections

stop_hard() { # id: what timeout(1) runs, else the process itself
    kill -KILL "$(pgrep -P "$1" || echo "$1")" 2>/dev/null
    wait "$1" 2>/dev/null
}
hold_port port
broker 'allow_anonymous true'
listen first
start belt simulate feelspace --radio virtual --json --address "$belt/random"
belt_id=$child
start trainer simulate activ5 --radio virtual --json --address "$trainer/random"
until_true ready belt
until_true ready trainer
start others simulate bose fjorden obvious --radio virtual --json
start one run --radio virtual --pair --json --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway gw \
    --mqtt-stream force --mqtt-stream-rate 5 --mqtt-state-interval 300
gateway=$child
until_true seen first "tendon/$belt/availability" 'm["state"] == "online"'
result $? "a device that is connected is available" "$(cat "$work/one.err" "$work/broker.log" | tail -5)"
until_true seen first "tendon/$trainer" '"force_n" in m.get("force", {}) and m["battery_percent"] > 0 and m["message_id"].startswith("gw-")'
result $? "the state has the members of docs/events.md, and a message id" "$(payload first "tendon/$trainer")"
until_true seen first "tendon/$trainer/stream/force" 'm["event"] == "sample" and m["sensor"] == "force"'
result $? "a sensor that is requested is a stream" "$(cat "$work/one.err")"
until_true seen first "tendon/$belt/event" 'm["event"] == "connected" and m["family"] == "feelspace"'
result $? "events are published" "$(cat "$work/one.err")"
seen first tendon/bridge/gw/state 'm["state"] == "online"'
result $? "the gateway is online" ""
until_true seen first tendon/bridge/gw/devices 'len(m) == 5'
result $? "and lists its devices" "$(payload first tendon/bridge/gw/devices)"

until_true eval '[ "$(times first "tendon/$trainer/stream/force" "True")" -gt 5 ]'
is "$(times first "tendon/$trainer/stream/force" 'round(m["force_n"], 2) != m["force_n"]')" 0 \
    "a stream has the decimals that the sensor resolves"
is "$(times first "tendon/$trainer/stream/force" 'not 0 < __import__("time").monotonic() - m["received_at"] < 600')" 0 \
    "a stream says when its samples arrived"
is "$(times first "tendon/$trainer" 'round(m.get("force", {}).get("force_n", 0), 2) != m.get("force", {}).get("force_n", 0)')" 0 \
    "the state too"

# Commands.
publish "tendon/$belt/set" '{"signal":"warning","vibrate":90}'
until_true seen first "tendon/$belt/event" 'm["event"] == "action" and m["action"] == "feelspace.vibrate 90"'
result $? "set: actions of the table of rules" "$(payload first tendon/bridge/gw/response/set)"
publish "tendon/$belt/set" '{"exec":"/bin/true","transaction":"no"}'
until_true seen first tendon/bridge/gw/response/set 'm["status"] == "error" and m["transaction"] == "no" and "exec" in m["error"]'
result $? "set: exec is no action" "$(payload first tendon/bridge/gw/response/set)"
publish "tendon/$belt/set" '{"mode":"compass","signal":"nonsense","transaction":1}'
until_true seen first tendon/bridge/gw/response/set 'm["transaction"] == 1 and "nonsense" in m["error"]'
result $? "set: a wrong argument is refused" "$(payload first tendon/bridge/gw/response/set)"
! seen first "tendon/$belt/event" 'm["event"] == "action" and "compass" in m["action"]'
result $? "and nothing of its message is carried out" ""
publish "tendon/$belt/set" 'vibrate'
until_true seen first tendon/bridge/gw/response/set '"no JSON object" in m["error"]'
result $? "set: what is no JSON object is refused" ""
publish tendon/bridge/gw/request/health '{"transaction":"h"}'
until_true seen first tendon/bridge/gw/response/health 'm["status"] == "ok" and m["transaction"] == "h" and m["data"]["devices"] == 5'
result $? "request: health" "$(payload first tendon/bridge/gw/response/health)"
publish tendon/bridge/gw/request/scan ''
until_true seen first tendon/bridge/gw/response/scan 'len(m["data"]["devices"]) == 5'
result $? "request: scan" "$(payload first tendon/bridge/gw/response/scan)"
publish tendon/bridge/gw/request/scan '{"seconds":-1}'
until_true seen first tendon/bridge/gw/response/scan '"scan takes seconds" in m.get("error", "")'
result $? "request: scan: a time that is none" "$(payload first tendon/bridge/gw/response/scan)"
publish tendon/bridge/gw/request/forget '{"device":"nobody"}'
until_true seen first tendon/bridge/gw/response/forget "m.get('error', '') == \"no device 'nobody'\""
result $? "request: forget: a device that nobody knows" "$(payload first tendon/bridge/gw/response/forget)"
publish tendon/bridge/gw/request/pair '{"seconds":1}'
until_true seen first tendon/bridge/gw/response/pair 'm["status"] == "ok"'
result $? "request: pair" "$(payload first tendon/bridge/gw/response/pair)"
publish tendon/bridge/gw/request/exec '{}'
until_true seen first tendon/bridge/gw/response/exec 'm["status"] == "error"'
result $? "request: exec is none" "$(payload first tendon/bridge/gw/response/exec)"
publish tendon/bridge/gw/request/rename "{\"from\":\"$trainer\",\"to\":\"grip one\"}"
until_true seen first "tendon/grip one" 'm["battery_percent"] > 0'
result $? "request: rename: the state is at the new name" "$(payload first tendon/bridge/gw/response/rename)"
is "$(payload first "tendon/$trainer")" "" "and no more at the old one"
publish tendon/bridge/gw/request/rename "{\"from\":\"$belt\",\"to\":\"a/b\"}"
until_true seen first tendon/bridge/gw/response/rename 'm["status"] == "error"'
result $? "request: rename: a name that is no level is refused" "$(payload first tendon/bridge/gw/response/rename)"

# A new start in the same process; a retained command is not carried out by it.
publish "tendon/$belt/set" '{"vibrate":45}' -r
vibrated='m["event"] == "action" and m["action"] == "feelspace.vibrate 45"'
until_true seen first "tendon/$belt/event" "$vibrated"
process=$(pgrep -P "$gateway")
publish tendon/bridge/gw/request/restart '{}'
until_true eval '[ "$(times first "tendon/$belt/event" "m[\"event\"] == \"connected\"")" = 2 ]'
result $? "request: restart: the devices are connected again" "$(tail -3 "$work/one.err")"
is "$(pgrep -P "$gateway")" "$process" "in the same process"
publish "tendon/$belt/set" '{"vibrate":46}' # comes after what the broker has retained
until_true seen first "tendon/$belt/event" 'm["event"] == "action" and m["action"] == "feelspace.vibrate 46"'
is "$(times first "tendon/$belt/event" "$vibrated")" 1 "a retained command is carried out once"
is "$(times first tendon/bridge/gw/state 'm["state"] == "offline"')" 1 "and the last will was not needed"

# Home Assistant.
answer=$(python3 "$root/Tests/Command/check_discovery.py" "$work/first.mqtt" 2>&1)
result $? "the discovery has what Home Assistant's documentation requires" "$answer"
printf '%s\n' "$answer" | sed 's/^skip: //; s/^/# /'

# The broker is killed and returns; the gateway is killed meanwhile. Nothing of what it printed is missing. The first
# listener would come back as well, in the middle of what the second one gets from its beginning.
kill -KILL "$broker" "$listener"
wait "$broker" "$listener" 2>/dev/null
kill -KILL "$(pgrep -P "$belt_id")"
wait "$belt_id" 2>/dev/null
until_true grep -q '"event":"disconnected"' "$work/one.out"
until_true grep -aq '"event":"disconnected"' "$XDG_STATE_HOME"/tendon/mqtt-gw.db*
killed=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)
stop_hard "$gateway"
like "$(cat "$work/one.err")" "connection lost" "a lost broker is reported"
start two run --radio virtual --pair --json --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway gw \
    --mqtt-stream force --mqtt-stream-rate 5 --mqtt-stream-store
gateway=$child
until_true grep -q '"event":"connected"' "$work/two.out"
until_true eval '[ "$(grep -c "\"sensor\":\"force\"" "$work/two.out")" -gt 10 ]'
returned=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)
broker 'allow_anonymous true'
listen second
until_true seen second "tendon/grip one/event" 'm["event"] == "connected"'
result $? "the name is kept over a restart" "$(cat "$work/two.err" | tail -3)"
until_true seen second "tendon/$belt/availability" 'm["state"] == "offline"'
result $? "a device that was not found again is not available" ""
until_true seen second "tendon/grip one/stream/force" "m['time'] < '$returned'"
result $? "--mqtt-stream-store: samples of the time without a broker" "$(payload second "tendon/grip one/stream/force")"
kill "$gateway"
wait "$gateway"
until_true seen second tendon/bridge/gw/state 'm["state"] == "offline"'
answer=$(python3 "$checker" complete "$killed" "$work/one.out,$work/two.out" "$work/first.mqtt" "$work/second.mqtt")
result $? "every event arrived, in order, and its id tells doubles" "$answer"
echo "# $answer"

# The last will.
start three run --radio virtual --json --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway gw3 --mqtt-version 3.1.1 \
    --mqtt-stream force --mqtt-stream-batch 400 --rule 'activ5.connected => publish greeting 42'
gateway=$child
until_true seen second tendon/bridge/gw3/state 'm["state"] == "online"'
result $? "MQTT 3.1.1" "$(cat "$work/three.err")"
until_true seen second "tendon/$trainer/stream/force" 'len(m) >= 3 and m[0]["sensor"] == "force" and m[0]["time"] < m[1]["time"]'
result $? "--mqtt-stream-batch: an array of samples" "$(payload second "tendon/$trainer/stream/force")"
until_true seen second tendon/rule/greeting
is "$(payload second tendon/rule/greeting)" 42 "a rule publishes"
announced="homeassistant/device/tendon_$(tr -d : <<<"$trainer" | tr '[:upper:]' '[:lower:]')_random/config"
before=$(times second "$announced" 'm is None')
publish tendon/bridge/gw3/request/forget "{\"device\":\"$trainer\"}"
until_true seen second tendon/bridge/gw3/response/forget 'm["status"] == "ok"'
until_true eval '[ "$(times second "$announced" "m is None")" -gt "$before" ]'
result $? "a device that is forgotten: its discovery is removed" "$(payload second "$announced")"
until_true seen second "tendon/$trainer" 'm is None'
result $? "and its state" ""
run run --radio virtual --for 1 --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway gw3
like "$status $err" "^1 .*in use by another gateway; each needs a name" "a queue of another gateway: an error"
stop_hard "$gateway"
until_true seen second tendon/bridge/gw3/state 'm["state"] == "offline"'
result $? "a killed gateway: its last will" ""
# Two gateways of one name end each other's connections.
start twin run --radio virtual --no-lines --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway twin --families none --for 12
twin=$child
XDG_STATE_HOME=$work/other start other_twin run --radio virtual --no-lines --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway twin --families none --for 12
wait "$child" "$twin"
like "$(cat "$work/twin.err" "$work/other_twin.err")" "connection lost: .*another client (has|may have) this name: --mqtt-gateway" \
    "another gateway has the name: that is said"
for name in twin other_twin; do
    [ "$(grep -c "MQTT.*connect" "$work/$name.err")" -le 2 ]
    result $? "in a line or two" "$(cat "$work/$name.err")"
done

head -c 8192 /dev/urandom >"$XDG_STATE_HOME/tendon/mqtt-gw3.db"
rm -f "$XDG_STATE_HOME/tendon/mqtt-gw3.db-wal"
run run --radio virtual --for 1.5 --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway gw3
like "$err" "was corrupted .*it is kept as" "a corrupted queue starts again, and says so"

# A device file: an action with one text is an entity, one with two arguments is called as docs/home-assistant.md shows.
cat >"$work/sign.json" <<'END'
{"name": "sign", "title": "Sign", "find": {"services": ["fff0"], "name": "Sign*"}, "characteristics": [
  {"name": "level", "service": "fff0", "uuid": "fff1", "examples": ["10"], "value": [{"name": "level_percent", "type": "u8"}]},
  {"name": "control", "service": "fff0", "uuid": "fff2", "write": [
    {"type": "u8", "equals": 1}, {"name": "text", "type": "utf8", "at_least": 1, "at_most": 20}]}],
 "actions": [{"name": "show", "characteristic": "control"}, {"name": "light", "characteristic": "control", "write": [
    {"type": "u8", "equals": 2}, {"name": "mode", "type": "u8", "values": [[0, "off"], [1, "on"], [2, "blink"]]},
    {"name": "seconds", "type": "u8"}]}]}
END
start sign simulate sign --define "$work/sign.json" --radio virtual --json --address C0:00:00:00:08:03/random
until_true ready sign
start five run --define "$work/sign.json" --families sign --radio virtual --json --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway gw5
gateway=$child
announced=homeassistant/device/tendon_c00000000803_random/config
until_true seen second "$announced" 'list(m["components"]) == ["level_percent", "show"] and m["components"]["show"]["platform"] == "text"'
result $? "a device file: a text entity for an action with a text, none for one with two arguments" "$(payload second "$announced")"
until_true seen second tendon/C0:00:00:00:08:03/availability 'm["state"] == "online"'
# As Jinja does: the braces and the filter around an expression.
publish tendon/C0:00:00:00:08:03/set "$(payload second "$announced" | python3 -c '
import json, sys
template = json.load(sys.stdin)["components"]["show"]["command_template"]
print(json.dumps(eval(template[2:-2].removesuffix(" | tojson "), {"value": "HELLO WORLD"})))')"
until_true grep -q '"event":"write".*"bytes":"0148454c4c4f20574f524c44"' "$work/sign.out"
result $? "what is typed there is written" "$(tail -2 "$work/sign.out" "$work/five.out")"
example() { tr '\n' ' ' <"$root/docs/home-assistant.md" | sed "s/.*(\`mqtt.publish\`)[^:]*:.*$1 \`\([^\`]*\)\`[,.].*/\1/"; }
publish "$(example topic)" "$(example payload)"
until_true grep -q '"event":"write".*"bytes":"020205"' "$work/sign.out"
result $? "the page's automation calls the one with two arguments" "$(example topic) $(example payload)"
answer=$(python3 "$root/Tests/Command/check_discovery.py" "$work/second.mqtt" 2>&1)
result $? "its discovery has what Home Assistant's documentation requires" "$answer"
printf '%s\n' "$answer" | sed 's/^skip: //; s/^/# /'
kill -INT "$gateway"
wait "$gateway"
kill -KILL "$broker" "$listener"

# Passwords.
hold_port port
mosquitto_passwd -b -c "$work/users" gateway 'quiet secret' 2>/dev/null
broker "allow_anonymous false
password_file $work/users"
printf 'quiet secret\n' >"$work/password"
secure=(--radio virtual --json --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway gw4 --mqtt-user gateway)
chmod 644 "$work/password"
run run "${secure[@]}" --mqtt-password-file "$work/password" --for 1
like "$status $err" "^1 .*other users can read" "a password that others can read is refused"
chmod 600 "$work/password"
listen fourth -u gateway -P 'quiet secret'
start four run "${secure[@]}" --mqtt-password-file "$work/password" --for 3
gateway=$child
until_true seen fourth tendon/bridge/gw4/state 'm["state"] == "online"'
result $? "a password from a file" "$(cat "$work/four.err")"
unlike "$(tr '\0' ' ' <"/proc/$(pgrep -P "$gateway")/cmdline"; cat "$work/four.err" "$work/four.out")" "quiet secret" "it is nowhere to be read"
wait "$gateway"
printf 'wrong\n' >"$work/password"
run run "${secure[@]}" --mqtt-password-file "$work/password" --for 1.5
like "$err" "the broker refuses the connection: .*([Nn]ot authori[sz]ed|[Bb]ad user)" "a wrong password: the reason"
run run --radio virtual --mqtt 'mqtt://user:pw@host'
is "$status" 2 "a password in the address is refused"
kill -KILL "$broker" "$listener"

# An access list that permits nothing of a device.
hold_port port
printf 'user gateway\ntopic read #\ntopic write tendon/bridge/#\n' >"$work/acl"
broker "allow_anonymous false
password_file $work/users
acl_file $work/acl"
printf 'quiet secret\n' >"$work/password"
run run --radio virtual --json --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway gw6 --mqtt-user gateway \
    --mqtt-password-file "$work/password" --for 4
like "$err" "the broker refuses a message to [^ ]*$trainer[^ ]*: Not authorized|the broker refuses a message to [^ ]+: Not authorized" \
    "a refused message is reported with its topic"
[ "$(grep -c 'refuses a message' <<<"$err")" -le 2 ]
result $? "and the next ones are not a line each" "$err"
kill -KILL "$broker"

# What is larger than the broker takes: a discovery has 2 kB.
hold_port port
broker 'allow_anonymous true
max_packet_size 1500'
listen small
start large simulate feelspace --radio virtual --json
until_true ready large
start seven run --radio virtual --pair --json --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway gw7 --families feelspace
until_true grep -q "refuses a message to homeassistant/device/.*Home Assistant does not show this device" "$work/seven.err"
result $? "a discovery that is too large is reported" "$(cat "$work/seven.err")"
publish tendon/bridge/gw7/request/health '{}'
until_true seen small tendon/bridge/gw7/response/health 'm["data"]["refused"] > 0'
result $? "and counted" "$(payload small tendon/bridge/gw7/response/health)"
kill "$child"
wait "$child"
kill -KILL "$broker" "$listener"

# The directory of the queue cannot be made. As another user, if this one may do everything.
mkdir -m 500 "$work/closed"
chmod 755 "$work"
other=()
[ "$(id -u)" != 0 ] || { other=(setpriv --reuid 65534 --regid 65534 --clear-groups); chown 65534 "$work/closed"; }
XDG_STATE_HOME=$work/closed XDG_RUNTIME_DIR=$work/closed "${other[@]}" "$TENDON" run --radio virtual --for 1 \
    --mqtt "mqtt://127.0.0.1:$port" >"$work/out" 2>"$work/err"
is "$? $(head -n 1 "$work/err")" \
    "1 tendon: MQTT: no folder for messages that wait: $work/closed/tendon: Permission denied; --mqtt-queue names a file for them" \
    "a directory that cannot be made is named, and what to do"

# TLS: the broker demands a certificate of the client.
hold_port port
(
    cd "$work" || exit 1
    for name in ca other; do
        openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=test $name" -keyout $name.key -out $name.pem
    done
    for name in server client; do
        openssl req -newkey rsa:2048 -nodes -subj "/CN=$name" -keyout $name.key -out $name.csr
        openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out $name.pem \
            -extfile <(echo 'subjectAltName=IP:127.0.0.1,DNS:localhost')
    done
    chmod 600 ./*.key
) >/dev/null 2>&1
broker "allow_anonymous true
cafile $work/ca.pem
certfile $work/server.pem
keyfile $work/server.key
require_certificate true"
listen tls --cafile "$work/ca.pem" --cert "$work/client.pem" --key "$work/client.key"
tls=(--radio virtual --json --mqtt "mqtts://127.0.0.1:$port" --mqtt-gateway gw5 --mqtt-certificate "$work/client.pem" --mqtt-key "$work/client.key")
start five run "${tls[@]}" --mqtt-ca "$work/ca.pem" --for 3
until_true seen tls tendon/bridge/gw5/state 'm["state"] == "online"'
result $? "TLS with a client certificate" "$(cat "$work/five.err")"
wait "$child"
run run "${tls[@]}" --mqtt-ca "$work/other.pem" --for 1.5
like "$err" "no connection: .*(TLS|[Cc]ertificate)" "a broker of another authority is refused"
run run --radio virtual --mqtt "mqtts://127.0.0.1:$port" --mqtt-ca "$work/ca.pem" --mqtt-gateway gw5 --for 1.5
unlike "$err" "connected" "without a client certificate: no connection"
run run --radio virtual --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway gw5 --for 1.5
like "$err" "no connection: .*mqtts:// for one with TLS" "a port with TLS, without it"
kill -KILL "$broker"
hold_port port
broker "allow_anonymous true
certfile $work/other.pem
keyfile $work/other.key"
for authority in ca:"is not trusted: self-signed" other:"is for another host name"; do
    run run --radio virtual --mqtt "mqtts://127.0.0.1:$port" --mqtt-ca "$work/${authority%%:*}.pem" --mqtt-gateway gw5 --for 1.5
    like "$err" "no connection: the broker's certificate ${authority#*:}" "a certificate that ${authority#*:}"
done
kill -KILL "$broker"
hold_port port
broker 'allow_anonymous true'
run run --radio virtual --mqtt "mqtts://127.0.0.1:$port" --mqtt-ca "$work/ca.pem" --mqtt-gateway gw5 --for 1.5
like "$err" "no connection: the port (does not speak TLS|ended the connection before TLS began)" "a port without TLS, with it"
kill -KILL "$broker"
python3 -m http.server --bind 127.0.0.1 "$port" >/dev/null 2>&1 &
children+=("$!")
until_true bash -c ": </dev/tcp/127.0.0.1/$port"
run run --radio virtual --mqtt "mqtts://127.0.0.1:$port" --mqtt-ca "$work/ca.pem" --mqtt-gateway gw5 --for 1.5
like "$err" "no connection: the port does not speak TLS" "a web server"
limit=5 start unknown run --radio virtual --no-lines --families none --mqtt mqtt://broker.invalid --mqtt-gateway gw6
until_true grep -q "no connection: the name of the host is not known" "$work/unknown.err"
result $? "a host that is not known" "$(cat "$work/unknown.err")"
run run --radio virtual --mqtt mqtt://localhost --mqtt-password-file "$work/client.key" --for 0.2
like "$status $err" "^2 .*--mqtt-password-file needs --mqtt-user" "a password without a user"
chmod 644 "$work/client.key"
run run "${tls[@]}" --mqtt-ca "$work/ca.pem" --for 1
like "$status $err" "^1 .*other users can read" "a key that others can read is refused"

run run --radio virtual --mqtt-user x
is "$status" 2 "options of MQTT without a broker are refused"
run run --radio virtual --mqtt mqtt://localhost --mqtt-stream rotation,farce
like "$status $err" "^2 .*unknown sensor 'farce'; did you mean 'force'" "a sensor that no family has is refused"
printf '[mqtt]\nbroker = mqtt://localhost\nstream = farce\n' >"$work/stream.conf"
run config check "$work/stream.conf"
like "$status $out" "^2 .*stream.conf:3: stream: unknown sensor 'farce'; did you mean 'force'" "in the configuration too"
run run --radio virtual --mqtt http://x
is "$status" 2 "an address that is none is refused"
# The authorities of the system: each attempt has them, and not only the first.
hold_port port
tls_broker() {
    broker "allow_anonymous true
certfile $work/server.pem
keyfile $work/server.key"
}
: >"$work/broker.log"
tls_broker
SSL_CERT_FILE=$work/ca.pem start system run --radio virtual --no-lines --families none --mqtt "mqtts://localhost:$port" \
    --mqtt-gateway gw8
system=$child
until_true grep -q "New client connected .* as tendon-gw8 " "$work/broker.log"
result $? "TLS with the authorities of the system" "$(cat "$work/system.err")"
kill -KILL "$broker"
wait "$broker" 2>/dev/null
until_true grep -q "connection lost" "$work/system.err"
: >"$work/broker.log"
tls_broker
until_true grep -q "New client connected .* as tendon-gw8 " "$work/broker.log"
result $? "and again after the broker was away" "$(cat "$work/system.err")"
kill "$system"
wait "$system"
run run --radio virtual --no-lines --families none --mqtt "mqtts://localhost:$port" --mqtt-gateway gw9 --for 4
like "$err" "no connection: the broker's certificate is not trusted" "a broker that is not trusted"
unlike "$err" "MOSQ_OPT|MOSQ_" "also at the next attempts"
kill -KILL "$broker"
# A disk that is full from the start to the end: what no start will find is lost, not waiting.
mkdir "$work/disk"
user=()
[ "$(id -u)" = 0 ] || user=(--map-root-user)
# shellcheck disable=SC2016
unshare "${user[@]}" --mount bash -c 'mount -t tmpfs -o size=64k small "$0" && cd "$0" && head -c 64k /dev/zero >full; "$@"' \
    "$work/disk" timeout 20 "$TENDON" run --radio virtual --families feelspace --pair --no-lines --for 2 \
    --mqtt mqtt://127.0.0.1:1 --mqtt-gateway gw9 --mqtt-queue q.db 2>"$work/disk.err"
is $? 1 "a queue that cannot be written, and no broker: the run has failed"
like "$(cat "$work/disk.err")" "MQTT: [1-9][0-9]* messages are lost: the queue q.db cannot be written" "it says how many are lost"
unlike "$(cat "$work/disk.err")" "for the next start" "and none waits"
# A port that takes the connection and never answers.
hold_port port
python3 -c 'import socket, sys, signal
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", int(sys.argv[1])))
server.listen()
signal.pause()' "$port" &
children+=("$!")
start mute run --radio virtual --no-lines --families none --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway gw9
until_true grep -q "no connection: no answer to the login in 10 s: is it an MQTT broker?" "$work/mute.err"
result $? "a port that does not answer" "$(cat "$work/mute.err")"
kill "$child"
finish

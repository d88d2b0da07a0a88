# SPDX-License-Identifier: MIT
# Sourced after tap.bash by the tests that need a broker: mosquitto on loopback, and what is published on it.
checker=$root/Tests/Command/check_mqtt.py

# A broker with these lines of configuration beside its port; its id is in broker.
broker() { # lines
    printf 'listener %s 127.0.0.1\npersistence false\nuser root\n%s\n' "$port" "$1" >"$work/broker.conf"
    printf 'log_type %s\n' error warning notice information subscribe >>"$work/broker.conf" # the last for listen()
    mosquitto -c "$work/broker.conf" >>"$work/broker.log" 2>&1 &
    broker=$!
    children+=("$broker")
    until_true sh -c "(: </dev/tcp/127.0.0.1/$port) 2>/dev/null || bash -c ': </dev/tcp/127.0.0.1/$port'"
}
listen() { # name, options: everything that is published goes to $work/NAME.mqtt, one JSON line per message
    local name=$1
    shift
    mosquitto_sub -h 127.0.0.1 -p "$port" -V 5 -i "listener-$name" -t '#' -F '{"t":%J}' "$@" >"$work/$name.mqtt" 2>"$work/$name.suberr" &
    children+=("$!")
    listener=$!
    until_true grep -q " listener-$name . #" "$work/broker.log"
}
publish() { mosquitto_pub -h 127.0.0.1 -p "$port" -t "$1" -m "$2" "${@:3}"; }
seen() { python3 "$checker" "$work/$1.mqtt" has "$2" "${3:-}"; }      # listener, topic, expression over `m` (JSON)
times() { python3 "$checker" "$work/$1.mqtt" count "$2" "$3"; }
payload() { python3 "$checker" "$work/$1.mqtt" last "$2"; }           # listener, topic

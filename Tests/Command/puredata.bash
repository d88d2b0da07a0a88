# SPDX-License-Identifier: MIT
# Sourced after tap.bash by the tests that send OSC to Pure Data.

# pure_data NAME: what it receives, a line each, goes to $work/NAME; its port is left in pd_port. Empty: it is not installed. It
# binds its port itself: of several, one is free.
pure_data() {
    local port
    pd_port=''
    command -v pd >/dev/null || return 0
    for port in 20901 23817 27433 31019; do
        printf '#N canvas 0 0 450 300 12;\n#X obj 10 10 netreceive -u -b %s;\n#X obj 10 40 oscparse;\n#X obj 10 70 print osc;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n' \
            "$port" >"$work/osc.pd"
        timeout "${limit:-120}" pd -nogui -noaudio -nomidi -stderr "$work/osc.pd" >"$work/$1" 2>&1 &
        children+=("$!")
        until_true sh -c "grep -qi 'address already in use' '$work/$1' || ss -lun | grep -q ':$port '"
        grep -qi 'address already in use' "$work/$1" && continue
        pd_port=$port
        break
    done
}

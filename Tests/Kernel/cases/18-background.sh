# SPDX-License-Identifier: MIT
# title: a known device that is absent: the kernel waits for it with its accept list, and the search goes on
# kinds: legacy extended rootcanal
# sample: legacy extended
# needs: build venv
# limit: 90
controllers_stop # of the case; each run has three of its own
three_start() {
    case $KIND in
    legacy) controllers_start -L -l3 ;;
    extended) controllers_start -l3 ;;
    rootcanal) rootcanal_start 3 ;;
    esac
    wait_for 10 adapter_ready hci2
}

# background NAME [scan]: waits for hci1, which advertises only after "absent". With a scan, hci2 advertises
# meanwhile; btvirt reports an advertiser when it begins, not periodically, and to the kernel's scan too.
background() {
    local peer other= result=0 log=$CASE_DIR/$1${2:+-$2}.txt
    three_start
    peer=$(address_of hci1)
    monitor_start "$log.btsnoop"
    "$BUILD/Tests/Kernel/c/radio_check" background hci0 45000 "$peer" 8000 ${2:-} >"$log" 2>&1 &
    waiting=$!
    wait_for 20 grep -q '^settled' "$log"
    if [ -n "${2:-}" ]; then
        "$BUILD/Tests/Kernel/c/radio_check" serve hci2 60000 "Somebody Else" >"$log.other" 2>&1 &
        other=$!
        wait_for 5 grep -q 'serving: OK' "$log.other"
    fi
    wait_for 25 grep -q '^absent' "$log"
    monitor_stop
    serve_start hci1 60 "Back Again"
    wait $waiting || result=$?
    sed 's/^/# /' "$log"
    stop $SERVER $other
    controllers_stop
    btmon -r "$log.btsnoop" >"$log.monitor" 2>/dev/null
    return $result
}
commanded() { grep -aq "^< HCI Command: .*($1).*\[hci0\]" "$CASE_DIR/$2.txt.monitor"; }
creates_connection() { commanded '0x08|0x000d' "$1" || commanded '0x08|0x0043' "$1"; }
uses_accept_list() { commanded '0x08|0x0011' "$1"; }
active_scans() { grep -a 'Type: Active' "$CASE_DIR/$1.txt.monitor"; }

check "8 s without a command or a wake-up of ours, then it is connected" background alone
check "the kernel has it in the accept list" uses_accept_list alone
expect "it is not asked to connect while it is absent" 1 creates_connection alone
expect "nothing scans actively" 1 active_scans alone
# RootCanal, which answers each scan request in its log, leaves a machine with one CPU no time for anything else: with a
# device that advertises beside the scan nothing came of this within 150 s.
[ "$KIND" != rootcanal ] || return 0
check "beside an active scan, which receives others before and after" background with scan
expect "nothing was sent to it either" 1 creates_connection with-scan

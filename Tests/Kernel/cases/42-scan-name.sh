# SPDX-License-Identifier: MIT
# title: tendon scan: by service, and by a name that only the scan response carries
# lane: 3
# kinds: legacy extended
# sample: legacy extended
# limit: 60
source "$KERNEL_TESTS/command.sh"

scan() { # WANTED_STATUS SECONDS ARGUMENT...
    local wanted=$1 seconds=$2 code=0
    shift 2
    timeout 20 "$TENDON" scan --radio bluez --adapter hci0 --json --for "$seconds" "$@" >"$CASE_DIR/scan.jsonl" || code=$?
    cat "$CASE_DIR/scan.jsonl"
    [ $code -eq "$wanted" ]
}
named() { # NAME: the last line says it
    tail -n 1 "$CASE_DIR/scan.jsonl" | grep -qF "\"name\":$1"
}

device_start --name "Tendon Kernel"
check "the device is on this machine's second controller" \
    grep -qF "\"address\":\"$(address_of hci1)\"" "$CASE_DIR/device.jsonl"
check "by service UUID" scan 0 10 --service fdd2 --count 1
check "it is that device" grep -qF "\"address\":\"$(address_of hci1)\"" "$CASE_DIR/scan.jsonl"
check "by the family" scan 0 10 --family bose --count 1
check "by the name in the scan response" scan 0 10 --name "Tendon Kernel" --count 1
check "with that name" named '"Tendon Kernel"'
check "both told of one device" scan 0 10 --name "Tendon Kernel" --service fdd2 --count 1
check "a passive scan finds it by service" scan 0 10 --passive --service fdd2 --count 1
check "and sees no name" scan 0 2 --passive --service fdd2
check "no name in any line" eval '! grep "\"name\":" "$CASE_DIR/scan.jsonl"'
check "a passive scan does not find it by name" scan 4 2 --passive --name "Tendon Kernel"
check "another service is not found" scan 4 2 --service 180d
"$TENDON" doctor --json >"$CASE_DIR/doctor.jsonl" || true # its status is about the whole machine
cat "$CASE_DIR/doctor.jsonl"
check "doctor: the limits of the controller" \
    grep -q '"adapter":"hci0".*"acl_packet_bytes":[0-9]*,"acl_packets":[0-9]*,"accept_list_entries":' "$CASE_DIR/doctor.jsonl"
phys='"1m"'
[ $KIND = legacy ] || phys='"1m","2m","coded"'
check "doctor: its PHYs" grep -q "\"adapter\":\"hci0\".*\"phys\":\[$phys\]" "$CASE_DIR/doctor.jsonl"
device_stop
check "an adapter that is not there: no radio" eval \
    '"$TENDON" scan --radio bluez --adapter hci7 --for 1; [ $? -eq 3 ]'
check "it has gone" scan 4 2 --service fdd2

# SPDX-License-Identifier: MIT
# title: the independent Obvious peers by themselves: bumble's own host at both ends, pairing, update, upgrade, faults
# needs: venv
# kinds: legacy extended
# limit: 180
# lane: 2

hciconfig hci0 down
hciconfig hci1 down

# run_peers NAME DEVICE-ARGUMENT... -- CLIENT-ARGUMENT...: both ends, their lines in NAME-device.jsonl and NAME-client.jsonl.
run_peers() {
    local name=$1 device=() code=0
    shift
    while [ "$1" != -- ]; do
        device+=("$1") && shift
    done
    shift
    timeout -k 5 260 "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_ogp.py" device --transport hci-socket:1 --limit 240 \
        "${device[@]}" >"$CASE_DIR/$name-device.jsonl" 2>"$CASE_DIR/$name-device.err" &
    local peer=$!
    if ! wait_for 120 grep -q ready "$CASE_DIR/$name-device.jsonl"; then
        not_ok "$name: the device is ready"
        sed 's/^/#   /' "$CASE_DIR/$name-device.err"
    fi
    timeout -k 5 170 "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_ogp.py" client --transport hci-socket:0 --limit 150 \
        --address F0:F1:F2:F3:F4:F7 --peer F0:F1:F2:F3:F4:F6 "$@" >"$CASE_DIR/$name-client.jsonl" 2>"$CASE_DIR/$name-client.err" || code=$?
    [ $code -eq 0 ] || kill $peer
    [ $code -eq 0 ] || tail -n 5 "$CASE_DIR/$name-client.err" "$CASE_DIR/$name-client.jsonl" | sed 's/^/# /'
    check "$name: the client ends well" test $code -eq 0
    check "$name: the device ends by itself" wait_for 20 eval "! kill -0 $peer"
    wait $peer
}

# holds NAME FILE PYTHON: an expression over `lines` (all of them) and `end` (the summary).
holds() {
    check "$1" "$VENV/bin/python" -c "import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
end = [line for line in lines if line['event'] == 'summary'][-1]
steps = {line['step']: line['last'] for line in lines if line['event'] == 'step'}
print(steps, end)
assert $3" "$CASE_DIR/$2.jsonl"
}

run_peers plain --unprovisioned --connections 2 -- info update features toggle=16 upgrade --image-size 6000
holds "first-time provisioning, an update, a toggle, an upgrade" plain-client \
    "'SUCCESS' in steps['upgrade'] and '(16, (1, 2))' in steps['toggle=16'] and end['connections'] == 2"
holds "the device has it all" plain-device \
    "end['provisioned'] and end['features']['16'][:2] == [1, 2] and end['firmware'] == '1.4.0' and end['confirmed']"

run_peers faults --connections 4 --lost 0.03 --doubled 0.05 --reordered 0.05 --bad-crc 1 --credit 4 --disconnect-at 4000 \
    --reboot-at 9000 -- upgrade --image-size 12000 --lost 0.03
holds "an upgrade through loss, a disconnect and a power cut" faults-client "'SUCCESS' in steps['upgrade']"
holds "the device resumed it" faults-device \
    "end['firmware'] == '1.4.0' and end['confirmed'] and [l['what'][2] > 0 for l in lines if l['event'] == 'device' and l['what'][0] == 'begin'] == [False, True, True]"

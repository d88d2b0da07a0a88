#!/bin/bash
# SPDX-License-Identifier: MIT
# Captures of connections without discovery, of a gateway with a GATT cache: replay, and the dissector for Wireshark.
. "$(dirname "$0")/tap.bash"
store=$work/state/tendon/gatt

# Devices with a Database Hash, and what is left out of a capture without their discovery.
start device simulate bose feelspace activ5 fjorden obvious --radio virtual --json --database-hash
until_true eval '[ "$(grep -c ready "$work/device.out")" = 5 ]'
gateway() { # capture, directory to empty, or none: until each device is connected and has sent a value
    local seconds
    for seconds in 3 12; do
        rm -rf "${2:-$work/none}"
        run run --radio virtual --pair --json --gatt-cache --capture "$1" --for $seconds
        [ "$(grep -c '"event":"connected"' "$work/out") $(families)" = "5 4" ] && break
    done
}
decoded() { grep -c '"event":"\(sample\|grip\|ogp\)"' "$work/out"; }
families() {
    grep '"event":"\(sample\|grip\|ogp\)"' "$work/out" | grep -o '"family":"[a-z0-9]*"' | sort -u | wc -l
}
left_out() { grep -c '"event":"undecoded"' "$work/out"; }

gateway "$work/first" "$store"
is "$(find "$store" -name 'gatt-*' | wc -l)" 5 "the gateway has a cache of each device"
run replay "$work/first" --json
is "$(families) $(left_out)" "5 0" "with the discoveries in the capture: all families, nothing is left out"
gateway "$work/second"
run replay "$work/second" --json
is "$(decoded) $(left_out)" "0 5" "without: no value, and each connection reports it once"
like "$out" '"event":"undecoded".*"notifications":[1-9][0-9]*,"text":"no discovery .*--gatt-cache"' "with the number, and what to do"
values=$(field undecoded "$(summary "$work/out")")
people replay "$work/second"
like "$out" 'undecoded .*notifications=[0-9]+ text=no discovery' "people see it too"
run replay "$work/second" --json --gatt-cache
is "$(families) $(left_out) $(field undecoded "$(summary "$work/out")")" "5 0 0" "with the caches: all families, nothing is left out of $values values"
events=$(timeless <"$work/out" | cksum)

# Caches that were copied.
cp -r "$store" "$work/copy"
rm -r "$store"
run replay "$work/second" --json "--gatt-cache=$work/copy"
is "$(timeless <"$work/out" | cksum)" "$events" "with copied caches: the same events"
run replay "$work/second" --json --gatt-cache
is "$status" 1 "a directory that does not exist"
like "$err" 'tendon/gatt: this is not a directory with GATT caches' "is named"
mkdir "$work/empty"
run replay "$work/second" --json "--gatt-cache=$work/empty"
is "$(decoded) $(left_out)" "0 5" "caches without the devices: no value"
like "$out" '"text":"neither a discovery in the capture nor the GATT caches' "and another reason"
cp -r "$work/copy" "$work/bad"
for file in "$work/bad"/gatt-*; do
    chmod 644 "$file"
done
run replay "$work/second" --json "--gatt-cache=$work/bad"
is "$(decoded) $(left_out)" "0 5" "files that others can read are not used"
like "$out" '"text":"the GATT cache of the device cannot be used: ' "with that reason"
chmod 600 "$work/bad"/gatt-*
# The hash in a record is that of another firmware: CRC-32 of the record is made again.
python3 - "$work/bad" <<'CHANGE'
import pathlib, sys, zlib
for path in pathlib.Path(sys.argv[1]).glob("gatt-*"):
    record = bytearray(path.read_bytes())[:-4]
    record[14] ^= 1
    path.write_bytes(bytes(record) + zlib.crc32(record).to_bytes(4, "little"))
CHANGE
run replay "$work/second" --json "--gatt-cache=$work/bad"
is "$(decoded) $(left_out)" "0 5" "caches of another Database Hash are not used"
for file in "$work/bad"/gatt-*; do head -c 20 "$work/second" >"$file"; done
run replay "$work/second" --json "--gatt-cache=$work/bad"
is "$status $(decoded) $(left_out)" "0 0 5" "files that are no records"
for options in "--to-test $work/x.test" --test; do
    # shellcheck disable=SC2086
    run replay "$work/second" --gatt-cache $options
    is "$status" 2 "--gatt-cache $(echo "$options" | cut -d' ' -f1): a mistake"
    like "$err" 'takes no --gatt-cache' "with the reason"
done

# A directory of its own.
run run --radio virtual --json "--gatt-cache=$work/own" --notifications 5
[ "$(find "$work/own" -name 'gatt-*' | wc -l)" -ge 1 ]
result $? "run --gatt-cache=DIR keeps the caches there" "$(ls "$work/own" 2>&1)"
[ ! -e "$store" ]
result $? "and nowhere else" ""
run cache drop "--gatt-cache=$work/own" --json
like "$out" '"event":"cache_dropped","devices":[1-5]' "cache drop --gatt-cache=DIR"
is "$(find "$work/own" -name 'gatt-*' | wc -l)" 0 "drops them"
kill "$child"
wait "$child" 2>/dev/null

# A device that disconnects: the second connection of one capture has no discovery.
printf 'at 1.5s disconnect\n' >"$work/scenario"
start again simulate activ5 --radio virtual --json --database-hash --scenario "$work/scenario" --scenario-from connection
until_true ready again
for seconds in 4 12; do
    rm -rf "$store"
    run run --radio virtual --json --gatt-cache --capture "$work/both" --for $seconds
    [ "$(grep -c '"event":"connected"' "$work/out")" -ge 2 ] && break
done
run replay "$work/both" --json --att
is "$(grep -c '"event":"connected"' "$work/out")" 2 "two connections in one capture"
is "$(grep -c '"pdu":"Read By Group Type Request"' "$work/out" | grep -cv '^0$')" 1 "with one discovery"
second() { sed '1,/"event":"disconnected"/d' "$work/out"; }
is "$(second | grep -c '"pdu":"Read By Group Type Request"')" 0 "not in the second connection"
[ "$(second | grep -c '"event":"sample"')" -ge 3 ]
result $? "the second connection's values are decoded" "$(second | timeless | head -20)"
is "$(left_out) $(field undecoded "$(summary "$work/out")")" "0 0" "nothing is left out"
run replay "$work/both" --to-test "$work/both.test" --json
run replay --test "$work/both.test" --json
is "$status" 0 "a test of this capture needs no cache"

# The dissector.
lua=$work/tendon.lua
python3 "$root/scripts/generate_dissector.py" "$lua"
result $? "the dissector is generated" ""
python3 "$here/check_dissector.py" again - "$lua" "$work" "$TENDON" >"$work/again" 2>&1
results "$work/again"
like "$(cat "$work/again")" 'ok tendon replay:' "the check of connections without discovery came to its end"
shown() { tshark -X "lua_script:$lua" -r "$work/both" -Y "tendon.family.activ5 and frame.time_epoch > $1" 2>/dev/null | wc -l; }
end=$(python3 - "$work/both" <<'TIME'
import struct, sys
data, at = open(sys.argv[1], "rb").read(), 16
while at < len(data):
    _, length, _, _, time = struct.unpack(">IIIIQ", data[at:at + 24])
    body = data[at + 24:at + 24 + length]
    if body[:1] == b"\x05" or body[:2] == b"\x04\x05":
        print((time - 0x00DCDDB30F2F8000) / 1e6)
        break
    at += 24 + length
TIME
)
[ "$(shown 0)" -gt "$(shown "$end")" ] && [ "$(shown "$end")" -ge 3 ]
result $? "the dissector shows values of both connections" "$(shown 0), $(shown "$end") after $end"
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Bonds that no pairing on the virtual radio makes: of an adapter, with the key that resolves private addresses, and with
# short keys. The file is written here, by its description in CSources/linux/store/bonds_format.c.
. "$(dirname "$0")/tap.bash"
bonds=$XDG_STATE_HOME/tendon/bonds

# write_bonds: a file of version 2, records from standard input: RADIO OWN PEER KEY-SIZE KEY-TYPE KEY IDENTITY-KEY|-
# RADIO: 0 the kernel's, 1 the virtual one. Addresses: random.
write_bonds() {
    install -d -m 700 "${bonds%/*}"
    python3 -c '
import sys, zlib

def address(text):
    return bytes.fromhex(text.replace(":", ""))[::-1] + b"\x01"

records = b""
lines = [line.split() for line in sys.stdin if line.strip()]
for radio, own, peer, size, kind, key, identity in lines:
    records += bytes([int(radio), 1, int(kind), int(size)]) + address(own) + address(peer) + bytes(10) + bytes.fromhex(key)
    records += bytes([identity != "-", 0]) + (bytes(16) if identity == "-" else bytes.fromhex(identity))
header = b"TENDBOND" + bytes([2, 0]) + len(lines).to_bytes(2, "little") + zlib.crc32(records).to_bytes(4, "little")
open(sys.argv[1], "wb").write(header + records)
' "$bonds"
    chmod 600 "$bonds"
}

# ---- private addresses
owner=C0:00:00:00:00:51 adapter=C1:22:33:44:55:66 plain=C0:00:00:00:00:52
identity=000102030405060708090a0b0c0d0e0f key=f0e1d2c3b4a5968778695a4b3c2d1e0f
write_bonds <<END
0 $adapter $owner 16 3 $key $identity
1 00:00:00:00:00:00 $plain 7 0 ${key//f/0} -
END
run bonds list --json
is "$status" 0 "bonds list: status 0"
is "$(printf '%s\n' "$out" | timeless)" \
    '{"event":"bond","address":"C0:00:00:00:00:51","address_type":"random","role":"peripheral","adapter":"C1:22:33:44:55:66","authenticated":true,"secure_connections":true,"key_size_bytes":16,"private_addresses":true}
{"event":"bond","address":"C0:00:00:00:00:52","address_type":"random","role":"peripheral","adapter":null,"authenticated":false,"secure_connections":false,"key_size_bytes":7,"private_addresses":false}' \
    "bonds list: a device with private addresses, and one without"
unlike "$out" "$identity" "bonds list: the identity key is not in it"
people bonds list
like "$out" "$owner/random: peripheral, adapter $adapter, Secure Connections with a passkey, key of 16 bytes" \
    "bonds list: a bond of an adapter, on a terminal"
like "$out" "$plain/random: peripheral, virtual radio, legacy pairing without a passkey, key of 7 bytes" \
    "bonds list: a weak bond, on a terminal"
run bonds export "$work/keys.json" --json
is "$status" 0 "bonds export: status 0"
like "$out" '"event":"exported".*"bonds":2' "bonds export: both"
unlike "$out" "$identity|$key" "bonds export: no keys on standard output"
is "$(python3 - "$work/keys.json" <<'END'
import json, sys
for bond in json.load(open(sys.argv[1]))["bonds"]:
    print(bond["address"], bond["adapter"], bond["private_addresses"], bond["key_size_bytes"], bond["key"], bond["identity_key"])
END
)" "$owner $adapter True 16 $key $identity
$plain None False 7 ${key//f/0} None" "bonds export: the identity key, least significant byte first, or null"

# ---- short keys
rm "$bonds"
belt=C0:00:00:00:00:53
start belt simulate feelspace --radio virtual --json --generation 2 --address $belt/random
until_true ready belt
run pair feelspace --radio virtual --json --address $belt --key-size-min 16
is "$status" 0 "pair --key-size-min 16: a key of 16 bytes is long enough"
shorten() { # BYTES: the key of the only bond
    python3 -c '
import sys, zlib
data = bytearray(open(sys.argv[1], "rb").read())
assert data[10] == 1 and 7 <= data[19] <= 16, data[:20]
data[19] = int(sys.argv[2])
data[12:16] = zlib.crc32(bytes(data[16:])).to_bytes(4, "little")
open(sys.argv[1], "wb").write(data)
' "$bonds" "$1"
}
shorten 10
for size in none 10; do
    options=()
    [ $size = none ] || options=(--key-size-min $size)
    run run --radio virtual --json --require-encryption "${options[@]}" --for 5 --notifications 1 --address $belt
    like "$out" '"event":"connected"' "run, at least $size: a bond with a key of 10 bytes is used"
done
run run --radio virtual --json --require-encryption --key-size-min 11 --for 2 --address $belt
unlike "$out" '"event":"connected"' "run, at least 11: it is not used"
like "$out" '"event":"connect_failed"' "run, at least 11: and the event says so"
# It pairs again when that is permitted, and the new key is long enough.
run run --radio virtual --json --require-encryption --key-size-min 11 --pair --for 5 --notifications 1 --address $belt
like "$out" '"event":"connected"' "run --pair, at least 11: it pairs again"
run bonds list --json
like "$out" '"key_size_bytes":16' "and the bond has another key"
# ---- a file that cannot be used
rm -rf "$bonds"
printf 'garbage' >"$bonds"
chmod 600 "$bonds"
run bonds list
like "$status $err" "^1 .*$bonds: the file is damaged, or it is no file of bonds" "bonds list: a damaged file"
like "$err" "try: mv $bonds $bonds.old; then pair the devices again" "and what to do"
run bonds forget --address $belt --radio virtual
like "$status $err" "^1 tendon: $bonds: the file is damaged" "bonds forget: the same, with the name of the file"
rm "$bonds"
mkdir "$bonds"
run bonds list
like "$status $err" "^1 .*$bonds: it is a directory" "bonds list: a directory in its place"
rmdir "$bonds"
install -m 644 /dev/null "$bonds"
run pair feelspace --radio virtual --address $belt
like "$status $err" "^1 .*$bonds: " "pair: a file that others can read"
unlike "$err" "without pairing" "and no other reason"
run bonds list --state tendon
like "$status $err" "^2 .*--state takes the absolute path" "--state: a path that is not absolute"
XDG_STATE_HOME=/dev/null run bonds list
like "$status $err" "^1 .*/dev/null/tendon/bonds: " "bonds list: no directory"
like "$err" "try: XDG_STATE_HOME=DIR" "and what to do"
finish

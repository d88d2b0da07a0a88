#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor --neighbors: who uses an adapter, from a capture of the kernel's monitor channel; --adapter and
# --adapter-use.
. "$(dirname "$0")/tap.bash"

# btsnoop, version 1, datalink 2001; each record: lengths, flags (adapter and opcode), drops, time, packet.
python3 - "$work" <<'MADE'
import struct, sys

def capture(path, records, datalink=2001):
    with open(path, "wb") as file:
        file.write(b"btsnoop\0" + struct.pack(">II", 1, datalink))
        for adapter, opcode, data in records:
            file.write(struct.pack(">IIIIq", len(data), len(data), adapter << 16 | opcode, 0, 0x00E03AB44A676000) + data)

def opened(cookie, form, name):
    return 0xFFFF, 14, struct.pack("<IH", cookie, form) + bytes([1, 22, 0, 1, 0, 0, 0, 16]) + name.ljust(16, b"\0")

work = sys.argv[1]
daemon, other = opened(1, 2, b"bluetoothd"), opened(2, 0, b"evil\x1b[2J")
scans = [(0, 16, struct.pack("<IH", 1, 0x23) + b"\x06")] * 2
rejected = (0, 3, bytes.fromhex("0e 04 01 0c 20 0c"))
capture(f"{work}/alone", [daemon, *scans])
capture(f"{work}/both", [daemon, other, *scans, rejected])
capture(f"{work}/h4", [], 1002)
capture(f"{work}/none", [])
MADE

run doctor --neighbors "$work/alone" --json
is "$status" 0 "one program: no interference"
like "$out" '"event":"neighbor","program":"bluetoothd","access":"management","sockets":1,"actions":{"scan":2}' "its name, access and actions"
like "$out" '"event":"interference","interferes":false,"programs":1,"rejected_commands":0,"resets":0' "and what they mean"
run doctor --neighbors "$work/both" --json
is "$status" 1 "two programs, a rejected command: interference"
like "$out" '"program":"evil\?\[2J","access":"commands","sockets":1,"actions":[{][}]' "a name that would play with the terminal is harmless"
like "$out" '"interferes":true,"programs":2,"rejected_commands":1,"resets":0' "the rejected command is counted"
run doctor --neighbors "$work/both" --adapter hci1 --json
is "$status" 0 "--adapter: nothing happened on another one"
people doctor --neighbors "$work/both"
like "$out" '^   bluetoothd +management: scan 2' "for people: a line for each program"
like "$out" '^NO interference: .*; the controller rejected 1 command \(the latest: 0x200C\)' "and the verdict"
run doctor --neighbors "$work/none"
is "$status" 0 "nobody: no interference"
run doctor --neighbors "$work/h4"
is "$status" 1 "a capture that does not name programs"
like "$err" "btmon -w FILE" "and what does"
run doctor --neighbors "$work/missing"
is "$status" 1 "no such file"
like "$err" "No such file" "with the reason"
head -c 60 "$work/alone" >"$work/cut"
run doctor --neighbors "$work/cut"
is "$status" 1 "a capture that is cut"
run doctor --neighbors "$work/alone" --watch 1
is "$status" 2 "--watch and --neighbors: usage"
run doctor --adapter hci0
is "$status" 2 "--adapter without them: usage"
if [ ! -e /sys/class/bluetooth/hci0 ]; then
    before=$(ls -d /tmp/tendon-?????? 2>/dev/null)
    run doctor --watch 0.2
    is "$status" 3 "--watch without Bluetooth in the kernel: no radio"
    is "$(ls -d /tmp/tendon-?????? 2>/dev/null)" "$before" "and no file is left"
fi

run scan --radio virtual --adapter-use sole --for 0.2
is "$status" 2 "--adapter-use with the virtual radio: usage"
run scan --adapter-use mine
is "$status" 2 "an unknown use: usage"
like "$err" "shared or sole or observer" "it says which there are"
run run --adapter-use observer
is "$status" 2 "run observes nothing: usage"

run run --adapter hci7,hci8 --adapter hci7
is "$status" 2 "an adapter twice: usage"
like "$err" "an adapter twice" "it says so"
run run --adapter hci0,eth0
is "$status" 2 "a list with another name: usage"
run run --adapter "$(seq -s , -f hci%g 0 8)"
is "$status" 2 "more adapters than a group of radios has: usage"
run scan --adapter hci7,hci8
is "$status" 2 "two adapters of a command that uses one: usage"
run run --adapter hci7,hci8 --capture "$work/two"
is "$status" 2 "a capture of two adapters: usage"
printf '[gateway]\nadapter = hci7, hci8\n' >"$work/two.conf"
run config check "$work/two.conf"
is "$status" 0 "the configuration file takes a list"
run config show --config "$work/two.conf" --adapter hci6 --json
like "$out" '"key":"adapter","value":"hci6"' "the option is above it, and not added"
finish

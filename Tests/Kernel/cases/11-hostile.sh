# SPDX-License-Identifier: MIT
# title: what a hostile device sends to the kernel's L2CAP and Security Manager: one end of the link, nothing leaked, connected again
# kinds: none
# controllers: scripted
# needs: build
# lane: 3
# limit: 120
source "$KERNEL_TESTS/scripted.sh"

rounds=$(/usr/bin/python3 "$KERNEL_TESTS/hostile.py" list | wc -l)
hostile_start
code=0
radio_check hostile hci0 45000 00:00:5E:00:53:01 - "$rounds" >"$CASE_DIR/client.txt" || code=$?
check "$rounds links: one end each, no bond, memory and descriptors stay as they are" test $code -eq 0
tail -n 1 "$CASE_DIR/client.txt" | sed 's/^/# /'
scripted_stop
/usr/bin/python3 "$KERNEL_TESTS/hostile.py" check "$CASE_DIR/device.jsonl" "$CASE_DIR/client.txt"

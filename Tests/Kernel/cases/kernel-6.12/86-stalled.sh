# SPDX-License-Identifier: MIT
# title: a controller that reports no completed packets any more: the link of a client that only writes ends, and the next one works
# kinds: none
# controllers: scripted
# needs: build
# sample: nothing
# limit: 150
# Linux 6.1.192 crashes when such a link's socket is closed: see README.md.
source "$KERNEL_TESTS/scripted.sh"

hostile_start --stall-after 20
check "credits end in mid-stream: the link ends once, and the next one works" \
    eval 'radio_check stall hci0 100000 00:00:5E:00:53:01 >"$CASE_DIR/client.txt"'
sed 's/^/# /' "$CASE_DIR/client.txt"
check "40 to 50 s after the last PDU, with the reason" grep -qE '^round 0 sent [0-9]+ ended RADIO_ERROR_STALLED after (4[0-9]|50|51) s$' "$CASE_DIR/client.txt"
check "more was sent than the controller took" test "$(sed -n 's/^round 0 sent \([0-9]*\) .*/\1/p' "$CASE_DIR/client.txt")" -gt 28
scripted_stop

# SPDX-License-Identifier: MIT
# title: a controller without buffers for LE data: the link is up, and nothing can be sent over it
# kinds: none
# controllers: scripted
# needs: build
# limit: 90
# Linux 6.1.192 crashes when such a link's socket is closed: see README.md.
source "$KERNEL_TESTS/scripted.sh"

# What is asked stays unanswered; the device hangs up after 10 s.
hostile_start --buffers 27,0
radio_check hostile hci0 60000 00:00:5E:00:53:01 - 1 >"$CASE_DIR/client.txt"
check "F04 no buffer for LE data: the link has one end" grep -q '^round 0 connects [01] ends 1$' "$CASE_DIR/client.txt"
check "F04 no buffer for LE data: the end has a reason" \
    grep -qE '^round 0 ended (ERROR|RADIO_ERROR|ATT|HCI)_' "$CASE_DIR/client.txt"
sed 's/^/# /' "$CASE_DIR/client.txt"
scripted_stop

# SPDX-License-Identifier: MIT
# title: a controller that has one connection at a time: the second is refused, and the first one goes on
# kinds: none
# controllers: scripted
# needs: build
# limit: 60
# Linux 6.1.192 crashes when the socket of the refused one is closed: see README.md.
source "$KERNEL_TESTS/scripted.sh"

hostile_start --connections 1
check "a second connection is refused, and the first one goes on" eval \
    'radio_check second hci0 30000 00:00:5E:00:53:01 00:00:5E:00:53:02 8000 >"$CASE_DIR/second.txt"; code=$?
    cat "$CASE_DIR/second.txt"; [ $code -eq 0 ]'
sed 's/^/# /' "$CASE_DIR/second.txt"
check "one end of it, with the controller's reason, before its deadline" eval \
    '[ "$(grep "^second: ended" "$CASE_DIR/second.txt" | sed "s/ after .*//")" = "second: ended HCI_CONNECTION_LIMIT" ]'
check "the controller was asked once" test "$(grep -c '^200d .* 09$' "$CASE_DIR/commands.txt")" -eq 1
scripted_stop

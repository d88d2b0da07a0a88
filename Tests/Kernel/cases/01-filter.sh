# SPDX-License-Identifier: MIT
# title: opening powers an adapter up over the management socket; the socket filter, byte by byte
# kinds: legacy extended
# needs: build

check "adapters are listed" radio_check list any
wait_for 5 eval '! radio_check list any | grep -q powered'
check "they are off before" eval '! radio_check list any | grep powered'
check "F13 the filter lets LE Meta events (62) through, and nothing that is not looked at" radio_check filter hci0
check "opening has switched hci0 on" eval 'radio_check list any | grep -q "^hci0 .* powered"'
check "and not hci1" eval '! radio_check list any | grep -q "^hci1 .* powered"'
check "without a name: the first adapter" eval 'radio_check open any | grep -q "^open hci0 "'
check "the command sets of this controller" eval "radio_check open hci1 | grep -q '$KIND scan, $KIND advertising'"
hciconfig hci0 down
check "after hciconfig down it comes up again" radio_check open hci0

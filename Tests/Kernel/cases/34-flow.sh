# SPDX-License-Identifier: MIT
# title: flow: a client that does not read: what the kernel drops is counted, and nothing at the default settings
# kinds: legacy extended
# needs: build
# limit: 120

flow() { # PATTERN COMMAND...: succeeds, and prints what matches
    local pattern=$1
    shift
    "$@" >"$CASE_DIR/flow.txt" 2>&1 && grep -qE "$pattern" "$CASE_DIR/flow.txt"
}
figures() {
    sed -n 's/^\(received\|[0-9]* \)/# \1/p' "$CASE_DIR/flow.txt"
}
nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
}
program=$BUILD/Tests/Kernel/c/radio_check

peer=$(address_of hci1)
serve_start hci1 110 "Tendon Wearable"
check "5,000 notifications sent before the process reads the second: none lost" \
    flow "received 5000, lost 0 " "$program" flow hci0 30000 "$peer" 5000 15000
figures
if [ -z "$SAMPLE" ]; then
    for form in simple bare; do
        check "the same, read by the $form loop" \
            flow "received 5000, lost 0 " "$program" flow hci0 30000 "$peer" 5000 15000 $form
        figures
    done
fi
hciconfig hci0 up
# Without CAP_NET_ADMIN the receive buffer has the size that net.core.rmem_max permits: 4 MiB by default since Linux 7, which
# is enough for all.
read -r permitted </proc/sys/net/core/rmem_max
echo 212992 >/proc/sys/net/core/rmem_max
check "without a right most are lost: each of them is counted" \
    flow "received [1-9][0-9]*, lost [1-9]" nobody "$program" flow links:hci0 30000 "$peer" 5000 15000
figures
check "and known from the packet behind it" \
    flow "lost [1-9].*[(][1-9][0-9]* known" nobody "$program" flow links:hci0 30000 "$peer" 5000 15000 early
figures
echo "$permitted" >/proc/sys/net/core/rmem_max
stop $SERVER

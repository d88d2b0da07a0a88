# SPDX-License-Identifier: MIT
# title: CPU of a notification at 50 Hz: the C library in turns with a bare loop on the same link
# kinds: legacy
# needs: build
# sample: nothing
# limit: 100
peer=$(address_of hci1)
serve_start hci1 90 "Tendon Wearable" 20
cost() {
    radio_check cost hci0 80000 "$peer" >"$CASE_DIR/cost.txt" && grep '^{' "$CASE_DIR/cost.txt"
}
check "both receive each notification" cost
grep '^{' "$CASE_DIR/cost.txt"
stop $SERVER

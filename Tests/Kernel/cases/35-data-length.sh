# SPDX-License-Identifier: MIT
# title: data length: a controller is asked for longer packets, and what it grants is reported
# kinds: none
# controllers: scripted
# needs: build
# lane: 3
# limit: 60
# btvirt and RootCanal 1.10 have no LE Data Packet Length Extension.
source "$KERNEL_TESTS/scripted.sh"
peer=00:00:5E:00:53:01/public
has() { grep -qxE "has interval $1 phy 1 1 length $2" "$CASE_DIR/wishes.txt"; }
# wishes PARAMETERS...: a connection with the first ones, then the others; lines in wishes.txt.
wishes() {
    local code=0
    radio_check wishes hci0 30000 $peer "$@" >"$CASE_DIR/wishes.txt" 2>&1 || code=$?
    sed 's/^/# /' "$CASE_DIR/wishes.txt"
    grep '^20\(22\|24\)' "$CASE_DIR/commands.txt" | sed 's/^/# controller: /'
    return $code
}
lengths() { # octets and microseconds, in hexadecimal digits, that the controller was asked for
    sed -n 's/^2022 4000\(....\)\(....\) 00$/\1 \2/p' "$CASE_DIR/commands.txt" | xargs
}

hostile_start --data-length 251
check "a connection without a wish, and lengths while it lasts" wishes balanced fast,length=251 fast,length=100
check "it begins with 27 bytes" eval 'grep -m 1 "^has" "$CASE_DIR/wishes.txt" | grep -q "length 27 27$"'
check "251 bytes are granted and reported" has "(6|12)" "251 251"
check "then 100 to the device, 251 from it" has "(6|12)" "100 251"
check "a connection with the wish" wishes balanced,length=251
check "has 251 bytes" has 24 "251 251"
check "the controller was asked for these, in the times that they take on LE 1M" \
    test "$(lengths)" = "fb00 4808 6400 9003 fb00 4808"
scripted_stop

hostile_start --data-length 60
check "a controller that has 60 bytes at most" wishes balanced,length=251
check "what it grants is reported" has 24 "60 60"
scripted_stop

hostile_start
check "a controller without longer packets" wishes balanced,length=251 fast,length=100
check "says so when it is asked" grep -qx 'asked for fast,length=100: ERROR_UNSUPPORTED' "$CASE_DIR/wishes.txt"
check "and the connection keeps its own" has "[0-9]+" "27 27"
check "nothing was sent to it" test -z "$(lengths)"
scripted_stop

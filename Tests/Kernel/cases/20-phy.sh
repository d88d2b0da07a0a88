# SPDX-License-Identifier: MIT
# title: PHY of a connection, other parameters while it lasts, and a scan on LE Coded
# kinds: extended legacy rootcanal
# sample: extended rootcanal
# needs: build venv
# limit: 60

monitor_start "$CASE_DIR/all.btsnoop"
serve_start hci1 50 "Tendon Wearable"
# Linux permits its peers LE 1M only; most devices permit all that their controllers have, as this one from here on.
hcitool -i hci1 cmd 0x08 0x0031 00 07 07 >"$CASE_DIR/permitted.txt" 2>&1
log=$CASE_DIR/wishes.txt
check "a connection with parameters, and others while it lasts" eval 'radio_check wishes hci0 30000 "$(address_of hci1)" \
    balanced,phy=2m,length=251 fast fast,phy=coded fast,length=100 fast,phy=1m >"$log" 2>&1'
sed 's/^/# /' "$log"
asked() { grep -qx "asked for $1: $2" "$log"; }
has() { grep -qxE "has interval $1 phy $2 length 27 27" "$log"; } # neither of the two has data length
check "it begins with the parameters of the radio" has 40 '(0 0|1 1|2 2)'
check "another interval is granted" eval 'asked fast OK && has "(6|12)" "[0-3] [0-3]"'
check "a data length that the controller does not have is an error" asked fast,length=100 ERROR_UNSUPPORTED
coded=0
radio_check scan hci0 5000 coded "Tendon Wearable" - >"$CASE_DIR/coded.txt" 2>&1 || coded=$?
stop "$SERVER"
monitor_stop
btmon -r "$CASE_DIR/all.btsnoop" >"$CASE_DIR/all.txt" 2>/dev/null
case $KIND in
legacy)
    check "it is on LE 1M, the only PHY" has 40 '1 1'
    check "another PHY is an error" asked fast,phy=coded ERROR_UNSUPPORTED
    check "and so is a scan on it" eval '[ $coded -eq 1 ] && grep -q "scan ERROR_UNSUPPORTED" "$CASE_DIR/coded.txt"'
    check "the controller was asked for none" eval '! grep -aq "LE Set PHY (0x08|0x0032) plen" "$CASE_DIR/all.txt"'
    ;;
extended) # this controller does not know the commands: the connection stays as it is
    check "PHYs are asked for as bits" eval '[ "$(grep -a -A5 "HCI Command: LE Set PHY" "$CASE_DIR/all.txt" |
        sed -n "s/.*TX PHYs preference: //p" | xargs)" = "0x02 0x04 0x01" ]'
    ;;
rootcanal)
    check "it changes to LE 2M" has 40 '2 2'
    check "to LE Coded, by request" eval 'asked fast,phy=coded OK && has 12 "3 3"'
    check "and to LE 1M" eval 'asked fast,phy=1m OK && has 12 "1 1"'
    ;;
esac
if [ "$KIND" != legacy ]; then
    check "a scan on LE 1M and LE Coded finds the device" test $coded -eq 0
    check "with parameters for both" grep -aq 'Entry 1: LE Coded' "$CASE_DIR/all.txt"
fi

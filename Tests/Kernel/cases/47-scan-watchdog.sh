# SPDX-License-Identifier: MIT
# title: scans of a controller that reports each device once, that reports nothing after a while, and that is silent until it is powered off and on
# kinds: none
# controllers: scripted
# needs: build
# lane: 2
# sample: nothing
# limit: 400
source "$KERNEL_TESTS/scripted.sh"

# refreshes, restarts, power cycles, and that the radio did not fail
watchdog() { # FILE TEXT
    grep -qx "watchdog: $2" "$1" && ! grep -q '^failure' "$1"
}
reports() { # FILE
    sed -n 's/^scan OK: \([0-9]*\) reports, .*/\1/p' "$1"
}
enabled() { # FILE PARAMETERS: so often
    grep -c "^200c $2 00" "$1"
}

# Both wait for minutes: at the same time.
scripted_start --reports 1 --until 200c --other
second=00:00:5E:00:53:BB
/usr/bin/python3 "$KERNEL_TESTS/controller.py" --log "$CASE_DIR/quiet-commands.txt" --address $second --reports 20 --until 200c &
QUIET=$!
wait_for 30 eval "radio_check list any | grep -q '^hci1 $second '" || not_ok "a second controller comes up"
radio_check scan hci1 150000 passive Nobody - >"$CASE_DIR/quiet.txt" &
scan=$!
radio_check scan hci0 150000 filtered - fdd2 >"$CASE_DIR/once.txt"
wait $scan
sed 's/^/# /' "$CASE_DIR/once.txt" "$CASE_DIR/quiet.txt"
check "it filters duplicates: started again every minute" watchdog "$CASE_DIR/once.txt" "2 refreshes, 0 restarts, 0 power cycles"
check "each time with the filter" test "$(enabled "$CASE_DIR/commands.txt" 0101)" = 3
check "and the device that is reported once comes each time" grep -q '^scan OK: .* malformed, 3 found$' "$CASE_DIR/once.txt"
check "the other one all the time" test "$(reports "$CASE_DIR/once.txt")" -ge 1000
check "silence of a minute: started again" watchdog "$CASE_DIR/quiet.txt" "0 refreshes, 2 restarts, 0 power cycles"
check "and the reports come again" test "$(reports "$CASE_DIR/quiet.txt")" = 60
kill -9 $QUIET
scripted_stop

scripted_start --reports 20 --until 0c03 --devices 3
radio_check scan hci0 150000 passive Nobody - >"$CASE_DIR/silent.txt"
sed 's/^/# /' "$CASE_DIR/silent.txt"
check "three fall silent for two minutes: powered off and on" watchdog "$CASE_DIR/silent.txt" "0 refreshes, 1 restarts, 1 power cycles"
check "the scan is on again, and the reports come" test "$(reports "$CASE_DIR/silent.txt")" = 120
check "it was enabled three times" test "$(enabled "$CASE_DIR/commands.txt" 0100)" = 3
scripted_stop

# SPDX-License-Identifier: MIT
# title: ten pairings, our process killed in the middle of each: the bond file is whole, and the next start pairs or is encrypted
# kinds: extended legacy
# needs: build
# lane: 2
# limit: 120
peer=$(address_of hci1)
bonds=$CASE_DIR/bonds
"$BUILD/Tests/Kernel/c/radio_check" wearable hci1 230000 "$CASE_DIR/device-bonds" pairable >"$CASE_DIR/wearable.txt" 2>&1 &
WEARABLE=$!
wait_for 10 grep -q 'serving: OK' "$CASE_DIR/wearable.txt" || not_ok "the wearable is there"

pair() { # FILE pair|read|forget
    timeout 40 "$BUILD/Tests/Kernel/c/radio_check" pair hci0 30000 "$peer" "$bonds" "$2" >"$1" 2>&1
}
milliseconds() { echo $(($(date +%s%N) / 1000000)); }

check "a pairing that nobody kills" pair "$CASE_DIR/first.txt" pair
check "the bond is forgotten" pair "$CASE_DIR/first.txt" forget
begun=$(milliseconds) # the adapters are on now
check "and again" pair "$CASE_DIR/first.txt" pair
lasts=$(($(milliseconds) - begun))
within=$(sed -n 's/^pairing took \([0-9]*\) ms/\1/p' "$CASE_DIR/first.txt")
pair "$CASE_DIR/first.txt" forget
echo "# it takes $lasts ms, the pairing alone $within ms"

RANDOM=20261126 # bash's own sequence, the same in each run
whole=0 went_on=0 paired=0 encrypted=0 middle=0
for n in 1 2 3 4 5 6 7 8 9 10; do
    share=$((RANDOM % 100)) when= # of the time
    # Every second one is killed by a timer of its own that begins with the pairing.
    [ $((n % 2)) -eq 1 ] || when=killed=$((within * 10 * share))
    # Line by line: what it has done is known after it is killed.
    # shellcheck disable=SC2086 # nothing, or one word
    stdbuf -oL "$BUILD/Tests/Kernel/c/radio_check" pair hci0 30000 "$peer" "$bonds" pair $when >"$CASE_DIR/killed-$n.txt" 2>&1 &
    killed=$!
    if [ -z "$when" ]; then
        after=$((lasts * share / 100))
        sleep "$((after / 1000)).$(printf %03d $((after % 1000)))"
        kill -9 $killed 2>/dev/null
    fi
    wait $killed 2>/dev/null
    if grep -q '^read: ATT_INSUFFICIENT' "$CASE_DIR/killed-$n.txt" && ! grep -q '^paired' "$CASE_DIR/killed-$n.txt"; then
        middle=$((middle + 1))
    fi
    next=$CASE_DIR/next-$n.txt
    pair "$next" pair && went_on=$((went_on + 1))
    grep -q '^bonds: OK, [01] keys' "$next" && whole=$((whole + 1))
    grep -q '^paired: OK, bonded 1' "$next" && paired=$((paired + 1))
    grep -q '^connected, encrypted, bonded 1' "$next" && encrypted=$((encrypted + 1))
    echo "# killed after $share % of ${when:-the whole}, at '$(tail -n 1 "$CASE_DIR/killed-$n.txt")'; then $(grep '^bonds' "$next"), $(tail -n 2 "$next" | head -n 1)"
    pair "$CASE_DIR/forget-$n.txt" forget
done
check "ten times the bond file is whole" test $whole -eq 10
check "ten times the next start reads what needs a bond" test $went_on -eq 10
check "it has paired, or was encrypted with the key of the process that was killed: $paired and $encrypted times" \
    test $((paired + encrypted)) -eq 10
check "three of them at least were killed while they paired: $middle" test $middle -ge 3
check "nothing else is left beside the file" eval '[ "$(ls "$CASE_DIR" | grep -c "^bonds")" -le 2 ]'
kill -0 $WEARABLE
check "the wearable has survived" test $? -eq 0
stop $WEARABLE

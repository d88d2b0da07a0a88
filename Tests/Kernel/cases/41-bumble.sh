# SPDX-License-Identifier: MIT
# title: tendon run against an independent wearable (bumble's own host and GATT server)
# lane: 3
# needs: build venv
# kinds: extended legacy rootcanal
# limit: 150
source "$KERNEL_TESTS/command.sh"

hciconfig hci1 down
form=
[ "$KIND" = legacy ] || form=--long-uuids # 16-bit UUIDs declared with all their 128 bits
timeout -k 5 180 "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_bose.py" --transport hci-socket:1 --notifications 500 \
    $form >"$CASE_DIR/bumble.txt" 2>&1 &
peer=$!
wait_for 90 grep -q ready "$CASE_DIR/bumble.txt" || { not_ok "the peer is ready"; sed 's/^/#   /' "$CASE_DIR/bumble.txt"; }
run_stream 40 --notifications 500 --period 20
check "the peer ends by itself" wait_for 20 eval '! kill -0 $peer'
wait $peer
check "and well" test $? -eq 0
cat "$CASE_DIR/bumble.txt" | sed 's/^/# /'
check_lines --run "$CASE_DIR/run.jsonl" --sent "$(sed -n 's/^sent //p' "$CASE_DIR/bumble.txt")" --notifications 500 \
    --yaw-per-sample 1

# SPDX-License-Identifier: MIT
# title: the same flat out, with both kinds of controller
# kinds: legacy extended
# limit: 100
source "$KERNEL_TESTS/command.sh"

device_start --notifications 10000 --ground-truth "$CASE_DIR/truth.jsonl" --flat-out
run_stream 80 --notifications 10000 --period 20
device_wait
check_lines --run "$CASE_DIR/run.jsonl" --device "$CASE_DIR/device.jsonl" --ground-truth "$CASE_DIR/truth.jsonl" \
    --notifications 10000 --period 20

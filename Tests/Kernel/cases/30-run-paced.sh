# SPDX-License-Identifier: MIT
# title: tendon run against tendon simulate: 10,000 notifications at 50 Hz
# sample: nothing
# lane: 3
# limit: 260
source "$KERNEL_TESTS/command.sh"

device_start --notifications 10000 --ground-truth "$CASE_DIR/truth.jsonl"
run_stream 240 --notifications 10000 --period 20
device_wait
check_lines --run "$CASE_DIR/run.jsonl" --device "$CASE_DIR/device.jsonl" --ground-truth "$CASE_DIR/truth.jsonl" \
    --notifications 10000 --period 20

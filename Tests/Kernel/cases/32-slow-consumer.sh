# SPDX-License-Identifier: MIT
# title: the reader stops for 2 s while the loop goes on: what it misses is what was dropped
# limit: 90
source "$KERNEL_TESTS/command.sh"

export READER_PAUSE=2
# 50 a second into a pipe of a page and 32 lines: some 50 are missed.
device_start --notifications 250 --ground-truth "$CASE_DIR/truth.jsonl"
run_stream 30 --notifications 250 --queue-size 32
device_wait
check_lines --run "$CASE_DIR/run.jsonl" --device "$CASE_DIR/device.jsonl" --ground-truth "$CASE_DIR/truth.jsonl" \
    --notifications 250 --dropped

# Flat out nearly all of them.
device_start --notifications 5000 --flat-out
run_stream 60 --notifications 5000 --queue-size 64
device_wait
check_lines --run "$CASE_DIR/run.jsonl" --device "$CASE_DIR/device.jsonl" --notifications 5000 --dropped

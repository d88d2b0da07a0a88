# SPDX-License-Identifier: MIT
# title: the Python package over an adapter: samples, and what they cost beside bleak's
# needs: venv build
# lane: 2
# limit: 240
source "$KERNEL_TESTS/command.sh"
export PYTHONPATH=$PROJECT/Python TENDON_LIBRARY=$BUILD/libtendon.so.0
samples=500

device_start
timeout -k 5 60 /usr/bin/python3 "$PROJECT/Tests/Python/measure.py" tendon hci0 $samples >"$CASE_DIR/tendon.json" 2>"$CASE_DIR/tendon.err"
check "$samples orientations through the package: $(tail -n 3 "$CASE_DIR/tendon.err")" test $? -eq 0
device_stop

bluetoothd_start || not_ok "bluetoothd starts"
adapters_on
device_start
timeout -k 5 120 "$VENV/bin/python" "$PROJECT/Tests/Python/measure.py" bleak hci0 $samples \
    $(pidof bluetoothd dbus-daemon) >"$CASE_DIR/bleak.json" 2>"$CASE_DIR/bleak.err"
check "the same through bleak: $(tail -n 3 "$CASE_DIR/bleak.err")" test $? -eq 0
device_stop

# Figures for a person: those of an emulated machine differ by half from run to run.
of() { sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" "$CASE_DIR/$1.json"; }
echo "# processor time for each sample, in us: tendon $(of tendon us_per_sample), bleak $(of bleak us_per_sample), and" \
    "$(of bleak us_with_helpers) with bluetoothd and dbus-daemon"

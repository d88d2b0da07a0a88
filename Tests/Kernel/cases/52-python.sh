# SPDX-License-Identifier: MIT
# title: the Python package over an adapter: samples, and what they cost beside bleak's
# needs: venv build
# lane: 2
# limit: 240
source "$KERNEL_TESTS/command.sh"
export PYTHONPATH=$PROJECT/Python TENDON_LIBRARY=$BUILD/libtendon.so.1
samples=500

measured() { # CLIENT PYTHON [PID...]
    local client=$1 python=$2 status=0
    shift 2
    timeout -k 5 120 "$python" "$PROJECT/Tests/Python/measure.py" "$client" hci0 $samples "$CASE_DIR/found" "$@" \
        >"$CASE_DIR/$client.json" 2>"$CASE_DIR/$client.err" || status=$?
    check "$samples orientations, $client: $(tail -n 3 "$CASE_DIR/$client.err")" test $status -eq 0
}

for client in tendon callback; do
    device_start
    measured $client /usr/bin/python3
    device_stop
done

bluetoothd_start || not_ok "bluetoothd starts"
adapters_on
device_start
/usr/bin/python3 "$KERNEL_TESTS/advertise_again.py" hci1 "$CASE_DIR/found" &
again=$!
# shellcheck disable=SC2046 # one word for each process
measured bleak "$VENV/bin/python" $(pidof bluetoothd dbus-daemon)
stop $again
device_stop

# Figures for a person: those of an emulated machine differ by half from run to run.
of() { sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" "$CASE_DIR/$1.json"; }
echo "# processor time for each sample, in us: tendon $(of tendon us_per_sample), in a function" \
    "$(of callback us_per_sample), bleak $(of bleak us_per_sample), and" \
    "$(of bleak us_with_helpers) with bluetoothd and dbus-daemon"

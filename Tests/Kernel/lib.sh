# SPDX-License-Identifier: MIT
# Sourced before each case (and by run.sh --command). A case prints results with ok, not_ok or check.
# Set here: PROJECT, KERNEL_TESTS, BUILD, SWIFT_BIN, VENV, OUT (comes back to the host), CASE, KIND, CASE_DIR.

ok() {
    echo "ok $*"
}

not_ok() {
    echo "not ok $*"
}

# check NAME COMMAND...: ok when the command succeeds. Its output is shown, indented, when it fails.
check() {
    local name=$1 output=/tmp/check.$BASHPID code=0
    shift
    "$@" >"$output" 2>&1 || code=$?
    if [ $code -eq 0 ]; then
        ok "$name"
    else
        not_ok "$name"
        echo "#   $* (status $code)"
        sed 's/^/#   /' "$output"
    fi
    return $code
}

# expect NAME STATUS COMMAND...: ok when the command ends with just this status.
expect() {
    local name=$1 wanted=$2 output=/tmp/check.$BASHPID code=0
    shift 2
    "$@" >"$output" 2>&1 || code=$?
    if [ $code -eq "$wanted" ]; then
        ok "$name"
    else
        not_ok "$name (status $code, not $wanted)"
        sed 's/^/#   /' "$output"
    fi
    return 0
}

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
    local until=$(($(date +%s%N) + $1 * 1000000000))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s%N)" -lt $until ] || return 1
        sleep 0.05
    done
}

adapter_ready() { # hciN: its address is known, so its set-up is through
    hciconfig "$1" 2>/dev/null | grep -q 'BD Address: [0-9A-F:]*[1-9A-F]'
}

adapter_listed() { # hciN: the kernel lists it, which it does once it has set it up; that takes RootCanal's seconds
    "$BUILD/Tests/Kernel/c/radio_check" list any | grep -q "^$1 .* le"
}

# controllers_start ARGUMENT...: btvirt with these; hci0 and hci1 are linked with each other.
controllers_start() {
    btvirt "$@" >"$CASE_DIR/btvirt.log" 2>&1 &
    CONTROLLERS=$!
    if ! wait_for 10 adapter_ready hci0 || ! wait_for 10 adapter_ready hci1; then
        not_ok "virtual controllers: $(tail -n 1 "$CASE_DIR/btvirt.log")"
        exit 1
    fi
}

# rootcanal_start COUNT: so many of RootCanal's, which check every parameter; one radio link lies between all of them.
rootcanal_start() {
    local program n
    program=$("$VENV/bin/python" -c 'import rootcanal.binaries as b; print(b.get_package_binary_resource_path("rootcanal"))')
    (cd "$CASE_DIR" && exec "$program" -hci_port 6402 >rootcanal.log 2>&1) &
    CONTROLLERS=$!
    wait_for 20 grep -q 'Listening on: 6402' "$CASE_DIR/rootcanal.log"
    for ((n = 0; n < $1; n++)); do
        "$BUILD/Tests/Kernel/c/bridge" 6402 &
        wait_for 20 adapter_listed hci$n || not_ok "RootCanal's controller $n: $(tail -n 1 "$CASE_DIR/rootcanal.log")"
    done
}

controllers_stop() {
    kill -9 "$CONTROLLERS"
    wait "$CONTROLLERS" 2>/dev/null
    wait_for 5 eval '! compgen -G "/sys/class/bluetooth/hci*"'
}

case_begin() {
    case $KIND in
    legacy) controllers_start -L -l2 ;;   # LE only, 4.x: legacy advertising and scan commands only
    extended) controllers_start -l2 ;;    # dual mode, 5.x: the extended sets
    rootcanal) rootcanal_start 2 ;;       # dual mode, 5.x, another author's: refuses what the specification does not permit
    none) ;;
    *) not_ok "unknown kind $KIND" && exit 1 ;;
    esac
}

# The independent stack, for cases with bleak. Both controllers are its own from then on.
bluetoothd_start() {
    # The controllers of the cases have the same addresses: what it learnt of another case's device must not serve here.
    rm -rf /var/lib/bluetooth
    mkdir -p /run/dbus /var/lib/bluetooth
    rm -f /run/dbus/pid
    dbus-daemon --system --fork --nopidfile
    bluetoothd_run "$@"
}

bluetoothd_kill() {
    kill -9 "$BLUETOOTHD"
    wait "$BLUETOOTHD" 2>/dev/null
}

# bluetoothd_run: with what it has stored.
bluetoothd_run() {
    local daemon=bluetoothd
    command -v bluetoothd >/dev/null || daemon=/usr/libexec/bluetooth/bluetoothd
    # At once, when it has an event: bluetoothd 5.66 loses a connection ("is already connected") if it finds that event and
    # the connected socket together, as it can with controllers that connect within 5 ms.
    chrt --rr 1 "$daemon" -n "$@" >"$CASE_DIR/bluetoothd.log" 2>&1 &
    BLUETOOTHD=$!
    wait_for 10 dbus-send --system --print-reply --dest=org.bluez / org.freedesktop.DBus.ObjectManager.GetManagedObjects
}

# adapters_on: both of bluetoothd's, by its own tool.
adapters_on() {
    local address
    for address in "$(address_of hci0)" "$(address_of hci1)"; do
        printf 'select %s\npower on\n' "$address"
        sleep 1
    done | timeout 10 bluetoothctl >"$CASE_DIR/bluetoothctl.txt" 2>&1
}

# sandboxed COMMAND...: in a PID namespace of its own, with procfs as systemd mounts it for the service (ProcSubset=pid,
# ProtectProc=invisible): no process of others, and no file beside the processes' own.
sandboxed() {
    unshare --pid --fork --mount bash -c \
        'mount -t proc -o subset=pid,hidepid=invisible proc /proc && [ ! -e /proc/net/hci ] && exec "$@"' sandbox "$@"
}

# monitor_start FILE: every HCI packet of every adapter into a btsnoop file. btmon takes the kernel's default receive
# buffer, which is full when the host is busy: then the capture lacks packets, silently.
monitor_start() {
    local buffer
    read -r buffer </proc/sys/net/core/rmem_default
    echo 16777216 >/proc/sys/net/core/rmem_default
    btmon -w "$1" </dev/null >/dev/null 2>&1 &
    MONITOR=$!
    wait_for 5 test -s "$1"
    echo "$buffer" >/proc/sys/net/core/rmem_default
}

monitor_stop() {
    kill -INT "$MONITOR"
    wait "$MONITOR" 2>/dev/null
}

# stop ID...: ends programs that were started in the background; also when they ended by themselves.
stop() {
    kill "$@" 2>/dev/null
    wait "$@" 2>/dev/null
    return 0
}

address_of() { # hciN
    hciconfig "$1" | sed -n 's/.*BD Address: \([0-9A-F:]*\).*/\1/p'
}

# radio_check ARGUMENT...: tries the C library's radio (Tests/Kernel/c).
radio_check() {
    "$BUILD/Tests/Kernel/c/radio_check" "$@"
}

# serve_start ADAPTER SECONDS NAME [PERIOD_MS]: a GATT server in the background, advertising service FDD2, and NAME in its scan
# response only. Its output goes to serve.txt.
serve_start() {
    "$BUILD/Tests/Kernel/c/radio_check" serve "$1" $(($2 * 1000)) "${@:3}" >"$CASE_DIR/serve.txt" 2>&1 &
    SERVER=$!
    wait_for 5 grep -q 'serving: OK' "$CASE_DIR/serve.txt"
}

# Opcodes (hex, one a line) of the LE commands that one adapter got, from a btsnoop file.
commands_of() { # FILE hciN
    [ "$1.txt" -nt "$1" ] || btmon -r "$1" >"$1.txt" 2>/dev/null
    grep -a "< HCI Command: .*\[$2\]" "$1.txt" | grep -ao '(0x08|0x[0-9a-f]*)' |
        sed 's/(0x08|0x00\(..\))/\1/' | sort -u
}

# one_set_only FILE hciN: not both the legacy scan and advertising commands (05 to 0d) and the extended ones (35 to 43).
one_set_only() {
    local legacy extended
    legacy=$(commands_of "$1" "$2" | grep -cxE '06|08|09|0a|0b|0c|0d')
    extended=$(commands_of "$1" "$2" | grep -cxE '3[5-9a-d]|4[123]')
    echo "$2: $legacy legacy, $extended extended commands"
    case $KIND in
    legacy) [ "$legacy" -gt 0 ] && [ "$extended" -eq 0 ] ;;
    *) [ "$legacy" -eq 0 ] && [ "$extended" -gt 0 ] ;;
    esac
}

# SPDX-License-Identifier: MIT
# Sourced by cases whose hci0 is controller.py. What it is asked stands in commands.txt.

# scripted_start ARGUMENT...: a scripted controller with these options.
scripted_start() {
    /usr/bin/python3 "$KERNEL_TESTS/controller.py" --log "$CASE_DIR/commands.txt" "$@" &
    SCRIPTED=$!
    wait_for 30 eval 'radio_check list any | grep -q "^hci0 "' || not_ok "the scripted controller comes up"
}

# hostile_start OPTION...: a controller with these options, and behind it the device of hostile.py.
hostile_start() {
    /usr/bin/python3 "$KERNEL_TESTS/hostile.py" run "$CASE_DIR/device.jsonl" --log "$CASE_DIR/commands.txt" "$@" &
    SCRIPTED=$!
    wait_for 30 eval 'radio_check list any | grep -q "^hci0 "' || not_ok "the scripted controller comes up"
}

scripted_stop() {
    kill -9 $SCRIPTED
    wait $SCRIPTED 2>/dev/null
    wait_for 5 eval '! compgen -G "/sys/class/bluetooth/hci*"'
}

fails_with() { # TEXT COMMAND...
    local text=$1 output
    shift
    output=$("$@" 2>&1)
    echo "$output"
    grep -q -- "$text" <<<"$output"
}

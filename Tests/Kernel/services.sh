# SPDX-License-Identifier: MIT
# Sourced by the cases that run the command with the shipped device files against Tests/Peers/bumble_services.py on hci1.
source "$KERNEL_TESTS/command.sh"

# serve_services SERVICE...: each device after the other, and every line compared with what was sent.
serve_services() {
    local peer service options
    hciconfig hci1 down
    timeout -k 5 330 "$VENV/bin/python" "$PROJECT/Tests/Peers/bumble_services.py" --transport hci-socket:1 --limit 320 \
        --service "$(IFS=, && echo "$*")" >"$CASE_DIR/bumble.txt" 2>&1 &
    peer=$!
    for service in "$@"; do
        if ! wait_for 90 grep -q "^ready $service " "$CASE_DIR/bumble.txt"; then
            not_ok "$service: the device is ready"
            break
        fi
        options=(--define "$PROJECT/packaging/devices")
        case $service in
        # Installed, as the service has it: no option names it. The services after it have both.
        running)
            mkdir -p /etc/tendon/devices
            cp "$PROJECT/packaging/devices/running.json" /etc/tendon/devices
            options=()
            ;;
        # The control point gets the action, and what the device sends from then on says so.
        heart_rate) options+=(--rule 'heart_rate.heart_rate_bpm > 299 => heart_rate.reset_energy') ;;
        glucose) options+=(--rule 'glucose.sequence_number == 19 => glucose.report_all') ;;
        esac
        check "$service: run ends well, in time" stream_into "$CASE_DIR/run.$service.jsonl" 40 \
            --notifications "$(sed -n "s/^ready $service //p" "$CASE_DIR/bumble.txt")" "${options[@]}"
    done
    check "the device ends by itself" wait_for 20 eval "! kill -0 $peer"
    wait $peer
    check "and well" test $? -eq 0
    grep -v '^sent ' "$CASE_DIR/bumble.txt" | sed 's/^/# /'
    /usr/bin/python3 "$PROJECT/Tests/Peers/bumble_services.py" --check "$CASE_DIR/bumble.txt" "$CASE_DIR"
}

# SPDX-License-Identifier: MIT
# title: beside bluetoothd, whose bonded mouse is absent and later present: its key works before, during and after our service
# kinds: none
# needs: venv
# disable: tendon
# limit: 200
source "$PROJECT/Tests/Deployed/lib.sh"
source "$PROJECT/Tests/Deployed/mouse.sh"
wearables_start
listen
wearables_ready
mouse_bonds
works "before the service"
check "it goes away again" absent

for family in "${BESIDE[@]}"; do wear "start $family"; done
monitor_start "$CASE_DIR/btmon.snoop"
check "the service starts" systemctl start tendon
streams 90 "while the mouse is absent" "${BESIDE[@]}"
works "beside the service"
streams 60 "while the mouse is there" "${BESIDE[@]}"
check "it goes away once more" absent
streams 60 "while it is absent again" "${BESIDE[@]}"
check "the service stops" systemctl stop tendon
monitor_stop
works "after the service"

record keys 0 "$CASE_DIR/btmon.snoop"

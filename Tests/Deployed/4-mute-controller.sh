# SPDX-License-Identifier: MIT
# title: the controller stops answering in mid-stream: the service powers it off and on within its sandbox, and streams again
# kinds: none
# needs: venv
# mask: bluetooth
# limit: 150
source "$PROJECT/Tests/Deployed/lib.sh"
wearables_start
listen
wearables_ready
for family in "${FAMILIES[@]}"; do wear "start $family"; done
mark
wear plug
streams 90 "at first"
mark
wear mute
check "the controller is reset" received 15 'm["event"] == "reset"'
streams 30 "after the controller was mute" --within 15

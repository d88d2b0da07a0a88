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
wear plug
for family in "${FAMILIES[@]}"; do wear "start $family"; done
streams 90 "at first"
mark
muted=$(date +%s%N)
wear mute
check "the controller is reset" received 15 'm["event"] == "reset"'
streams 30 "the controller was mute"
took=$((($(date +%s%N) - muted) / 1000000))
check "they stream again within 15 s: $took ms" test $took -le 15000

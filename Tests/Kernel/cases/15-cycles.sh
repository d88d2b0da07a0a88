# SPDX-License-Identifier: MIT
# title: 1,000 times connect, subscribe, stream, disconnect: memory and descriptors stay as they are
# kinds: legacy
# sample: nothing
# needs: build
# limit: 600

peer=$(address_of hci1)
serve_start hci1 1100 "Tendon Wearable"
check "1,000 connections, each with notifications; nothing grows" radio_check cycles hci0 1000000 "$peer" 1000 20
check "each found the server" eval '[ "$(grep -c "^central $(address_of hci0)" "$CASE_DIR/serve.txt")" -ge 1000 ]'
stop $SERVER

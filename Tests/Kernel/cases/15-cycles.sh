# SPDX-License-Identifier: MIT
# title: 1,000 times connect, discover, subscribe, stream, disconnect: nothing lost, memory and descriptors stay as they are
# kinds: legacy
# sample: nothing
# needs: build
# limit: 600

peer=$(address_of hci1)
serve_start hci1 1100 "Tendon Wearable"
check "1,000 connections, each with a discovery and 20 notifications, all of them right; nothing grows" \
    radio_check cycles hci0 1000000 "$peer" 1000 20
check "the server saw as many connections" test "$(grep -c "^central $(address_of hci0)" "$CASE_DIR/serve.txt")" -eq 1000
check "and sent 20 over each" test "$(grep -c '^central gone: .* 20 notifications sent' "$CASE_DIR/serve.txt")" -eq 1000
stop $SERVER

# SPDX-License-Identifier: MIT
# Sourced after tap.bash by the tests that need the reference cloud: starts it on loopback with TLS and a certificate
# authority of its own, and sets the variables that the command reads. cloud_pid: its process.
cloud_data=$work/cloud
mkdir -m 700 "$cloud_data"
start_cloud() { # options of the cloud
    python3 "$root/examples/cloud/tendon-obvious-cloud" --port "${cloud_port:-0}" --data "$cloud_data" "$@" \
        >"$work/cloud.site" 2>"$work/cloud.log" </dev/null &
    cloud_pid=$!
    children+=("$cloud_pid")
    until_true grep -q '"url"' "$work/cloud.site" || { echo "Bail out! no cloud: $(cat "$work/cloud.log")"; exit 1; }
    site() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$work/cloud.site" "$1"; }
    cloud_port=$(site port)
    TENDON_OBVIOUS_BASE_URL=$(site url)
    TENDON_OBVIOUS_CA_FILE=$(site ca)
    TENDON_OBVIOUS_API_KEY_FILE=$(site apiKeyFile)
    export TENDON_OBVIOUS_BASE_URL TENDON_OBVIOUS_CA_FILE TENDON_OBVIOUS_API_KEY_FILE
    cloud_key=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["keys"]["1"])' "$work/cloud.site")
}
stop_cloud() {
    kill "$cloud_pid"
    wait "$cloud_pid" 2>/dev/null
}

# What the user does in a browser, at the address that the command printed.
open_page() { # URL
    python3 -c 'import ssl, sys, urllib.request
urllib.request.urlopen(sys.argv[1], context=ssl.create_default_context(cafile=sys.argv[2])).read()' \
        "$1" "$TENDON_OBVIOUS_CA_FILE"
}

# Changes the cloud: admin PATH JSON
admin() {
    python3 -c 'import ssl, sys, urllib.request
urllib.request.urlopen(sys.argv[1], sys.argv[2].encode(), context=ssl.create_default_context(cafile=sys.argv[3])).read()' \
        "$TENDON_OBVIOUS_BASE_URL/admin/$1" "$2" "$TENDON_OBVIOUS_CA_FILE"
}

# Prints the cart and the key of each time that a card was charged.
charges() {
    python3 -c 'import json, ssl, sys, urllib.request
context = ssl.create_default_context(cafile=sys.argv[2])
for row in json.load(urllib.request.urlopen(sys.argv[1], context=context))["charges"]: print(row["cart"], row["key"])' \
        "$TENDON_OBVIOUS_BASE_URL/admin/charges" "$TENDON_OBVIOUS_CA_FILE"
}

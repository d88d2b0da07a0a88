# SPDX-License-Identifier: MIT
# Sourced, after command.sh, by the cases of Obvious with the reference cloud on the guest's loopback.
DATA=$(mktemp -d) # of the guest: the host's files have no shared memory, which SQLite's log needs
export TENDON_OBVIOUS_BASE_URL TENDON_OBVIOUS_CA_FILE TENDON_OBVIOUS_API_KEY_FILE TENDON_OBVIOUS_KEYS_FILE
export XDG_CACHE_HOME=$DATA/cache
mkdir "$XDG_CACHE_HOME"

# cloud_start ARGUMENT...: its process in CLOUD; where it is and its key in the environment.
cloud_start() {
    /usr/bin/python3 "$PROJECT/examples/cloud/tendon-obvious-cloud" --port 0 --data "$DATA/cloud" "$@" \
        >"$CASE_DIR/site.json" 2>"$CASE_DIR/cloud.log" </dev/null &
    CLOUD=$!
    if ! wait_for 60 grep -q '"url"' "$CASE_DIR/site.json"; then
        not_ok "the reference cloud starts: $(tail -n 1 "$CASE_DIR/cloud.log")"
        exit 1
    fi
    TENDON_OBVIOUS_BASE_URL=$(site 'v["url"]')
    TENDON_OBVIOUS_CA_FILE=$(site 'v["ca"]')
    TENDON_OBVIOUS_API_KEY_FILE=$(site 'v["apiKeyFile"]')
    echo "1234 1 $(site 'v["keys"]["1"]')" >"$CASE_DIR/keys"
    TENDON_OBVIOUS_KEYS_FILE=$CASE_DIR/keys
}

site() {
    /usr/bin/python3 -c 'import json, sys; v = json.load(open(sys.argv[1])); print(eval(sys.argv[2], {"v": v}))' "$CASE_DIR/site.json" "$1"
}

obvious() { # ARGUMENT...: one of the commands for a device, in obvious.txt
    timeout 120 "$TENDON" obvious "$@" --radio bluez --adapter hci0 --json >"$CASE_DIR/obvious.txt" 2>"$CASE_DIR/obvious.err" ||
        { tail -n 5 "$CASE_DIR/obvious.txt" "$CASE_DIR/obvious.err" && return 1; }
}

says() { # PATTERN
    grep -q "$1" "$CASE_DIR/obvious.txt" || { cat "$CASE_DIR/obvious.txt" && return 1; }
}

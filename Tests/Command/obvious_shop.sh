#!/bin/bash
# SPDX-License-Identifier: MIT
# obvious catalog, checkout, pay with the reference cloud over TLS: carts, cards from a descriptor and from a terminal,
# authentication; a card's number is in no output and in no file.
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/cloud.bash"
serial=00000000000000A1
device=(--serial "$serial" --product 1234)
# Test cards: good, declined, with authentication.
good=4242424242424242 declined=4000000000000002 asking=4000000000003220

run obvious catalog --product 1234
is "$status" 2 "without the URL of a cloud: a usage error"
like "$err" "TENDON_OBVIOUS_BASE_URL is not set" "that says what is missing"
like "$err" 'try: --cloud https://.* --api-key-file FILE, or set TENDON_OBVIOUS_BASE_URL and TENDON_OBVIOUS_API_KEY_FILE' \
    "and what to do, with the key, which is missing next"
start_cloud
key=$(cat "$TENDON_OBVIOUS_API_KEY_FILE")

run obvious catalog --product 1234 --json
is "$status" 0 "catalog"
is "$(timeless <<<"$out" | head -1)" \
    '{"event":"catalog_item","family":"obvious","item":7,"title":"Led","text":"Lights up the device.","price":"4.99","currency":"USD","features":[16]}' \
    "catalog: an item"
is "$(grep -c catalog_item <<<"$out")" 2 "catalog: all items"
people obvious catalog
like "$out" ' 7  Led +4\.99 USD  Lights up the device\.' "catalog: for people, of all products"
run obvious catalog --product 4711
is "$status" 1 "an unknown product: status 1"
like "$err" 'the cloud: .*UNKNOWN_PRODUCT' "in the cloud's words"
run obvious catalog seven
is "$status" 2 "catalog takes no operands"

# Options stand above the variables.
run obvious catalog --cloud https://127.0.0.1:1
is "$status" 1 "no cloud at this address: status 1"
like "$err" 'try: check the URL of --cloud' "says what to check"
run obvious catalog --ca-file /dev/null
is "$status" 1 "an authority that did not sign the certificate"
run obvious catalog --ca-file "$work/none"
like "$status $err" "^1 .*/none: No such file or directory" "a file of authorities that is not there is named"
# The authorities of a file stand in the place of the system's, of which this cloud's is one here.
mkdir "$work/system"
cp "$TENDON_OBVIOUS_CA_FILE" "$work/system/cloud.pem"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=another -keyout "$work/another.key" -out "$work/another.pem" 2>/dev/null
run obvious catalog --ca-file "$work/another.pem"
like "$status $err" "^1 .*the certificate of the cloud is not trusted: .*/another.pem does not have its authority" \
    "an authority that did not sign the certificate: the file"
like "$err" 'try: --ca-file FILE' "and what to do"
python3 - "$work/another.pem" "$work/another.key" >"$work/connections" <<'END' &
import socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(*sys.argv[1:])
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    connection, _ = server.accept()
    print("connection", flush=True)
    try:
        context.wrap_socket(connection, server_side=True)
    except OSError:
        pass
END
children+=("$!")
until_true test -s "$work/connections"
run obvious catalog --cloud "https://127.0.0.1:$(head -1 "$work/connections")"
is "$status $(grep -c connection "$work/connections")" "1 1" "a cloud that is not trusted is not asked again"
bad() { # a certificate that clients must reject
    (
        work=$work/$1
        cloud_data=$work/cloud cloud_port=0
        mkdir -m 700 "$work" "$cloud_data"
        start_cloud --certificate "$1"
        run obvious catalog
        stop_cloud
        echo "$status $err"
    )
}
like "$(bad unknown-authority)" "^1 .*is not trusted: .* does not have its authority" "a certificate of an unknown authority"
like "$(bad expired)" "^1 .*the certificate of the cloud is not valid at this time" "a certificate that has expired"
like "$(bad wrong-host)" "^1 .*the certificate of the cloud was not accepted: not trusted, or for another host name" "a certificate of another host"
trusted() { # options of the catalog: with the cloud's authority in the system's folder
    local user=()
    [ "$(id -u)" = 0 ] || user=(--map-root-user)
    unshare "${user[@]}" --mount bash -c 'mount --bind "$0" /etc/ssl/certs && exec "$@"' "$work/system" \
        env -u TENDON_OBVIOUS_CA_FILE timeout 20 "$TENDON" obvious catalog "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$? err=$(cat "$work/err")
}
trusted
is "$status" 0 "an authority of the system is trusted without --ca-file"
trusted --ca-file "$work/another.pem"
is "$status" 1 "with it, only those of the file"
echo wrong_key >"$work/wrong"
run obvious catalog --api-key-file "$work/wrong"
is "$status" 1 "a key that others can read is refused"
like "$err" 'chmod 600' "with the remedy"
chmod 600 "$work/wrong"
run obvious catalog --api-key-file "$work/wrong"
is "$status" 1 "a wrong key"
like "$err" 'HTTP 401.*' "says so"
like "$err" 'try: check the key of --api-key-file' "and where to look"
TENDON_OBVIOUS_API_KEY_FILE= run obvious catalog
is "$status" 1 "an empty name is no file"
key_file=$TENDON_OBVIOUS_API_KEY_FILE
unset TENDON_OBVIOUS_API_KEY_FILE
run obvious catalog
is "$status" 2 "no key: a usage error"
like "$err" 'no api key' "says so"
like "$err" 'try: --api-key-file FILE, or set TENDON_OBVIOUS_API_KEY_FILE' "and both ways to give it"
export TENDON_OBVIOUS_API_KEY_FILE=$key_file
run obvious catalog --cloud http://127.0.0.1:1
is "$status" 2 "plain HTTP is refused"

# Carts.
run obvious checkout
is "$status" 2 "checkout without items"
run obvious checkout 7
is "$status" 2 "checkout without a device"
like "$err" '--serial and --product' "says which options"
run obvious checkout 7 --serial "$serial"
is "$status" 2 "a serial number alone does not say which product it is"
run obvious checkout 7 --radio virtual --product 1234 --timeout 0.5
is "$status" 4 "no device in range: status 4"
like "$err" 'try: --serial SERIAL --product ID' "and what to do without one"
run obvious checkout 7 --serial 12 --product 1234
is "$status" 2 "a serial number has 16 digits"
run obvious checkout x "${device[@]}"
is "$status" 2 "an item is a number"
run obvious checkout 9 "${device[@]}"
is "$status" 1 "an item that is not in the catalog"
like "$err" 'no item 9' "says which"
run obvious checkout 7 8 "${device[@]}" --dry-run --json
is "$status $(field command "$out")" "0 obvious checkout" "checkout --dry-run"
like "$out" 'would make a cart of Led \(4\.99 USD\), Everything \(12\.99 USD\) for device 00000000000000A1' "says what"
is "$(grep -c 'POST /v1/carts' "$work/cloud.log")" 0 "and sends nothing that changes anything"
checkout() {
    run obvious checkout 7 "${device[@]}" --json
    cart=$(field cart "$out")
}
checkout
is "$status" 0 "checkout"
is "$(timeless <<<"$out")" \
    '{"event":"cart","family":"obvious","cart":'"$cart"',"total_price":499,"currency":"USD","serial":"00000000000000A1","product":"1234"}' \
    "checkout: cart and price in hundredths"
people obvious checkout 7 "${device[@]}"
like "$out" 'cart [0-9]+: 4\.99 USD' "checkout: for people"
like "$out" "tendon obvious pay [0-9]+ --serial $serial --product 1234" "checkout: the next command"

# Payment. The card goes through a pipe, never into a file.
card() { printf '%s\n%s\n%s\n' "$1" "${2:-04/33}" "${3:-123}"; }
pay() { # card, arguments
    local number=$1
    shift
    run obvious pay "$cart" "${device[@]}" --card-fd 3 --json "$@" 3< <(card "$number")
}
run obvious pay "$cart" "${device[@]}"
is "$status" 2 "pay without terminal and descriptor"
like "$err" '--card-fd 3' "says how to give the card"
run obvious pay "$good" "${device[@]}"
is "$status" 2 "a card's number is no cart"
run obvious pay "$cart" "$good" 04/33 123 "${device[@]}"
is "$status" 2 "card data is no operand"
run obvious pay "$cart" --card "$good" "${device[@]}"
is "$status" 2 "and no option"
run obvious pay "$cart" --card-fd "$good" "${device[@]}"
is "$status" 2 "and no descriptor"
run obvious pay "$cart" "${device[@]}" --card-fd 9
is "$status" 2 "a descriptor that is not open"
pay 4242424242424241
is "$status" 1 "a number with a wrong check digit"
like "$err" 'invalid card.*nothing was sent' "says so"
run obvious pay "$cart" "${device[@]}" --card-fd 3 3< <(card "$good" 0433)
is "$status" 2 "a date of another form"
run obvious pay "$cart" "${device[@]}" --card-fd 3 3< <(card "$good" 04/20)
is "$status" 1 "a card that has expired"
run obvious pay "$cart" "${device[@]}" --card-fd 3 3< <(card "$good" 04/33 12)
is "$status" 1 "a CVC of two digits"
run obvious pay "$cart" "${device[@]}" --card-fd 3 3< <(card "$(printf '%0300d' 4)")
is "$status" 2 "a line without end"
run obvious pay "$cart" "${device[@]}" --card-fd 3 3</dev/null
is "$status" 2 "an empty file"
pay "$good" --dry-run
is "$status $(field event "$out")" "0 dry_run" "pay --dry-run"
is "$(grep -c 'payments' "$work/cloud.log")" 0 "until here no card was sent"
pay "$declined"
is "$status" 1 "a declined card"
like "$err" 'the card was declined \(card_declined\)' "in the cloud's words"
is "$(timeless <<<"$out")" \
    '{"event":"payment","family":"obvious","cart":'"$cart"',"state":"failed","error":"card_declined","text":"the card was declined"}' "as an event"
pay "4242 4242-4242 4242"
is "$status $(timeless <<<"$out")" '0 {"event":"payment","family":"obvious","cart":'"$cart"',"state":"succeeded"}' "pay: the cart is kept; spaces and hyphens"
pay "$good"
is "$status" 1 "a cart is paid once"
like "$err" "cart $cart is paid already" "says so, and sends nothing"
is "$(charges | grep -c "^$cart ")" 1 "and charges nothing"

# Authentication: the page is opened while the command waits.
authenticate() { # query of the page
    checkout
    timeout 20 "$TENDON" obvious pay "$cart" "${device[@]}" --card-fd 3 --json >"$work/asked.out" 2>"$work/asked.err" \
        3< <(card "$asking") </dev/null &
    local payer=$!
    until_true grep -q action_url "$work/asked.out"
    open_page "$(field action_url "$(cat "$work/asked.out")" | tr -d '"')$1"
    wait "$payer"
    status=$? out=$(cat "$work/asked.out") err=$(cat "$work/asked.err")
}
authenticate ''
is "$status $(grep -c '"state":"action_required"' <<<"$out") $(grep -c '"state":"succeeded"' <<<"$out")" "0 1 1" \
    "pay with authentication: asked once, then paid"
authenticate '?deny=1'
is "$status" 1 "the user declines"
like "$err" 'the user declined' "says so"
checkout
timeout -s INT 2 "$TENDON" obvious pay "$cart" "${device[@]}" --card-fd 3 --json >"$work/left.out" 2>"$work/left.err" \
    3< <(card "$asking") </dev/null
like "$(cat "$work/left.err")" "interrupted: cart $cart is paid only if" "Ctrl-C while it waits: says what is open"
like "$(cat "$work/left.err")" "try: tendon obvious pay $cart, again" "and what to do"

# A cloud that does not lock carts: the key alone keeps the card from being charged twice.
stop_cloud
start_cloud --no-cart-lock
charged() { is "$(charges | grep -c "^$cart ")" 1 "$1: charged once"; }
# The connection ends without an answer, twice; both times the payment was made.
lost() {
    checkout
    admin faults '{"do": "close", "times": 2, "match": "POST /v1/carts/"}'
    pay "$good"
    is "$status" 1 "no answer: status 1"
    like "$err" 'it is not known whether the card was charged' "says that the result is not known"
    like "$err" "try: tendon obvious pay $cart, again with the same card" "and what to do"
}
lost
pay "$good"
is "$status $(field state "$out")" "0 succeeded" "paid again: the answer to the first payment"
like "$err" "a payment of cart $cart was sent before.*the same key" "says what it does"
charged "no answer"
for answer in '"status": 500, "body": ""' '"status": 503, "body": ""' '"status": 200, "body": "<html>"'; do
    checkout
    admin faults '{"do": "status", "done": true, "match": "POST /v1/carts/", '"$answer"'}'
    pay "$good"
    is "$status" 1 "${answer:0:13} after the payment was made: status 1"
    like "$err" 'it is not known whether the card was charged' "says that the result is not known"
    pay "$good"
    is "$status $(field state "$out")" "0 succeeded" "and again: paid"
    charged "${answer:0:13}"
done

# Killed, and interrupted, while the cloud has the payment and its answer is on the way.
for signal in KILL INT; do
    checkout
    admin faults '{"do": "drip", "bytes": 1, "pause": 5, "match": "POST /v1/carts/"}'
    "$TENDON" obvious pay "$cart" "${device[@]}" --card-fd 3 --json >"$work/killed.out" 2>"$work/killed.err" \
        3< <(card "$good") </dev/null &
    payer=$!
    until_true eval 'charges | grep -q "^$cart "'
    kill -"$signal" "$payer"
    wait "$payer" 2>/dev/null
    is "$(grep -c succeeded "$work/killed.out")" 0 "SIG$signal before the answer: not known to be paid"
    pay "$good"
    is "$status $(field state "$out")" "0 succeeded" "SIG$signal, and again: paid"
    charged "SIG$signal"
done
like "$(cat "$work/killed.err")" "interrupted: it is not known whether the card was charged for cart $cart" \
    "interrupted after it was sent: says what is open"

# On a terminal: questions without echo; Ctrl-C leaves the echo on.
terminal() { # lines to type, arguments
    python3 - "$TENDON" "$@" >"$work/out" 2>&1 <<'PY'
import os, pty, re, select, sys, termios, time
program, lines, arguments = sys.argv[1], sys.argv[2].split(";"), sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    os.execv(program, [program, *arguments])
end, output, asked = time.monotonic() + 20, b"", 0
questions = [b"Card number: ", b"Expires (MM/YY): ", b"CVC: "]
while time.monotonic() < end:
    if asked < len(lines) and questions[asked] in output:
        # Echo is off before the question is printed.
        assert not termios.tcgetattr(terminal)[3] & termios.ECHO
        os.write(terminal, b"\x03" if lines[asked] == "INT" else lines[asked].encode() + b"\n")
        asked += 1
    if select.select([terminal], [], [], 0.05)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        output += data
    elif os.waitpid(child, os.WNOHANG)[0]:
        break
print("ECHO", bool(termios.tcgetattr(terminal)[3] & termios.ECHO))
sys.stdout.buffer.write(output)
PY
    out=$(tr -d '\r' <"$work/out")
}
checkout
terminal "$good;04/33;123" obvious pay "$cart" "${device[@]}"
like "$out" "cart $cart is paid" "pay on a terminal: asks, then pays"
like "$out" 'Card number: $' "nothing typed is shown"
like "$out" 'to unlock it: tendon obvious update' "says what comes next"
checkout
terminal "$good;INT" obvious pay "$cart" "${device[@]}"
like "$out" '^ECHO True' "Ctrl-C at a question: the terminal echoes again"

# Without --serial: the device in range, of the product whose keys there are.
echo "1234 1 $cloud_key" >"$work/keys"
start shelf simulate obvious --radio virtual --json --address C0:00:00:00:00:0D/random --keys-file "$work/keys"
shelf=$child
until_true ready shelf
export TENDON_OBVIOUS_KEYS_FILE=$work/keys
run obvious checkout 7 --radio virtual --json
is "$status $(field serial "$out") $(field product "$out")" "0 1122334455667788 1234" \
    "checkout without --serial: reads it from the device, and the product from the keys"
cart=$(field cart "$out")
run obvious pay "$cart" --radio virtual --address C0:00:00:00:00:0D --card-fd 3 --json 3< <(card "$good")
is "$status $(field state "$out")" "0 succeeded" "pay without --serial"
run obvious checkout 7 --radio virtual --json --serial "$serial"
is "$status $(field serial "$out")" "0 $serial" "--serial stands above the device"
run obvious checkout 7 --radio virtual --json --product 4711
is "$status" 1 "another product than the device's"
like "$err" 'WRONG_PRODUCT' "says so"
kill -INT "$shelf"
wait "$shelf" 2>/dev/null
unset TENDON_OBVIOUS_KEYS_FILE

full() { # arguments; the card on descriptor 3
    timeout 20 "$TENDON" obvious "$@" >/dev/full 2>"$work/full.err" </dev/null
    is "$? $(grep -c 'No space left on device' "$work/full.err")" "1 1" "/dev/full: obvious $1"
}
full catalog
full checkout 7 "${device[@]}"
checkout
full pay "$cart" "${device[@]}" --card-fd 3 3< <(card "$good")

# What was printed and written by both programs. The search itself is proven with what must be there.
stop_cloud
found() { grep -rlaF -- "$1" "$work" | tr '\n' ' '; }
like "$(found card_declined)" 'cloud.sqlite3' "the search finds what is in the cloud's database"
for number in "$good" "$declined" "$asking" "4242 4242-4242 4242"; do
    is "$(found "$number")" "" "the number of a card is in no output and no file: ${number:0:4}...${number: -4}"
done
is "$(found "$key" | sed "s|$key_file||" | tr -d ' ')" "" "the API key is in its file alone"
finish

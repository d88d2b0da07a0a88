#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/count_tests.py: each test counts once. Prints TAP.
set -euo pipefail
unset CI # it decides what a skipped test is
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

check() { # NAME EXPECTED ACTUAL
    if [ "$2" = "$3" ]; then
        echo "ok - $1"
    else
        printf 'not ok - %s\n# expected: %s\n# actual:   %s\n' "$1" "$2" "$3"
        status=1
    fi
}

# One Meson log: the console's lines, a failed test's output among them, then testlog.txt. $1: result of the second test.
meson_log() {
    printf '1/2 tendon:linux / linux_loop OK\n2/2 tendon:linux / linux_bonds\n'
    [ "$1" = ok ] || printf 'ok 1 - first\nnot ok 2 - second\n'
    printf '==== 1/2 ====\ntest:         tendon:linux / linux_loop\nok 1 - first\nok 2 - second # SKIP root\n====\n'
    printf '==== 2/2 ====\ntest:         tendon:linux / linux_bonds\nok 1 - first\n%s 2 - second\n====\n' "$1"
}

meson_log ok >"$work/c_sanitized.log"
meson_log ok >"$work/c_clang.log"
meson_log 'not ok' >"$work/c_without_bluez.log"
check "one build" "3 0 1" "$(scripts/count_tests.py "$work/c_sanitized.log")"
check "the output of a failed test is not counted twice" "2 1 1" "$(scripts/count_tests.py "$work/c_without_bluez.log")"
sum=$(scripts/count_tests.py --sum "$work/c_sanitized.log" "$work/c_clang.log")
check "two builds are one test each" "3 passed, 0 failed, 1 skipped" "$(tail -n 1 <<<"$sum")"
check "the builds are named" "== 4 C tests, counted once, in 2 builds: sanitizers (4), clang (4)" "$(head -n 1 <<<"$sum")"
sum=$(scripts/count_tests.py --sum "$work/c_sanitized.log" "$work/c_clang.log" "$work/c_without_bluez.log")
check "failed in one build is failed" "2 passed, 1 failed, 1 skipped" "$(tail -n 1 <<<"$sum")"

printf 'test:         tendon:linux / linux_loop\nok 1 - %s: first\n====\n' armhf >"$work/cross.log"
printf 'test:         tendon:linux / linux_loop\nok 1 - %s: first\n====\n' mips >>"$work/cross.log"
sum=$(scripts/count_tests.py --sum "$work/c_clang.log" "$work/cross.log")
check "other machines are builds too" "3 passed, 0 failed, 1 skipped" "$(tail -n 1 <<<"$sum")"
check "and are named" "== 4 C tests, counted once, in 3 builds: clang (4), armhf (1), mips (1)" "$(head -n 1 <<<"$sum")"

cat >"$work/kernel.log" <<LOG
# guest is up after 2.5 s: 6.1.0-56-amd64, 2 CPUs
# --- 03-scan/legacy: scanning
ok found
# --- 04-links/legacy: links
ok a
ok a
# NOT OK, to be run again: cancelled by the owner
# --- 04-links/extended: links
ok a
# ---- once more, one after the other: 04-links
# guest is up after 2.5 s: 6.1.0-56-amd64, 2 CPUs
# --- 04-links/legacy: links
ok a
ok a
ok cancelled by the owner
# --- 04-links/extended: links
ok a
# guest is up after 2.5 s: 6.12.0-1-amd64, 2 CPUs
# --- 03-scan/legacy: scanning
ok found
LOG
check "a repeated case counts once, another kernel is another test" "6 0 0" "$(scripts/count_tests.py "$work/kernel.log")"
sum=$(scripts/count_tests.py --sum "$work/kernel.log")
check "the repeated case is in the last line" "6 passed, 0 failed, 0 skipped; run twice: 04-links/legacy" \
    "$(tail -n 1 <<<"$sum")"
check "the reason is above it" "04-links/legacy: cancelled by the owner" "$(tail -n 2 <<<"$sum" | head -n 1)"
sed -i 's/^ok cancelled/not ok cancelled/' "$work/kernel.log"
check "the second run decides" "5 1 0" "$(scripts/count_tests.py "$work/kernel.log")"

printf '✔ Test run with 3 tests passed after 1 s.\n✔ Test "a" passed after 0.1 s.\n✘ Test b() failed after 1 s.\n➜ Test c() skipped.\n' \
    >"$work/swift.log"
check "Swift Testing" "1 1 1" "$(scripts/count_tests.py "$work/swift.log")"
check "CI is set: skipped is failed" "1 2 0" "$(CI=1 scripts/count_tests.py "$work/swift.log")"
check "so it is with TAP" "3 1 0" "$(CI=1 scripts/count_tests.py "$work/c_sanitized.log")"
printf 'building\n' >"$work/docs.log"
check "a failure without a line" "0 passed, 1 failed, 0 skipped" "$(scripts/count_tests.py --sum "$work/docs.log=1")"
exit $status

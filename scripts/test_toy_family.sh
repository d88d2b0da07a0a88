#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Adds a family to a copy of the tree by the steps of docs/adding-a-device.md; it builds, scans, streams and conforms.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
tree=$build/toy/tree
mkdir -p "$tree"
jobs_count=$(nproc 2>/dev/null || echo 2)
failed=0
result() {
    if [ "$1" -eq 0 ]; then echo "ok - $2"; else
        echo "not ok - $2"
        [ -n "${3:-}" ] && tail -15 "$3" | sed 's/^/#   /'
        failed=1
    fi
}

# The copy: what git knows or would take. Files that did not change keep their times, so that a second run is short.
git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
    [ -f "$file" ] && case $file in Tests/Toy/*) ;; *) printf '%s\0' "$file" ;; esac
done >"$build/toy/files"
rm -rf "$build/toy/fresh"
mkdir -p "$build/toy/fresh"
tar --null -T "$build/toy/files" -cf - | tar -C "$build/toy/fresh" -xf - || exit 1
cp -r Tests/Toy/. "$build/toy/fresh/"
python3 scripts/apply_steps.py "$build/toy/fresh" || exit 1
(cd "$build/toy/fresh" && find . -type f) | while IFS= read -r file; do
    cmp -s "$build/toy/fresh/$file" "$tree/$file" && continue
    mkdir -p "$(dirname "$tree/$file")"
    cp "$build/toy/fresh/$file" "$tree/$file"
done
(cd "$tree" && find . -type f -not -path './.build/*') | while IFS= read -r file; do
    [ -e "$build/toy/fresh/$file" ] || rm "$tree/$file"
done

cd "$tree" || exit 1
log=$build/toy/log
{ [ -f .build/c/build.ninja ] || meson setup .build/c . -Dbuildtype=debug; } >"$log" 2>&1 &&
    meson compile -C .build/c -j "$jobs_count" test_toy_codec test_family tendon:shared_library >>"$log" 2>&1
result $? "the C library builds with it" "$log"
CMOCKA_MESSAGE_OUTPUT=TAP .build/c/Tests/C/test_toy_codec >"$log" 2>&1
result $? "its codec and its row work" "$log"
CMOCKA_MESSAGE_OUTPUT=TAP .build/c/Tests/C/test_family >"$log" 2>&1
result $? "the table of families is whole" "$log"
nm -D --defined-only .build/c/libtendon.so >"$log" # into a file: with pipefail, a grep that ends early would fail it
grep -q ' tendon_toy_session_init@@' "$log"
result $? "its public names are exported"
form=(--scratch-path .build/swift -j "$jobs_count" --disable-index-store --disable-default-traits)
scripts/swift_build.sh "${form[@]}" --product tendon >"$log" 2>&1
result $? "the command builds with it" "$log"
scripts/swift_build.sh "${form[@]}" --product tendon-conformance >"$log" 2>&1
result $? "the conformance program builds with it" "$log"

program=.build/swift/debug/tendon
work=$(mktemp -d)
export XDG_RUNTIME_DIR=$work XDG_STATE_HOME=$work
"$program" simulate toy --radio virtual --for 60 >"$work/device" 2>&1 &
device=$!
trap 'kill $device 2>/dev/null; rm -rf "$work"' EXIT
"$program" scan --radio virtual --for 2 --json >"$work/scan" 2>&1
grep -q '"family": *"toy"' "$work/scan"
result $? "tendon scan finds it" "$work/scan"
timeout 30 "$program" stream plaything --radio virtual --notifications 5 --json >"$work/stream" 2>&1
[ "$(grep -c '"event": *"level"' "$work/stream")" -ge 5 ]
result $? "tendon stream prints its events" "$work/stream"
timeout 30 "$program" run --radio virtual --notifications 5 --json >"$work/run" 2>&1
[ "$(grep -c '"event": *"level"' "$work/run")" -ge 5 ]
result $? "tendon run finds and streams it" "$work/run"
"$program" decode toy level 0105 --json >"$work/decode" 2>&1
grep -q '"percent": *5' "$work/decode"
result $? "tendon decode knows its value" "$work/decode"
python3 Tests/vectors/compare.py .build/swift/debug/tendon-conformance Tests/vectors/toy.jsonl >"$work/vectors" 2>&1
result $? "tendon-conformance agrees with its vectors" "$work/vectors"
exit $failed

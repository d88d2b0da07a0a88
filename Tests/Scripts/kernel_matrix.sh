#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests/Kernel/matrix.py: what it makes of a run's output, and each change of its table is found. Prints TAP.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

result() { # NAME STATUS
    if [ "$2" = 0 ]; then echo "ok - $1"; else echo "not ok - $1" && status=1; fi
}

cat >"$work/log.txt" <<LOG
# guest is up after 2.7 s: 6.1.0-50-amd64, 2 CPUs
# machine: 6.1.192-2 sockets=library date=2026-01-02
# --- 01-filter/legacy: opening
ok one
# NOT OK, to be run again: two
# 01-filter/legacy took 5 ms, its processors 6 ms
# --- 01-filter/extended: opening
ok one
not ok two
# 01-filter/extended took 5 ms, its processors 6 ms
# --- 05-refusals: a controller
ok one
# 05-refusals took 5 ms, its processors 6 ms
# --- 99-gone: no more a case
ok one
# kernel tests: 3 ok, 2 not ok
# guest is up after 2.7 s: 6.1.0-50-amd64, 2 CPUs
# machine: 6.1.192-2 sockets=library date=2026-01-02
# --- 01-filter/legacy: opening
ok one
ok two
# 01-filter/legacy took 5 ms, its processors 6 ms
# guest is up after 2.7 s: 6.12.9-amd64, 2 CPUs
# machine: 6.12.9-1 sockets=kernel date=2026-01-03
# --- 02-errors: errors
ok one
# 02-errors took 5 ms, its processors 6 ms
# guest is up after 2.7 s: 7.3, 2 CPUs
# --- 04-links/legacy: a machine that does not say what it is
ok one
LOG
# Another run of it on another day, without the failure.
cat >"$work/later.txt" <<LOG
# machine: 6.1.192-2 sockets=library date=2026-01-04
# --- 01-filter/extended: opening
ok one
ok two
# 01-filter/extended took 5 ms, its processors 6 ms
LOG
Tests/Kernel/matrix.py write "$work/table.md" "$work/log.txt" "$work/later.txt"
grep '^| `01-filter`' "$work/table.md" >"$work/second.txt" || true
Tests/Kernel/matrix.py write "$work/table.md" "$work/log.txt"
has() { # NAME LINE
    local code=0
    grep -qxF -- "$2" "$work/table.md" || code=1
    result "$1" $code
}
title() { sed -n 's/^# title: //p' Tests/Kernel/cases/"$1".sh; }
has "a column for each machine, by its number" \
    "| case | Linux 6.1.192-2, libbluetooth, 2026-01-02 | Linux 6.12.9-1, kernel sockets, 2026-01-03 |"
has "the last run of a case counts, a failure is shown" \
    "| \`01-filter\`: $(title 01-filter) | **btvirt 5: 1, 1 failed**, btvirt 4: 2 (run 2) | - |"
code=0
grep -qF "| btvirt 4: 2 (run 2), btvirt 5: 2 | - |" "$work/second.txt" || code=1
result "a later log's result takes the place of the one before, and is no second run" $code
has "controllers of the case's own have their name" "| \`05-refusals\`: $(title 05-refusals) | scripted: 1 | - |"
has "another kernel" "| \`02-errors\`: $(title 02-errors) | - | btvirt 4: 1 |"
has "what no machine has run" "| \`04-links\`: $(title 04-links) | - | - |"

found() { # NAME TEXT-OF-THE-PROBLEM SED-SCRIPT
    local code=0
    sed -E "$3" docs/test-matrix.md >"$work/changed.md"
    if Tests/Kernel/matrix.py check "$work/changed.md" >"$work/out.txt" || ! grep -qF "$2" "$work/out.txt"; then code=1; fi
    result "$1" $code
}
found "a case without a line" "01-filter has no line" '/`01-filter`/d'
found "a line without a case" "no case is called 98-none" 's/`01-filter`/`98-none`/'
found "a title that has changed" "01-filter has another title" 's/(`01-filter`: ).[^|]*/\1other /'
found "a kind without a result" "01-filter did not run with btvirt 5" '/`01-filter`/s/btvirt 5: [^,|]*//g'
found "a case that failed" "01-filter failed" '/`01-filter`/s/\| ([^|]*) \|$/| **btvirt 4: 1, 1 failed** |/'

# matrix.sh, with a run.sh that only says which machine it would be.
tree=$work/tree
mkdir -p "$tree/Tests" "$tree/docs"
cp -r Tests/Kernel "$tree/Tests/"
cat >"$tree/Tests/Kernel/run.sh" <<'RUN'
#!/bin/bash
version=6.1.1 sockets=library failed=0
case "$*" in
*linux-image-6.12*) version=6.12.1 ;;
*trixie-backports*) version=7.3.1 ;;
esac
case "$*" in *"--sockets kernel"*) sockets=kernel ;; esac
case "$*" in *$FAILS*) failed=1 ;; esac
printf '# machine: %s sockets=%s date=2026-01-02\n# --- 02-errors: errors\nok one\n' $version $sockets
exit $failed
RUN
code=0
FAILS=none "$tree/Tests/Kernel/matrix.sh" --sample "$work/out" >/dev/null || code=$?
result "the matrix runs" $code
code=0
grep -qx "| case | Linux 6.1.1, kernel sockets, 2026-01-02 | Linux 6.1.1, libbluetooth, 2026-01-02 | \
Linux 6.12.1, kernel sockets, 2026-01-02 | Linux 7.3.1, kernel sockets, 2026-01-02 |" "$tree/docs/test-matrix.md" || code=1
result "each kernel has a column, the oldest one for each way to the sockets" $code
code=0
! FAILS=trixie-backports "$tree/Tests/Kernel/matrix.sh" "$work/out" >/dev/null || code=1
result "a run that fails is a failure of the whole" $code
exit $status

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/check_hostile.py: each change of its table is found. Prints TAP.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

found() { # NAME TEXT-OF-THE-PROBLEM SED-SCRIPT
    sed -E "$3" Tests/hostile_ids.txt >"$work/table.txt"
    if scripts/check_hostile.py "$work/table.txt" >"$work/out.txt" || ! grep -qF "$2" "$work/out.txt"; then
        echo "not ok - $1"
        sed 's/^/# /' "$work/out.txt"
        status=1
    else
        echo "ok - $1"
    fi
}

found "a row that is missing" "A07 is not in the table" '/^A07 /d'
found "a row that is missing is counted" "126 classes and 88" '/^A07 /d'
found "a row twice" "127 classes and 88" '/^A07 /p'
found "a class without a test" "B21 has no test" 's/^B20 /B21 /'
found "a test purpose without a test" "GATT/CL/GAX/BV-01-C has no test" 's,GAN/BV-01,GAX/BV-01,'
found "a kind that is none" "['C01', 'theirs'," 's/^(C01 \|) ours/\1 theirs/'
found "a test of a feature that is said not to be there" "D01 has a test, but" 's/^(D01 \|) ours/\1 absent/'
found "a class of the kernel's that only our decoder gets" "D02 is the kernel's" 's/^(D02 \|) ours/\1 kernel/'
exit $status

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/check_hostile.py: each change of its table, and of the tests, is found. Prints TAP.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

expect() { # NAME TEXT-OF-THE-PROBLEM ARGUMENT...
    local name=$1 problem=$2
    shift 2
    if scripts/check_hostile.py "$@" >"$work/out.txt" || ! grep -qF "$problem" "$work/out.txt"; then
        echo "not ok - $name"
        sed 's/^/# /' "$work/out.txt"
        status=1
    else
        echo "ok - $name"
    fi
}

found() { # NAME TEXT-OF-THE-PROBLEM SED-SCRIPT
    sed -E "$3" Tests/hostile_ids.txt >"$work/table.txt"
    expect "$1" "$2" "$work/table.txt"
}

# The tests of a tree in which one file of them has changed.
changed() { # NAME TEXT-OF-THE-PROBLEM FILE SED-SCRIPT
    mkdir -p "$work/tree/Tests/Kernel"
    cp -r Tests/C "$work/tree/Tests"
    cp -r Tests/Kernel/cases Tests/Kernel/hostile.py "$work/tree/Tests/Kernel"
    sed -E -i "$4" "$work/tree/$3"
    expect "$1" "$2" Tests/hostile_ids.txt "$work/tree"
    rm -rf "$work/tree"
}

found "a row that is missing" "A07 is not in the table" '/^A07 /d'
found "a row that is missing is counted" "126 classes and 88" '/^A07 /d'
found "a row twice" "127 classes and 88" '/^A07 /p'
found "a class without a test" "B21 has no test" 's/^B20 /B21 /'
found "a test purpose without a test" "GATT/CL/GAX/BV-01-C has no test" 's,GAN/BV-01,GAX/BV-01,'
found "a kind that is none" "['C01', 'theirs'," 's/^(C01 \|) ours/\1 theirs/'
found "a test of a feature that is said not to be there" "D01 has a test, but" 's/^(D01 \|) ours/\1 absent/'
found "a class of the kernel's that only our decoder gets" "D02 is the kernel's" 's/^(D02 \|) ours/\1 kernel/'
found "a class that a family has no row for" "I04/obvious is not in the table" '/^I04\/obvious /d'
found "a class that a family is said not to have" "I04/obvious has a test, but" 's/^(I04\/obvious \|) ours/\1 absent/'
found "a class of a family without a test" "I09/bose has no test" 's/^(I09\/bose \|) absent/\1 ours/'
found "a class that does not apply, without a reason" "['I09/bose', 'absent', ''] is no row" 's/^(I09\/bose \| absent \|).*/\1/'
found "a family that is none" "I04/other is no class of a family" 's/^(I04)\/obvious /\1\/other /'
changed "a test in a comment" "G10 has no test" Tests/C/devices/test_bose_search.c 's,^.*mal_G10_.*,// &,'
changed "a test that is left in a comment alone" "G10 has no test" Tests/C/devices/test_bose_search.c \
    's,.*mal_G10_.*,/* static void mal_G10_x(void **state) and mal_G10_x */,'
changed "a file that no build has" "A17 has no test" Tests/C/host/meson.build "s/'test_gatt_(server_hash|client_bearer)\.c'//"
changed "a file that a build has in a comment" "I07/activ5 has no test" Tests/C/devices/meson.build \
    "s/^.*test_activ5_orientation\.c/#&/"
changed "a test of another family" "I04/fjorden has no test" Tests/C/devices/test_fjorden_codec.c 's/mal_I04_a_body/a_body/'
exit $status

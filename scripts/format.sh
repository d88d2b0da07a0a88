#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks the formatting of C (clang-format) and Swift (swift format); --fix formats the files.
set -euo pipefail
cd "$(dirname "$0")/.."
# With those that are not added yet.
files() { git ls-files --cached --others --exclude-standard -- "$@"; }
mapfile -t c_files < <(files '*.c' '*.h')
mapfile -t swift_files < <(files '*.swift')
if [ "${1:-}" = --fix ]; then
    clang-format -i "${c_files[@]}"
    [ ${#swift_files[@]} -eq 0 ] || swift format format --in-place --parallel "${swift_files[@]}"
    exit 0
fi
failed=0
if clang-format --dry-run -Werror "${c_files[@]}"; then
    echo "ok - C is formatted (${#c_files[@]} files)"
else
    echo "not ok - C is not formatted: run make format"
    failed=1
fi
if [ ${#swift_files[@]} -eq 0 ] || swift format lint --strict --parallel "${swift_files[@]}"; then
    echo "ok - Swift is formatted (${#swift_files[@]} files)"
else
    echo "not ok - Swift is not formatted: run make format"
    failed=1
fi
exit $failed

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the tables of docs/configuration.md again, with the program that is given or that `swift build` made.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
tendon=${1:-$root/.build/debug/tendon}
file=$root/docs/configuration.md
tables=$(mktemp)
trap 'rm -f "$tables" "$tables.new"' EXIT
"$tendon" --generate-settings >"$tables"
sed -e "/^<!-- settings -->/r $tables" -e '/^<!-- settings -->/,/^<!-- end of settings -->/{/^<!--/!d}' "$file" >"$tables.new"
cat "$tables.new" >"$file"

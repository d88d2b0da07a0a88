#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Seeds faults into a copy of the sources and counts how many the tests catch; see Tests/Mutation/mutate.py --help.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 Tests/Mutation/mutate.py "$@"

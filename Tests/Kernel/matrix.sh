#!/bin/bash
# SPDX-License-Identifier: MIT
# Every case with every kind of controller on each kernel, and the table of it: docs/test-matrix.md.
#   matrix.sh [--sample] [OUT]   OUT: where the output of the runs is kept (default .build/kernel/matrix)
# Hours on two cores; --sample: each case in the kinds of its sample. SWIFT_BIN as for run.sh.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
options=()
[ "${1:-}" != --sample ] || { options+=(--sample) && shift; }
out=${1:-${TENDON_KERNEL_CACHE:-.build/kernel}/matrix}
mkdir -p "$out"
code=0

# one NAME ARGUMENT...: a run; its output is shown and kept.
one() {
    local name=$1
    shift
    echo "# ==== $name"
    Tests/Kernel/run.sh --again --limit 14400 "${options[@]}" "$@" 2>&1 | tee "$out/$name.txt" || code=1
}

# kernel-6.12/* would stop Linux 6.1: see README.md. Both ways to the sockets there, one on the others.
one debian
one debian-sockets --sockets kernel 0\* 10-links-only 34-flow
one 6.12 --kernel linux-image-6.12-amd64 --sockets kernel '*' 'kernel-6.12/*'
one newest --kernel trixie-backports/linux-image-amd64 --sockets kernel '*' 'kernel-6.12/*'
python3 Tests/Kernel/matrix.py write docs/test-matrix.md "$out"/{debian,debian-sockets,6.12,newest}.txt || code=1
exit $code

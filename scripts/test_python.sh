#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Python package as users install it: the wheel and the source distribution, each in an environment of its own without the
# network, against simulated devices.
# Usage: scripts/test_python.sh     TENDON: the command, for the simulated devices
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
export TENDON=${TENDON:-$build/swift/release/tendon}
work=$build/python
rm -rf "$work"
status=0

ok() { echo "ok - python: $1"; }
failed() { # NAME FILE
    echo "not ok - python: $1"
    sed 's/^/#   /' "$2" | tail -n 20
    status=1
}
check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$work.log" 2>&1; then ok "$name"; else failed "$name" "$work.log"; fi
}

python3 scripts/generate_python.py --check || status=1
check "a wheel and a source distribution are made" scripts/python_packages.sh "$work/dist"
check "the types are complete, by mypy --strict" \
    /usr/bin/mypy --strict --python-version 3.10 --ignore-missing-imports --cache-dir "$work/mypy" Python/tendon

# With the modules of the system: pandas, and what builds the source distribution.
for form in wheel source; do
    /usr/bin/python3 -m venv --system-site-packages "$work/$form"
done
check "the wheel can be installed" "$work/wheel/bin/pip" install --no-index --quiet "$work"/dist/*.whl
check "the source distribution can be installed" \
    "$work/source/bin/pip" install --no-index --no-build-isolation --quiet "$work"/dist/*.tar.gz
(cd / && "$work/wheel/bin/python" "$OLDPWD/Tests/Python/test_gateway.py") || status=1
(cd / && "$work/wheel/bin/python" "$OLDPWD/Tests/Python/test_pages.py") || status=1
(cd / && "$work/wheel/bin/python" "$OLDPWD/Tests/Python/tasks.py" test) || status=1
check "what the source distribution has built is the same version" \
    "$work/source/bin/python" -c "import tendon; assert tendon.__version__ == '$(sed -n 's/^#define TENDON_VERSION "\(.*\)"$/\1/p' include/tendon/version.h)'"
size=$(stat -c %s "$work"/dist/*.whl)
if [ "$size" -lt 1000000 ]; then ok "the wheel has $size bytes, less than 1 MB"; else failed "the wheel has $size bytes" /dev/null; fi
exit $status

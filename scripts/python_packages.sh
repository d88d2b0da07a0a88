#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Python package: a wheel with the shared library for this machine, and a source distribution.
# Usage: scripts/python_packages.sh OUT
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/.."
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
# Debian's modules build it, whatever else is called python3.
python=/usr/bin/python3
cp -r Python/. "$tree"
mkdir "$tree/c"
cp -r meson.build meson_options.txt include CSources LICENSE NOTICE "$tree/c"
mkdir "$tree/c/scripts"
cp scripts/public_names.py "$tree/c/scripts"
cp LICENSE "$tree"
cat >"$tree/MANIFEST.in" <<'END'
graft c
include tendon/py.typed LICENSE
END
(cd "$tree" && $python -m build --no-isolation --sdist --wheel --outdir "$tree/dist" . >"$tree/log" 2>&1) || {
    tail -n 30 "$tree/log" >&2
    exit 1
}
# The oldest C library that has all that ours takes from it is a part of the wheel's name.
$python -m wheel unpack --dest "$tree/wheel" "$tree"/dist/*.whl >/dev/null
newest=$(objdump -T "$tree"/wheel/*/tendon/libtendon.so | sed -n 's/.*GLIBC_\([0-9]*\)\.\([0-9]*\).*/\1_\2/p' | sort -t _ -n -k1,1 -k2,2 |
    tail -n 1)
sed -i "s/-linux_/-manylinux_${newest}_/" "$tree"/wheel/*/*.dist-info/WHEEL
rm "$tree"/dist/*.whl
$python -m wheel pack --dest "$tree/dist" "$tree"/wheel/* >/dev/null
cp "$tree"/dist/* "$out"
ls "$out"

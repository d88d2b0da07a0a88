#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Gets one package from PyPI, without those that it depends on, into $BUILD/pypi (default .build), and prints the folder for
# PYTHONPATH; not again if it is there. For packages that Debian 12 does not have.
# Usage: scripts/python_package.sh NAME VERSION
set -euo pipefail
cd "$(dirname "$0")/.."
package=$1==$2
folder=$(mkdir -p "${BUILD:-.build}/pypi" && cd "${BUILD:-.build}/pypi" && pwd)/$1-$2
install=(-m pip install --quiet --disable-pip-version-check --no-compile --no-deps --target "$folder.new" "$package")
exec 9>"$folder.lock"
flock 9 # two tests at the same time
if [ ! -d "$folder" ]; then
    rm -rf "$folder.new"
    python3 "${install[@]}" >&2 ||
        { python3 -m venv "$folder.venv" && "$folder.venv/bin/python" "${install[@]}" >&2; }
    rm -rf "$folder.venv"
    mv "$folder.new" "$folder"
fi
echo "$folder"

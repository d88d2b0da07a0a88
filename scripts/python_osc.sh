#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Gets python-osc from PyPI into $BUILD/python-osc (default .build), and prints the folder for PYTHONPATH; not again if it is
# there. Debian 12 has no package of it.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mkdir -p "${BUILD:-.build}/python-osc" && cd "${BUILD:-.build}/python-osc" && pwd)
packages=$folder/1.10.2
if [ ! -d "$packages" ]; then
    rm -rf "$packages.new"
    python3 -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --target "$packages.new" python-osc==1.10.2 >&2 ||
        { python3 -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-compile \
            --no-deps --target "$packages.new" python-osc==1.10.2 >&2; }
    rm -rf "$folder/venv"
    mv "$packages.new" "$packages"
fi
echo "$packages"

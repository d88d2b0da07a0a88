#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Gets axe-core, which checks pages against WCAG, from PyPI into $BUILD/axe (default .build), and prints the file; not again if it
# is there. It is a file of axe-playwright-python, of which nothing else is used: Tests/Command/chromium.py drives the browser.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mkdir -p "${BUILD:-.build}/axe" && cd "${BUILD:-.build}/axe" && pwd)
file=$folder/axe-4.12.1.min.js
if [ ! -e "$file" ]; then
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-compile --no-deps axe-playwright-python==0.1.8
    cp "$folder"/venv/lib/python3*/site-packages/axe_playwright_python/axe.min.js "$file.new"
    rm -rf "$folder/venv"
    mv "$file.new" "$file"
fi
echo "$file"

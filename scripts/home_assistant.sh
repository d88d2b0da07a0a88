#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs Home Assistant from PyPI into $BUILD/home-assistant (default .build), for Tests/Command/check_discovery.py: its
# own schemas check the discovery that a gateway published. Not again if it is there. The newest release that was tried
# and that runs on this Python: 2024.3.3 for 3.11, 2025.1.4 for 3.12 and newer. uv rather than pip: a fifth of the time.
# Usage: scripts/home_assistant.sh [PYTHON]     default: python3.12 or python3
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${BUILD:-.build}/home-assistant
python=${1:-$(command -v python3.12 || command -v python3)}
"$python" -c '' 2>/dev/null || python=python3
version() {
    "$folder/bin/python" -c 'import homeassistant.components.mqtt, homeassistant.const as c; print("Home Assistant", c.__version__)'
}
version 2>/dev/null && exit 0

rm -rf "$folder"
"$python" -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --no-compile uv
install() { "$folder/bin/uv" pip install --quiet --no-cache --python "$folder/bin/python" "$@"; }
install 'homeassistant<=2025.1.4'
# What its MQTT integration requires stands in its manifest.
"$folder/bin/python" - <<'PY' >"$folder/mqtt.txt"
import json, os
import homeassistant.components as components
path = os.path.join(os.path.dirname(components.__file__), "mqtt", "manifest.json")
print("\n".join(json.load(open(path))["requirements"]))
PY
install --requirement "$folder/mqtt.txt"
version

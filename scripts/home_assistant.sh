#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs Home Assistant from PyPI into $BUILD/home-assistant (default .build), for Tests/Command/check_discovery.py: its
# own schemas check the discovery that a gateway published. Takes minutes, once; without it the tests say what they skip.
# Usage: scripts/home_assistant.sh [PYTHON]     default: python3.12 or python3; its version decides which release is had
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${BUILD:-.build}/home-assistant
python=${1:-$(command -v python3.12 || command -v python3)}
"$python" -c '' 2>/dev/null || python=python3
rm -rf "$folder"
"$python" -m venv "$folder"
"$folder/bin/pip" install -q homeassistant
# What its MQTT integration requires stands in its manifest.
"$folder/bin/python" - <<'PY' | xargs "$folder/bin/pip" install -q
import json, os
import homeassistant.components as components
path = os.path.join(os.path.dirname(components.__file__), "mqtt", "manifest.json")
print("\n".join(json.load(open(path))["requirements"]))
PY
"$folder/bin/python" -c 'import homeassistant.components.mqtt, homeassistant.const as c; print("Home Assistant", c.__version__)'

#!/bin/bash
# SPDX-License-Identifier: MIT
# Frama-C Eva on the decoders of Tests/Proof/decoders: TAP on standard output, logs in $BUILD/proof.
# usage: run.sh [--quick] [decoder ...]
command -v frama-c >/dev/null || { echo "1..0 # SKIP frama-c is not installed (apt-get install frama-c-base)"; exit 0; }
exec python3 "$(dirname "$0")/prove.py" "$@"

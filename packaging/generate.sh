#!/bin/bash
# SPDX-License-Identifier: MIT
# generate.sh TENDON PREFIX: man pages and completions of the command, made by the command, the dissector for Wireshark, and
# the device files, into PREFIX/share.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: $0 TENDON PREFIX" >&2; exit 2; }
tendon=$1 share=$2/share
umask 022
mkdir -p "$share/man/man1" "$share/man/man5" "$share/bash-completion/completions" "$share/zsh/site-functions" \
    "$share/fish/vendor_completions.d" "$share/tendon/wireshark" "$share/tendon/devices"
"$tendon" --generate-man >"$share/man/man1/tendon.1"
"$tendon" --generate-man tendon.conf >"$share/man/man5/tendon.conf.5"
"$tendon" --generate-completion bash >"$share/bash-completion/completions/tendon"
"$tendon" --generate-completion zsh >"$share/zsh/site-functions/_tendon"
"$tendon" --generate-completion fish >"$share/fish/vendor_completions.d/tendon.fish"
python3 "$(dirname "$0")/../scripts/generate_dissector.py" "$share/tendon/wireshark/tendon.lua"
cp "$(dirname "$0")"/devices/*.json "$share/tendon/devices"

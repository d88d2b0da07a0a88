#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Unpacks Debian's source package, its patches applied: for what Debian does not build for another machine.
# Usage: scripts/debian_source.sh PACKAGE FOLDER      does nothing if the folder exists
set -euo pipefail
package=$1 folder=$2
[ ! -d "$folder" ] || exit 0
work=$folder.new
rm -rf "$work"
# Lists of its own: those of this machine stay as they are.
mkdir -p "$work/lists/partial"
trap 'rm -rf "$work"' EXIT
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" "Origin: Debian" "Codename: $release" \
    "Component: main" | head -1)
echo "deb-src $mirror $release main" >"$work/source.list"
options=(-q -o "Dir::Etc::sourcelist=$work/source.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::Lists=$work/lists")
if ! { apt-get "${options[@]}" update && (cd "$work" && apt-get "${options[@]}" source --download-only "$package") &&
    dpkg-source --no-check -x "$work/$package"_*.dsc "$work/tree"; } >"$work/log" 2>&1; then
    tail -5 "$work/log" >&2
    exit 1
fi
mv "$work/tree" "$folder"

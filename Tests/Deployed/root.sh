#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the disk of the deployed machine: a Debian of this release with systemd, bluetoothd, a broker, and what a package
# depends on. Needs no root where user namespaces are permitted.
# Usage: root.sh DIRECTORY PACKAGE.deb...      prints the path of the disk; made once for a list of packages
set -euo pipefail
directory=$1
shift
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
include=(systemd systemd-sysv udev dbus bluez mosquitto mosquitto-clients podman crun)

# Names without versions, without those of the packages themselves.
mapfile -t -O ${#include[@]} include < <(
    for package in "$@"; do dpkg-deb -f "$package" Pre-Depends Depends; done |
        sed 's/^[A-Z][A-Za-z-]*: //; s/([^)]*)//g; s/|[^,]*//g; s/\[[^]]*\]//g' | tr ',' '\n' | tr -d ' ' |
        grep -vE '^(libtendon.*|tendon)?$' | sort -u
)
disk=$directory/$codename-$(printf '%s\n' "${include[@]}" | sha256sum | cut -c1-12).squashfs
if [ ! -f "$disk" ]; then
    mkdir -p "$directory"
    mirror=$(apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" "Origin: Debian" "Codename: $codename" \
        "Component: main" | head -1)
    # Not compressed: emulated processors unpack slowly, and the host has its pages in memory.
    IFS=, eval 'names="${include[*]}"'
    mmdebstrap --quiet --variant=minbase --format=tar --include="$names" "$codename" - "$mirror" |
        mksquashfs - "$disk.new" -tar -noI -noD -noF -noX -noappend -no-progress -quiet >&2
    rm -f "$directory"/*.squashfs
    mv "$disk.new" "$disk"
fi
echo "$disk"

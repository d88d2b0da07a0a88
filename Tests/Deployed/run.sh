#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The packages as they are deployed: a Debian with systemd in the virtual machine of Tests/Kernel, the packages installed with
# dpkg, the service under its unit, over the kernel's Bluetooth. docs/deployed.md says what the scenarios are.
# Usage: Tests/Deployed/run.sh [--again] [SCENARIO...]      names of files here, without the .sh; default: all
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
BUILD=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
export BUILD
architecture=$(dpkg --print-architecture)

# The packages, unless they are newer than all that they are made of.
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' packaging/debian/changelog)
package=$BUILD/debian/tendon_${version}_$architecture.deb
changed() { # since the package was made
    git ls-files -z -- . ':!Tests' ':!docs' | xargs -0 sh -c 'find "$@" -prune -newer "$0"' "$package" 2>/dev/null
}
if [ ! -f "$package" ] || [ -n "$(changed)" ]; then
    rm -rf "$BUILD/debian"
    # Fast rather than small.
    export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1
    DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" TENDON_SWIFT_SCRATCH=$BUILD/swift TENDON_SWIFT_TREE=$PWD \
        scripts/debian.sh >/dev/null
fi
# The same as a newer version, for the upgrade.
newer=$BUILD/debian/newer
if [ ! -f "$newer/tendon_$version+newer_$architecture.deb" ]; then
    rm -rf "$newer"
    mkdir -p "$newer"
    dpkg-deb -R "$package" "$newer/tree"
    sed -i "s/^Version: .*/Version: $version+newer/" "$newer/tree/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip -z1 -b "$newer/tree" "$newer/tendon_$version+newer_$architecture.deb" >/dev/null
    rm -rf "$newer/tree"
fi
disk=$("$here/root.sh" "$BUILD/deployed" "$BUILD"/debian/{libtendon1,libtendon-dev,tendon}_"${version}_$architecture.deb")

export TENDON_PACKAGES=$BUILD/debian TENDON_SYSTEM_SETUP=$here/setup.sh TENDON_KERNEL_CACHE=${TENDON_KERNEL_CACHE:-$BUILD/kernel}
options=()
while [[ ${1:-} == --* ]]; do options+=("$1") && shift; done
[ $# -gt 0 ] || set -- '[0-9]*'
scenarios=()
for name in "$@"; do
    for file in "$here"/$name.sh; do scenarios+=("$file"); done
done
if grep -lqE '^# needs:.*\bimage\b' "${scenarios[@]}"; then
    TENDON_IMAGE=$(scripts/container.sh)
    export TENDON_IMAGE
fi
unset BUILD
exec Tests/Kernel/run.sh "${options[@]}" --limit 600 --kernel linux-image-6.12-amd64 --system "$disk" "${scenarios[@]}"

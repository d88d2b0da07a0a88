#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the Debian source package and the binary packages of this tree into $BUILD/debian, with packaging/debian.
# Usage: scripts/debian.sh [VERSION]     VERSION: another one than that of packaging/debian/changelog
# DEB_BUILD_OPTIONS, TENDON_SWIFT_SCRATCH and TENDON_SWIFT_TREE are those of packaging/debian/README.source.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
version=${1:-$(sed -n '1s/.*(\(.*\)).*/\1/p' packaging/debian/changelog)}
upstream=${version%-*}
output=$build/debian
source=$output/tendon-$upstream

rm -rf "$source"
mkdir -p "$source"
# With what is not committed yet, without what is not tracked.
git ls-files -z | xargs -0 -I{} sh -c '[ ! -e "$1" ] || printf "%s\0" "$1"' sh {} |
    tar --null -T - -c --owner=0 --group=0 --sort=name | tar -x -C "$source"
tar -C "$output" -c --owner=0 --group=0 --mode=u=rwX,go=rX --sort=name ${SOURCE_DATE_EPOCH:+"--mtime=@$SOURCE_DATE_EPOCH"} \
    "tendon-$upstream" | gzip -n >"$output/tendon_$upstream.orig.tar.gz"
cp -R packaging/debian "$source/debian"
if [ -n "${1:-}" ]; then
    sed -i "1s/(.*)/($version)/" "$source/debian/changelog"
fi
(cd "$source" && dpkg-buildpackage -d -us -uc >"$output/build.log" 2>&1) || { tail -40 "$output/build.log" >&2; exit 1; }
find "$output" -maxdepth 1 -newer "$output/tendon_$upstream.orig.tar.gz" -name "*_$version*" -printf '%f\n' | sort

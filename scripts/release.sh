#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the files of a release from a tag: scripts/release.sh --help.
set -euo pipefail
start=$PWD
cd "$(dirname "$0")/.."

usage() {
    cat <<TEXT
Usage: scripts/release.sh TAG [OUT]

Makes the files of a release from a tag, whose name is the version: Debian packages for the architecture of this machine, their
source package, the C gateway as a static program for armhf, arm64 and mips, notes, and checksums. OUT is a folder (default
.build/release/TAG); that of an earlier run is replaced. docs/releasing.md describes the steps before and after.
TEXT
}

fail() {
    echo "release: $1" >&2
    exit 1
}

case "${1:-}" in
    --help | -h)
        usage
        exit 0
        ;;
    "" | -*)
        usage >&2
        exit 2
        ;;
esac
[ $# -le 2 ] || { usage >&2 && exit 2; }
tag=$1
build=$(mkdir -p "${BUILD:-.build}/release" && cd "${BUILD:-.build}/release" && pwd)
out=$(cd "$start" && realpath -m "${2:-$build/$tag}")

# ---- what must be true before anything is built
commit=$(git rev-parse --verify --quiet "refs/tags/$tag^{commit}") || fail "there is no tag $tag: git tag -a $tag -m 'Version $tag'"
not_out=()
[[ $out != "$PWD"/* ]] || not_out=(":(exclude)${out#"$PWD"/}")
changes=$(git status --porcelain -- . "${not_out[@]}")
[ -z "$changes" ] || fail "the tree has changes that are not committed, and would not be in the release:
$changes"
of_tag() { git show "$commit:$1" 2>/dev/null || true; }
version=$(of_tag include/tendon/version.h | sed -n 's/^#define TENDON_VERSION "\(.*\)"$/\1/p')
[ "$version" = "$tag" ] || fail "the tag is $tag, but the version in include/tendon/version.h is ${version:-missing}"
package=$(of_tag packaging/debian/changelog | sed -n '1s/^tendon (\(.*\)) .*/\1/p')
[ "${package%-*}" = "$tag" ] || fail "the tag is $tag, but the version in packaging/debian/changelog is ${package:-missing}"
# From the heading of the version to that of the one before.
notes=$(of_tag CHANGELOG.md | awk -v heading="## [$version]" 'index($0, heading) == 1 { on = 1; print; next } on && /^(## |\[[^]]*\]: )/ { exit } on')
[ -n "$notes" ] || fail "CHANGELOG.md has no section [$version]"
[[ ${notes%%$'\n'*} =~ \ -\ [0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] || fail "the section [$version] of CHANGELOG.md has no date of release: ${notes%%$'\n'*}"
[ ! -e "$out" ] || [ -e "$out/SHA256SUMS" ] || [ -z "$(ls -A "$out")" ] || fail "$out has other files"

# ---- the tree of the tag, without anything that was built
step=0
progress() { printf 'release %s: %d of 4, %s (after %d s)\n' "$version" $((++step)) "$1" "$SECONDS"; }
tree=$build/tree files=$build/files
remove_tree() {
    rm -rf "$tree" "$build/parts/debian" "$files"
    git worktree prune
}
trap remove_tree EXIT
remove_tree # of a run that was killed
git worktree add --quiet --detach "$tree" "$commit"
mkdir -p "$files"
export BUILD=$build/parts
# The time in what is packed: the same files each time.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH

# check_program PROGRAM MACHINE: it needs no library, and it runs.
check_program() {
    local emulator
    emulator=("$(sed -n "s/^exe_wrapper = \['\([^']*\)'.*/\1/p" "$tree/cross/$2.ini")")
    [ "$2" != mips ] || emulator+=(-cpu 24Kc) # a router's, without FPU
    ! readelf -ld "$1" | grep -qE 'INTERP|NEEDED' || fail "the program for $2 is not static"
    [[ $("${emulator[@]}" "$1" --help) == "tendon-gateway $version"$'\n'* ]] || fail "the program for $2 does not run under ${emulator[*]}"
}

progress "the C gateway for armhf, arm64 and mips"
for machine in armhf arm64 mips; do
    program=$("$tree/scripts/static_gateway.sh" "$machine")
    check_program "$program" "$machine"
    name=tendon-gateway_${version}_$machine
    mkdir "$files/$name"
    cp "$program" "$tree/LICENSE" "$files/$name"
    cp "$BUILD/static/musl/COPYRIGHT" "$files/$name/LICENSE.musl"
    tar -C "$files" -c --owner=0 --group=0 --sort=name "--mtime=@$SOURCE_DATE_EPOCH" "$name" | gzip -n >"$files/$name.tar.gz"
    rm -r "${files:?}/$name"
done

progress "Debian packages for $(dpkg --print-architecture)"
DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS:-nocheck noautodbgsym parallel=$(nproc)} "$tree/scripts/debian.sh" >/dev/null
cp "$BUILD"/debian/*_"$package"*.deb "$BUILD/debian/tendon_$package.dsc" "$BUILD"/debian/tendon_"$package".debian.tar.* \
    "$BUILD/debian/tendon_$version.orig.tar.gz" "$files"

progress "notes and checksums"
printf '%s\n' "$notes" >"$files/NOTES.md"
(cd "$files" && sha256sum -- * >SHA256SUMS)

progress "in $out"
rm -rf "$out"
mkdir -p "$(dirname "$out")"
mv "$files" "$out"
(cd "$out" && wc -c -- * | sed '$d')

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shows that the two commands of the README work on a bare Debian machine: debootstrap makes one in a folder, with what
# the Swift toolchain's own installation page asks for, git and make; this checkout is cloned into it.
# Usage: scripts/fresh.sh [make target...]      (default: demo, twice, then test-quick)
# Root only. The host's package sources are used inside.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "fresh: run as root (chroot and bind mounts)" >&2; exit 1; }
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
root=$build/fresh-root
toolchain=$(dirname "$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")")
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(demo demo test-quick)

unmount() {
    for place in "$toolchain" /proc /dev; do
        mountpoint -q "$root$place" && umount -l "$root$place"
    done
    return 0
}
trap unmount EXIT
unmount
rm -rf "$root"
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" "Origin: Debian" "Codename: $release" \
    "Component: main" | head -1)
echo "fresh: making a bare Debian $release"
debootstrap --variant=minbase --include=ca-certificates "$release" "$root" "$mirror" >"$build/logs-fresh.txt" 2>&1 ||
    { tail -5 "$build/logs-fresh.txt" >&2; exit 1; }
for item in /etc/resolv.conf /etc/hosts; do
    [ -e "$item" ] && rm -rf "${root:?}$item" && cp -aL "$item" "$root$item"
done
mkdir -p "$root$toolchain"
mount --bind -o ro "$toolchain" "$root$toolchain"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"

inside() {
    env -i HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$toolchain/usr/bin" \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        ${HTTP_PROXY:+HTTP_PROXY="$HTTP_PROXY"} ${HTTPS_PROXY:+HTTPS_PROXY="$HTTPS_PROXY"} \
        DEBIAN_FRONTEND=noninteractive chroot "$root" /bin/bash -c "$1"
}
echo "fresh: installing what the toolchain's installation page lists, git and make"
inside "apt-get update -q && apt-get install -y -q --no-install-recommends git make binutils gnupg2 libc6-dev \
    libcurl4-openssl-dev libedit2 libgcc-12-dev libncurses6 libpython3-dev libsqlite3-0 libstdc++-12-dev libxml2-dev \
    libz3-dev pkg-config tzdata zlib1g-dev" >>"$build/logs-fresh.txt" 2>&1 ||
    { tail -5 "$build/logs-fresh.txt" >&2; exit 1; }
git clone -q --no-hardlinks . "$root/root/tendon"
for target in "${targets[@]}"; do
    started=$SECONDS
    if inside "cd /root/tendon && make $target"; then
        echo "ok - make $target on a bare machine ($((SECONDS - started)) s)"
    else
        echo "not ok - make $target on a bare machine"
        exit 1
    fi
done

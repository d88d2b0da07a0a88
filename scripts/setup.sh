#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that a make target needs, and nothing when all are there.
# Usage: scripts/setup.sh demo|quick|gate|test|bench|fresh
set -euo pipefail

# Building the Swift package: what Package.swift links, and what the toolchain itself expects of the system.
demo=(libbluetooth-dev libjansson-dev libcurl4-gnutls-dev libsodium-dev libsqlite3-dev libmosquitto-dev libmicrohttpd-dev pkg-config binutils libc6-dev libstdc++-12-dev
    python3 python3-cryptography)
# The C side, its tests, the formatters; tshark reads captures that the C tests write.
quick=("${demo[@]}" gcc meson ninja-build libcmocka-dev clang-format python3 python3-jsonschema git tshark)
# The virtual machine, the independent peers, the proofs.
kernel=(qemu-system-x86 cpio busybox-static kmod bluez bluez-test-tools dbus python3-venv rfkill libcap2-bin)
# Other machines: 32- and 64-bit ARM and big-endian MIPS, run under qemu-user; cmocka and musl for them from their source
# packages. Another C library: musl.
cross=(gcc-arm-linux-gnueabihf libc6-dev-armhf-cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-mips-linux-gnu
    libc6-dev-mips-cross make qemu-user-static dpkg-dev musl-tools)
# The reference cloud of Obvious, the independent Obvious peers in Python: signatures, the cloud's test authority.
cloud=(python3-cryptography)
# A broker, its clients, and certificates for it.
broker=(mosquitto mosquitto-clients openssl iproute2)
# A reader of the metrics, a renderer of Home Assistant's templates, a browser and another HTTP client for the page; receivers
# and senders of OSC; a reader of recordings; what the receiver of the Lab Streaming Layer needs.
operators=(python3-prometheus-client python3-jinja2 chromium curl liblo-tools puredata-core python3-pandas python3-numpy)
# The Python package: what builds it and checks its types.
python=(python3-build python3-wheel python3-setuptools python3-venv mypy)
# Debian packages, and a clean root to install them in; a disk of the same for the virtual machine, made without root.
packages_of_debian=(debhelper dpkg-dev iproute2 lintian mmdebstrap squashfs-tools uidmap)
gate=("${quick[@]}" "${kernel[@]}" "${cloud[@]}" "${broker[@]}" "${operators[@]}" musl-tools)
test=("${gate[@]}" "${packages_of_debian[@]}" "${cross[@]}" "${python[@]}" frama-c-base valgrind zlib1g-dev abigail-tools clang-14 g++)
bench=("${quick[@]}" "${broker[@]}" valgrind zlib1g-dev)
fresh=(debootstrap)

case "${1:-}" in
    demo) packages=("${demo[@]}") ;;
    quick) packages=("${quick[@]}") ;;
    gate) packages=("${gate[@]}") ;;
    test) packages=("${test[@]}") ;;
    bench) packages=("${bench[@]}") ;;
    fresh) packages=("${fresh[@]}") ;;
    *)
        echo "usage: $0 demo|quick|gate|test|bench|fresh" >&2
        exit 2
        ;;
esac

if ! command -v swift >/dev/null; then
    echo "setup: no Swift toolchain on PATH; install Swift 6.1 or newer for this distribution first" >&2
    exit 1
fi
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: as root, run: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
    echo "setup: root is needed once, to install: ${missing[*]}"
fi
echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -q && "${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1; then
    tail -20 "$log" >&2
    echo "setup: the packages could not be installed; see the lines above" >&2
    exit 1
fi
echo "setup: done"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the Debian packages, checks them with lintian, and installs them in a clean Debian root, whose systemd is booted in
# namespaces of its own (Tests/Debian/boot.sh). There the service publishes simulated wearables to a broker, survives a
# reboot and an upgrade, and is purged. The root is made once, in $BUILD/debian-root. Namespaces need root.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
BUILD=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
export BUILD TENDON=$BUILD/swift/release/tendon
# shellcheck source=Tests/Command/tap.bash
. Tests/Command/tap.bash
patience=400 # of until_true, in steps of 50 ms: services start
packages=$BUILD/debian
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' packaging/debian/changelog)
upstream=${version%-*}

# ---- build
export DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)"
# Fast rather than small.
export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1
rm -rf "$packages"
built=$(TENDON_SWIFT_SCRATCH=$BUILD/swift TENDON_SWIFT_TREE=$root scripts/debian.sh 2>&1)
result $? "the packages are built" "$built"
deb() { echo "$packages/$1_${version}_$(dpkg --print-architecture).deb"; }
for name in libtendon1 libtendon-dev tendon tendon-gateway; do
    is "$(dpkg-deb -f "$(deb $name)" Version)" "$version" "$name has version $version"
done
is "$("$TENDON" --version)" "tendon $upstream" "so has the command"
findings=$(lintian --no-cfg --allow-root --fail-on warning,error "$packages"/tendon_*.changes 2>&1)
result $? "lintian finds nothing of level warning" "$findings"

# ---- the library, as a program uses it
tree=$work/tree
for name in libtendon1 libtendon-dev tendon tendon-gateway; do dpkg-deb -x "$(deb $name)" "$tree"; done
libraries=$(dirname "$(find "$tree/usr/lib" -name libtendon.so.1)")
is "$(PKG_CONFIG_PATH=$libraries/pkgconfig pkg-config --modversion tendon)" "$upstream" "tendon.pc has the version"
compile() { # output, program, options of pkg-config
    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Wextra -Werror "Tests/C/install/$2.c" -o "$work/$1" $(PKG_CONFIG_PATH=$libraries/pkgconfig \
        PKG_CONFIG_SYSROOT_DIR=$tree pkg-config --cflags --libs "${@:3}") 2>&1
}
answer=$(compile shared uses_library tendon && LD_LIBRARY_PATH=$libraries "$work/shared" 2>&1)
result $? "a program is built with libtendon-dev and runs with libtendon1" "$answer"
answer=$(compile core uses_core --static tendon-core -static && "$work/core" 2>&1)
result $? "and one with the core alone" "$answer"
like "$(readelf -d "$tree/usr/bin/tendon")" BIND_NOW "the command is linked with all of its symbols bound at start"
is "$(ldd "$tree/usr/bin/tendon" | grep -c libswift)" 0 "the command needs no library of Swift"
like "$(dpkg-deb -f "$(deb tendon)" Depends)" "libbluetooth3.*libmosquitto1" "its dependencies are found by dpkg-shlibdeps"
like "$(dpkg-deb -f "$(deb tendon-gateway)" Depends)" "libtendon1 \\(>= $upstream\\)" "tendon-gateway uses the library"
answer=$(LD_LIBRARY_PATH=$libraries XDG_RUNTIME_DIR=$work "$tree/usr/bin/tendon-gateway" --radio virtual --for 1 2>&1)
is "$?" 4 "tendon-gateway runs, and ends with 4 where no device is"
is "$(dpkg-deb --ctrl-tarfile "$(deb tendon)" | tar -xO ./conffiles)" /etc/tendon/tendon.conf "the configuration is a conffile"
answer=$(find "$tree" -name '*.rules' -o -perm /6000)
is "$answer" "" "no udev rule is needed, and nothing is setuid"
for file in man/man1/tendon.1.gz man/man1/tendon-gateway.1.gz bash-completion/completions/tendon-gateway man/man5/tendon.conf.5.gz bash-completion/completions/tendon zsh/vendor-completions/_tendon \
    fish/vendor_completions.d/tendon.fish tendon/wireshark/tendon.lua; do
    [ -s "$tree/usr/share/$file" ]
    result $? "$file is installed" ""
done

. Tests/Debian/clean_root.bash
finish

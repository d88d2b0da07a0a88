# SPDX-License-Identifier: MIT
# Sourced by run.sh: builds in $cache what the virtual machine needs. Each step is skipped when its result is
# there already, and puts its result in place last, so that an interrupted one is done again.

need_tool() { # TOOL PACKAGE
    PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null || missing+=" $2"
}

prepare_tools() {
    missing=
    need_tool qemu-system-x86_64 qemu-system-x86
    need_tool cpio cpio
    need_tool btvirt bluez-test-tools
    need_tool btmgmt bluez
    need_tool dbus-daemon dbus
    need_tool depmod kmod
    if ! busybox --list 2>/dev/null | grep -x insmod >/dev/null; then # reads to the end: pipefail
        missing+=" busybox-static"
    fi
    if [ -n "$missing" ]; then
        echo "run.sh: these packages are missing; install them with: apt-get install$missing" >&2
        exit 1
    fi
    export PATH="$PATH:/usr/sbin:/sbin"
}

# True when one of the cases says "# needs: ... $1".
wants() {
    [ ${#case_files[@]} -gt 0 ] || return 1
    grep -lqE "^# needs:.*\b$1\b" "${case_files[@]}"
}

# The kernel of the distribution, unpacked, never installed. Only modules that the guest loads are kept.
module_names="virtio_pci 9pnet_virtio 9p overlay algif_hash algif_skcipher cmac ecb
    sha512_generic hmac ctr drbg ecdh_generic hci_vhci"
# Besides, when it boots a system of its own (--system), or has a disk (--disk).
system_module_names="virtio_blk squashfs uhid crc32c_generic ext4"

# A kernel of another suite of Debian: SUITE/PACKAGE. Its list is fetched into a directory of its own with an apt
# configuration of its own, so that the lists and the pinning of this machine stay as they are.
apt_of_suite() { # SUITE
    local lists=$cache/apt/$1
    apt_options=(-o Dir::Etc::sourcelist="$lists/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State="$lists"
        -o Dir::State::status=/dev/null -o Dir::Cache="$lists")
    mkdir -p "$lists/lists/partial" "$lists/archives/partial"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $1 main" \
        >"$lists/sources.list"
    apt-get "${apt_options[@]}" update >"$lists/apt.log" 2>&1 || { cat "$lists/apt.log" >&2 && exit 1; }
}

# The packages with the kernel and its modules: one with both, or since Linux 7 one for each, and one with their lists.
kernel_packages() { # PACKAGE
    local image parts
    image=$(apt-cache "${apt_options[@]}" depends "$1" 2>/dev/null |
        sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    [ -n "$image" ] || { echo "run.sh: apt knows no $1 (apt-get update?)" >&2 && return 1; }
    parts=$(apt-cache "${apt_options[@]}" depends "$image" | sed -n 's/^ *Depends: \(linux-\(base\|binary\|modules\)-[0-9].*\)/\1/p')
    echo "${parts:-$image}"
}

# Copies modules and what they need to $work/modules; prints the files that were not there yet, in the order to load them.
take_modules() { # NAME...
    local name path
    for name in "$@"; do
        # Linux 7 has some of them in itself under other names; 00-machine and the pairing cases find what is missing.
        modprobe -d "$work/root" -S "$version" --show-depends "$name" 2>/dev/null || echo "# $version has no module $name" >&2
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r path; do
        [ ! -e "$work/modules/$(basename "$path")" ] || continue
        cp "$path" "$work/modules/"
        basename "$path"
    done
}

prepare_kernel() {
    [ -f "$kernel_cache/vmlinuz" ] && [ "$(cat "$kernel_cache/modules/names" 2>/dev/null)" = "$module_names / $system_module_names" ] &&
        return
    local packages work file version path
    apt_options=()
    case $kernel_package in */*) apt_of_suite "${kernel_package%%/*}" ;; esac
    packages=$(kernel_packages "${kernel_package#*/}") || exit 1
    echo "# kernel:" $packages >&2
    mkdir -p "$kernel_cache"
    work=$(mktemp -d "$cache/kernel.XXXX")
    # shellcheck disable=SC2086
    (cd "$work" && apt-get "${apt_options[@]}" download $packages >apt.log 2>&1) || { cat "$work/apt.log" >&2 && exit 1; }
    for file in "$work"/linux-*.deb; do dpkg -x "$file" "$work/root"; done
    [ -d "$work/root/lib" ] || ln -s usr/lib "$work/root/lib" # since Linux 7
    version=$(basename "$work"/root/lib/modules/*)
    depmod -b "$work/root" "$version"
    rm -rf "$kernel_cache/modules"
    mkdir -p "$work/modules"
    # shellcheck disable=SC2086
    take_modules $module_names >"$work/modules/order"
    # shellcheck disable=SC2086
    take_modules $system_module_names >"$work/modules/order-system"
    find "$work/modules" -name '*.xz' -exec xz -d {} + && sed -i 's/\.xz$//' "$work"/modules/order*
    echo "$module_names / $system_module_names" >"$work/modules/names"
    mv "$work/modules" "$kernel_cache/modules"
    for path in "$work"/root/boot/vmlinuz-* "$work/root/lib/modules/$version/vmlinuz"; do
        [ ! -f "$path" ] || cp "$path" "$work/vmlinuz"
    done
    mv "$work/vmlinuz" "$kernel_cache/vmlinuz"
    rm -rf "$work"
}

prepare_initramfs() {
    local work out=$kernel_cache/initramfs.gz
    if [ -f "$out" ] && [ "$out" -nt "$here/init" ] && [ "$out" -nt "$kernel_cache/modules/order" ]; then
        return
    fi
    work=$(mktemp -d "$cache/initramfs.XXXX")
    mkdir -p "$work/bin" "$work/modules"
    cp "$(command -v busybox)" "$work/bin/busybox"
    cp "$kernel_cache"/modules/* "$work/modules/"
    install -m 755 "$here/init" "$work/init"
    (cd "$work" && find . | cpio -o -H newc --quiet | gzip -1) >"$work.gz"
    mv "$work.gz" "$out"
    rm -rf "$work"
}

# The test programs: a Meson build of the project with everything on.
prepare_build() {
    local bluez=enabled
    build=$cache/meson
    if [ "$sockets" = kernel ]; then
        bluez=kernel build=$cache/meson-sockets
    fi
    # In a cache that two clones share, these are the programs of one of them.
    if ! grep -qsF "\"$project/meson.build\"" "$build/meson-info/intro-buildsystem_files.json"; then
        rm -rf "$build"
        meson setup "$build" "$project" -Dtests=false -Dkernel_tests=true -Dbluez=$bluez -Ddebug=false -Dwerror=false >"$cache/meson.log" 2>&1 ||
            { cat "$cache/meson.log" >&2 && exit 1; }
    fi
    nice ninja -C "$build" -j2 >"$cache/ninja.log" 2>&1 || { tail -n 40 "$cache/ninja.log" >&2 && exit 1; }
}

# Python with the independent peers (bleak, bumble), made with the system's interpreter where there is one.
prepare_venv() {
    local python=/usr/bin/python3
    venv=$cache/venv
    if cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
        prepare_pybelt
        return
    fi
    [ -x "$python" ] || python=$(command -v python3)
    rm -rf "$venv"
    "$python" -m venv "$venv" || { echo "run.sh: install python3-venv" >&2 && exit 1; }
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt" >&2
    cp "$here/requirements.txt" "$venv/requirements.txt"
    prepare_pybelt
}

# feelSpace's own client: where it cannot be had, its case is left out and says why.
prepare_pybelt() {
    "$venv/bin/python" -c 'import pybelt' 2>/dev/null && return
    "$venv/bin/pip" install --quiet --disable-pip-version-check pybelt==1.2.4 -r "$here/requirements.txt" \
        >"$venv/pybelt.txt" 2>&1 || true
}

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The OpenWrt recipe without an OpenWrt SDK: GNU make runs its steps with this machine's compiler and with stubs of
# rules.mk, package.mk and meson.mk that define what the recipe takes from them. Prints TAP.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
result() { # STATUS NAME DETAIL
    if [ "$1" -eq 0 ]; then
        echo "ok - openwrt: $2"
    else
        printf 'not ok - openwrt: %s\n' "$2"
        tail -n 12 <<<"$3" | sed 's/^/#   /'
        failed=1
    fi
}

mkdir -p "$work/include"
cat >"$work/rules.mk" <<STUB
INCLUDE_DIR := $work/include
INSTALL_DIR := install -d -m0755
INSTALL_BIN := install -m0755
CP := cp -fpR
TARGET_CC := gcc
TARGET_CFLAGS := -Os -Wall -Wextra -Werror
PKG_BUILD_DIR := $work/source
PKG_INSTALL_DIR := $work/installed
STUB
cat >"$work/include/package.mk" <<'STUB'
define BuildPackage
$(if $(and $(Package/$(1)),$(Package/$(1)/install)),,$(error $(1) is not defined))
.PHONY: $(1)
$(1): compile
	$(call Package/$(1)/install,$(OUT)/$(1))
endef
.PHONY: compile development print
all: libtendon tendon-gateway development
STUB
cat >"$work/include/meson.mk" <<'STUB'
MESON_BUILD_DIR = $(OUT)/meson
define Build/Compile/Meson
	meson setup $(MESON_BUILD_DIR) $(PKG_BUILD_DIR) --prefix /usr --libdir lib -Dbuildtype=minsize $(MESON_ARGS)
	ninja -C $(MESON_BUILD_DIR)
	DESTDIR=$(PKG_INSTALL_DIR) meson install -C $(MESON_BUILD_DIR) --no-rebuild
endef
STUB

cat >"$work/Makefile" <<STUB
include $PWD/packaging/openwrt/Makefile
compile:
	\$(call Build/Compile/Meson)
development:
	\$(call Build/InstallDev,\$(OUT)/development)
print:
	@echo '\$(PKG_NAME) \$(PKG_VERSION) \$(PKG_LICENSE) \$(PKG_LICENSE_FILES)'
STUB
# The sources, and none of what was built: the recipe writes into them.
mkdir -p "$work/files" "$work/source"
cp -R CSources include programs scripts meson.build meson_options.txt NOTICE LICENSE "$work/source"
cp packaging/openwrt/files/* "$work/files/"
run() { make --no-print-directory -C "$work" TOPDIR="$work" OUT="$work/out" "$@" 2>&1; }
read -r name version license files <<<"$(run print)"
header=$(sed -n 's/^#define TENDON_VERSION "\(.*\)"$/\1/p' include/tendon/version.h)
[ "$name $version $license" = "tendon $header MIT" ]
result $? "name, version and license" "$name $version $license"
# shellcheck disable=SC2086
answer=$(ls $files 2>&1)
result $? "the files of the licenses are there" "$answer"
answer=$(run all)
code=$?
result $code "all steps of the recipe run" "$answer"
out=$work/out
[ -e "$out/libtendon/usr/lib/libtendon.so.1" ] && [ ! -e "$out/libtendon/usr/lib/libtendon.so" ]
result $? "libtendon has the library only" "$(find "$out/libtendon" 2>&1)"
[ -e "$out/development/usr/include/tendon/tendon.h" ] && [ -e "$out/development/usr/lib/pkgconfig/tendon.pc" ]
result $? "other packages get headers and tendon.pc" "$(find "$out/development" -maxdepth 4 2>&1)"
answer=$(cd "$out" && LD_LIBRARY_PATH=$out/libtendon/usr/lib XDG_RUNTIME_DIR=$work timeout 30 \
    tendon-gateway/usr/bin/tendon-gateway --radio virtual --for 1 2>&1)
[ $? -eq 4 ]
result $? "tendon-gateway starts, and ends with 4 where no device is" "$answer"
answer=$(sh -n "$out/tendon-gateway/etc/init.d/tendon-gateway" 2>&1)
result $? "the init script is a shell script" "$answer"
exit $failed

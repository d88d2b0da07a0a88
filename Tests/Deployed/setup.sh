# SPDX-License-Identifier: MIT
# Sourced in the system of the virtual machine before it boots: the packages are installed with dpkg, as a maker of images
# does it, and the service is configured. "# mask: UNIT..." at the top of a scenario: units that are not to start; "# disable: UNIT...":
# not by themselves.
# shellcheck shell=bash
set -e
export DEBIAN_FRONTEND=noninteractive
grep -q localhost /etc/hosts 2>/dev/null || echo 127.0.0.1 localhost >>/etc/hosts
dpkg --force-unsafe-io -i "/host$TENDON_PACKAGES"/{libtendon1,libtendon-dev,tendon}_*.deb
cat >/etc/tendon/tendon.conf <<'CONF'
[gateway]
pair = 1200
[output]
lines = no
log-level = info
[mqtt]
broker = mqtt://localhost
gateway = gw
stream = all
[family bose]
period = 80
[family obvious]
product = 1234
features = 16, 17
CONF
# What podman's package would start with each system: they search for containers.
systemctl mask podman.service podman.socket podman-restart.service podman-auto-update.service podman-auto-update.timer \
    podman-clean-transient.service
for verb in mask disable; do
    units=$(sed -n "s/^# $verb: //p" "${CASES[0]}")
    # shellcheck disable=SC2086
    [ -z "$units" ] || systemctl $verb $units
done

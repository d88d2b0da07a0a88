#!/bin/bash
# SPDX-License-Identifier: MIT
# Boots the systemd of a Debian root in namespaces of its own: processes, mounts, network, cgroups. Root only.
# Usage: boot.sh ROOT SHARED      SHARED: a folder of this machine, there /srv/shared
# Does not end before the system in it does; its first process is the only child of this one.
set -euo pipefail
root=$1 shared=$2

if [ "${3:-}" != inside ]; then
    # A cgroup of its own, so that the namespace begins there.
    hierarchy=$(mktemp -d)
    mount -t cgroup2 cgroup2 "$hierarchy"
    mkdir -p "$hierarchy/tendon-debian"
    echo $$ >"$hierarchy/tendon-debian/cgroup.procs"
    umount "$hierarchy"
    rmdir "$hierarchy"
    exec unshare --cgroup --pid --mount --uts --ipc --net --fork --kill-child "$0" "$root" "$shared" inside
fi

mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for name in null zero full random urandom tty; do
    touch "$root/dev/$name"
    mount --bind "/dev/$name" "$root/dev/$name"
done
mkdir -p "$root/dev/shm" "$root/dev/pts" "$root/srv/shared"
mount --bind "$shared" "$root/srv/shared"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ip link set lo up
cd "$root"
mkdir -p .before
pivot_root . .before
umount -l /.before
exec env -i container=tendon-test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd </dev/null

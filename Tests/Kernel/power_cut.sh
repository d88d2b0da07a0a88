#!/bin/bash
# SPDX-License-Identifier: MIT
# A power cut while a recording is written (docs/recording.md): a virtual machine whose disk is an ext4 image is killed, and a
# second machine mounts the image. All but the last second is there, and the next run says what is missing.
# Usage: SWIFT_BIN=DIR Tests/Kernel/power_cut.sh [option of run.sh...]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=$(mkdir -p "${TENDON_KERNEL_CACHE:-$here/../../.build/kernel}" && cd "${TENDON_KERNEL_CACHE:-$here/../../.build/kernel}" && pwd)
work=$(mktemp -d "$cache/power.XXXX")
trap 'rm -rf "$work"' EXIT
failed=0
result() { # STATUS NAME
    if [ "$1" = 0 ]; then echo "ok - power cut: $2"; else failed=1 && echo "not ok - power cut: $2"; fi
}

truncate -s 32M "$work/disk"
PATH=$PATH:/usr/sbin:/sbin mkfs.ext4 -q -F "$work/disk"
# The guest shell's words. "guest is up" is what run.sh waits for; a shell that is killed with its machine is no boot that failed.
# shellcheck disable=SC2016
common='echo "# guest is up"; mkdir -p /run/disk /run/user; chmod 700 /run/user
mount -t ext4 /dev/vda /run/disk || exit 1
export XDG_RUNTIME_DIR=/run/user XDG_STATE_HOME=/run/user; TENDON=$SWIFT_BIN/tendon'
# What the program has printed of a sample is what it has received: each fifth time goes to the console, which is slow.
# shellcheck disable=SC2016
recording='$TENDON simulate bose --radio virtual >/dev/null 2>&1 &
$TENDON run --radio virtual --record /run/disk/recordings --sensors rotation --gestures none --json |
    sed -un "1~5s/.*\"received_at\":\([0-9.]*\).*/# received \1/p"'
# shellcheck disable=SC2016
reading='timeout 20 $TENDON run --radio virtual --record /run/disk/recordings --no-lines --for 0.5 2>&1 | sed "s/^/# next run: /"
cp -r /run/disk/recordings "$OUT/"; umount /run/disk'

"$here/run.sh" "$@" --disk "$work/disk" --command "$common; $recording" >"$work/first.log" 2>&1 &
first=$!
# Six seconds of samples, by the machine's own clock, however slow it is; then its power is gone, between two of them.
seconds() { sed -n 's/^# received //p' "$work/first.log" | awk 'NR == 1 { first = $1 } { last = $1 } END { print int(last - first) }'; }
until [ "$(seconds)" -ge 6 ]; do
    kill -0 $first 2>/dev/null || { cat "$work/first.log" && result 1 "the machine records" && exit 1; }
    sleep 0.05
done
kill -KILL "$(pgrep -f "^qemu-system.*file=$work/disk,")"
wait $first && result 1 "the machine was killed"
"$here/run.sh" "$@" --disk "$work/disk" --command "$common; $reading" >"$work/second.log" 2>&1
result $? "a second machine mounts the disk"
grep '^# next run' "$work/second.log" || true
run=$(sed -n 's/.*files it left: //p' "$work/second.log" | tail -n 1)
code=0
/usr/bin/python3 "$here/check_power_cut.py" "$run/recordings" "$work/first.log" || code=1
[ $failed = 0 ] && exit $code
exit 1

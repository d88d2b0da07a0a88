#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the kernel tests: Debian's kernel in QEMU, this machine's file system in it, virtual controllers only.
# The adapters of this machine are never touched. See README.md beside this file.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
cache=${TENDON_KERNEL_CACHE:-$project/.build/kernel}
limit=${TENDON_KERNEL_LIMIT:-600}
build=${BUILD:-}
venv=${VENV:-}
command_line=
prepare_only=false
again=false
sample=
kernel_package=linux-image-amd64
sockets=library
system=
own_disk=
cases=()

usage() {
    cat <<USAGE
usage: run.sh [option...] [case...]

Boots the virtual machine once and runs the cases in it: names of files in Tests/Kernel/cases, with or without
the .sh, shell patterns too ('1*'), or paths. Without a name: all of them.

  --build DIR       Meson build directory with the test programs (default: CACHE/meson, built here)
  --cache DIR       what is built for the machine is kept here (default: .build/kernel)
  --kernel PACKAGE  Debian's package that depends on the kernel to boot (default linux-image-amd64); SUITE/PACKAGE: of
                    another suite, as trixie-backports/linux-image-amd64
  --sockets KIND    the test programs' way to the kernel: library (libbluetooth, the default) or kernel (our own description)
  --system DISK     boots the system on this disk (squashfs) instead of a shell: the cases are services of it, each in a
                    machine of its own; TENDON_SYSTEM_SETUP in the environment: a script that the system runs before
  --disk IMAGE      the machine can write this disk (/dev/vda), and its modules for disks are loaded; see power_cut.sh
  --limit SECONDS   for the whole run (default $limit)
  --sample          of each case's kinds only those of its sample (see README.md), as in make test-all
  --again           cases that fail are run again, alone on the host, up to two times; the last run decides
  --command TEXT    runs TEXT with bash in the guest instead of the cases
  --prepare         builds what the machine needs and stops
  --list            names the cases and stops
USAGE
}

list_cases() {
    local file
    for file in "$here"/cases/*.sh; do
        printf '%-24s %s\n' "$(basename "$file" .sh)" "$(sed -n 's/^# title: //p' "$file")"
    done
}

while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$(cd "$2" && pwd) && shift 2 ;;
    --cache) cache=$2 && shift 2 ;;
    --kernel) kernel_package=$2 && shift 2 ;;
    --limit) limit=$2 && shift 2 ;;
    --sockets) sockets=$2 && shift 2 ;;
    --command) command_line=$2 && shift 2 ;;
    --again) again=true && shift ;;
    --system) system=$2 && shift 2 ;;
    --disk) own_disk=$2 && shift 2 ;;
    --sample) sample=true && shift ;;
    --prepare) prepare_only=true && shift ;;
    --list) list_cases && exit 0 ;;
    -h | --help) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) cases+=("$1") && shift ;;
    esac
done

mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
kernel_cache=$cache
kernel_name=
cpus=2
if [ "$kernel_package" != linux-image-amd64 ]; then
    kernel_cache=$cache/$kernel_package
    kernel_name=-${kernel_package//\//-}
    # Half the work for the host. Linux 6.1.192 closes sockets later with one CPU, and crashes over that: see README.md.
    cpus=1
fi
# shellcheck source=Tests/Kernel/prepare.sh
source "$here/prepare.sh"

# Full paths of the cases that were asked for, in the order of the names.
resolve_cases() {
    local name file found
    [ ${#cases[@]} -gt 0 ] || cases=('*')
    for name in "${cases[@]}"; do
        if [ -f "$name" ]; then
            realpath "$name"
            continue
        fi
        found=false
        for file in "$here"/cases/${name%.sh}.sh; do
            [ -f "$file" ] && echo "$file" && found=true
        done
        $found || { echo "run.sh: no case is called '$name' (run.sh --list names them)" >&2 && return 2; }
    done
}

case_files=()
if [ -z "$command_line" ]; then
    resolved=$(resolve_cases)
    mapfile -t case_files <<<"$resolved"
fi

# One run prepares at a time: another one may do the same for a later stage.
mkdir -p "$cache"
exec 9>"$cache/preparing"
flock 9
prepare_tools
prepare_kernel
prepare_initramfs
waiting=
if [ -z "$venv" ] && wants venv; then
    prepare_venv & # it waits for the network
    waiting=$!
fi
if [ -z "$build" ] && wants build; then
    prepare_build
fi
[ -z "$waiting" ] || wait $waiting
exec 9>&-
$prepare_only && exit 0

# lane_of FILE: "# lane: N" in its header; default 1.
lane_of() {
    local lane
    lane=$(sed -n 's/^# lane: *//p' "$1" | head -n 1)
    echo "${lane:-1}"
}

# One directory per machine: its environment goes in, status and captures come out. Two runs may overlap.
write_environment() { # DIRECTORY CASE_FILE...
    local run=$1
    shift
    printf 'export %s=%q\n' PROJECT "$project" KERNEL_TESTS "$here" BUILD "${build:-$cache/meson}" \
        VENV "${venv:-$cache/venv}" SWIFT_BIN "${SWIFT_BIN:-$project/.build/release}" OUT "$run" HOME /root \
        PATH /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LD_LIBRARY_PATH "${LD_LIBRARY_PATH:-}"
    printf 'COMMAND=%q SAMPLE=%q SOCKETS=%q SYSTEM=%q\n' "$command_line" "$sample" "$sockets" "$system"
    printf 'CASES=('
    [ $# -eq 0 ] || printf ' %q' "$@"
    printf ' )\n'
    # What a caller wants to hand to the cases.
    env -0 | while IFS= read -r -d '' line; do
        case $line in TENDON_*) printf 'export %s=%q\n' "${line%%=*}" "${line#*=}" ;; esac
    done
}

# machine LANE CASE_FILE...: the same again when the kernel did not come up. The emulation of two CPUs lets one of them run
# into code that the other is patching (an "int3" Oops within the first second), mostly on a host that is very busy.
machine() {
    local code boots=1
    while true; do
        code=0
        boot "$@" || code=$?
        [ $code -eq 3 ] && [ $((boots += 1)) -le 5 ] || return $code
        echo "# the virtual machine did not come up; once more"
    done
}

# Without random addresses a program that starts again is at the addresses of before, and QEMU has its code translated.
kernel_options='quiet loglevel=3 mitigations=off no_timer_check norandmaps init_on_alloc=0'
system_options='tendon.system systemd.show_status=0 systemd.getty_auto=0 systemd.firstboot=0'

# boot LANE CASE_FILE...: a machine for these cases; its output, and the cases' verdict as the status; 3: it did not
# come up.
boot() {
    local lane=$1 run started qemu status disk
    shift
    run=$(mktemp -d "$cache/runs/$(date +%H%M%S).XXXX")
    ln -sfn "$(basename "$run")" "$cache/runs/last$kernel_name$([ "$lane" = 1 ] || echo "-$lane")"
    write_environment "$run" "$@" >"$run/environment"
    started=$(date +%s)
    set +e
    disk=()
    [ -z "$system" ] || disk=(-drive "file=$system,format=raw,if=virtio,readonly=on")
    [ -z "$own_disk" ] || disk=(-drive "file=$own_disk,format=raw,if=virtio")
    timeout -k 5 "$limit" qemu-system-x86_64 -accel tcg,thread=multi -M q35 -cpu max,-avx,-avx2,-xsave -smp "${TENDON_KERNEL_CPUS:-$cpus}" -m "${TENDON_KERNEL_MEMORY:-1024}" \
        -nographic -net none -no-reboot -kernel "$kernel_cache/vmlinuz" -initrd "$kernel_cache/initramfs.gz" \
        -append "console=ttyS0 panic=-1 $kernel_options${system:+ $system_options}${own_disk:+ tendon.disk} tendon.run=$run" "${disk[@]}" \
        -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
        -virtfs local,path="$run",mount_tag=out,security_model=none \
        </dev/null 2>&1 | tee "$run/console.log" | sed -u 's/\r//g; s/\x1b\[[0-9;?]*[A-Za-z]//g; s/\x1bc//g; /^tendon-exit /d; /^SeaBIOS/d; /^$/d; s/^Booting from ROM[. ]*//; /reboot: Power down/d'
    qemu=${PIPESTATUS[0]}
    set -e
    status=$(tr -d '\r' <"$run/console.log" | sed -n 's/^tendon-exit //p' | tail -n 1)
    if [ "$qemu" = 124 ] || [ "$qemu" = 137 ]; then
        echo "run.sh: stopped after the limit of $limit s; the output so far is in $run" >&2
        return 1
    fi
    if [ -z "$status" ] && ! grep -q '^# guest is up' "$run/console.log"; then
        echo "run.sh: the kernel did not come up (QEMU: $qemu); its output is in $run/console.log" >&2
        return 3
    fi
    if [ -z "$status" ]; then
        echo "run.sh: the virtual machine ended without a status (QEMU: $qemu); its output is in $run/console.log" >&2
        return 1
    fi
    echo "# virtual machine: $(($(date +%s) - started)) s; files it left: $run"
    return "$status"
}

mkdir -p "$cache/runs"
# Keep what the last ten machines left behind.
(cd "$cache/runs" && { ls -1td -- */ 2>/dev/null | grep -v '^last' || true; } | tail -n +11 | xargs -r rm -rf)

# Each lane has a machine of its own, all at the same time: their cases mostly wait.
all_machines() {
    local file lane lanes code=0 later=$cache/runs/lane.$$ others=() in_lane
    if [ -n "$system" ]; then
        for file in "$@"; do machine 1 "$file" || code=1; done
        return $code
    fi
    mapfile -t lanes < <(for file in "$@"; do lane_of "$file"; done | sort -un)
    for lane in "${lanes[@]}"; do
        in_lane=()
        for file in "$@"; do [ "$(lane_of "$file")" != "$lane" ] || in_lane+=("$file"); done
        if [ "$lane" = "${lanes[0]}" ]; then
            machine "$lane" "${in_lane[@]}" &
        else
            machine "$lane" "${in_lane[@]}" >"$later.$lane" 2>&1 &
        fi
        others+=($!)
    done
    for lane in "${!lanes[@]}"; do
        wait "${others[lane]}" || code=1
        [ "$lane" != 0 ] || continue
        echo "# ---- the machine of lane ${lanes[lane]}"
        cat "$later.${lanes[lane]}"
        rm -f "$later.${lanes[lane]}"
    done
    return $code
}

# Files of the cases that a run's output calls failed ("# not ok: NAME/KIND: RESULT").
failed_files() { # OUTPUT
    sed -n 's/^# not ok: \([^:/]*\).*/\1/p' "$1" | sort -u | while read -r name; do
        for file in "${case_files[@]}"; do
            if [ "$(basename "$file" .sh)" = "$name" ]; then echo "$file"; fi
        done
    done
}

if [ -n "$command_line" ]; then
    machine 1
    exit
fi
if ! $again; then
    all_machines "${case_files[@]}"
    exit
fi
output=$cache/runs/output.$$
trap 'rm -f "$output"' EXIT
code=0
all_machines "${case_files[@]}" 2>&1 | sed -u 's/^not ok /# NOT OK, to be run again: /' | tee "$output" || code=$?
[ $code -ne 0 ] || exit 0
# A machine that ended before its sum does not say which of its cases failed.
machines=$(for file in "${case_files[@]}"; do lane_of "$file"; done | sort -u | wc -l)
[ -z "$system" ] || machines=${#case_files[@]}
[ "$(grep -c '^# kernel tests: ' "$output")" -eq "$machines" ] || exit 1
mapfile -t case_files < <(failed_files "$output")
once_more() {
    echo "# ---- once more, one after the other: $(basename -s .sh "${case_files[@]}" | tr '\n' ' ')"
    if [ -n "$system" ]; then all_machines "${case_files[@]}"; else machine 1 "${case_files[@]}"; fi
}
code=0
once_more 2>&1 | sed -u 's/^not ok /# NOT OK, to be run again: /' | tee "$output" || code=$?
[ $code -ne 0 ] || exit 0
mapfile -t failed < <(failed_files "$output")
[ ${#failed[@]} -eq 0 ] || case_files=("${failed[@]}")
once_more

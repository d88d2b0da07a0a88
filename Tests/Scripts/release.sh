#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/release.sh in a clone that is thrown away: what it rejects. Prints TAP. With --all also a whole release.
set -euo pipefail
cd "$(dirname "$0")/../.."
top=$PWD
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
all=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset BUILD
status=0
version=$(sed -n 's/^#define TENDON_VERSION "\(.*\)"$/\1/p' include/tendon/version.h)

# result NAME COMMAND...: a TAP line for the command; $work/out is what was printed before.
result() {
    local name=$1
    shift
    if "$@"; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        tail -n 12 "$work/out" | sed 's/^/#   /'
        status=1
    fi
}

# rejects NAME STATUS TEXT ARGUMENT...: scripts/release.sh ends with it and prints the text, and has built nothing.
rejects() {
    local name=$1 expected=$2 text=$3 code=0
    shift 3
    scripts/release.sh "$@" >"$work/out" 2>&1 || code=$?
    result "$name" eval '[ $code -eq $expected ] && grep -qF -- "$text" "$work/out" && [ ! -e .build/release/tree ]'
}

# The tree as it is, committed.
clone=$work/clone
mkdir "$clone"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' name; do
    [ ! -e "$name" ] || printf '%s\0' "$name"
done | tar -c --null -T - | tar -x -C "$clone"
cd "$clone"
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost
git init -q
commit_and_tag() { # TAG
    git add -A
    git commit -q --allow-empty -m "Version $1"
    git tag "$1"
}
sed -i "s/^## \[$version\].*/## [$version] - not released yet/" CHANGELOG.md
commit_and_tag "$version"

scripts/release.sh --help >"$work/out"
result "--help prints the usage" grep -qx 'Usage: scripts/release.sh TAG \[OUT\]' "$work/out"
rejects "no tag" 2 "Usage: "
rejects "an unknown option" 2 "Usage: " --other
rejects "a tag that does not exist" 1 "there is no tag 99.0.0" 99.0.0
rejects "a branch instead of a tag" 1 "there is no tag" "$(git branch --show-current)"
rejects "notes without a date" 1 "has no date of release: ## [$version] - not released yet" "$version"
sed -i "s/^## \[$version\].*/## [$version] - 2026-01-02/" CHANGELOG.md
rejects "a change that is not committed" 1 "M CHANGELOG.md" "$version"
git tag -d "$version" >/dev/null
commit_and_tag "$version"
echo x >forgotten
rejects "a file that is not committed" 1 "?? forgotten" "$version"
rm forgotten
git tag 99.0.0
rejects "a tag that is not the version of the sources" 1 "include/tendon/version.h is $version" 99.0.0
sed -i "1s/($version/(99.0.1/" packaging/debian/changelog
git tag -d "$version" >/dev/null
commit_and_tag "$version"
rejects "a Debian package of another version" 1 "packaging/debian/changelog is 99.0.1" "$version"
git reset -q --hard 99.0.0
git tag -f "$version" 99.0.0 >/dev/null
mkdir "$work/other"
touch "$work/other/file"
rejects "a folder with other files" 1 "$work/other has other files" "$version" "$work/other"

[ "$all" = --all ] || exit $status

# ---- a whole release; what a run that was killed has left is no obstacle, and an earlier release is replaced
out=$work/out.d
mkdir -p "$out" .build/release/files
touch "$out/SHA256SUMS" "$out/old"
git worktree add -q --detach .build/release/tree
mkdir -p .build/release/parts "$build/static"
# musl is built once.
ln -s "$build/static" .build/release/parts/static
# The command as the stage before has built it: the sources are the same.
export TENDON_SWIFT_SCRATCH=$build/swift TENDON_SWIFT_TREE=$top
code=0
scripts/release.sh "$version" "$out" >"$work/out" 2>&1 || code=$?
sed 's/^/# /' "$work/out"
result "a release is made" [ $code -eq 0 ]
result "in four steps" grep -q "^release $version: 4 of 4, in $out" "$work/out"
machine=$(dpkg --print-architecture)
package=$(sed -n '1s/.*(\(.*\)).*/\1/p' packaging/debian/changelog)
{
    printf "tendon-gateway_${version}_%s.tar.gz\n" armhf arm64 mips
    printf "%s_${package}_$machine.deb\n" libtendon1 libtendon-dev tendon tendon-gateway
    printf '%s\n' "tendon-doc_${package}_all.deb" "tendon_$version.orig.tar.gz" "tendon_$package.debian.tar.xz" \
        "tendon_$package.dsc" NOTES.md SHA256SUMS
} | sort >"$work/expected"
find "$out" -type f -printf '%f\n' | sort >"$work/names"
diff "$work/expected" "$work/names" >"$work/out" || true
result "it has the packages, their source, three gateways, notes and checksums" [ ! -s "$work/out" ]
result "the checksums are those of all files" eval '(cd "$out" && sha256sum --check --quiet SHA256SUMS) &&
    [ "$(wc -l <"$out/SHA256SUMS")" -eq $(($(wc -l <"$work/names") - 1)) ]'
python3 - "$version" >"$work/notes" <<'PY'
import sys
sections = open("CHANGELOG.md").read().split("\n## ")
print("## " + next(section for section in sections if section.startswith(f"[{sys.argv[1]}]")).rstrip())
PY
diff "$work/notes" "$out/NOTES.md" >"$work/out" || true
result "the notes are the section of CHANGELOG.md" [ ! -s "$work/out" ]
dpkg-deb -f "$out/tendon_${package}_$machine.deb" Version >"$work/out"
result "the package has the version" grep -qx "$package" "$work/out"
result "nothing is left of the tree" eval '[ ! -e .build/release/tree ] && [ "$(git worktree list | wc -l)" -eq 1 ]'

# class_of FILE: as readelf names class, byte order and machine
class_of() { readelf -h "$1" | sed -nE 's/^ *(Class|Data|Machine): *//p' | tr '\n' ' '; }
run_dir=$work/run
mkdir -m 700 "$run_dir"
export XDG_RUNTIME_DIR=$run_dir HOME=$run_dir
while IFS='|' read -r machine emulator class; do
    tar -xf "$out/tendon-gateway_${version}_$machine.tar.gz" -C "$work"
    folder=$work/tendon-gateway_${version}_$machine
    find "$folder" -type f -printf '%f\n' | sort | tr '\n' ' ' >"$work/out"
    result "$machine: a program and the two licenses" grep -qx 'LICENSE LICENSE.musl tendon-gateway ' "$work/out"
    class_of "$folder/tendon-gateway" >"$work/out"
    result "$machine: $class" grep -qF "$class" "$work/out"
    "$build/swift/release/tendon" simulate feelspace activ5 --radio virtual --json >"$work/devices" 2>&1 &
    wearables=$!
    timeout 120 $emulator "$folder/tendon-gateway" --radio virtual --for 10 >"$work/out" 2>&1 || true
    kill "$wearables" && wait "$wearables" || true
    result "$machine: it prints the force of a simulated trainer" grep -qE '"sensor":"force","force_n":[0-9]' "$work/out"
done <<TABLE
armhf|qemu-arm-static|ELF32 2's complement, little endian ARM
arm64|qemu-aarch64-static|ELF64 2's complement, little endian AArch64
mips|qemu-mips-static -cpu 24Kc|ELF32 2's complement, big endian MIPS R3000
TABLE
exit $status

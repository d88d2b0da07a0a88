#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every fuzz target for SECONDS each (default 60), two at a time: Tests/Fuzz/run.sh [SECONDS] [TARGET...]
# Builds with clang and libFuzzer into .build/fuzz. New inputs stay in .build/fuzz/corpus; what crashed is in
# .build/fuzz/crashes. Exit 1: a target crashed or ran out of time; 2: no clang with libFuzzer.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
out=.build/fuzz
mkdir -p "$out/objects" "$out/corpus" "$out/crashes" "$out/logs"

clang=${CC_FUZZ:-$(command -v clang || true)}
flags=(-std=c11 -g -O1 -D_GNU_SOURCE -Iinclude -ITests/C -ISources/CObviousCloud/include -DTENDON_HAVE_OBVIOUS_CLOUD=1
  -DTENDON_HAVE_BLUEZ=1 -DTENDON_KERNEL_SOCKETS=1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
sanitizers=address,undefined
link=(-lm -ljansson -lcmocka)
"$clang" -fuse-ld=lld -x c - -o "$out/probe" <<<'int main(void) { return 0; }' 2>/dev/null && link+=(-fuse-ld=lld)
probe='#include <stdint.h>
#include <stddef.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n); int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return d == 0 && n > 0; }'
if [ -z "$clang" ] || ! "$clang" -x c - -fsanitize=fuzzer,$sanitizers -o "$out/probe" <<<"$probe" 2>"$out/logs/probe"; then
  echo "fuzz: no clang with libFuzzer found (set CC_FUZZ)" >&2
  exit 2
fi

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for file in Tests/Fuzz/fuzz_*.c; do
    name=${file##*/fuzz_}
    targets+=("${name%.c}")
  done
fi

# What stands around a target, as in the C tests: files of Tests/C, as in meson.build. Linked before the rest.
worlds=Tests/C
declare -A world=(
  [bluez]="linux/adapter/bluez_fixture linux/adapter/bluez_lives linux/adapter/fake_adapter linux/adapter/fake_kernel
    linux/adapter/privileges linux/noted_link"
  [obvious_device]="simulate/obvious_fixture"
  [virtual]="linux/fake_clock"
)
sources=$(find CSources Sources/CObviousCloud/answers.c Sources/CObviousCloud/check.c -name '*.c')
for file in ${world[*]}; do
  sources+=" $worlds/$file.c"
done
compile() {
  object="$out/objects/$(echo "$1" | tr / _).o"
  "$clang" "${flags[@]}" -fsanitize=fuzzer-no-link,$sanitizers -c "$1" -o "$object"
}
export -f compile
export clang out sanitizers
rm -f "$out"/objects/*.o "$out"/objects/tendon.a
# shellcheck disable=SC2086
printf '%s\n' $sources | xargs -P 2 -I{} bash -c "flags=(${flags[*]}); compile {}"
# As a library, of which a target links what it uses: what stands in the kernel's place comes before what is in it.
ar rcs "$out/objects/tendon.a" "$out"/objects/{CSources,Sources}_*.o
for name in "${targets[@]}"; do
  own=()
  for file in ${world[$name]:-}; do
    own+=("$out/objects/$(echo "$worlds/$file.c" | tr / _).o")
  done
  "$clang" "${flags[@]}" -fsanitize=fuzzer,$sanitizers "Tests/Fuzz/fuzz_$name.c" "${own[@]}" "$out/objects/tendon.a" \
    "${link[@]}" -o "$out/fuzz_$name"
done

run_one() {
  name=$1
  mkdir -p "$out/corpus/$name"
  status=0
  # -timeout: one input that needs 10 s is a loop without progress
  "$out/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$out/crashes/$name-" "$out/corpus/$name" "Tests/Fuzz/corpus/$name" >"$out/logs/$name" 2>&1 ||
    status=$?
  executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/logs/$name")
  covered=$(grep -o 'cov: [0-9]*' "$out/logs/$name" | tail -1)
  printf '%-16s %10s executions  %-10s %s\n' "$name" "${executed:-?}" "${covered:-}" \
    "$([ $status -eq 0 ] && echo ok || echo "CRASHED ($status), see $out/logs/$name")"
  return $status
}
export -f run_one
export seconds
printf '%s\n' "${targets[@]}" | xargs -P 2 -I{} bash -c 'run_one {}' && echo "fuzz: no crash" ||
  { echo "fuzz: crashes are in $out/crashes" >&2; exit 1; }

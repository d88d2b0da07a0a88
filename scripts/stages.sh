# SPDX-License-Identifier: MIT
# The test stages; sourced by scripts/test.sh, which runs each in a subshell with `set -e`.
# Each prints TAP lines (or what Swift Testing prints) and fails with a non-zero status.
# shellcheck shell=bash

jobs_count=$(nproc 2>/dev/null || echo 2)
# Of the C tests two wait for ten seconds and more: the others run beside them.
export MESON_TESTTHREADS=$((jobs_count + 2))
# With the index for editors, a tenth of a debug build's time: SwiftPM finds the tests in it. Builds without tests do
# without it.
swift_debug=(--scratch-path "$BUILD/swift" -j "$jobs_count")
# The tests and what they need: not the benches, the examples and the conformance program, which are built as releases.
swift_tests=(--product tendonPackageTests)
# The standard library linked in, as in the packages: what is tested is what is installed.
swift_release=(--scratch-path "$BUILD/swift" -c release --static-swift-stdlib -j "$jobs_count")

# The build of c_sanitized, which other stages take programs from.
sanitized=(-Db_sanitize=address,undefined -Doptimization=1)

meson_setup() { # DIR SETUP-ARGUMENTS...
    local directory=$1
    shift
    if [ -f "$directory/build.ninja" ]; then
        meson setup --reconfigure "$directory" . "$@"
    else
        rm -rf "$directory"
        meson setup "$directory" . "$@"
    fi
}

# meson_tests DIR SETUP-ARGUMENTS...: builds, runs, and repeats the TAP lines of all tests.
meson_tests() {
    meson_setup "$@"
    ninja -C "$1"
    meson_run "$1"
}

meson_run() { # DIR TEST...: default: all that are built
    local directory=$1 status=0
    shift
    meson test -C "$directory" --no-rebuild --print-errorlogs --timeout-multiplier "${TENDON_TIMEOUT_MULTIPLIER:-1}" "$@" || status=$?
    cat "$directory/meson-logs/testlog.txt"
    return $status
}

stage_format() {
    scripts/format.sh
}

# The rules of the house that no compiler checks.
stage_house() {
    meson_setup_only
    local status=0
    python3 scripts/check_words.py || status=$?
    python3 scripts/check_house.py "$BUILD/asan" || status=$?
    python3 scripts/generate_dissector.py --check || status=$?
    python3 scripts/check_evidence.py || status=$?
    python3 scripts/check_hostile.py || status=$?
    python3 Tests/Proof/prove.py --list || status=$?
    python3 scripts/apply_steps.py --check . || status=$?
    python3 Tests/Kernel/matrix.py check docs/test-matrix.md || status=$?
    return $status
}

# The checks themselves: each is given what it must reject.
stage_scripts() {
    local status=0
    Tests/Scripts/kernel_matrix.sh || status=$?
    Tests/Scripts/check_hostile.sh || status=$?
    Tests/Scripts/count_tests.sh || status=$?
    python3 Tests/Scripts/check_pages.py || status=$?
    return $status
}

meson_setup_only() {
    if [ -f "$BUILD/asan/build.ninja" ]; then
        meson setup --reconfigure "$BUILD/asan" .
    else
        meson setup "$BUILD/asan" . "${sanitized[@]}"
    fi
}

stage_c_sanitized() {
    meson_tests "$BUILD/asan" "${sanitized[@]}"
}

# The same with a sixteenth of the recorded runs, which take a third of its time.
stage_c_sanitized_gate() {
    export TENDON_RECORDED_EVERY=16
    meson_tests "$BUILD/asan" "${sanitized[@]}"
}

# Other builds leave to c_sanitized: the corpora, which are sanitized in every build, and three of four recorded runs.
less=(-Dcorpora=false)
less_recorded() { export TENDON_RECORDED_EVERY=4; }

# The radio by our own description of the kernel's sockets.
clang=$BUILD/clang-sockets
clang_options=(-Dbuildtype=release -Dbluez=kernel -Dkernel_tests=true "${less[@]}")
stage_c_clang() {
    less_recorded
    CC=clang meson_tests "$clang" "${clang_options[@]}"
    scripts/check_links.sh without "$clang/libtendon.so"
}

# What of it `make test` has: the library, the radio's tests, and the programs for the virtual machine, which kernel_gate runs.
# Anything else differs from c_sanitized in the compiler alone.
clang_build() { # TARGET...
    (
        flock 9 # two stages at the same time
        [ -f "$clang/build.ninja" ] || CC=clang meson_setup "$clang" "${clang_options[@]}"
        meson compile -C "$clang" "$@"
    ) 9>"$clang.lock"
}

stage_c_clang_gate() {
    local tests
    less_recorded
    clang_build tendon:shared_library
    mapfile -t tests < <(meson test -C "$clang" --list | sed -n 's|.* / \(linux_bluez_.*\)|\1|p')
    clang_build "${tests[@]/#/test_}"
    meson_run "$clang" "${tests[@]}"
    scripts/check_links.sh without "$clang/libtendon.so"
}

# A release with gcc. Not in `make test-all`, where the build for MIPS runs all tests without bluez and the stage `install` makes
# this release; in `make soak`.
stage_c_without_bluez() {
    less_recorded
    CC=gcc meson_tests "$BUILD/mit" -Dbluez=disabled -Dbuildtype=release "${less[@]}"
    scripts/check_links.sh without "$BUILD/mit/libtendon.so"
}

# 32-bit ARM and 32-bit big-endian MIPS under qemu-user.
stage_cross() {
    export TENDON_RECORDED_EVERY=16 # the first run of each: under qemu they take ten times as long
    scripts/cross.sh --sample
}

stage_sizes() {
    scripts/sizes.sh
}

# What is exported, and what changed in the ABI since the baseline.
stage_abi() {
    CC=gcc meson setup --wipe "$BUILD/abi" . -Dtests=false -Dbuildtype=debug >/dev/null 2>&1 ||
        CC=gcc meson setup "$BUILD/abi" . -Dtests=false -Dbuildtype=debug
    ninja -C "$BUILD/abi"
    python3 scripts/check_abi.py "$BUILD/abi"
}

# docs/adding-a-device.md, followed to the letter with a toy; its package is also the one that is built without any trait.
stage_family() {
    local status=0 programs=$BUILD/toy/tree/.build/swift/debug
    scripts/test_toy_family.sh || status=$?
    scripts/check_links.sh without "$programs/tendon" || status=$?
    if readelf -d "$programs/tendon" | grep -E 'NEEDED.*lib(mosquitto|sqlite3|microhttpd)'; then
        echo "not ok - without traits tendon links neither libmosquitto, SQLite nor libmicrohttpd"
        status=1
    else
        echo "ok - without traits tendon links neither libmosquitto, SQLite nor libmicrohttpd"
    fi
    return $status
}

stage_install() {
    scripts/test_install.sh
}

# The server that the tests of Obvious's cloud calls use, by itself.
stage_cloud() {
    python3 Tests/Cloud/test_cloud.py
}

# OGP/1 in Python, written from the specification alone: its codec, its device and its client; the library against it.
stage_peers() {
    local status=0 file
    meson_setup_only
    ninja -C "$BUILD/asan" Tests/Peers/obvious_wire Tests/Peers/obvious_device
    for file in codec link device peers; do
        python3 "Tests/Peers/test_ogp_$file.py" || status=$?
    done
    python3 Tests/Peers/test_ogp_wire.py "$BUILD/asan/Tests/Peers/obvious_wire" || status=$?
    python3 Tests/Peers/test_ogp_simulated.py "$BUILD/asan/Tests/Peers/obvious_device" || status=$?
    return $status
}

# Tests at the same time. Without a limit all of them start at once, and what they simulate shares the processor for so
# long that on a busy machine a device misses the ten seconds that a connection has.
swift_width=()
if [[ $(swift test --help-hidden 2>/dev/null || true) == *--experimental-maximum-parallelization-width* ]]; then
    swift_width=(--experimental-maximum-parallelization-width 16)
fi

# swift_run ARGUMENTS...: all tests that were built. Those with libmosquitto have a process of their own: it waits with
# select(), which takes descriptors below 1,024, and all tests at the same time have more.
swift_run() {
    local status=0
    swift test "$@" "${swift_width[@]}" --skip-build --skip TendonMQTTTests || status=$?
    swift test "$@" "${swift_width[@]}" --skip-build --filter TendonMQTTTests || status=$?
    return $status
}

stage_swift() {
    scripts/swift_build.sh "${swift_debug[@]}" "${swift_tests[@]}"
    swift_run "${swift_debug[@]}"
}

# Tests of the modules with the main queue in the place of the loop's thread, and our own description of the kernel's sockets
# in the place of libbluetooth: the loop's own, each asynchronous function cancelled, the ported programs.
stage_swift_main_queue() {
    main_queue_tests sample
}

# All tests of the modules. Not in `make test-all`; in `make soak`.
stage_swift_main_queue_all() {
    main_queue_tests all
}

main_queue_tests() {
    export TENDON_MODULES_ONLY=$1
    local form=(--scratch-path "$BUILD/swift-main" -j "$jobs_count" --traits KernelSockets,ObviousCloud,MainActorLoop)
    scripts/swift_build.sh "${form[@]}" "${swift_tests[@]}"
    scripts/check_links.sh without "$BUILD/swift-main/debug/tendonPackageTests.xctest"
    swift test "${form[@]}" "${swift_width[@]}" --skip-build
}

# The programs with our own description of the kernel's sockets. Not in `make test-all`, where the modules are tested with it; in
# `make soak`.
stage_swift_kernel_sockets() {
    local form=(--scratch-path "$BUILD/swift-kernel" -j "$jobs_count" --disable-index-store --traits KernelSockets,ObviousCloud)
    local program file
    for program in tendon tendon-conformance; do
        scripts/swift_build.sh "${form[@]}" --product $program
        scripts/check_links.sh without "$BUILD/swift-kernel/debug/$program"
    done
    for file in Tests/vectors/*.jsonl; do
        python3 Tests/vectors/compare.py "$BUILD/swift-kernel/debug/tendon-conformance" "$file"
        echo "ok - with KernelSockets, tendon-conformance agrees with ${file##*/}"
    done
}

# The modules' documentation: built without a warning, nothing public without a comment, examples that compile.
stage_docs() {
    scripts/docs.sh
}

# The package as a dependency: required by version, all modules in one file, with and without libbluetooth.
stage_package() {
    scripts/test_package.sh
}

swift_release_build() {
    scripts/swift_build.sh "${swift_release[@]}" --product tendon
    scripts/swift_build.sh "${swift_release[@]}" --product tendon-conformance
    scripts/swift_build.sh "${swift_release[@]}" --product heart-rate # of kernel case 48
    scripts/check_links.sh with "$BUILD/swift/release/tendon"
}

# The programs of `make test`: with the modules that its Swift tests have compiled, instead of a second build of everything,
# which took a quarter of its time. `make test-all` takes the release.
swift_debug_build() {
    (
        flock 9 # two stages at the same time
        scripts/swift_build.sh "${swift_debug[@]}" --product tendon
        scripts/swift_build.sh "${swift_debug[@]}" --product tendon-conformance
    ) 9>"$BUILD/swift-debug.lock"
}

command_tests() { # DIRECTORY of the programs
    scripts/axe.sh || true # web.sh reports what it cannot check then
    TENDON=$1/tendon bash Tests/Command/run.bash
}

stage_command() {
    swift_release_build
    clang_build tendon:shared_library # of the Python package in all_outputs.sh
    export TENDON_LIBRARY=$clang/libtendon.so
    TENDON_LSL_SECONDS=20 command_tests "$BUILD/swift/release"
}

# Without those that have to wait long for other programs.
stage_command_gate() {
    swift_debug_build
    LEAVE_OUT="all_outputs.sh lsl.sh" command_tests "$BUILD/swift/debug"
}

# The Debian packages: built, checked, and installed in a clean root with a broker and simulated wearables.
stage_debian() {
    swift_release_build
    scripts/test_debian.sh
}

# A whole release from a tag, with the command that was built already; the gateways for other machines run under qemu-user.
stage_release() {
    swift_release_build
    Tests/Scripts/release.sh --all
}

# The Python package, installed from its wheel and from its source distribution.
stage_python() {
    swift_release_build
    scripts/test_python.sh
}

stage_examples() {
    scripts/test_examples.sh
}

# The C gateway for routers, beside the devices that the command simulates.
stage_gateway() {
    swift_release_build
    scripts/test_gateway.sh "$BUILD/swift/release/tendon"
}

stage_gateway_gate() {
    swift_debug_build
    scripts/test_gateway.sh "$BUILD/swift/debug/tendon"
}

# Programs written as for a phone: the main queue drives the loop.
stage_phone() {
    scripts/test_phone.sh
}

stage_readme() {
    python3 scripts/check_readme.py
}

stage_readme_gate() {
    TENDON_BIN=$BUILD/swift/debug python3 scripts/check_readme.py
}

stage_fuzz() {
    set -o pipefail
    Tests/Fuzz/run.sh 1 | awk '{ print } / executions .* ok$/ { print "ok - fuzz " $1 ", " $2 " executions" }'
}

# Up to shorter lengths than `make proof`.
stage_proof() {
    Tests/Proof/run.sh --quick
}

# A fixed sample of the seeded faults; scripts/mutate.sh runs all of them.
stage_mutation() {
    scripts/mutate.sh --sample
}

stage_demo() {
    scripts/demo.sh
}

stage_demo_gate() {
    TENDON_BIN=$BUILD/swift/debug scripts/demo.sh
}

stage_bench() {
    Bench/run.sh --check
}

# Options of Tests/Kernel/run.sh. All cases run on Linux 6.12, with libbluetooth; on Debian's kernel, which crashes over a
# socket that is closed late, those about what differs between the two, with test programs that have our own description
# of the sockets.
kernel_newer=(--kernel linux-image-6.12-amd64 '*' 'kernel-6.12/*')
kernel_debian=(--sockets kernel 01-filter 02-errors 03-scan 10-links-only 33-reconfigure 34-flow)

# What the virtual machines need, kernels and Python packages from the network among it.
stage_kernel_prepare() (
    export TENDON_KERNEL_CACHE=$BUILD/kernel
    unset BUILD
    Tests/Kernel/run.sh --prepare "${kernel_debian[@]}"
    Tests/Kernel/run.sh --prepare "${kernel_newer[@]}"
    echo "ok - two kernels, and the programs of their cases"
)

# Home Assistant's own schemas for the stages command and debian, which check the discovery without them as well.
stage_home_assistant() {
    local answer
    if answer=$(scripts/home_assistant.sh 2>&1); then
        echo "ok - $answer"
    else
        echo "$answer"
        echo "ok - Home Assistant # SKIP it cannot be had from PyPI"
    fi
}

# Each case in the kinds of its sample; Tests/Kernel/README.md says what runs where.
stage_kernel() {
    local status=0
    swift_release_build
    kernel_runs 1500 --sample || status=$?
    (
        export SWIFT_BIN=$BUILD/swift/release TENDON_KERNEL_CACHE=$BUILD/kernel
        unset BUILD
        Tests/Kernel/power_cut.sh
    ) || status=$?
    return $status
}

# What a change of the radio breaks first: scans, connections, pairing, rights, an adapter that is pulled out, bluetoothd
# beside. On one kernel, without anything from PyPI.
kernel_gate=(--kernel linux-image-6.12-amd64 01-filter 02-errors 03-scan 04-links 05-refusals 08-pairing
    19-passive-search 24-replugged 33-reconfigure)

kernel_gate_run() ( # OPTION...
    clang_build radio_check choose_adapter heart_rate bridge ota_goodput session_walk
    options=(--build "$clang" --sockets kernel "$@" --sample "${kernel_gate[@]}")
    # None of these cases runs with what would be in it.
    export SWIFT_BIN=$BUILD/swift/debug TENDON_KERNEL_CACHE=$BUILD/kernel VENV=$BUILD/kernel/none
    unset BUILD
    Tests/Kernel/run.sh "${options[@]}"
)

stage_kernel_gate_prepare() {
    kernel_gate_run --prepare
    echo "ok - a kernel, and the programs of its cases"
}

stage_kernel_gate() {
    swift_debug_build
    kernel_gate_run --again --limit 600
}

# Every case with every kind of controller.
stage_kernel_all() {
    swift_release_build
    kernel_runs 14400
}

# The packages in a booted Debian, over the kernel's Bluetooth: docs/deployed.md.
stage_deployed() {
    swift_release_build
    Tests/Deployed/run.sh --again
}

# The same on each kernel. Makes docs/test-matrix.md.
stage_kernel_matrix() {
    swift_release_build
    (
        export SWIFT_BIN=$BUILD/swift/release TENDON_KERNEL_CACHE=$BUILD/kernel
        unset BUILD
        Tests/Kernel/matrix.sh
    )
}

# kernel_runs LIMIT OPTION...: all cases on the newer kernel; beside them, while its machines mostly wait, on Debian's.
kernel_runs() {
    local limit=$1
    shift
    # In a subshell: in one line of assignments each would see the BUILD that the one before it has emptied.
    (
        export SWIFT_BIN=$BUILD/swift/release TENDON_KERNEL_CACHE=$BUILD/kernel
        code=0 debian_code=0
        later=$BUILD/logs/kernel-debian.txt
        debian=("$@" --limit 900 "${kernel_debian[@]}")
        unset BUILD
        Tests/Kernel/run.sh --prepare "${kernel_newer[@]}"
        Tests/Kernel/run.sh --prepare "${debian[@]}"
        Tests/Kernel/run.sh --again "${debian[@]}" >"$later" 2>&1 &
        other=$!
        Tests/Kernel/run.sh --again --limit "$limit" "$@" "${kernel_newer[@]}" || code=$?
        wait $other || debian_code=$?
        echo "# ---- Debian's kernel"
        cat "$later"
        exit $((code > debian_code ? code : debian_code))
    )
}

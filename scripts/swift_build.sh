#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `swift build` that compiles again only what changed.
# Usage: scripts/swift_build.sh ARGUMENTS-OF-SWIFT-BUILD...
# SwiftPM keeps the package's traits in a set and passes them to the compiler in the set's order, which Swift changes
# with each process: another order of -D is another command line, and every module is compiled again. With hashing that
# is not random the order stays. Programs and tests are not run with it: they must work in any order.
set -euo pipefail
export SWIFT_DETERMINISTIC_HASHING=1
case " $* " in
    *" -c release "*)
        # Linked in the form that Debian's packages need: in one scratch path another form would replace the program while it
        # runs.
        set -- "$@" -Xlinker -z -Xlinker now
        ;;
    *)
        # A debug build is for tests. With a module at a time, and nothing for a debugger, it takes three quarters of the
        # time; what changes a line and builds again pays for it with the rest of the module.
        set -- "$@" -debug-info-format none -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2
        ;;
esac
exec swift build "$@"

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The ABI of libtendon: what is exported, by which names, and what changed since the baseline.

Usage: check_abi.py BUILD_DIRECTORY            compares; prints TAP
       check_abi.py --update BUILD_DIRECTORY   makes the baseline anew: the commit says what changed and why

The build needs debug information and bluez; the baseline is that of x86-64.
"""
import lzma
import pathlib
import platform
import subprocess
import sys

import public_names

BASELINE = pathlib.Path('scripts/abi/libtendon.so.1.x86_64.abi.xz')
PREFIX = ('tendon_',)
count = failed = 0


def report(good, name, detail=()):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    for line in detail:
        print(f'#   {line}')


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(*arguments):
    lines = output('nm', '--defined-only', '--extern-only', *arguments).splitlines()
    return {line.split()[2].split('@')[0] for line in lines if len(line.split()) == 3}


def check_names(build):
    declared = public_names.names('include')
    with_bluez = 'tendon_bluez_open' in symbols(str(build / 'libtendon.a'))
    here = {name for name, header in declared.items() if with_bluez or not header.endswith(('/bluez.h', '/monitor.h'))}
    exported = {name for name in symbols('-D', str(build / 'libtendon.so')) if not name.startswith('TENDON_')}
    strangers = sorted(name for name in declared if not name.startswith(PREFIX))
    report(not strangers, 'public names begin with tendon_', strangers)
    missing = sorted(here - exported)
    report(not missing, 'everything that a public header declares is exported', missing)
    extra = sorted(exported - here)
    report(not extra, 'nothing else is exported', extra)
    strangers = sorted(name for name in symbols(str(build / 'libtendon.a')) if not name.startswith(PREFIX))
    report(not strangers, 'global names of the static library begin with tendon_', strangers)


def describe(build, out):
    subprocess.run(['abidw', '--no-corpus-path', '--no-comp-dir-path', '--no-show-locs', '--drop-private-types',
                    '--headers-dir', 'include', '--out-file', str(out), str(build / 'libtendon.so')], check=True)


def check_baseline(build):
    fresh = build / 'libtendon.abi'
    describe(build, fresh)
    baseline = build / 'libtendon.baseline.abi'
    baseline.write_bytes(lzma.decompress(BASELINE.read_bytes()))
    result = subprocess.run(['abidiff', '--no-show-locs', str(baseline), str(fresh)], capture_output=True, text=True)
    changes = [line for line in result.stdout.splitlines() if line.strip()]
    report(result.returncode == 0, 'the ABI is that of the baseline',
           changes + ['meant: run scripts/check_abi.py --update, and say in the commit what changed']
           if result.returncode else ())


def main():
    arguments = sys.argv[1:]
    build = pathlib.Path(arguments[-1])
    if arguments[0] == '--update':
        BASELINE.parent.mkdir(exist_ok=True)
        fresh = build / 'libtendon.abi'
        describe(build, fresh)
        BASELINE.write_bytes(lzma.compress(fresh.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
        return 0
    check_names(build)
    if platform.machine() == 'x86_64':
        check_baseline(build)
    else:
        print(f'ok {count + 1} - the ABI is that of the baseline # SKIP the baseline is that of x86-64')
    print(f'1..{count}')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())

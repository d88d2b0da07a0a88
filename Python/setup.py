# SPDX-License-Identifier: MIT
"""The wheel has the C library in it, built by Meson with our own description of the kernel's sockets (MIT). A source
distribution has the library's sources in c/; in a checkout they are one folder up."""

import pathlib
import re
import shutil
import subprocess
import tempfile

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE / "c" if (HERE / "c").is_dir() else HERE.parent
VERSION = re.search(r'^#define TENDON_VERSION "(.*)"$', (SOURCES / "include/tendon/version.h").read_text(), re.M).group(1)


def build_library(out: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as build:
        subprocess.run(["meson", "setup", build, str(SOURCES), "-Dbluez=kernel", "-Dtests=false", "-Dprograms=false",
                        "-Dbuildtype=release",
                        "-Dwerror=false", "-Ddefault_library=shared"], check=True)
        subprocess.run(["meson", "compile", "-C", build, "tendon:shared_library"], check=True)
        shutil.copyfile(pathlib.Path(build) / "libtendon.so", out)
        subprocess.run(["strip", "--strip-unneeded", str(out)], check=True)


class BuildPy(build_py):
    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib) / "tendon"
        package.mkdir(parents=True, exist_ok=True)
        if not (package / "libtendon.so").exists():
            build_library(package / "libtendon.so")


class Wheel(bdist_wheel):
    """For each Python of this machine: the library is called through ctypes."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


setup(version=VERSION, distclass=WithLibrary, cmdclass={"build_py": BuildPy, "bdist_wheel": Wheel})

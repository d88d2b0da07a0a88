#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes an image with one program, as an archive that docker and podman load. Usage: image.py PROGRAM ARCHIVE

The layer has the program, what its dynamic linker loads, with the licenses of the packages that this is from, and the certificates
of the authorities. The same input makes the same archive."""

import hashlib
import io
import json
import pathlib
import platform
import re
import subprocess
import sys
import tarfile

CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
CONFIGURATION = {
    "Entrypoint": ["/usr/bin/tendon"],
    "Cmd": ["run", "--config", "/etc/tendon/tendon.conf"],
    # All that is written is in the volume. OpenSSL looks elsewhere for the authorities by itself.
    "Env": ["PATH=/usr/bin", "XDG_STATE_HOME=/var/lib", "XDG_CACHE_HOME=/var/lib/tendon/cache", f"SSL_CERT_FILE={CERTIFICATES}"],
    "Volumes": {"/var/lib/tendon": {}},
    "StopSignal": "SIGTERM",
    "Labels": {"org.opencontainers.image.title": "tendon",
               "org.opencontainers.image.licenses": "MIT"},
}
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def libraries(program):
    """(path that the linker looks for, file)"""
    text = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    for path in sorted(set(re.findall(r"(?:=> |^\s*)(/\S+) \(0x", text, re.MULTILINE))):
        yield path, pathlib.Path(path).resolve()


def licenses(files):
    """The copyright files of the packages that own these files."""
    names = set()
    for file in files:
        # dpkg may know it by the path before /usr was merged.
        for path in (str(file), str(file).removeprefix("/usr")):
            found = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True, check=False).stdout
            names |= {line.split(":")[0] for line in found.splitlines()}
    for name in sorted(names):
        path = pathlib.Path("/usr/share/doc", name, "copyright")
        if path.exists():
            yield path


class Layer:
    def __init__(self):
        self.bytes = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.bytes, mode="w", format=tarfile.GNU_FORMAT)
        self.folders = set()

    def folder(self, path, mode=0o755):
        if path in ("/", ".") or path in self.folders:
            return
        self.folder(str(pathlib.PurePath(path).parent))
        self.folders.add(path)
        self._add(path, b"", mode, tarfile.DIRTYPE)

    def file(self, path, content, mode=0o644):
        self.folder(str(pathlib.PurePath(path).parent))
        self._add(path, content, mode, tarfile.REGTYPE)

    def _add(self, path, content, mode, kind):
        information = tarfile.TarInfo(path.lstrip("/"))
        information.type, information.mode, information.size = kind, mode, len(content)
        self.tar.addfile(information, io.BytesIO(content))


def fill(layer, program):
    found = list(libraries(program))
    layer.file("/usr/bin/tendon", pathlib.Path(program).read_bytes(), 0o755)
    for path, file in found:
        layer.file(path, file.read_bytes(), 0o755)
    for path in licenses([file for _, file in found]):
        layer.file(str(path), path.read_bytes())
    layer.file(CERTIFICATES, pathlib.Path(CERTIFICATES).read_bytes())
    layer.file("/etc/passwd", b"root:x:0:0::/:/sbin/nologin\n")
    layer.file("/etc/tendon/tendon.conf", pathlib.Path(__file__).parent.with_name("tendon.conf").read_bytes())
    for path in ("/run", "/proc", "/sys", "/dev"):
        layer.folder(path)
    layer.folder("/var/lib/tendon", 0o700)
    layer.folder("/tmp", 0o1777)
    layer.tar.close()
    return layer.bytes.getvalue()


def digest(content):
    return hashlib.sha256(content).hexdigest()


def main():
    program, archive = sys.argv[1:]
    content = fill(Layer(), program)
    configuration = json.dumps({
        "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()), "os": "linux",
        "created": "1970-01-01T00:00:00Z", "config": CONFIGURATION,
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest(content)}"]},
    }).encode()
    name = digest(configuration) + ".json"
    manifest = json.dumps([{"Config": name, "RepoTags": ["tendon:latest"], "Layers": ["layer.tar"]}]).encode()
    image = Layer()
    for path, part in ((name, configuration), ("layer.tar", content), ("manifest.json", manifest)):
        image.file(path, part)
    image.tar.close()
    pathlib.Path(archive).write_bytes(image.bytes.getvalue())


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""A network that can be cut: gateways live in a network namespace, and a veth connects it with the broker's. While it is
down, packets are lost without a sign. Needs root, or user namespaces."""

import os
import subprocess
import sys

HERE, THERE = "10.213.0.1", "10.213.0.2"
INSIDE = "TENDON_NETWORK_INSIDE"


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


def enter():
    """Runs this program again in namespaces of its own: nothing is left behind, whatever happens. Returns inside; None:
    namespaces cannot be made here; else the status with which the program is to end."""
    if INSIDE in os.environ:
        # For the names of the network namespaces.
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        return True
    unshare = ["unshare", "--net", "--mount", "--fork", "--kill-child"] + (["-Ur"] if os.geteuid() else [])
    if subprocess.run(unshare + ["true"], capture_output=True).returncode:
        return None
    sys.exit(subprocess.run(unshare + [sys.executable, *sys.argv], env=dict(os.environ, **{INSIDE: "1"})).returncode)


class Network:
    """`gateway` is the namespace; programs in it begin with `command`."""

    command = ["ip", "netns", "exec", "gateway"]

    def __init__(self):
        self.is_up = False
        ip("link", "set", "lo", "up")
        ip("netns", "add", "gateway")
        ip("link", "add", "near", "type", "veth", "peer", "name", "far", "netns", "gateway")
        ip("addr", "add", HERE + "/24", "dev", "near")
        ip("-n", "gateway", "addr", "add", THERE + "/24", "dev", "far")
        ip("-n", "gateway", "link", "set", "far", "up")
        self.link(True)

    def link(self, up):
        ip("link", "set", "near", "up" if up else "down")
        self.is_up = up

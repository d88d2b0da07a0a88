#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Receivers and senders of OSC for osc.sh, with python-osc; and what each preset must send, from the lines of the same run.

  check_osc.py receive FILE            every message as a line of JSON; the port is in FILE.port
  check_osc.py opentrack FILE          the same for packets of six doubles
  check_osc.py send PORT ADDRESS ARG...    int, float or text
  check_osc.py junk PORT HEX
  check_osc.py compare PRESET LINES MESSAGES [SENSOR]    "ok" lines
"""

import json
import math
import socket
import struct
import sys


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def receive(path):
    from pythonosc.dispatcher import Dispatcher
    from pythonosc.osc_server import BlockingOSCUDPServer

    with open(path, "w", buffering=1) as out:
        dispatcher = Dispatcher()
        dispatcher.set_default_handler(lambda address, *args: print(json.dumps({"address": address, "args": args}), file=out))
        server = BlockingOSCUDPServer(("127.0.0.1", 0), dispatcher)
        with open(path + ".port", "w") as file:
            print(server.server_address[1], file=file)
        server.serve_forever()


def opentrack(path):
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as receiver, open(path, "w", buffering=1) as out:
        receiver.bind(("::1", 0))
        with open(path + ".port", "w") as file:
            print(receiver.getsockname()[1], file=file)
        while True:
            packet = receiver.recv(2048)
            args = struct.unpack("<6d", packet) if len(packet) == 48 else [len(packet)]
            print(json.dumps({"address": "", "args": args}), file=out)


def send(port, address, *words):
    from pythonosc.udp_client import SimpleUDPClient

    def value(word):
        for kind in (int, float):
            try:
                return kind(word)
            except ValueError:
                pass
        return word

    SimpleUDPClient("127.0.0.1", int(port)).send_message(address, [value(word) for word in words])


def junk(port, text):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(bytes.fromhex(text), ("127.0.0.1", int(port)))


# --- What a receiver must do with the numbers: it brings the front, the left and the top of the world to where the head hears
# them. Vectors, not angles: nothing of how the numbers are made is used here.

def times(m, v):
    return [sum(a * b for a, b in zip(row, v)) for row in m]


def turned(q, v):
    """The vector v turned by the quaternion w, x, y, z."""
    w, x, y, z = q
    return times([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                  [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                  [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]], v)


def about(axis, degrees):
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return {"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[axis]


def turns(v, *steps):
    """The first step comes first."""
    for axis, degrees in steps:
        v = times(about(axis, degrees), v)
    return v


def of_head(quaternion):
    """Where the head of a Bose device hears what is at the front (north), left (west) and top of the world; its axes: front,
    left, up. The device's body has X right, Y back, Z down, its world X east, Y north, Z up."""
    x, y, z, w = quaternion
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    back_to_body = [w / norm, -x / norm, -y / norm, -z / norm]
    for world in ([0, 1, 0], [-1, 0, 0], [0, 0, 1]):
        right, back, down = turned(back_to_body, world)
        yield [-back, -right, -down]


HEARS = {
    # the quaternion turns the scene
    "iem": lambda a, v: turned(a, v),
    # the scene turns by roll, pitch, yaw about axes that hold still
    "iem-ypr": lambda a, v: turns(v, ("x", a[2]), ("y", a[1]), ("z", a[0])),
    # the frame turns by yaw, pitch, roll: the vector the other way
    "sparta": lambda a, v: turns(v, ("z", -a[0]), ("y", -a[1]), ("x", -a[2])),
    # the head: yaw to the left, pitch up, roll to the right
    "adm": lambda a, v: turns(v, ("z", -a[0]), ("y", a[1]), ("x", -a[2])),
    # the head
    "virtuoso": lambda a, v: turned([a[0], -a[1], -a[2], -a[3]], v),
    # the head: yaw to the right, pitch up, roll to the left
    "opentrack": lambda a, v: turns(v, ("z", a[3]), ("y", a[4]), ("x", a[5])),
}
SHAPES = {"iem": ("/SceneRotator/quaternions", 4), "iem-ypr": ("/SceneRotator/ypr", 3), "sparta": ("/ypr", 3),
          "adm": ("/adm/lis/ypr", 3), "virtuoso": ("/Virtuoso/quat", 4), "opentrack": ("", 6)}


def compare(preset, lines_path, messages_path, sensor="rotation"):
    samples = [line for line in lines(lines_path) if line["event"] == "sample" and line["sensor"] == sensor]
    messages = lines(messages_path)
    address, count = SHAPES[preset]
    shapes = all(m["address"] == address and len(m["args"]) == count for m in messages)
    print(f"ok {preset}: address and numbers" if shapes and messages else f"not ok {preset}: {messages[:1]}")
    pairs = list(zip(samples, messages))
    worst = 0.0
    for sample, message in pairs:
        for world, expected in zip(([1, 0, 0], [0, 1, 0], [0, 0, 1]), of_head(sample["quaternion"])):
            heard = HEARS[preset](message["args"], world)
            worst = max(worst, math.dist(heard, expected))
    # A quaternion of a line has five decimals.
    good = len(pairs) >= 20 and worst < 1e-3
    print(f"ok {preset}: sources are where the head hears them" if good
          else f"not ok {preset}: {len(pairs)} pairs, worst {worst:.6f}")
    # Every sample is sent: the last lines may be on their way.
    print(f"ok {preset}: one message for each sample" if abs(len(samples) - len(messages)) <= 2
          else f"not ok {preset}: {len(samples)} samples, {len(messages)} messages")


if __name__ == "__main__":
    {"receive": receive, "opentrack": opentrack, "send": send, "junk": junk, "compare": compare}[sys.argv[1]](*sys.argv[2:])

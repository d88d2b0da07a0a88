#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the page's server refuses.

check_web.py sockets PID              prints the internet sockets on which a process waits for others
check_web.py hostile PORT TOKEN KEY PID
                                      prints "ok NAME" or "not ok NAME: DETAIL" for each check; KEY: a belt
check_web.py guarded PORT TOKEN       the same for an address that others can reach
check_web.py slow PORT                a browser that takes nothing, beside one that does
"""

import json
import os
import re
import socket
import sys
import threading
import time

from checking import check, outcome

def sockets(process):
    wanted = set()
    for name in os.listdir(f"/proc/{process}/fd"):
        try:
            match = re.match(r"socket:\[(\d+)\]", os.readlink(f"/proc/{process}/fd/{name}"))
        except OSError:
            continue
        if match:
            wanted.add(match[1])
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        for line in open(f"/proc/{process}/net/{kind}").readlines()[1:]:
            fields = line.split()
            if fields[9] in wanted and (kind.startswith("udp") or fields[3] == "0A"):
                address, port = fields[1].split(":")
                print(kind, address, int(port, 16))


def exchange(port, data, limit=4.0, most=1 << 20):
    """Sends bytes; returns all that comes until the end of the connection."""
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.settimeout(limit)
        answer = b""
        try:
            connection.sendall(data)
            while len(answer) < most:
                part = connection.recv(65536)
                if not part:
                    break
                answer += part
        except (socket.timeout, ConnectionError):
            pass
        return answer


def request(port, method, path, body=b"", host=None, **headers):
    lines = [f"{method} {path} HTTP/1.1"]
    if host != "":
        lines.append(f"Host: {host or f'127.0.0.1:{port}'}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def status(answer):
    match = re.match(rb"HTTP/1\.[01] (\d+)", answer)
    return int(match[1]) if match else 0


def set_(port, token, body, kind="application/json", **headers):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content_Type": kind, "Content_Length": len(body), **headers}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return exchange(port, request(port, "POST", "/set", body, **headers))


def settled(count, at_least=0):
    """What is counted when it stays the same for half a second, and is enough; after 20 seconds as it is."""
    end = time.time() + 20
    last, since = count(), time.time()
    while time.time() < end and (last < at_least or time.time() - since < 0.5):
        time.sleep(0.05)
        now = count()
        if now != last:
            last, since = now, time.time()
    return last


def hostile(port, token, key, process):
    slow = {}

    def drip():
        """One byte per half second: never idle, never done."""
        begun = time.time()
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            connection.settimeout(0.5)
            try:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
                while time.time() - begun < 60:
                    connection.sendall(b"a")
                    try:
                        if not connection.recv(1):
                            break
                    except socket.timeout:
                        continue
            except ConnectionError:
                pass
        slow["time"] = time.time() - begun

    thread = threading.Thread(target=drip)
    thread.start()

    page = exchange(port, request(port, "GET", "/"))
    check("the page comes", status(page) == 200 and b"<title>Tendon</title>" in page, page[:200])
    for header in (b"Content-Security-Policy: default-src 'none'; script-src 'self'", b"X-Frame-Options: DENY",
                   b"X-Content-Type-Options: nosniff", b"Referrer-Policy: no-referrer", b"Cache-Control: no-store"):
        check(f"header {header.decode().split(':')[0]}", header in page, page[:800])
    check("no file names another place", not re.search(
        rb"(src|href)=\"(?!#|[a-z]+\.[a-z]+\")", page) and b"<style" not in page and b"style=" not in page, page)

    def refused(name, expected, *arguments, **more):
        answer = exchange(port, request(port, *arguments, **more))
        check(name, status(answer) == expected, f"{status(answer)}, expected {expected}: {answer[:120]}")

    refused("another name for this machine (DNS rebinding)", 421, "GET", "/", host=f"evil.example:{port}")
    refused("the same for live data", 421, "GET", "/events", host="evil.example")
    refused("a name that begins as ours", 421, "GET", "/", host="127.0.0.1.evil.example")
    refused("an address that is not ours", 421, "GET", "/", host="192.0.2.1")
    refused("localhost is ours", 200, "GET", "/", host=f"LocalHost:{port}")
    refused("a name of the settings is ours", 200, "GET", "/", host="gateway.test")
    refused("no host", 400, "GET", "/", host="")
    refused("a host that is none", 421, "GET", "/", host="[::1")
    refused("a script of another site", 403, "GET", "/events", Origin="http://evil.example")
    refused("a site without a name", 403, "GET", "/events", Origin="null")
    refused("another port of this machine", 403, "GET", "/metrics", Origin=f"http://127.0.0.1:{port + 1}")
    refused("an image or a script of another site", 403, "GET", "/metrics", Sec_Fetch_Site="cross-site")
    refused("the page in a frame of another site", 403, "GET", "/", Sec_Fetch_Site="cross-site",
            Sec_Fetch_Mode="no-cors")
    refused("a link to the page is allowed", 200, "GET", "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate")
    refused("a path that is none", 404, "GET", "/../../etc/passwd")
    refused("an escaped path", 404, "GET", "/%2e%2e/%2e%2e/etc/passwd")
    refused("a method that is not allowed", 405, "PUT", "/")
    refused("a command by GET", 405, "GET", "/set")
    refused("headers that are too long", 431, "GET", "/", Long="a" * 40000)
    refused("a path that is too long", 414, "GET", "/" + "a" * 40000)
    for name, data in (("noise", os.urandom(2000) + b"\r\n\r\n"), ("no HTTP", b"HELO there\r\n\r\n"),
                       ("a version that is none", b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n"),
                       ("two lengths", request(port, "POST", "/set", b"{}", Content_Length=2) + b"garbage"),
                       ("a negative length", request(port, "POST", "/set", Content_Length=-1)),
                       ("zeros", b"\0" * 5000)):
        answer = exchange(port, data, 1.5)
        check(f"malformed: {name}", status(answer) in (0, 400, 401, 405, 411, 413, 415, 505), answer[:120])

    good = {"device": key, "actions": {"signal": "warning"}}
    for name, given in (("without the token", None), ("with a wrong token", "x" * len(token)),
                        ("with the begin of the token", token[:-1]), ("with more than the token", token + "a"),
                        ("with an empty token", " ")):
        answer = set_(port, given, good)
        check(f"a command {name}", status(answer) == 401, answer[:120])
    answer = set_(port, token, good)
    check("a command with the token", status(answer) == 200 and b'"status":"ok"' in answer, answer[-200:])
    check("from another site", status(set_(port, token, good, Origin="http://evil.example")) == 403)
    check("as a form of another site can send it", status(set_(port, token, good, kind="text/plain")) == 415)
    check("a body that is too long", status(set_(port, token, b'{"a":"' + b"a" * 8000 + b'"}')) == 413)
    check("a length that is too long", status(exchange(port, request(
        port, "POST", "/set", Authorization=f"Bearer {token}", Content_Type="application/json",
        Content_Length=10**12))) == 413)
    check("a body in chunks", status(exchange(port, request(
        port, "POST", "/set", b"2\r\n{}\r\n0\r\n\r\n", Authorization=f"Bearer {token}",
        Content_Type="application/json", Transfer_Encoding="chunked"))) == 411)
    for name, body in (("no JSON", b"{"), ("a list", b"[1]"), ("deep", b"[" * 4000), ("no actions", {"device": key}),
                       ("more members", {**good, "rule": "a => exec b"}), ("NUL", b'{"device":"\0"}')):
        answer = set_(port, token, body)
        check(f"a body that is {name}", status(answer) == 400, answer[:120])
    answer = set_(port, token, {"device": key, "actions": {"exec": "/bin/true"}})
    check("a program cannot be started", status(answer) == 409 and b"exec" in answer, answer[-200:])
    answer = set_(port, token, {"device": key, "actions": {"signal": "warning", "mode": "nonsense"}})
    check("an action that is wrong", status(answer) == 409 and b"nonsense" in answer, answer[-200:])
    check("a device that is not known", status(set_(port, token, {**good, "device": "x/y"})) == 404)

    # Browsers, and connections.
    streams = []
    for _ in range(8):
        connection = socket.create_connection(("127.0.0.1", port), 5)
        connection.sendall(request(port, "GET", "/events"))
        connection.settimeout(3)
        streams.append((connection, connection.recv(15)))
    answer = exchange(port, request(port, "GET", "/events"))
    check("eight browsers", all(first.startswith(b"HTTP/1.1 200") for _, first in streams), streams)
    check("the ninth is refused", status(answer) == 503, answer[:120])
    for connection, _ in streams:
        connection.close()
    before = settled(lambda: len(os.listdir(f"/proc/{process}/fd")))
    idle = [socket.create_connection(("127.0.0.1", port), 5) for _ in range(60)]
    taken = settled(lambda: len(os.listdir(f"/proc/{process}/fd")) - before, 30)
    for connection in idle:
        connection.close()
    check("of 60 connections at most 40 are taken", 30 <= taken <= 40, taken)
    end, answer = time.time() + 5, b""
    while status(answer) != 200 and time.time() < end:
        try:
            answer = exchange(port, request(port, "GET", "/"))
        except OSError:
            time.sleep(0.1)
    check("afterwards the page comes again", status(answer) == 200, answer[:120])
    thread.join()
    check("a request that never ends is ended", 6 < slow["time"] < 60, slow)


def guarded(port, token):
    bearer = {"Authorization": f"Bearer {token}"}
    for path in ("/events", "/metrics"):
        answer = exchange(port, request(port, "GET", path))
        check(f"{path} needs the token", status(answer) == 401 and b"WWW-Authenticate: Bearer" in answer, answer[:120])
    check("with the token it comes", status(exchange(port, request(port, "GET", "/metrics", **bearer))) == 200)
    check("the page alone tells nothing", status(exchange(port, request(port, "GET", "/"))) == 200)
    check("an address is no other site", status(exchange(port, request(port, "GET", "/", host="192.0.2.1"))) == 200)
    check("a name still is", status(exchange(port, request(
        port, "GET", "/metrics", host="evil.example", **bearer))) == 421)


def slow(port):
    lazy = socket.socket()
    lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    lazy.connect(("127.0.0.1", port))
    lazy.sendall(request(port, "GET", "/events"))
    eager = socket.create_connection(("127.0.0.1", port), 5)
    eager.sendall(request(port, "GET", "/events"))
    text, end, dropped, samples = b"", time.time() + 15, 0, []
    while time.time() < end and not dropped:
        text += eager.recv(65536)
        while b"\n\n" in text:
            message, text = text.split(b"\n\n", 1)
            if b"data: " not in message:
                continue
            event = json.loads(message[message.index(b"data: ") + 6:])
            if event["event"] == "status":
                dropped = event["dropped_frames"]
            if event["event"] == "sample" and event["sensor"] == "rotation":
                samples.append((time.time(), event["address"]))
    check("a browser that takes nothing loses messages, and they are counted", dropped > 0, "none in 15 s")
    one = [at for at, address in samples if address == samples[0][1]]
    rate = (len(one) - 1) / (one[-1] - one[0])  # intervals
    gap = max(b - a for a, b in zip(one, one[1:]))
    check("the other one gets at most 31 samples of a sensor per second", 5 < rate < 31, rate)
    check("without a long gap", gap < 2, gap)
    print(f"# {rate:.1f} samples per second, longest gap {gap * 1000:.0f} ms, {dropped} dropped")
    answer = b""
    lazy.settimeout(20)
    try:
        # It reads again: what it gets is whole, and begins again with everything.
        while answer.count(b'"event":"gateway"') < 2:
            part = lazy.recv(65536)
            if not part:
                break
            answer += part
    except (socket.timeout, ConnectionError):
        pass
    check("when it reads again, it learns everything", answer.count(b'"event":"gateway"') == 2, answer[-300:])


arguments = sys.argv[2:]
if sys.argv[1] == "sockets":
    sockets(arguments[0])
else:
    {"hostile": hostile, "guarded": guarded, "slow": slow}[sys.argv[1]](int(arguments[0]), *arguments[1:])
    sys.exit(outcome())

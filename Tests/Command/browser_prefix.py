#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page below a path of a reverse proxy, which strips the path: in a browser.

browser_prefix.py PORT TOKEN    prints "ok NAME" or "not ok NAME: DETAIL" for each check
"""

import http.client
import http.server
import sys
import threading

from checking import check, outcome
from chromium import Browser

PREFIX = "/gateways/one/"


class Proxy(http.server.BaseHTTPRequestHandler):
    """Hands what is below the prefix on, and knows nothing else."""

    port = 0
    outside = []

    def forward(self):
        if not self.path.startswith(PREFIX):
            self.outside.append(self.path)
            return self.send_error(404)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(self.command, self.path[len(PREFIX) - 1:], body or None, dict(self.headers))
        answer = connection.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            while part := answer.read1(65536):
                self.wfile.write(part)
        except OSError:
            pass
        connection.close()

    do_GET = do_POST = forward

    def log_message(self, *_):
        pass


def main():
    port, token = int(sys.argv[1]), sys.argv[2]
    Proxy.port = port
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = Browser()
    try:
        browser.open(f"http://127.0.0.1:{server.server_port}{PREFIX}")
        live = browser.until("document.getElementById('connection').dataset.state == 'live'"
                             " && document.querySelectorAll('.card').length > 0")
        check("below a path of a proxy the page is live", live, browser.run("document.body.innerText"))
        check("its style and its picture are there", browser.run(
            "document.styleSheets.length == 1 && document.querySelector('h1 img').naturalWidth > 0"), "not loaded")
        answer = browser.run(
            f"fetch('set', {{ method: 'POST', headers: {{ Authorization: 'bearer {token}', 'Content-Type': "
            "'application/json' }, body: '{\"device\":\"none\",\"actions\":{}}' }).then(r => r.json())")
        check("commands arrive, whatever letters the scheme has", answer and "device" in answer.get("error", ""), answer)
        # A browser asks for this by itself.
        outside = [path for path in Proxy.outside if path != "/favicon.ico"]
        check("nothing is asked for outside of the path", not outside, outside)
    finally:
        browser.close()
        server.shutdown()


main()
sys.exit(outcome())

# SPDX-License-Identifier: MIT
"""HTTP and TLS. Under /admin, for loopback clients only: faults, the requests so far, entitlements."""
import http.server
import ipaddress
import json
import socket
import sys
import threading
import time

from .api import MAX_REQUEST, Answer, Request, refuse, reply
from .faults import Faults


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address, api, context, quiet):
        super().__init__(address, Handler)
        self.api, self.context, self.quiet = api, context, quiet
        self.faults = Faults()
        self.log, self.log_lock = [], threading.Lock()
        self.ending = threading.Event()
        scheme = "https" if context else "http"
        self.origin = f"{scheme}://{address[0]}:{self.server_address[1]}"

    def finish_request(self, request, client_address):
        """In the connection's own thread: a client that does not shake hands blocks nobody else."""
        if self.context:
            request.settimeout(60)
            request = self.context.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)

    def handle_error(self, request, client_address):
        kind, error = sys.exc_info()[:2]
        if not issubclass(kind, OSError):
            super().handle_error(request, client_address)
        elif not self.quiet:
            print(f"connection: {error}", file=sys.stderr)

    def note(self, request, port):
        """What tests look at; the client's port tells its connections apart. No body: a payment's has a card number."""
        entry = {"method": request.method, "target": request.target, "headers": request.headers, "port": port}
        with self.log_lock:
            self.log.append(entry)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "tendon-obvious-cloud"
    sys_version = ""
    timeout = 60
    # The body follows the head in a segment of its own: it would wait 40 ms for the client's acknowledgement.
    disable_nagle_algorithm = True

    def log_message(self, format, *values):
        if not self.server.quiet:
            super().log_message(format, *values)

    def do_GET(self):
        self.serve()

    def do_POST(self):
        self.serve()

    def read_request(self):
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > MAX_REQUEST:
            self.close_connection = True
            return None
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Request(self.command, self.path, headers, self.rfile.read(int(length)), self.server.origin)

    def serve(self):
        request = self.read_request()
        if request is None:
            return self.send(refuse(413, "TOO_LARGE", "the body is too large"))
        if request.path.startswith("/admin/"):
            return self.send(self.admin(request))
        self.server.note(request, self.client_address[1])
        if request.path.startswith("/action/"):
            return self.send(self.action(request))
        fault = self.server.faults.take(request.method, request.path)
        if fault is None:
            return self.send(self.true_answer(request))
        return getattr(self, "fault_" + fault["do"])(request, fault)

    def true_answer(self, request):
        return self.server.api.answer(request) or refuse(404, "UNKNOWN_PATH", "there is no such call")

    def head(self, answer, length):
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status != 204:
            self.send_header("Content-Length", str(length))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def send(self, answer):
        self.head(answer, len(answer.body))
        self.wfile.write(answer.body)

    # ---- the page that a payment's actionUrl names ----

    def action(self, request):
        approval = "denied" if request.query.get("deny") else "approved"
        if not self.server.api.approve(request.path.removeprefix("/action/"), approval):
            return refuse(404, "UNKNOWN_PATH", "there is no such page")
        return Answer(200, f"The payment is {approval}.\n".encode(), {"Content-Type": "text/plain"})

    # ---- admin ----

    def admin(self, request):
        if not ipaddress.ip_address(self.client_address[0]).is_loopback:
            return refuse(403, "LOOPBACK_ONLY", "only for clients on this machine")
        try:
            body = json.loads(request.body) if request.body else {}
            return getattr(self, "admin_" + request.path.removeprefix("/admin/"), self.admin_unknown)(body)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return refuse(400, "BAD_REQUEST", f"{type(error).__name__}: {error}")

    def admin_unknown(self, _):
        return refuse(404, "UNKNOWN_PATH", "admin paths: faults, clear, log, charges, unlock, product")

    def admin_faults(self, body):
        self.server.faults.add(body)
        return Answer(204)

    def admin_clear(self, _):
        self.server.faults.clear()
        with self.server.log_lock:
            self.server.log.clear()
        return Answer(204)

    def admin_log(self, _):
        with self.server.log_lock:
            return reply(200, {"requests": list(self.server.log)})

    def admin_charges(self, _):
        """Each time that a card was charged, whoever wanted it."""
        store = self.server.api.store
        with store.lock:
            return reply(200, {"charges": [dict(row) for row in store.all("SELECT cart, key, cents FROM charge")]})

    def admin_unlock(self, body):
        store = self.server.api.store
        with store.lock:
            store.unlock(body["serial"], body["product"], body["features"])
        return Answer(204)

    def admin_product(self, body):
        store = self.server.api.store
        with store.lock:
            store.db.execute("UPDATE product SET in_field = ? WHERE id = ?", (int(body["inField"]), body["id"]))
        return Answer(204)

    # ---- faults ----

    def fault_status(self, request, fault):
        if fault.get("done", False):
            self.true_answer(request)
        body = fault.get("body", "")
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send(Answer(fault["status"], data, {"Content-Type": "application/json", **fault.get("headers", {})}))

    def fault_huge(self, _, fault):
        total, block = int(fault["bytes"]), b"a" * 65536
        left = total - len(b'{"features":""}')
        self.close_connection = True
        self.head(Answer(200, b"", {"Content-Type": "application/json"}), total)
        self.wfile.write(b'{"features":"')
        while left > 0:
            self.wfile.write(block[:left])
            left -= len(block)
        self.wfile.write(b'"}')

    def fault_deep(self, _, fault):
        depth = int(fault["depth"])
        self.send(Answer(200, b"[" * depth + b"]" * depth, {"Content-Type": "application/json"}))

    def fault_redirect(self, _, fault):
        self.send(Answer(302, b"", {"Location": fault["location"]}))

    def fault_drip(self, request, fault):
        answer = self.true_answer(request)
        self.close_connection = True
        self.head(answer, len(answer.body))
        step = int(fault.get("bytes", 1))
        for start in range(0, len(answer.body), step):
            if self.server.ending.wait(float(fault.get("pause", 1))):
                return
            self.wfile.write(answer.body[start:start + step])

    def fault_cut(self, request, fault):
        answer = self.true_answer(request)
        self.close_connection = True
        self.head(answer, len(answer.body))
        self.wfile.write(answer.body[:int(fault["after"])])

    def fault_length(self, request, fault):
        answer = self.true_answer(request)
        self.close_connection = True
        self.head(answer, len(answer.body) + int(fault["add"]))
        self.wfile.write(answer.body)

    def fault_silent(self, request, fault):
        """Until the client ends the connection."""
        self.close_connection = True
        self.connection.settimeout(0.2)
        while not self.server.ending.is_set():
            try:
                if not self.connection.recv(1):
                    return
            except socket.timeout:
                time.sleep(0.01)

    def fault_close(self, request, fault):
        if fault.get("done", True):
            self.true_answer(request)
        self.close_connection = True

// SPDX-License-Identifier: MIT
// libmicrohttpd: requests in, responses out. All functions marked "MHD" are called on its thread.
import CSystemMicrohttpd
import CTendon
import TendonOutputs
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// What a request has come to.
private final class Request: @unchecked Sendable {
    let outcome: Result<Guard.Route, Refusal>
    var body: [UInt8] = []
    /// Guarded by the server's lock.
    var answer: (status: UInt32, body: JSON)?
    /// Its answer is that the gateway ends. As `answer`.
    var isLast = false

    init(_ outcome: Result<Guard.Route, Refusal>) { self.outcome = outcome }
}

/// A browser's stream: what libmicrohttpd holds of it. With it, the browser leaves.
private final class Stream {
    let hub: Hub
    let client: Client

    init(_ hub: Hub, _ client: Client) { (self.hub, self.client) = (hub, client) }

    deinit { hub.leave(client) }
}

final class Server: @unchecked Sendable {
    private let admission: Guard
    private let handler: any CommandHandler
    private let metrics: (@Sendable () -> (type: String, text: [UInt8]))?
    private let hub: Hub
    private var daemon: OpaquePointer?

    // Guarded by `lock`.
    private let lock = ThreadLock()
    /// When connections end that have not got their response, by socket.
    private var deadlines: [Int32: UInt64] = [:]
    private var waiting: [(request: Request, connection: OpaquePointer)] = []
    private var isOver = false
    private var refusedRequests: UInt64 = 0
    /// Requests to which the gateway's end is answered.
    private var lastAnswers = 0

    private static let end: (status: UInt32, body: JSON) = (503, ["status": "error", "error": "the gateway ends"])

    /// Connections of all browsers together; each response but the live data ends its connection.
    private static let connectionLimit: UInt32 = 40
    /// Milliseconds from the begin of a connection to the end of its response, however slowly the request comes.
    private static let patience: UInt64 = 8000
    /// Milliseconds for which the end waits for browsers to take their answers.
    private static let lastPatience: UInt64 = 500
    /// Seconds after which a connection ends whose browser takes nothing.
    private static let idleLimit: UInt32 = 10
    /// Bytes of memory of one connection: longer headers are refused.
    private static let memory = 16384

    init(
        _ admission: Guard, _ hub: Hub, _ handler: any CommandHandler,
        metrics: (@Sendable () -> (type: String, text: [UInt8]))?
    ) {
        (self.admission, self.hub, self.handler, self.metrics) = (admission, hub, handler, metrics)
    }

    func start(_ settings: WebSettings) throws(WebError) {
        func failed() -> WebError {
            let number = errno
            return WebError(
                "\(settings.address) port \(settings.port): \(String(cString: strerror(number)))",
                isPortInUse: number == EADDRINUSE)
        }
        let descriptor = tendon_http_listen(settings.address, settings.port)
        guard descriptor >= 0 else { throw failed() }
        // Lives until the daemon has stopped: `stop` releases it.
        let context = Unmanaged.passRetained(self).toOpaque()
        daemon = tendon_http_start(
            descriptor, Server.connectionLimit, settings.isLoopback ? 0 : Server.connectionLimit / 2, Server.idleLimit,
            Server.memory,
            { context, connection, path, method, _, upload, size, request in
                Server.of(context).access(connection!, path!, method!, upload, size!, request!)
            },
            { context, _, request, _ in
                guard let pointer = request?.pointee else { return }
                request?.pointee = nil
                Server.of(context).completed(Unmanaged<Request>.fromOpaque(pointer).takeRetainedValue())
            },
            { context, connection, _, code in Server.of(context).changed(connection!, code) }, context)
        guard daemon != nil else {
            let error = failed()
            systemClose(descriptor)
            Unmanaged<Server>.fromOpaque(context).release()
            throw error
        }
    }

    /// After the hub's end.
    func stop() {
        lock.locked {
            isOver = true
            for (request, connection) in waiting {
                request.answer = Server.end
                request.isLast = true
                MHD_resume_connection(connection)
            }
            lastAnswers += waiting.count
            waiting = []
            // libmicrohttpd drops with its end what was not sent.
            let end = tendon_monotonic_ms() + Server.lastPatience
            while lastAnswers > 0, lock.wait(until: end) {}
        }
        MHD_stop_daemon(daemon)
        Unmanaged.passUnretained(self).release()
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Server {
        Unmanaged<Server>.fromOpaque(context!).takeUnretainedValue()
    }

    var refused: UInt64 { lock.locked { refusedRequests } }

    // MARK: Time

    /// MHD: a connection begins or ends. Its socket is still open at the end.
    private func changed(_ connection: OpaquePointer, _ code: MHD_ConnectionNotificationCode) {
        let descriptor = tendon_http_socket(connection)
        let isStart = tendon_http_is_start(code) != 0
        lock.locked { deadlines[descriptor] = isStart ? tendon_monotonic_ms() + Server.patience : nil }
        if isStart { hub.mailbox.post(.joined) }
    }

    /// Ends connections that are too slow; returns when to look again. On the hub's thread.
    func expire(_ now: UInt64) -> UInt64 {
        lock.locked {
            for (descriptor, deadline) in deadlines where deadline <= now {
                // libmicrohttpd closes the socket when it reads the end.
                shutdown(descriptor, Int32(SHUT_RDWR))
                deadlines[descriptor] = nil
            }
            return deadlines.values.min() ?? .max
        }
    }

    // MARK: Requests

    /// MHD: first with the headers, then with each part of the body, then with no part.
    private func access(
        _ connection: OpaquePointer, _ path: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>,
        _ upload: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>,
        _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> MHD_Result {
        guard let pointer = context.pointee else {
            let outcome: Result<Guard.Route, Refusal>
            do throws(Refusal) {
                outcome = .success(try admission.route(head(connection, path, method)))
            } catch {
                outcome = .failure(error)
            }
            let request = Request(outcome)
            context.pointee = Unmanaged.passRetained(request).toOpaque()
            if case .failure(let refusal) = outcome { return refuse(connection, refusal) }
            return TENDON_HTTP_YES
        }
        let request = Unmanaged<Request>.fromOpaque(pointer).takeUnretainedValue()
        guard case .success(let route) = request.outcome else { return TENDON_HTTP_NO }
        if size.pointee > 0 {
            guard request.body.count + size.pointee <= Guard.bodyLimit, let upload else { return TENDON_HTTP_NO }
            upload.withMemoryRebound(to: UInt8.self, capacity: size.pointee) {
                request.body += UnsafeBufferPointer(start: $0, count: size.pointee)
            }
            size.pointee = 0
            return TENDON_HTTP_YES
        }
        switch route {
        case .file(let file): return respond(connection, 200, file.type, file.bytes)
        case .metrics:
            guard let metrics = metrics?() else { return refuse(connection, .path) }
            return respond(connection, 200, metrics.type, metrics.text)
        case .events: return stream(connection)
        case .set: return set(connection, request)
        }
    }

    private func head(
        _ connection: OpaquePointer, _ path: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>
    ) -> RequestHead {
        func value(_ name: String) -> String? {
            tendon_http_header(connection, name).map { String(cString: $0) }
        }
        return RequestHead(
            method: String(cString: method), path: String(cString: path), host: value("Host"),
            origin: value("Origin"), site: value("Sec-Fetch-Site"), mode: value("Sec-Fetch-Mode"),
            authorization: value("Authorization"), contentType: value("Content-Type"),
            contentLength: value("Content-Length"))
    }

    /// MHD: a request is over.
    private func completed(_ request: Request) {
        lock.locked {
            waiting.removeAll { $0.request === request }
            if request.isLast {
                lastAnswers -= 1
                lock.wakeAll()
            }
        }
    }

    // MARK: Commands

    private func set(_ connection: OpaquePointer, _ request: Request) -> MHD_Result {
        let answer = lock.locked { request.answer }
        if let answer { return respond(connection, answer.status, answer.body) }
        guard let body = try? JSON(parsing: request.body), let key = body["device"]?.string,
            let actions = body["actions"], case .object = actions, body.all.count == 2
        else { return refuse(connection, .body) }
        guard let device = hub.device(key) else {
            return respond(
                connection, 404,
                ["status": "error", "error": "no such device, or two; ADDRESS/TYPE is one, as key in /events"])
        }
        let isTaken = lock.locked {
            guard !isOver else {
                request.isLast = true
                lastAnswers += 1
                return false
            }
            waiting.append((request, connection))
            MHD_suspend_connection(connection)
            return true
        }
        guard isTaken else { return respond(connection, Server.end.status, Server.end.body) }
        handler.start { [handler] in self.answer(request, await handler.set(actions, of: device)) }
        return TENDON_HTTP_YES
    }

    private func answer(_ request: Request, _ result: CommandResult) {
        lock.locked {
            guard let index = waiting.firstIndex(where: { $0.request === request }) else { return }
            switch result {
            case .done(let data): request.answer = (200, ["status": "ok", "data": data])
            case .failed(let text): request.answer = (409, ["status": "error", "error": .string(text)])
            }
            MHD_resume_connection(waiting.remove(at: index).connection)
        }
    }

    // MARK: Responses

    private static let fields: [(String, String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ), ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"), ("Connection", "close"),
    ]

    private func queue(
        _ connection: OpaquePointer, _ status: UInt32, _ type: String, _ response: OpaquePointer?
    ) -> MHD_Result {
        guard let response else { return TENDON_HTTP_NO }
        for (name, value) in Server.fields { MHD_add_response_header(response, name, value) }
        MHD_add_response_header(response, "Content-Type", type)
        if status == 401 { MHD_add_response_header(response, "WWW-Authenticate", "Bearer") }
        if status == 405 { MHD_add_response_header(response, "Allow", "GET, HEAD, POST") }
        let result = MHD_queue_response(connection, status, response)
        MHD_destroy_response(response)
        return result
    }

    private func respond(
        _ connection: OpaquePointer, _ status: UInt32, _ type: String, _ body: [UInt8]
    ) -> MHD_Result {
        queue(connection, status, type, body.withUnsafeBytes { tendon_http_response($0.baseAddress, $0.count) })
    }

    private func respond(_ connection: OpaquePointer, _ status: UInt32, _ body: JSON) -> MHD_Result {
        respond(connection, status, "application/json", Array(LineWriter.text(body).utf8))
    }

    private func refuse(_ connection: OpaquePointer, _ refusal: Refusal) -> MHD_Result {
        lock.locked { refusedRequests += 1 }
        return respond(connection, refusal.status, ["status": "error", "error": .string(refusal.text)])
    }

    private func stream(_ connection: OpaquePointer) -> MHD_Result {
        guard let client = hub.join(connection) else { return refuse(connection, .busy) }
        lock.locked { deadlines[tendon_http_socket(connection)] = nil }
        let stream = Unmanaged.passRetained(Stream(hub, client)).toOpaque()
        let response = MHD_create_response_from_callback(
            TENDON_HTTP_SIZE_UNKNOWN, 8192,
            { context, _, buffer, room in
                let stream = Unmanaged<Stream>.fromOpaque(context!).takeUnretainedValue()
                return stream.hub.read(stream.client, buffer!, room)
            }, stream,
            { context in Unmanaged<Stream>.fromOpaque(context!).release() })
        guard response != nil else {
            Unmanaged<Stream>.fromOpaque(stream).release()
            return TENDON_HTTP_NO
        }
        return queue(connection, 200, "text/event-stream", response)
    }
}

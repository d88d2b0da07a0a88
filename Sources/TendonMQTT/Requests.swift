// SPDX-License-Identifier: MIT
// What comes from the broker: commands for devices and requests to the gateway. All of it is checked here or by the
// command's handler; nothing in it names a program, a file or a rule.
import TendonOutputs
import TendonSupport

extension Worker {
    /// Commands from outside that are carried out at the same time.
    private static var pendingLimit: Int { 32 }

    func received(_ topic: String, _ payload: [UInt8], isRetained: Bool, _ now: UInt64) {
        if takeClaim(topic, payload, now) { return }
        // A retained command was sent to whatever ran then, and would be carried out with every connection.
        guard !isRetained else { return }
        if HomeAssistant.births(settings.discovery).contains(topic) {
            // Home Assistant was restarted.
            if payload == Array("online".utf8) { for device in devices.values { publishDiscovery(device, now) } }
            return
        }
        switch topics.incoming(topic) {
        case .set(let name):
            // Another gateway may serve the device: silence.
            guard let device = named(name) else { return }
            set(device, payload)
        case .get(let name):
            guard let device = named(name) else { return }
            publishState(device.key, now)
        case .request(let name): request(name, payload, now)
        case nil: break
        }
    }

    /// By its name in the topics, or by its address, in capital or small letters.
    /// - Parameter type: of the address; nil: any.
    func named(_ name: String, type: String? = nil) -> Device? {
        let all = devices.values.filter { type == nil || $0.device.addressType == type }
        let address = name.uppercased()
        return all.first { $0.name == name } ?? all.first { $0.name == address }
            ?? all.first { $0.device.address == address }
    }

    /// The members of a command, or what is wrong with it: also that a number is larger than any.
    private func parsed(_ payload: [UInt8]) -> (members: JSON, mistake: String?) {
        if payload.allSatisfy({ $0 == 0x20 || $0 == 0x0A }) { return ([:], nil) }
        do throws(JSON.ParseError) {
            let json = try JSON(parsing: payload)
            guard case .object = json else { return ([:], "the payload is no JSON object") }
            return (json, nil)
        } catch {
            return ([:], "the payload is no JSON object: \(error.text)")
        }
    }

    private func set(_ device: Device, _ payload: [UInt8]) {
        let (members, mistake) = parsed(payload)
        var actions = members
        if let mistake { return respond("set", nil, .failed(mistake), ["device": .string(device.name)]) }
        let transaction = actions["transaction"]
        actions["transaction"] = nil
        let (target, wanted) = (device.device, actions)
        start(Answer(receiver: .set(device.name), transaction: transaction)) { handler in
            await handler.set(wanted, of: target)
        }
    }

    private func request(_ name: String, _ payload: [UInt8], _ now: UInt64) {
        let (members, mistake) = parsed(payload)
        var data = members
        if let mistake { return respond(name, nil, .failed(mistake)) }
        let transaction = data["transaction"]
        data["transaction"] = nil
        switch name {
        case "health":
            if let other = data.all.first {
                return respond(name, transaction, .failed("health takes no members, so not '\(sanitized(other.key))'"))
            }
            respond(name, transaction, .done(health.merging(["healthy": .bool(!delivery.isFailing)])))
        case "rename": respond(name, transaction, rename(data, now))
        default:
            if let text = data["device"]?.string, let device = named(text, type: data["address_type"]?.string) {
                data["address"] = .string(device.device.address)
                data["address_type"] = .string(device.device.addressType)
            }
            let request = data
            start(Answer(receiver: .request(name), transaction: transaction)) {
                await $0.request(name, request)
            }
        }
    }

    /// Runs a command; its result comes back through the mailbox.
    private func start(_ answer: Answer, _ body: @escaping @Sendable (any CommandHandler) async -> CommandResult) {
        guard pending < Worker.pendingLimit else {
            return respond(to: answer, .failed("too many commands are carried out"))
        }
        lastStarted += 1
        answers[lastStarted] = answer
        let (handler, mailbox, number) = (handler, mailbox, lastStarted)
        handler.start { mailbox.post(.answered(number, await body(handler))) }
    }

    var pending: Int { answers.count }

    func answered(_ number: Int, _ result: CommandResult) {
        guard let answer = answers.removeValue(forKey: number) else { return }
        respond(to: answer, result)
    }

    private func respond(to answer: Answer, _ result: CommandResult) {
        switch answer.receiver {
        case .set(let name):
            // What was carried out is an event of the device.
            if case .done = result, answer.transaction == nil { return }
            respond("set", answer.transaction, result, ["device": .string(name)])
        case .request(let name): respond(name, answer.transaction, result)
        }
    }

    private func respond(_ name: String, _ transaction: JSON?, _ result: CommandResult, _ more: JSON = [:]) {
        var response: JSON
        switch result {
        case .done(let data): response = ["status": "ok", "data": data == .null ? [:] : data]
        case .failed(let text): response = ["status": "error", "error": .string(text)]
        }
        response = response.merging(more)
        if let transaction { response["transaction"] = transaction }
        send(topics.response(name), response, isRetained: false)
    }

    /// `{"from": NAME, "to": NAME}`.
    private func rename(_ data: JSON, _ now: UInt64) -> CommandResult {
        guard let from = data["from"]?.string, let to = data["to"]?.string else {
            return .failed(#"rename takes {"from": NAME, "to": NAME}"#)
        }
        if let other = data.all.first(where: { !["from", "to"].contains($0.key) }) {
            return .failed("rename takes from and to, so not '\(sanitized(other.key))'")
        }
        guard let device = named(from) else { return .failed("no device '\(sanitized(from))'") }
        guard !device.device.isNamed else { return .failed("the configuration of the gateway names this device") }
        if !Device.standardNames(device.device).contains(to) {
            if let refusal = handler.refusal(ofName: to) { return .failed(refusal) }
            guard Topics.isName(to) else {
                return .failed(
                    "'\(sanitized(to))' cannot be a level of a topic (64 bytes at most, without / + # and control characters), or is reserved"
                )
            }
        }
        if let other = named(to), other.key != device.key { return .failed("'\(sanitized(to))' is taken") }
        if to != device.name {
            rename(device.key, to: to, now)
            giveNames(now)
        }
        return .done(["from": .string(from), "to": .string(to)])
    }
}

// SPDX-License-Identifier: MIT
// activ5 force, imu, tare, battery, watch: one trainer, by hand.
import CTendon
import Tendon
import TendonActiv5
import TendonSupport

private let activ5Options =
    DeviceAccess.options + [
        Option(name: "--rate", value: "HZ", help: "samples per second; default: the setting of the device"),
        Option(name: "--count", value: "N", help: "end after N samples"),
    ]

extension Command {
    static let activ5Force = Command(
        "activ5 force",
        summary: "print the force on an Activ5 trainer, in newtons",
        details: [
            "Ends on Ctrl-C, or after --for or --count. Uses the first trainer in range, or the one given by --address."
        ],
        options: activ5Options,
        examples: [
            ("tendon activ5 force", "print each value on a line"),
            ("tendon activ5 force --count 100 --json", "print a hundred values as JSON lines"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        try await Activ5Access(arguments, "activ5 force", measures: "force").print { $0.device.force(capacity: 4096) }
    }

    static let activ5IMU = Command(
        "activ5 imu",
        summary: "print acceleration and rotation of an Activ5 trainer",
        details: ["In g and rad/s. Trainers of the older generation have no motion sensor: status 1."],
        options: activ5Options,
        examples: [
            ("tendon activ5 imu", "print each sample on a line"),
            ("tendon activ5 imu --rate 50 --for 10 --json", "print ten seconds of samples as JSON lines"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        try await Activ5Access(arguments, "activ5 imu", measures: "imu").print { $0.device.motion(capacity: 4096) }
    }

    static let activ5Tare = Command(
        "activ5 tare",
        summary: "set the current force of an Activ5 trainer to zero; do not press it",
        options: DeviceAccess.options,
        common: Command.once,
        examples: [("tendon activ5 tare", "use the first trainer in range")]
    ) { (arguments: Arguments) throws(CommandError) in
        try await Activ5Access(arguments, "activ5 tare", measures: "none").withDevice { (open) throws(CommandError) in
            try await open.ask { $0.tare() }
            open.events.result("done", open.label, ["command": "activ5 tare"], text: "")
        }
        return .done
    }

    static let activ5Battery = Command(
        "activ5 battery",
        summary: "print the battery level of an Activ5 trainer, in percent",
        details: ["Trainers of the older generation do not report it: status 1."],
        options: DeviceAccess.options,
        common: Command.once,
        examples: [("tendon activ5 battery", "use the first trainer in range")]
    ) { (arguments: Arguments) throws(CommandError) in
        try await Activ5Access(arguments, "activ5 battery", measures: "none").withDevice {
            (open) throws(CommandError) in
            let percent = try await open.battery()
            open.events.result(
                "battery", open.label, ["battery_percent": JSON(percent)], text: "\(percent) %\n")
        }
        return .done
    }

    static let activ5Watch = Command(
        "activ5 watch",
        summary: "draw the force curve of an Activ5 trainer, with its squeezes",
        details: [
            "On a terminal the curve moves from right to left; squeezes and double squeezes are marked below it. In a pipe "
                + "JSON lines of both. Ends on Ctrl-C, or after --for or --count."
        ],
        options: activ5Options,
        examples: [
            ("tendon activ5 watch", "the curve"),
            ("tendon activ5 watch --json | grep squeeze", "print squeezes as JSON lines"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        let access = try Activ5Access(arguments, "activ5 watch", measures: "force")
        try await access.withDevice { (open) throws(CommandError) in
            try await access.untilTheEnd { () throws(CommandError) in try await Activ5Watch(open, access).run() }
        }
        return .done
    }
}

/// Finds one trainer, opens it, does something, closes it.
struct Activ5Access: Sendable {
    let events: Events
    let count: Int
    let duration: UInt64?
    let stream: Activ5Stream
    private let access: DeviceAccess

    init(_ arguments: Arguments, _ command: String, measures: String) throws(CommandError) {
        guard arguments.operands.isEmpty else { throw .usage("\(command) takes no operands") }
        access = try DeviceAccess(arguments, family: "activ5")
        stream = try Activ5Stream(arguments, measures: measures)
        count = try arguments.integer("--count", in: 1...Int.max) ?? .max
        duration = try arguments.duration()
        events = Events(json: arguments.has("--json"))
        Output.standard.lines?.isCompact = !arguments.has("--exact")
    }

    /// An open trainer.
    struct Open: Sendable {
        let device: A5Device
        let label: DeviceLabel
        let events: Events

        /// Sends one request, and waits until the device has carried it out.
        @TendonActor
        func ask(_ body: @TendonActor (A5Device) -> A5Result) async throws(CommandError) {
            do throws(A5Error) {
                try await device.confirmed(body)
            } catch {
                throw CommandError(error)
            }
        }

        @TendonActor
        func battery() async throws(CommandError) -> Int {
            do throws(A5Error) {
                return try await device.batteryLevel()
            } catch {
                throw error == .notReady
                    ? CommandError(.failed, "this trainer does not report its battery level") : CommandError(error)
            }
        }
    }

    func withDevice(_ body: @escaping @Sendable (Open) async throws(CommandError) -> Void) async throws(CommandError) {
        try await access.withDevice { (central, found) async throws(CommandError) in
            let device = await A5Device(found.address, name: found.name ?? "", on: central)
            try await access.inTime { () throws(CommandError) in
                do throws(A5Error) {
                    try await device.openAndWait()
                } catch {
                    throw CommandError(error)
                }
            }
            do throws(CommandError) {
                try await body(Open(device: device, label: found.label, events: events))
            } catch {
                await device.closeAndWait()
                throw error
            }
            await device.closeAndWait()
        }
    }

    /// Runs for --for, or until Ctrl-C.
    func untilTheEnd(_ body: @escaping @Sendable () async throws(CommandError) -> Void) async throws(CommandError) {
        try await Termination.task(for: duration, body)
    }

    /// Starts the streams; an error of the device ends the command.
    @TendonActor
    func start(_ open: Open) throws(CommandError) {
        let lacking: [String]
        do throws(A5Error) {
            lacking = try stream.start(open.device)
        } catch {
            throw CommandError(error)
        }
        guard lacking.isEmpty else {
            throw CommandError(.failed, "this trainer lacks \(lacking.joined(separator: ", "))")
        }
    }

    /// One line for each sample.
    func print<Element: Activ5Line>(
        _ values: @escaping @Sendable @TendonActor (Open) -> EventStream<Element>
    ) async throws(CommandError) -> ExitStatus {
        try await withDevice { (open) throws(CommandError) in
            let values = await values(open)
            try await start(open)
            try await untilTheEnd { () throws(CommandError) in
                var iterator = values.makeAsyncIterator()
                // Not on the loop: a line may wait for its reader, and the samples in their sequence.
                let lines = Events(style: events.style, waits: true)
                var taken = 0
                while taken < count, let value = await iterator.next() {
                    taken += 1
                    if events.style == .json {
                        lines.event("sample", open.label) { value.write(to: &$0) }
                    } else {
                        Output.standard.line(value.text)
                    }
                    if Output.standard.lines?.error != nil { return }
                }
                if taken < count, !Task.isCancelled { throw CommandError(.failed, Ending.lost.text) }
            }
        }
        return .done
    }
}

extension CommandError {
    init(_ error: A5Error) {
        switch error {
        case .host(let error): self.init(error)
        default: self.init(.failed, describe(error))
        }
    }
}

extension Activ5Stream {
    /// Starts the requested streams; returns the unsupported ones.
    @TendonActor
    func start(_ device: A5Device) throws(A5Error) -> [String] {
        var lacking: [String] = []
        if let rate, case .failure(let error) = device.setSampleRate(sampleRate: rate) {
            guard error == .unsupported else { throw error }
            lacking.append("sample_rate")
        }
        if force { try device.startIsometric().get() }
        if motion {
            do throws(A5Error) {
                try device.startIMU()
            } catch {
                guard error == .imuUnsupported else { throw error }
                lacking.append("imu")
            }
        }
        device.evergreenMode = keepsAwake
        return lacking
    }
}

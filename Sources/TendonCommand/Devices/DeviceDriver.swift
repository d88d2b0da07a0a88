// SPDX-License-Identifier: MIT
// Serves one device for `run` and `stream`, of any family: what the C gateway reports of it goes to the outputs and to its
// row of the table.
import CTendon
import Tendon
import TendonOutputs
import TendonSupport

/// How a family's devices are served.
protocol DeviceSource: ServerSource {
    var choice: DeviceChoice { get }
    @TendonActor func view(of device: ServedDevice) -> DeviceView
}

extension DeviceSource {
    @TendonActor
    func server(of device: ServedDevice) -> any DeviceServer {
        DeviceDriver(device.settings.pairingChoice.asksUser ? choice.patient() : choice, view(of: device), device)
    }
}

/// What a rule has a device do.
protocol DeviceCall: RuleCall {
    /// Of this moment.
    func act() throws(CommandError) -> tendon_act
}

@TendonActor
final class DeviceDriver: DeviceServer {
    let served: ServedDevice
    private let view: DeviceView
    private let lifetime: Lifetime<DeviceCore>
    private var line = DeviceLine()
    /// What comes before the line that reports the connection follows it.
    private var held: [Report] = []
    private var isStreaming = false

    /// A line, with what goes with it.
    private struct Report {
        var line: DeviceLine
        var numbers: OutputSample?
        var change: RowChange
    }

    init(_ choice: DeviceChoice, _ view: DeviceView, _ served: ServedDevice) {
        self.served = served
        self.view = view
        lifetime = Lifetime(DeviceCore(served.central.core, served.address, choice))
        // The session may outlive it: its connection ends later.
        core.onEvent = { [weak self] event in TendonActor.assumeIsolated { self?.take(event) } }
    }

    private var core: DeviceCore { lifetime.core }

    // MARK: A turn

    func open() async throws(ServingError) {
        (held, isStreaming) = ([], false)
        do throws(TendonError) {
            try await core.open()
        } catch {
            guard !error.isCancelled, !Task.isCancelled, let end = core.end else { throw .cancelled }
            throw .failed(end.status.flatMap(view.words) ?? end.what, canRetry: end.mayRetry)
        }
    }

    var identity: JSON { core.identity }

    func stream() async -> Ending {
        begin()
        try? await core.ended()
        let isRequested = Task.isCancelled
        await core.close()
        isStreaming = false
        count()
        guard !isRequested, let end = core.end else { return .requested }
        return Ending(end, served.central.core.peerFailure(of: served.address), words: end.status.flatMap(view.words))
    }

    private func begin() {
        let identity = identity
        var change = RowChange()
        if let percent = identity["battery_percent"]?.number { change.show(battery: percent) }
        core.with { view.begin($0, identity, &change) }
        served.update { change.apply(to: &$0) }
        isStreaming = true
        let early = held
        held = []
        for report in early { deliver(report) }
    }

    func perform(_ call: any RuleCall) async throws(CommandError) {
        guard let call = call as? any DeviceCall else { return }
        let act = try call.act()
        do throws(TendonError) {
            try await core.perform(act)
        } catch {
            var failure = CommandError(.failed, error.text)
            failure.members = error.members
            throw failure
        }
    }

    // MARK: Events

    private func take(_ event: DeviceEvent) {
        var index = 0
        while line.take(event, index) {
            take(event, index)
            index += 1
        }
        if index > 0 { served.stopAtLimit() }
    }

    /// The line that was taken.
    private func take(_ event: DeviceEvent, _ index: Int) {
        var change = RowChange()
        if !line.isSample {
            showCommon(&change)
            view.show(line, event, &change)
        } else {
            if view.hasBatteryInSamples { showBattery(&change) }
            if served.reporter.isTable { view.show(sample: event, line, &change) }
        }
        view.keep(change)
        if !isStreaming, core.isOpen {
            held.append(Report(line: line.kept(), numbers: numbers(event, index), change: change))
        } else if line.isSample {
            sample(line.name, numbers: numbers(event, index), change)
        } else {
            served.reporter.events.numbers(served.label) { numbers(event, index) }
            self.event(line.name, change)
        }
    }

    private func numbers(_ event: DeviceEvent, _ index: Int) -> OutputSample? {
        line.isSample || view.hasNumbersOfStates ? view.numbers(event, index) : nil
    }

    private func deliver(_ report: Report) {
        line = report.line
        if line.isSample { return sample(line.name, numbers: report.numbers, report.change) }
        served.reporter.events.numbers(served.label) { report.numbers }
        event(line.name, report.change)
    }

    private func sample(_ name: EventName, numbers: @autoclosure () -> OutputSample?, _ change: RowChange) {
        let counters = core.counters
        served.sample(name, numbers: numbers()) {
            line.write(to: &$0)
        } row: { row in
            row.counters.take(counters)
            change.apply(to: &row)
        }
    }

    private func event(_ name: EventName, _ change: RowChange) {
        served.event(name) { line.write(to: &$0) }
        let counters = core.counters
        served.update { row in
            row.counters.take(counters)
            change.apply(to: &row)
        }
    }

    private func count() {
        let counters = core.counters
        served.update { $0.counters.take(counters) }
    }

    private func showBattery(_ change: inout RowChange) {
        if let percent = line["battery_percent"] { change.show(battery: percent.number) }
    }

    /// Of lines that all families have.
    private func showCommon(_ change: inout RowChange) {
        showBattery(&change)
        if line.name.isEqual(to: "missing"), case .array(let what) = line["what"] {
            change.note = "lacks " + what.compactMap(\.string).joined(separator: ", ")
        } else if line.name.isEqual(to: "configuration_failed") || line.name.isEqual(to: "refused") {
            change.note = line["text"]?.string
        }
    }
}

extension StreamCounters {
    /// Those of the device; samples that standard output did not take were counted here.
    fileprivate mutating func take(_ device: StreamCounters) {
        (notifications, samples) = (device.notifications, device.samples)
        (malformed, skipped) = (device.malformed, device.skipped)
        delivered = samples - min(samples, dropped)
    }
}

extension Ending {
    /// - Parameters:
    ///   - failure: what the radio reported of the device; else the reason of the connection, else the session's.
    ///   - words: of the family, if there is no such cause.
    fileprivate init(_ end: DeviceEnd, _ failure: TendonError?, words: String?) {
        let own = [end.reason, end.status].compactMap(\.self).first {
            !$0.isCancelled && $0.status != Int32(TENDON_ERROR_DISCONNECTED)
        }
        guard let cause = failure ?? own else {
            self.init(TENDON_ENDING_CONNECTION_LOST, text: words)
            return
        }
        self.init(tendon_ending_of(cause.status))
        text += ": " + cause.cause
        self.cause = cause
    }
}

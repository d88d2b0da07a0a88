// SPDX-License-Identifier: MIT
import Synchronization
import Tendon

/// The log that `BoseWearable.enableCommonLogging()` enables.
final class Log: Sendable {
    static let shared = Log()
    private let isOn = Atomic<Bool>(false)

    func enable() { isOn.store(true, ordering: .relaxed) }

    func write(_ line: @autoclosure () -> String) {
        guard isOn.load(ordering: .relaxed) else { return }
        say("tendon: bose: \(line())")
    }
}

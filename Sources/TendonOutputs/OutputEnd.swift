// SPDX-License-Identifier: MIT
// The end of an output that has a thread of its own.
import TendonSupport

/// Where `finish` waits for the thread.
package final class OutputEnd: @unchecked Sendable {
    // Guarded by `lock`.
    private let lock = ThreadLock()
    private var isReached = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init() {}

    package func reach() {
        let ready = lock.locked {
            isReached = true
            defer { waiting = [] }
            return waiting
        }
        for continuation in ready { continuation.resume() }
    }

    package func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = lock.locked {
                if !isReached { waiting.append(continuation) }
                return isReached
            }
            if isOver { continuation.resume() }
        }
    }
}

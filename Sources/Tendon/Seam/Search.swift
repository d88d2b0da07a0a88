// SPDX-License-Identifier: MIT
import CTendon

/// A report of the C core, valid for the call.
package typealias CReport = UnsafePointer<tendon_ad_report>

/// A scan whose reports are passed to a session directly, without a copy, a queue or a task. For the loop's thread.
package final class Search {
    private let holder: RadioHolder
    private let options: ScanOptions
    private let report: (CReport, UInt64) -> Void
    private let failed: (TendonError) -> Void
    private var scanner: RadioCore.Scanner?

    /// - Parameters:
    ///   - report: called for each advertisement and scan response; it may stop or start searches.
    ///   - failed: the search ended because the radio failed. Not called after `stop()`.
    package init(
        _ holder: RadioHolder, options: ScanOptions = ScanOptions(), report: @escaping (CReport, UInt64) -> Void,
        failed: @escaping (TendonError) -> Void
    ) {
        self.holder = holder
        self.options = options
        self.report = report
        self.failed = failed
    }

    package var isRunning: Bool { scanner != nil }

    /// Opens the radio if it is not open. Does nothing if the search is running.
    package func start() throws(TendonError) {
        guard scanner == nil else { return }
        scanner = try holder.open().scan(options, report: report) { [weak self] error in
            guard let self else { return }
            scanner = nil
            if let error { failed(error) }
        }
    }

    package func stop() {
        scanner?.stop()
        scanner = nil
    }

    deinit { scanner?.stop() }
}

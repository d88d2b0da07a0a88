// SPDX-License-Identifier: MIT
// Writes what passes over the links of a radio, and what was heard, into a capture file.
import CTendon
import Tendon
import TendonSupport

/// Where a capture is written.
enum CaptureFile: Sendable, Equatable {
    /// It is made, or replaced.
    case named(String)
    /// An open file, which the caller closes.
    case unnamed(Int32)

    var name: String {
        switch self {
        case .named(let path): path
        case .unnamed: "a temporary file"
        }
    }
}

/// A capture that is being written. Its file is written on the loop's thread.
final class LinkCapture: @unchecked Sendable {
    // The block and the radio are used only on the loop's thread.
    private let block = CBlock<tendon_capture>()
    private let loop = Loop.shared
    private var radio: RadioCore?

    private let file: CaptureFile

    private init(_ file: CaptureFile) { self.file = file }

    /// Without a radio; see `follow(_:)`.
    static func start(_ file: CaptureFile) async throws(CommandError) -> LinkCapture {
        let capture = LinkCapture(file)
        let (block, format) = (capture.block, UInt32(TENDON_CAPTURE_MONITOR))
        let status = await capture.loop.run { () -> tendon_status in
            switch file {
            case .named(let path): path.withCString { tendon_capture_create(block.pointer, $0, format) }
            case .unnamed(let descriptor): tendon_capture_attach(block.pointer, descriptor, format)
            }
        }
        guard status >= 0 else { throw CommandError(file: file.name, status) }
        return capture
    }

    /// The links of this radio from now on.
    func follow(_ central: Central) async {
        await loop.run { [self] in
            radio = central.core
            central.core.radio.pointee.tap_context = UnsafeMutableRawPointer(block.pointer)
            central.core.radio.pointee.tap = tendon_capture_tap
        }
    }

    /// On the loop.
    func write(_ report: CReport) { tendon_capture_report(block.pointer, report, tendon_realtime_us()) }

    /// Completes the file; an error of any of its writes is thrown here.
    func stop() async throws(CommandError) {
        let status = await loop.run { [self] in
            radio?.radio.pointee.tap = nil
            radio?.radio.pointee.tap_context = nil
            let failed = block.pointer.pointee.status
            let status = tendon_capture_close(block.pointer)
            return failed < 0 ? failed : status
        }
        guard status >= 0 else { throw CommandError(file: file.name, status) }
    }
}

extension CommandError {
    /// A file that cannot be written or read, in the system's words.
    init(file path: String, _ status: tendon_status) {
        guard status != Int32(TENDON_ERROR_BUSY) else {
            self.init(.failed, "\(sanitized(path)): another program is writing this capture", next: "another name")
            return
        }
        let what = describe(TendonError(status: status, operation: .capture))
        self.init(.failed, "\(sanitized(path)): \(what)")
    }
}

extension TendonError.Operation {
    static let capture = TendonError.Operation(rawValue: "capture")
}

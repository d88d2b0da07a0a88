// SPDX-License-Identifier: MIT
import CTendon

/// A wearable of one of the device families, by names that all of them share. The vendors' names are beside them.
///
/// ```swift
/// func opened<Device: Wearable>(_ family: WearableFamily<Device>) async throws -> Device {
///     let device = try await Central.shared.first(of: family)
///     try await device.openAndWait()
///     return device
/// }
/// ```
@TendonActor
public protocol Wearable: AnyObject, Sendable {
    /// The errors of opening.
    associatedtype Failure: CancellableError
    /// Connects, and waits until the device can be used. Cancelling the task ends the attempt.
    func openAndWait() async throws(Failure)
    /// Disconnects, and waits for the end of the connection. If the task is cancelled it returns immediately; the connection
    /// still ends.
    func closeAndWait() async
}

/// A device family for ``Central/first(of:within:)``. Each family's module has its own: `.bose`, `.activ5`, `.feelspace`,
/// `.fjorden`, `.obvious(productId:)`.
public struct WearableFamily<Device: Wearable>: Sendable {
    package typealias Recognizer = @convention(c) (UnsafePointer<UInt8>?, Int) -> Bool

    let recognizes: Recognizer
    let device: @Sendable @TendonActor (_ address: Address, _ name: String?, _ central: Central) -> Device

    package init(
        _ recognizes: @escaping Recognizer,
        device: @escaping @Sendable @TendonActor (_ address: Address, _ name: String?, _ central: Central) -> Device
    ) {
        self.recognizes = recognizes
        self.device = device
    }
}

extension Central {
    /// Finds the first device of a family, and returns it without a connection.
    ///
    /// - Parameters:
    ///   - family: `.bose`, `.activ5`, `.feelspace`, `.fjorden`, or `.obvious(productId:)`.
    ///   - limit: throws a timeout if there is none in range until then.
    public func first<Device: Wearable>(
        of family: WearableFamily<Device>, within limit: Duration = .seconds(10)
    ) async throws(TendonError) -> Device {
        guard !Task.isCancelled else { throw .cancelled }
        let found = try await core.find(family.recognizes, within: limit)
        return family.device(found.address, found.localName, self)
    }
}

extension RadioCore {
    /// The packet by which a device was recognized.
    fileprivate func find(
        _ recognizes: @escaping @convention(c) (UnsafePointer<UInt8>?, Int) -> Bool, within limit: Duration,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(TendonError) -> Advertisement {
        let recognition = CBlock<tendon_recognition>()
        recognition.pointer.pointee.recognizes = recognizes
        let found = Pending<Advertisement, TendonError>(loop)
        let scanner = try scan(ScanOptions()) { report, now in
            guard !found.isFinished, tendon_recognition_take(recognition.pointer, report) else { return }
            found.finish(.success(Advertisement(report.pointee, time: now)))
        } ended: { error in
            found.finish(.failure(error ?? .cancelled))
        }
        let timer = LoopTimer(loop.core) { found.finish(.failure(.timeout(.scan))) }
        timer.deadline = Duration.deadline(limit)
        defer {
            timer.remove()
            scanner.stop()
        }
        return try await found.value()
    }
}

// SPDX-License-Identifier: MIT
//
// Reports of updates and upgrades to the cloud. The operation ends after its report, so that no program exits before.

import CTendon
import Tendon

/// What a device did with a package.
struct UpdateReport: Sendable {
    let serial: UInt64
    let counter: UInt64
}

extension OcelotCore {
    /// How long an operation waits for its report, in milliseconds.
    private static let reportLimit: UInt64 = 10_000

    /// Reports what the device has done, then ends the operation, whether the cloud has answered or not.
    func report(_ operation: OcelotOperation, _ outcome: OcelotOutcome) {
        guard case .success(let cloud) = operation.cloud else { return finish(operation) }
        let (c, key, clock) = (manager.pointer.pointee, operation.key, clock)
        let isUpgrade = operation.kind == TENDON_OBVIOUS_UPGRADE_FIRMWARE
        let (serial, version) = (serialText(c.serial), Int64(c.record.version))
        let status = "\(OcelotFirmwareManager.OcelotFirmwareUpgradeStatus(rawValue: outcome.code) ?? .FAILED)"
        // A report that fails is sent again once, with the next one.
        let again = isUpgrade ? [] : unreported
        if !isUpgrade { unreported = [] }
        let own = UpdateReport(serial: c.serial, counter: c.counter)
        task = Task { @TendonActor [weak self] in
            let isReported = await Self.inTime(clock) { () async throws(ObviousCloudError) in
                guard !isUpgrade else {
                    return try await cloud.reportFirmware(
                        serialNumber: serial, versionCode: version, status: status, key: key)
                }
                for report in again { try? await cloud.report(report, key) }
                try await cloud.report(own, key)
            }
            guard let self else { return }
            if !isReported, !isUpgrade { self.unreported.append(own) }
            self.finish(operation)
        }
    }

    /// Calls `body` until the limit, or until the task is cancelled; false: it failed, or did not end. A `body` that ignores
    /// the cancellation of its task is not waited for.
    @TendonActor private static func inTime(
        _ clock: any ObviousClock, _ body: @escaping @Sendable () async throws(ObviousCloudError) -> Void
    ) async -> Bool {
        let result = Pending<Void, ObviousCloudError>()
        let call = Task { @TendonActor in
            do throws(ObviousCloudError) {
                result.finish(.success(try await body()))
            } catch {
                result.finish(.failure(error))
            }
        }
        let limit = Task { @TendonActor in
            try? await clock.sleep(until: clock.now + reportLimit)
            result.finish(.failure(.cancelled))
        }
        defer {
            call.cancel()
            limit.cancel()
        }
        return (try? await result.value()) != nil
    }
}

extension ObviousCloudService {
    fileprivate func report(_ report: UpdateReport, _ key: ObviousAPIKey?) async throws(ObviousCloudError) {
        try await reportFeatureUpdate(
            serialNumber: serialText(report.serial), counter: report.counter, status: 0, key: key)
    }
}

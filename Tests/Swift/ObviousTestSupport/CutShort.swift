// SPDX-License-Identifier: MIT
#if ObviousCloud
    import Tendon
    import TendonObvious
    import TestSupport

    /// Cancels an upgrade when a part of the image has arrived. The manager's own progress ends it: a test that asks the
    /// device from time to time is too late when the machine is busy.
    @TendonActor
    public final class CutShort {
        private var task: Task<Void, any Error>?

        public init() {}

        /// What the upgrade ended with.
        public func upgrade(_ manager: OcelotFirmwareManager, percent: Int = 40) async -> Result<Void, any Error> {
            let task = Task { @TendonActor in
                try await manager.upgradeFirmware(appVersion: "1.0.0") { if $1 >= percent { self.task?.cancel() } }
            }
            self.task = task
            return await task.result
        }
    }
#endif

// SPDX-License-Identifier: MIT
#if ObviousCloud
    import Foundation
    import Tendon
    import TendonObvious
    import TestSupport

    /// A directory of the virtual radio with one simulated device on a second loop thread.
    public final class OcelotSite: Sendable {
        public let directory = RadioDirectory()
        public let signer = Signer()
        public let device: SimulatedOcelotDevice
        public let loop: Loop
        private let options: SimulatedOcelotDevice.Options
        /// For images and records; removed with the site.
        public let cache = NSTemporaryDirectory() + "obvious-cache-" + UUID().uuidString
        public var radio: RadioChoice { directory.radio }

        /// Features 16 (bought, on), 17 (bought, off) and 20 (not bought). `trust`: nil: the keys of `signer`.
        public init(
            trust: ObviousTrust? = nil, _ change: @Sendable (inout SimulatedOcelotDevice.Options) -> Void = { _ in }
        ) async throws {
            var options = SimulatedOcelotDevice.Options()
            options.features = [
                .init(id: 16, isEnabled: true, toggle: .Activated),
                .init(id: 17, isEnabled: true, toggle: .Deactivated),
                .init(id: 20),
            ]
            options.counter = 41
            options.bootTime = .milliseconds(50)
            change(&options)
            loop = try Loop()
            self.options = options
            device = try await Self.device(options, trust ?? signer.trust, directory, loop)
        }

        /// Another device with the options and the address of the first one, which has been stopped.
        public func secondDevice() async throws -> SimulatedOcelotDevice {
            try await Self.device(options, signer.trust, directory, loop)
        }

        private static func device(
            _ options: SimulatedOcelotDevice.Options, _ trust: ObviousTrust, _ directory: RadioDirectory, _ loop: Loop
        ) async throws -> SimulatedOcelotDevice {
            try await SimulatedOcelotDevice(
                options, radio: directory.radio, trust: trust, address: directory.address, loop: loop,
                interval: .milliseconds(20))
        }

        deinit { try? FileManager.default.removeItem(atPath: cache) }
    }
#endif

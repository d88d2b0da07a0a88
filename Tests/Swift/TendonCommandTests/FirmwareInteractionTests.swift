// SPDX-License-Identifier: MIT
// What happens while the firmware of a device is upgraded: a simulated device, its whole upgrade, and a cloud in the program.
#if ObviousCloud
    import CTendon
    import ObviousTestSupport
    import Synchronization
    import Tendon
    import TendonObvious
    import TendonOutputs
    import TendonSupport
    import TestSupport
    import Testing

    @testable import TendonCommand

    /// The steps of the upgrades, as lines say them.
    private final class UpgradeLines: EventOutput {
        /// A part of the image has been sent.
        let isSending = Bell()
        private let all = Mutex<(statuses: [String], percent: Int)>(([], -1))

        func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
            var writer = LineWriter()
            compose(&writer)
            if event.description != "progress" {
                last.withLock { $0 = $0.suffix(19) + [String(decoding: writer.bytes, as: UTF8.self)] }
            }
            guard ["update", "progress"].contains(event.description) else { return }
            guard let line = try? JSON(parsing: writer.bytes) else { return }
            all.withLock { all in
                if let status = line["status"]?.string { all.statuses.append(status) }
                guard line["what"]?.string == "transfer", let percent = line["percent"]?.number else { return }
                all.percent = Int(percent)
                if percent > 5 { TendonActor.assumeIsolated { isSending.ring() } }
            }
        }

        /// The last lines, for who reads why a test failed.
        private let last = Mutex<[String]>([])
        var tail: String { last.withLock { $0.joined() } }

        var statuses: [String] { all.withLock { $0.statuses } }
        /// Of the image, that the device has; -1: none is being sent.
        var percent: Int { all.withLock { $0.percent } }
        var isUpgrading: Bool { statuses.last { $0 != "RESETTING" } == "PREPARING" }
        /// Each upgrade that begins has one end. One that cannot begin has its end alone.
        var isBalanced: Bool {
            let steps = statuses.filter { $0 != "RESETTING" }
            return !isUpgrading && !zip(steps, steps.dropFirst()).contains { $0 == "PREPARING" && $1 == "PREPARING" }
        }
    }

    @TendonActor
    private final class UpgradeSite {
        let site: OcelotSite
        let played: PlayedGateway
        let lines = UpgradeLines()
        var device: Address { site.device.address }
        private var target: OutputDevice {
            OutputDevice(family: "obvious", address: device.description, addressType: device.typeName)
        }

        init() async throws {
            let image = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
            site = try await OcelotSite { ($0.longestImage, $0.bootTime) = (1 << 19, .milliseconds(20)) }
            let (cloud, trust) = (site.cloud(offering: image), site.signer.trust)
            let upgrade = FirmwareUpgrade(appVersion: "1.0.0", folder: site.cache) {
                OcelotFirmwareManager(cloud: cloud, trust: trust)
            }
            played = try await PlayedGateway(
                devices: 0, others: [site.device.address], in: site.directory, outputs: [lines],
                makeOther: { [site] in
                    ObviousStream(product: "1234", firmware: upgrade, records: site.cache).server(of: $0)
                })
            await played.perform(.pair, device)
        }

        /// False: it is not connected, or an upgrade is in progress.
        func upgrade() async -> Bool {
            let begun = lines.statuses.count
            guard !lines.isUpgrading,
                case .done = await played.gateway.commands.set(["firmware": "upgrade"], of: target)
            else { return false }
            await eventually("it begins") { self.lines.statuses.count > begun }
            return true
        }

        /// A part of the image has been sent.
        func begin() async {
            await eventually("it is connected, and its upgrade begins") { await self.upgrade() }
            await lines.isSending.wait()
            #expect(lines.isUpgrading && lines.percent < 100)
        }

        /// Whatever happened, the device can be upgraded, and runs the new firmware.
        func check(_ what: String) async {
            if !played.isStopped {
                await eventually("\(what): the device has the new firmware") {
                    self.played.bringRadiosBack()
                    if self.lines.isUpgrading { return false }
                    if await self.site.device.firmware == 1_004_000, await !self.site.device.isOnTrial { return true }
                    if self.played.gateway.radioStates.open == 2 { await self.played.serve(self.device) }
                    _ = await self.upgrade()
                    return false
                }
            }
            await played.stop()
            #expect(lines.isBalanced, "\(what): \(self.lines.tail)")
            await played.check(what)
            #expect(played.record.fault(of: device) == nil, "\(what): \(self.played.record.of(self.device))")
        }
    }

    extension ConfigurationInUse {
        @Suite(.timeLimit(.minutes(5))) struct FirmwareInteractionTests {
            @TendonActor
            @Test(arguments: PlayedGateway.Act.allCases) func eachAct(_ act: PlayedGateway.Act) async throws {
                let upgrade = try await UpgradeSite()
                await upgrade.begin()
                await upgrade.played.perform(act, upgrade.device)
                await upgrade.check("\(act)")
            }

            /// Each run has its seed in its name. Without lost adapters, which each have a case above: a virtual radio that
            /// is lost keeps its connections, unlike one of the kernel's.
            @TendonActor
            @Test(arguments: 1...4 as ClosedRange<UInt64>) func inRandomOrder(seed: UInt64) async throws {
                var dice = Dice(seed: seed)
                let acts = PlayedGateway.Act.allCases.filter { ![.stop, .loseOne, .loseBoth].contains($0) }
                let upgrade = try await UpgradeSite()
                await upgrade.begin()
                var begun: [Task<Void, Never>] = []
                for _ in 0..<6 {
                    let act = acts[dice.roll(acts.count)]
                    begun.append(Task { @TendonActor in await upgrade.played.perform(act, upgrade.device) })
                    await turns(dice.roll(200))
                }
                for task in begun { await task.value }
                await upgrade.check("seed \(seed)")
            }
        }
    }
#endif

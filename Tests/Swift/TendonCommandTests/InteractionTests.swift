// SPDX-License-Identifier: MIT
// What happens while something else happens: each pair of acts at each stage of a device, and acts in random order.
import Tendon
import TestSupport
import Testing

@testable import TendonCommand

extension ConfigurationInUse {
    @Suite(.timeLimit(.minutes(5))) struct InteractionTests {
        @TendonActor
        @Test(arguments: Stage.allCases) func eachPairOfActs(_ stage: Stage) async throws {
            for first in PlayedGateway.Act.allCases {
                for second in PlayedGateway.Act.allCases { try await pair(stage, first, second) }
            }
        }

        @TendonActor
        private func pair(_ stage: Stage, _ first: PlayedGateway.Act, _ second: PlayedGateway.Act) async throws {
            let played = try await PlayedGateway()
            let device = played.devices[0]
            await played.bring(device, to: stage)
            let one = Task { @TendonActor in await played.perform(first, device) }
            await turns(3)
            let two = Task { @TendonActor in await played.perform(second, device) }
            await turns(3)
            played.letGo()
            await one.value
            await two.value
            await played.check("\(stage), \(first), \(second)")
        }

        /// A request while a radio opens again, after each number of turns.
        @TendonActor
        @Test(arguments: 0..<24) func aWindowWhileARadioOpens(_ delay: Int) async throws {
            let played = try await PlayedGateway()
            let device = played.devices[0]
            await played.bring(device, to: .streaming)
            played.openSlowly(4)
            await played.perform(.loseOne, device)
            await eventually("it is lost") { played.gateway.radioStates.open == 1 }
            await played.perform(.radioBack, device)
            await turns(delay)
            await played.perform(.pair, device)
            await played.check("after \(delay) turns")
        }

        /// A device that changes its address is another one each time: sessions of those that are gone make room.
        @TendonActor
        @Test func moreDevicesThanSessions() async throws {
            let played = try await PlayedGateway()
            let first = played.devices[0]
            let count: UInt64 = 270
            for number in 0..<count {
                let address = Address(first.value ^ number << 24, type: .random)
                await played.bring(address, to: .idle)
                guard played.record.of(address).contains("disconnected") else { return }
                played.passTime()
            }
            let gateway = try #require(played.gateway)
            #expect(gateway.state.withLock { $0.known.count } == 256)
            #expect(gateway.reporter.rows.count == 256)
            #expect(gateway.state.withLock { $0.known[first] == nil }, "the one that was gone longest")
            #expect(gateway.reporter.wasConnected)
            // It is served as before.
            await played.bring(first, to: .streaming)
            #expect(gateway.state.withLock { $0.known[first] != nil })
            await played.perform(.stop, first)
        }

        /// Each run has its seed in its name.
        @TendonActor
        @Test(arguments: 1...40 as ClosedRange<UInt64>) func inRandomOrder(seed: UInt64) async throws {
            var dice = Dice(seed: seed)
            let played = try await PlayedGateway(devices: 3)
            let acts = PlayedGateway.Act.allCases.filter { $0 != .stop }
            var begun: [Task<Void, Never>] = []
            for _ in 0..<60 {
                let device = played.devices[dice.roll(3)]
                switch dice.roll(6) {
                case 0: played.hold(device, in: Stage.allCases[dice.roll(Stage.allCases.count)])
                case 1: played.advertise(device)
                case 2: played.passTime()
                case 3: played.streaming[device]?.leave()
                default:
                    let act = acts[dice.roll(acts.count)]
                    begun.append(Task { @TendonActor in await played.perform(act, device) })
                }
                await turns(dice.roll(8))
            }
            played.letGo()
            for task in begun { await task.value }
            await played.check("seed \(seed)")
        }
    }
}

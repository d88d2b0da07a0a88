// SPDX-License-Identifier: MIT
import CTendon
import TestSupport
import Testing

@testable import Tendon

@Suite(.timeLimit(.minutes(1)))
struct ConnectionParametersTests {
    @Test func profiles() throws {
        #expect(ConnectionParameters.fast.interval == .microseconds(7500)...(.milliseconds(15)))
        #expect(ConnectionParameters.fast.latency == 0)
        #expect(ConnectionParameters.balanced.interval == .milliseconds(30)...(.milliseconds(50)))
        #expect(ConnectionParameters.lowPower.interval == .milliseconds(100)...(.milliseconds(125)))
        #expect(ConnectionParameters.lowPower.latency == 2)
        #expect(ConnectionParameters.lowPower.supervisionTimeout == .seconds(6))
        #expect(ConnectionParameters("fast") == .fast)
        #expect(ConnectionParameters("balanced") == .balanced)
        #expect(ConnectionParameters("low-power") == .lowPower)
    }

    @Test func values() throws {
        let made = try ConnectionParameters(
            interval: .microseconds(11250)...(.milliseconds(20)), latency: 3, supervisionTimeout: .milliseconds(2509))
        #expect(made.c.min_interval == 9)
        #expect(made.c.max_interval == 16)
        #expect(made.latency == 3)
        #expect(made.supervisionTimeout == .milliseconds(2500))
        #expect(made.description == "11.25 to 20.0 ms, latency 3, timeout 2500 ms")
        #expect(ConnectionParameters("11.25-20,3,2500") == made)
        #expect(ConnectionParameters("11.25-20,3,2510") != made)
        #expect(ConnectionParameters("11.25-20,2,2500") != made)
        #expect(ConnectionParameters("11.25-21.25,3,2500") != made)
        #expect(ConnectionParameters("10-20,3,2500") != made)
        #expect(Set([made, .fast, .fast]).count == 2)
        let usual = try ConnectionParameters(interval: .milliseconds(30)...(.milliseconds(30)))
        #expect(usual.supervisionTimeout == .seconds(4))
        #expect(usual.phy == nil && usual.packetSize == nil)
    }

    @Test func phyAndPacketSize() throws {
        let made = try ConnectionParameters(
            interval: .milliseconds(15)...(.milliseconds(30)), phy: .leCoded, packetSize: 251)
        #expect(made.c.phy == 3 && made.c.tx_octets == 251)
        #expect(made.phy == .leCoded && made.packetSize == 251)
        #expect(made.description == "15.0 to 30.0 ms, latency 0, timeout 4000 ms, PHY LE Coded, length 251 bytes")
        #expect(ConnectionParameters("15-30,phy=coded,length=251") == made)
        #expect(ConnectionParameters("15-30,phy=2m,length=251") != made)
        #expect(ConnectionParameters("15-30,phy=coded,length=250") != made)
        var fast = ConnectionParameters.fast
        fast.phy = .le2M
        #expect(fast == ConnectionParameters("fast,phy=2m"))
        #expect(fast.description == "7.5 to 15.0 ms, latency 0, timeout 4000 ms, PHY LE 2M")
        fast.phy = nil
        #expect(fast == .fast)
        #expect(PHY.allCases.map(\.description) == ["LE 1M", "LE 2M", "LE Coded"])
        for size in [-1, 0, 26, 252, 65563] {
            #expect(throws: TendonError.self, "\(size)") {
                _ = try ConnectionParameters(interval: .milliseconds(15)...(.milliseconds(30)), packetSize: size)
            }
        }
    }

    @Test func plannedForSeveralConnections() throws {
        #expect(try ConnectionParameters.fast.planned(links: 8) == ConnectionParameters("20-20"))
        #expect(try ConnectionParameters.fast.planned(links: 4) == ConnectionParameters("fast,links=4"))
        #expect(try ConnectionParameters.fast.planned(links: 1) == .fast)
        #expect(try ConnectionParameters.lowPower.planned(links: 8) == .lowPower)
        #expect(try ConnectionParameters.fast.planned(links: 1600).interval == .seconds(4)...(.seconds(4)))
        for links in [Int.min, -1, 0, 1601, .max] {
            #expect { _ = try ConnectionParameters.fast.planned(links: links) } throws: {
                ($0 as? TendonError)?.status == Int32(TENDON_ERROR_INVALID_ARGUMENT)
            }
        }
    }

    /// The virtual radio has no parameters; a device that is not connected neither.
    @Test func whileConnected() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let peripheral = try await central.connect(site.address)
        await #expect { try await peripheral.setConnectionParameters(.fast) } throws: {
            ($0 as? TendonError)?.status == Int32(TENDON_ERROR_UNSUPPORTED)
        }
        await peripheral.disconnect()
        await #expect { try await peripheral.setConnectionParameters(.fast) } throws: {
            ($0 as? TendonError)?.status == Int32(TENDON_ERROR_DISCONNECTED)
        }
        await central.close()
    }

    @Test(arguments: ["", "quick", "15", "15-30,0,4005", "30-15", "5-10", "fast,phy=3m", "fast,length=26"])
    func text(_ text: String) {
        #expect(ConnectionParameters(text) == nil)
    }

    @Test func outOfRange() {
        let wrong: [(ClosedRange<Duration>, Int, Duration)] = [
            (.milliseconds(5)...(.milliseconds(30)), 0, .seconds(4)),
            (.milliseconds(30)...(.seconds(5)), 0, .seconds(32)),
            (.milliseconds(-30)...(.milliseconds(30)), 0, .seconds(4)),
            (.milliseconds(30)...(.seconds(1000)), 0, .seconds(4)),
            (.milliseconds(30)...(.milliseconds(50)), -1, .seconds(4)),
            (.milliseconds(30)...(.milliseconds(50)), 500, .seconds(32)),
            (.milliseconds(30)...(.milliseconds(50)), 0, .milliseconds(90)),
            (.milliseconds(30)...(.milliseconds(50)), 0, .seconds(33)),
            (.milliseconds(30)...(.milliseconds(50)), 0, .seconds(-4)),
            (.milliseconds(30)...(.milliseconds(500)), 3, .seconds(4)),
        ]
        for (interval, latency, timeout) in wrong {
            #expect(throws: TendonError.self, "\(interval), \(latency), \(timeout)") {
                _ = try ConnectionParameters(interval: interval, latency: latency, supervisionTimeout: timeout)
            }
        }
    }

    /// They reach the radio of the core, and are taken back; a timing is read from a link that has one.
    @Test func radio() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let core = central.core
        await central.setConnectionParameters(.lowPower)
        #expect(await onLoop { core.radio.pointee.connection.max_interval } == 100)
        #expect(await onLoop { core.radio.pointee.connection.latency } == 2)
        await central.setConnectionParameters(nil)
        #expect(await onLoop { core.radio.pointee.connection.max_interval } == 0)
        let peripheral = try await central.connect(site.address)
        #expect(await central.connectionTimings().isEmpty)
        await onLoop {
            core.radio.pointee.links.pointee.timing = tendon_connection_timing(
                interval: 12, latency: 4, timeout: 500, tx_phy: 2, rx_phy: 3, tx_octets: 251, rx_octets: 27)
        }
        let timing = try #require(await central.connectionTimings()[site.address])
        #expect(timing.interval == .milliseconds(15))
        #expect(timing.latency == 4)
        #expect(timing.supervisionTimeout == .seconds(5))
        #expect(timing.txPHY == .le2M)
        #expect(timing.rxPHY == .leCoded)
        #expect(timing.txPacketSize == 251)
        #expect(timing.rxPacketSize == 27)
        await onLoop {
            core.radio.pointee.links.pointee.timing.tx_phy = 0
            core.radio.pointee.links.pointee.timing.rx_phy = 9
            core.radio.pointee.links.pointee.timing.tx_octets = 0
            core.radio.pointee.links.pointee.timing.rx_octets = 0
        }
        let unknown = try #require(await central.connectionTimings()[site.address])
        #expect(unknown != timing)
        #expect(unknown.txPHY == nil && unknown.rxPHY == nil)
        #expect(unknown.txPacketSize == nil && unknown.rxPacketSize == nil)
        await peripheral.disconnect()
        #expect(await central.connectionTimings().isEmpty)
        await central.close()
    }
}

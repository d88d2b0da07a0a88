// SPDX-License-Identifier: MIT
// A belt's service is in its advertisement and its name in its scan response: what makes it a belt comes in two packets.
import Tendon
import TestSupport
import Testing

@testable import TendonCommand

/// What a device sends, and of which family it is then.
struct AdvertisedParts: Sendable, CustomTestStringConvertible {
    let what: String
    let packets: [[UInt8]]
    let family: String?
    var testDescription: String { what }

    private static let older: [UInt8] = [
        0x11, 0x07, 0x00, 0xA1, 0x0C, 0x20, 0x00, 0x08, 0x9A, 0x9E, 0xE2, 0x11, 0x15, 0xA1, 0x33, 0x33, 0x33, 0x65,
    ]
    private static let newer: [UInt8] = [0x02, 0x01, 0x06, 0x03, 0x03, 0x51, 0xFE]
    private static let otherService: [UInt8] = [0x03, 0x03, 0x52, 0xFE]
    private static let name: [UInt8] = [0x0F, 0x09] + Array("naviGuertel 12".utf8)
    private static let otherName: [UInt8] = [0x04, 0x09] + Array("Bob".utf8)

    static let all = [
        AdvertisedParts(what: "older belt", packets: [older, name], family: "feelspace"),
        AdvertisedParts(what: "newer belt", packets: [newer, name], family: "feelspace"),
        AdvertisedParts(what: "a belt's name alone", packets: [[], name], family: nil),
        AdvertisedParts(what: "a belt's name, another service", packets: [otherService, name], family: nil),
        AdvertisedParts(what: "a belt's service alone", packets: [older, []], family: nil),
        AdvertisedParts(what: "a belt's service, another name", packets: [newer, otherName], family: nil),
        AdvertisedParts(what: "a trainer", packets: [[0x03, 0x03, 0x00, 0x50], otherName], family: "activ5"),
        AdvertisedParts(
            what: "a grip by its name", packets: [[], [13, 0x09] + Array("Fjorden Grip".utf8)], family: "fjorden"),
    ]
}

@Suite struct BeltAdvertisementTests {
    /// The table of `tendon scan`.
    @Test(arguments: AdvertisedParts.all, [false, true]) func theTable(_ parts: AdvertisedParts, responseFirst: Bool) {
        let families = AdvertisedFamilies()
        var device = ScannedDevice(Address(1, type: .random))
        func add(_ number: Int) -> Bool {
            let family = families.family(
                of: device.address, sending: parts.packets[number], isScannable: number == 0, isResponse: number > 0, 0)
            return device.add(data: parts.packets[number], rssi: -50, family: family)
        }
        for number in responseFirst ? parts.packets.indices.reversed() : Array(parts.packets.indices) {
            _ = add(number)
        }
        #expect(device.family == parts.family)
        for number in parts.packets.indices {
            let isNew = add(number)
            #expect(!isNew)
            #expect(device.family == parts.family)
        }
    }

    /// A device whose services and name are read over a connection.
    @Test func overAConnection() {
        #expect(familyName(services: ["1800", "1801", "fe51"], name: "NaviGuertel") == "feelspace")
        #expect(familyName(services: ["1800", "1801"], name: "NaviGuertel") == nil)
        #expect(familyName(services: ["1800", "fe51"], name: nil) == nil)
        #expect(familyName(services: ["1800", "fdd2"], name: nil) == "bose")
        #expect(familyName(services: [], name: "Fjorden Grip 1") == "fjorden")
    }
}

extension ConfigurationInUse {
    @Suite(.timeLimit(.minutes(1))) struct FoundBeltTests {
        /// The search of `tendon run`, which asks for a scan response when the advertisement has a belt's service.
        @TendonActor
        @Test(arguments: AdvertisedParts.all, [false, true]) func theSearch(
            _ parts: AdvertisedParts, responseFirst: Bool
        ) async throws {
            let played = try await PlayedGateway()
            let device = Address(0xCE00_0000_0001, type: .random)
            let order = responseFirst ? [1, 0] : [0, 1]
            await eventually("the search has begun") {
                played.hears(parts.packets[order[0]], device, isResponse: order[0] == 1)
            }
            #expect(played.hears(parts.packets[order[1]], device, isResponse: order[1] == 1))
            #expect(played.record.of(device).contains("found") == (parts.family != nil))
            // In whatever order: all has been received when it advertises again.
            for number in [0, 1, 0] { #expect(played.hears(parts.packets[number], device, isResponse: number == 1)) }
            #expect(played.record.of(device).filter { $0 == "found" }.count == (parts.family == nil ? 0 : 1))
            played.letGo()
            await played.stop()
        }

        /// Both radios ask: the response that either receives is sufficient.
        @TendonActor
        @Test func theScanIsActiveUntilTheResponse() async throws {
            let played = try await PlayedGateway()
            let device = Address(0xCE00_0000_0002, type: .random)
            let belt = AdvertisedParts.all[1].packets
            var active: [Bool] { played.gateway.centrals.map { $0.core.radio.pointee.scan.active } }
            await eventually("both search") { played.gateway.centrals.allSatisfy { $0.core.radio.pointee.scanning } }
            #expect(active == [false, false])
            #expect(played.hears(belt[0], device, isResponse: false))
            await eventually("both ask") { active == [true, true] }
            #expect(played.hears(belt[1], device, isResponse: true))
            await eventually("neither asks") { active == [false, false] }
            played.letGo()
            await played.stop()
        }

        /// The name that a device is given in the configuration goes before the one that it advertises.
        @TendonActor
        @Test func theNameOfADeviceIsTheLatestThatItAdvertises() async throws {
            let played = try await PlayedGateway()
            let device = played.devices[0]
            let trainer: [UInt8] = [0x03, 0x03, 0x00, 0x50]
            for name in ["One", "Two"] {
                let packet = trainer + [0x04, 0x09] + Array(name.utf8)
                await eventually("it is served") {
                    played.passTime()
                    return played.hears(packet, device, isResponse: false) && played.streaming[device] != nil
                }
                #expect(played.streaming[device]?.served.label.name == name)
                played.streaming[device]?.leave()
                await eventually("its turn is over") { played.gateway.state.withLock { $0.turns.isEmpty } }
            }
            await played.perform(.rename, device)
            #expect(played.gateway.state.withLock { $0.known[device]?.label.name } == played.names[device])
            #expect(played.gateway.state.withLock { $0.known[device]?.name } == "Two")
            played.letGo()
            await played.stop()
        }
    }
}

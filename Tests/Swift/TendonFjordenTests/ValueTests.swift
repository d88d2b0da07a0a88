// SPDX-License-Identifier: MIT
import CTendon
import Glibc
import Tendon
import Testing

@testable import TendonFjorden

@Suite struct ValueTests {
    @Test func versions() throws {
        let old = try #require(FirmwareVersion(string: "1.1.2"))
        let candidate = try #require(FirmwareVersion(string: "1.2.0-rc.1"))
        let new = try #require(FirmwareVersion(string: " v1.2 "))
        #expect(old < candidate && candidate < new)
        #expect(new.description == "1.2.0")
        #expect(FirmwareVersion(string: "1.2.x") == nil)
        #expect(FirmwareVersion(string: "1.2.0+7") == new)
        #expect(FirmwareVersion(string: "1.2.0+7")?.build == "7")
        #expect(FirmwareVersion(string: "1.2.0+7")?.hashValue == new.hashValue)
        #expect(candidate.preRelease == "rc.1")
    }

    @Test func errorsHaveTheirNames() {
        #expect(FjordenError.allCases.count == 17)
        for error in FjordenError.allCases {
            #expect(FjordenError(error.status) == error)
            #expect(!error.localizedDescription.isEmpty)
        }
        #expect("\(FjordenError.bondDoesNotExists)" == "bondDoesNotExists")
        #expect(FjordenError(-1) == .unknown)
    }

    @Test func eventsHaveTheirNames() {
        let vendors: [GripEvent] = [
            .shutterButtonDown, .shutterButtonReleased, .shutterButtonHalfDown, .dialButtonCW, .dialButtonCCW,
            .dialButtonPress, .dialButtonLongPress, .fnButtonPress, .fnButtonLongPress, .zoomLeverHoldLeft,
            .zoomLeverHoldRight, .zoomLeverLeft, .zoomLeverRight, .zoomLeverNeutral,
        ]
        let names = [
            "shutterButtonDown", "shutterButtonReleased", "shutterButtonHalfDown", "dialButtonCW", "dialButtonCCW",
            "dialButtonPress", "dialButtonLongPress", "fnButtonPress", "fnButtonLongPress", "zoomLeverHoldLeft",
            "zoomLeverHoldRight", "zoomLeverLeft", "zoomLeverRight", "zoomLeverNeutral",
        ]
        #expect(vendors.map(\.description) == names)
        #expect(GripEvent.customButtonPress(2).description == "customButtonPress(2)")
        #expect(GripEvent.batteryLow(15).description == "batteryLow(15)")
    }

    /// With the format `code8` a grip says that the battery is low, and no percentage.
    @Test func aLowBatteryWithoutAPercentage() {
        var c = tendon_fjorden_record()
        (c.event, c.code, c.count) = (0x80, 0x80, 1)
        let record = GripRecord(c, isSynthesized: false)
        #expect(
            record.event == .batteryLow(nil) && "\(record.event)" == "batteryLow" && record.event.name == "batteryLow")
        (c.has_sequence, c.value) = (true, 0)
        #expect(GripRecord(c, isSynthesized: false).event == .batteryLow(0))
        (c.event, c.has_sequence) = (0xFF, false)
        #expect("\(GripRecord(c, isSynthesized: false).event)" == "unknown(128)")
    }

    @Test func allCustomButtons() {
        for button in 0...15 {
            let (press, long) = (UInt8(0x40 + button), UInt8(0x50 + button))
            #expect(GripEvent(event: press, code: 1, value: 0) == .customButtonPress(button))
            #expect(GripEvent(event: long, code: 1, value: 0) == .customButtonLongPress(button))
            #expect(GripEvent.customButtonLongPress(button).description == "customButtonLongPress(\(button))")
        }
    }

    /// All that the C core counts in: no crash, and no time-out before its time.
    @Test @TendonActor func timeouts() async throws {
        for seconds in [Double.infinity, -.infinity, .nan, .greatestFiniteMagnitude, -1, 0, 1e-9] {
            let (manager, _) = try simulated { $0.connectionTimeoutThreshold = seconds }
            #expect(try await manager.start() == .ready)
            guard seconds > 1 else { continue }
            _ = try await connectFirst(manager)
        }
    }

    @Test func positionsThatAreNotKnown() {
        var c = tendon_fjorden_control_state()
        #expect(ControlState(c)?.shutter == .released && ControlState(c)?.lever == .neutral)
        c.shutter = 3
        #expect(ControlState(c) == nil)
        c.shutter = 2
        c.lever = -2
        #expect(ControlState(c) == nil)
    }

    @Test func filesKeepTheBond() {
        let path = "/tmp/tendon-fjorden-\(getpid())/a/b/bond"
        let storage = FileStorage(path: path)
        #expect(storage.string(forKey: "k") == nil)
        storage.set("C1:01:02:03:04:05/random", forKey: "k")
        storage.set("My\ngrip", forKey: "n")
        let again = FileStorage(path: path)
        #expect(again.string(forKey: "k") == "C1:01:02:03:04:05/random")
        #expect(again.string(forKey: "n") == "My grip")
        again.removeObject(forKey: "k")
        #expect(storage.string(forKey: "k") == nil)
        unlink(path)
    }

    @Test func batteryIsLowBelow30() {
        #expect(BatteryInfo(level: 29).isLow)
        #expect(!BatteryInfo(level: 30).isLow)
    }

    @Test func profiles() {
        var profile = GripProfile()
        #expect(profile.service.description == "b3d80001-92de-4c91-b591-abffcba8daf2")
        let (known, unknown) = (
            profile.setCode(0x61, to: "customButtonPress(3)"), profile.setCode(0x61, to: "somethingElse")
        )
        #expect(known && !unknown)
        let ignored = profile.setCode(0x62, to: "unknown")
        #expect(ignored)
        profile.stateCharacteristic = nil
        #expect(profile.stateCharacteristic == nil && profile.controlCharacteristic != nil)
    }
}

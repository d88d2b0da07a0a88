// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import TestSupport
import Testing

@testable import TendonGateway

struct SettingsTests {
    /// The options of the C core that settings become.
    private func options(
        _ change: (inout GatewaySettings) -> Void
    ) throws(GatewayError) -> tendon_fleet_options {
        var settings = GatewaySettings(radio: .adapters())
        change(&settings)
        let plan = try GatewayPlan(settings)
        return withExtendedLifetime(plan) { plan.options.pointer.pointee }
    }

    /// Why settings are not possible.
    private func detail(_ change: (inout GatewaySettings) -> Void) -> String? {
        do throws(GatewayError) {
            _ = try options(change)
            return nil
        } catch {
            #expect(error.reason == .settings && error.cause != nil)
            return error.detail
        }
    }

    @Test func theDefaultsAreThoseOfTheCore() throws {
        let settings = try options { _ in }
        #expect(!settings.is_virtual && settings.adapter_count == 0 && settings.families == 0x1F)
        #expect(settings.pair_s == 0 && settings.only.count == 0 && settings.allowed.count == 0)
        #expect(!settings.no_reconnect && !settings.is_exact && !settings.coded && !settings.no_gatt_cache)
        #expect(settings.settings.sensors.count == 1 && settings.settings.period_ms == 20)
        #expect(settings.settings.gestures.all && settings.settings.force && !settings.settings.motion)
        #expect(settings.connection.max_interval == 0)
    }

    @Test func everySetting() throws {
        let settings = try options {
            $0.radio = .adapters(["hci0", "1-1.4"])
            $0.families = [.bose, .activ5]
            $0.onlyDevices = [Address("C0:00:00:00:00:01/random")!, Address("00:00:00:00:00:02")!]
            $0.pairing = .within(.milliseconds(60_001))
            $0.pairableDevices = [Address("C0:00:00:00:00:01/random")!]
            $0.reconnects = false
            $0.connection = .fast
            $0.includesCodedPHY = true
            $0.usesGATTCache = false
            $0.isExact = true
            $0.bose.sensors = ["accelerometer", "gyroscope"]
            $0.bose.period = .milliseconds(40)
            $0.bose.gestures = []
            $0.feelspace.orientationPeriod = .milliseconds(100)
            $0.feelspace.defaultIntensity = 60
            $0.activ5.measures = .all
            $0.activ5.rate = 50
            $0.activ5.isEvergreen = true
            $0.obvious.product = 7
            $0.obvious.features = [16, 17]
        }
        #expect(settings.adapter_count == 2 && settings.families == 0b00101)
        #expect(text(in: settings.adapters.0) == "hci0" && text(in: settings.adapters.1) == "1-1.4")
        #expect(settings.only.count == 2 && settings.only.addresses.0.type == 1)
        #expect(settings.only.addresses.1.type == 0 && settings.only.addresses.1.bytes.5 == 2)
        #expect(settings.allowed.count == 1 && settings.pair_s == 61 && settings.no_reconnect)
        #expect(settings.connection.min_interval == 6 && settings.connection.max_interval == 12)
        #expect(settings.coded && settings.no_gatt_cache && settings.is_exact)
        let devices = settings.settings
        #expect(devices.sensors.count == 2 && devices.sensors.ids.0 == 0 && devices.sensors.ids.1 == 1)
        #expect(devices.period_ms == 40 && !devices.gestures.all && devices.gestures.count == 0)
        #expect(devices.orientation_period_ms == 100 && devices.default_intensity == 60)
        #expect(devices.force && devices.motion && devices.rate_hz == 50 && devices.evergreen)
        #expect(devices.has_product && devices.product == 7 && devices.feature_count == 2)
        #expect(devices.features.0 == 16 && devices.features.1 == 17)
        #expect(try options { $0.pairing = .always }.pair_s == UInt32.max)
        #expect(try options { $0.namedOptions = ["pair": "", "rate": "7"] }.pair_s == UInt32.max)
    }

    @Test func whatIsNotPossible() {
        #expect(
            detail { $0.bose.period = .milliseconds(21) }
                == "period '21' is not possible: time between two samples: 5, 10, 20, 40, 80, 160 or 320; default: 20")
        #expect(detail { $0.bose.sensors = ["nose"] }?.hasPrefix("sensors 'nose' is not possible: ") == true)
        #expect(detail { $0.bose.sensors = ["rotation,gyroscope"] }?.hasPrefix("sensors '[\"rotation,") == true)
        #expect(detail { $0.families = ["tea"] }?.hasPrefix("families 'tea' is not possible: ") == true)
        #expect(detail { $0.families = [] }?.hasPrefix("families '' is not possible: ") == true)
        #expect(detail { $0.pairing = .within(.seconds(86_401)) }?.hasPrefix("pair '86401'") == true)
        #expect(detail { $0.pairing = .within(.zero) }?.hasPrefix("pair '0'") == true)
        #expect(detail { $0.feelspace.defaultIntensity = 101 }?.hasPrefix("default-intensity '101'") == true)
        #expect(
            detail { $0.activ5.rate = 0 }
                == "rate '0' is not possible: samples per second, 1 to 32767; default: the setting of the device")
        #expect(
            detail {
                $0.radio = .virtual()
                $0.namedOptions = ["adapter": "hci0"]
            } == "--adapter is for --radio bluez")
        #expect(
            detail { $0.radio = .adapters(Array(repeating: "hci0", count: 5)) }?.hasPrefix("adapter 'hci0'") == true)
        #expect(detail { $0.namedOptions = ["tea": "black"] } == "there is no option 'tea'")
        #expect(
            detail { $0.namedOptions = ["rate": ""] }
                == "rate needs a value: samples per second, 1 to 32767; default: the setting of the device")
        #expect(detail { $0.namedOptions = ["evergreen": "yes"] } == "evergreen takes no value, so not 'yes'")
        let address = Address("C0:00:00:00:00:01/random")!
        #expect(detail { $0.onlyDevices = Array(repeating: address, count: 65) }?.hasPrefix("address ") == true)
    }

    @Test func deviceFiles() throws {
        let json = try source("packaging/devices/heart_rate.json")
        let settings = try options { $0.deviceFiles = [.json(json)] }
        #expect(settings.definition_count == 1 && settings.families == 0x3F)
        #expect(
            try options {
                $0.deviceFiles = [.json(json)]
                $0.families = ["heart_rate"]
            }.families == 0x20)
        #expect(
            detail { $0.deviceFiles = [.json(json), .json(json)] } == "device file: there is a family of this name")
        #expect(detail { $0.deviceFiles = [.json("{\n\"name\": 5}")] }?.hasPrefix("device file:2:9: ") == true)
        let missing = missingPath()
        #expect(detail { $0.deviceFiles = [.path(missing)] }?.hasPrefix("\(missing): ") == true)
        #expect(detail { $0.deviceFiles = [.path("/dev/zero")] }?.hasPrefix("/dev/zero: ") == true)
    }

    @Test func aRadioThatDoesNotOpen() async {
        let nowhere = GatewaySettings(radio: .virtual(directory: "/proc/nothing"))
        let error = await failure { _ = try await Gateway(nowhere) }
        #expect(error?.reason == .radio && error?.cause?.operation == .openRadio && error?.detail.isEmpty == false)
        #expect(error?.description.hasPrefix("no radio: ") == true)
        // Names that are none are found before anything is opened.
        let adapter = await failure { _ = try await Gateway(GatewaySettings(radio: .adapters(["printer"]))) }
        #expect(adapter?.reason == .radio)
    }

    @Test func theTextOfAnError() {
        let one = GatewayError(.refused, "no"), two = GatewayError(.refused, "not now")
        #expect(one == two && one.hashValue == two.hashValue && "\(one)" == "no")
        #expect(one != GatewayError(.failed, "no") && !one.isCancelled && GatewayError.cancelled.isCancelled)
    }
}

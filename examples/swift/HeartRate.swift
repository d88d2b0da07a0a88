// SPDX-License-Identifier: MIT
// A heart rate sensor of our own: it advertises, and notifies the centrals that subscribe, ten times. With the argument
// `watch`: a central that prints ten values of the first such sensor in range.
import Tendon

@main
struct HeartRate {
    static func main() async throws {
        if CommandLine.arguments.dropFirst() == ["watch"] { try await watch() } else { try await serve() }
    }

    static func serve() async throws {
        let rate = LocalCharacteristic("2a37", properties: .notify)
        let location = LocalCharacteristic("2a38", properties: .read, value: [1])
        let control = LocalCharacteristic(
            "2a39", properties: .write,
            onWrite: { central, request throws(AttributeError) in
                guard request.value == [1] else { throw AttributeError(rawValue: 0x80) }
                print(central.address, "resets")
            })
        let sensor = try await LocalPeripheral(
            name: "Tendon heart rate", appearance: 0x0341, services: [LocalService("180d", [rate, location, control])])
        let events = sensor.events()
        try await sensor.start()
        print(sensor.address, "advertises a heart rate sensor")
        for try await event in events {
            if case .connected(let central) = event { print(central.address, "is connected") }
            if case .subscribed = event { break }
        }
        for beats in 72..<82 as Range<UInt8> {
            let full = try await sensor.notify([0, beats], for: rate)
            print("\(beats) per minute", full.isEmpty ? "" : "not to \(full)")
            try await Task.sleep(for: .milliseconds(200))
        }
        await sensor.stop()
    }

    static func watch() async throws {
        let central = try await Central.shared
        for try await found in try await central.scan(services: [0x180D]) {
            let sensor = try await central.connect(found.address)
            let location = try await sensor.read(sensor.characteristic(0x2A38, in: 0x180D))
            print("location", location.first ?? 0)
            try await sensor.write([1], to: sensor.characteristic(0x2A39, in: 0x180D))
            let rate = try await sensor.characteristic(0x2A37, in: 0x180D)
            var left = 10
            for try await value in try await sensor.notifications(of: rate) where value.count > 1 {
                print("\(value[1]) per minute")
                left -= 1
                if left == 0 { return }
            }
        }
    }
}

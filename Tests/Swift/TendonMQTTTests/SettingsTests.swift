// SPDX-License-Identifier: MIT
// The settings, the topics, and the state of a device: what needs no broker.
import Foundation
import Testing
import TendonOutputs
import TendonSupport
import TestSupport

@testable import TendonMQTT

@Suite struct PasswordOnTheWayTests {
    @Test(arguments: [
        ("mqtt://broker", true), ("mqtt://192.168.0.2", true), ("mqtt://[fe80::1]", true), ("mqtts://broker", false),
        ("mqtt://localhost", false), ("mqtt://127.0.0.1:1884", false), ("mqtt://[::1]", false),
    ])
    func itIsReadable(url: String, isShown: Bool) throws {
        var settings = try MQTTSettings(url: url)
        #expect(!settings.showsPassword, "there is none")
        settings.passwordFile = "/a"
        #expect(settings.showsPassword == isShown)
    }
}

@Suite struct SettingsTests {
    @Test(arguments: [
        ("mqtt://a", "a", 1883, false), ("mqtts://a.b.c", "a.b.c", 8883, true), ("mqtt://a:7", "a", 7, false),
        ("mqtts://[::1]:99", "::1", 99, true), ("mqtt://[fe80::1]", "fe80::1", 1883, false),
    ])
    func anAddressOfABroker(url: String, host: String, port: Int, usesTLS: Bool) throws {
        let settings = try MQTTSettings(url: url)
        #expect((settings.host, Int(settings.port), settings.usesTLS) == (host, port, usesTLS))
    }

    @Test(arguments: [
        "", "a", "http://a", "mqtt://", "mqtt://:1", "mqtt://a:", "mqtt://a:0", "mqtt://a:65536", "mqtt://a:x",
        "mqtt://[::1", "mqtt://[::1]x", "mqtt://a/b", "mqtt://a b", "mqtt://user:password@a",
    ])
    func aWrongAddressOfABroker(url: String) {
        let reason =
            url.contains("@")
            ? "a password in the address is visible to every user: use --mqtt-user and --mqtt-password-file"
            : "'\(url)' is not mqtt://HOST[:PORT] or mqtts://HOST[:PORT]"
        #expect(refusal { () throws(MQTTError) in _ = try MQTTSettings(url: url) } == reason)
    }

    /// What people are told; nil: nothing was refused.
    private func refusal(_ body: () throws(MQTTError) -> Void) -> String? {
        do throws(MQTTError) {
            try body()
            return nil
        } catch {
            return error.text
        }
    }

    private func refusal(_ change: (inout MQTTSettings) -> Void) -> String? {
        let settings = settings(change)
        return refusal { () throws(MQTTError) in try settings.check() }
    }

    private func settings(_ change: (inout MQTTSettings) -> Void) -> MQTTSettings {
        var settings = MQTTSettings()
        (settings.host, settings.gateway) = ("a", "gw")
        change(&settings)
        return settings
    }

    /// A stream that is faster than ten messages per second must not wait for the thread's next turn.
    @Test(arguments: [
        (MQTTSettings.Streams.none, 1000, 0, 100), (.all, 10, 0, 100), (.all, 5, 0, 100), (.all, 50, 0, 20),
        (.all, 1000, 0, 1),
        (.these(["force"]), 1000, 0, 1), (.all, 1000, 40, 40), (.all, 1000, 500, 100),
    ])
    func theThreadIsAsFastAsTheStream(streams: MQTTSettings.Streams, rate: Double, batch: Int, milliseconds: UInt64) {
        let settings = settings { ($0.streams, $0.streamRate, $0.streamBatch) = (streams, rate, batch) }
        #expect(settings.leisure == milliseconds)
    }

    @Test func whatDoesNotFitTogetherIsRefused() throws {
        #expect(refusal { (_: inout MQTTSettings) in } == nil)
        #expect(refusal { $0.base = "house/wearables" } == nil)
        let levels = "has a level that is empty, longer than 64 bytes, or has +, # or control characters"
        for wrong in ["", "a//b", "/a", "a/", "a/#", "+", "a\nb"] {
            #expect(refusal { $0.base = wrong } == "the base topic '\(sanitized(wrong))' \(levels)")
            #expect(refusal { $0.discovery = wrong } == "the topic of the discovery '\(sanitized(wrong))' \(levels)")
        }
        for wrong in ["", "a/b", "#", String(repeating: "a", count: 65)] {
            #expect(
                refusal { $0.gateway = wrong }
                    == "the name of the gateway '\(wrong)' is empty, longer than 64 bytes, or has /, +, # or control characters"
            )
        }
        #expect(
            refusal { $0.caFile = "/dev/null" } == "certificates are for mqtts://, and the broker is mqtt://")
        #expect(refusal { $0.passwordFile = "/dev/null" } == "a password needs a user")
        #expect(
            refusal { ($0.usesTLS, $0.certificateFile) = (true, "/dev/null") }
                == "a client certificate needs its key, and a key its certificate")
        let missing = missingPath()
        #expect(
            refusal { ($0.usesTLS, $0.caFile) = (true, missing) } == "\(missing): No such file or directory")
    }

    @Test(arguments: [
        (0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o610, false), (0o602, false),
    ])
    func aSecretIsReadableByItsOwnerOnly(rights: Int, isTaken: Bool) throws {
        let path = NSTemporaryDirectory() + "tendon-secret-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        FileManager.default.createFile(
            atPath: path, contents: Data("word \r\nsecond".utf8), attributes: [.posixPermissions: rights])
        let settings = settings { ($0.user, $0.passwordFile) = ("me", path) }
        if isTaken {
            #expect(try settings.password() == Array("word ".utf8))
        } else {
            #expect(
                refusal { () throws(MQTTError) in _ = try settings.password() }
                    == "\(path): other users can read this file: chmod 600 it, and change what is in it")
        }
    }

    @Test func aSecretThatIsNoFileIsRefused() {
        let missing = missingPath()
        for (path, reason) in [
            ("/dev/null", "not a file"), ("/tmp", "not a file"), (missing, "No such file or directory"),
        ] {
            let settings = settings { ($0.user, $0.passwordFile) = ("me", path) }
            #expect(refusal { () throws(MQTTError) in _ = try settings.password() } == "\(path): \(reason)")
        }
    }
}

@Suite struct TopicTests {
    private let topics = Topics(base: "a/b", gateway: "gw")

    @Test func whatComesIn() {
        #expect(topics.incoming("a/b/belt/set") == .set("belt"))
        #expect(topics.incoming("a/b/C0:01/get") == .get("C0:01"))
        #expect(topics.incoming("a/b/bridge/gw/request/health") == .request("health"))
        for topic in [
            "", "a/b", "a/b/set", "a/b//set", "a/b/bridge/set", "a/b/x/y/set", "a/b/belt/state", "a/bb/belt/set",
            "a/b/bridge/other/request/x", "a/b/bridge/gw/request/", "a/b/bridge/gw/request/x/y",
        ] {
            #expect(topics.incoming(topic) == nil, "\(topic)")
        }
    }

    @Test func names() {
        for name in ["belt", "grip one", "C0:01", "Gürtel", String(repeating: "x", count: 64)] {
            #expect(Topics.isName(name))
        }
        for name in [
            "", "a/b", "a+", "#", "bridge", "rule", "$SYS", "a\u{0}", "a\n", String(repeating: "x", count: 65), "  ",
            "a\u{7F}", "a\u{85}", "a\u{FFFE}", "\u{1FFFF}",
        ] {
            #expect(!Topics.isName(name), "\(name)")
        }
    }
}

@Suite struct DeviceTests {
    private func device() -> Device {
        Device(OutputDevice(family: "activ5", address: "C0:01", addressType: "random"), name: "C0:01")
    }

    private func bytes(_ text: String) -> ArraySlice<UInt8> { Array((text + "\n").utf8)[...] }

    @Test func theStateIsWhatEventsAndSamplesSaidLast() {
        var device = device()
        device.take(
            "connected",
            bytes(
                #"{"time":"1","event":"connected","family":"activ5","address":"C0:01","firmware":"1.0","serial":null}"#)
        )
        device.take("squeeze", bytes(#"{"time":"2","event":"squeeze","state":"squeezed"}"#))
        device.take("battery", bytes(#"{"time":"3","event":"battery","battery_percent":70}"#))
        device.take(
            sample: bytes(#"{"time":"4","event":"sample","sensor":"force","device_time_ms":9,"force_n":1}"#),
            of: "force")
        device.take(
            sample: bytes(#"{"time":"5","event":"sample","sensor":"force","device_time_ms":9,"force_n":2}"#),
            of: "force")
        #expect(device.hasSamples && device.isChanged)
        let expected: JSON = [
            "time": "5", "firmware": "1.0", "squeeze": "squeezed", "battery_percent": 70, "force": ["force_n": 2],
        ]
        #expect(device.completeState() == expected)
        #expect(!device.hasSamples && !device.isChanged)
        device.take("feature", bytes(#"{"time":"6","event":"feature","feature":3,"state":"activated","toggle":"on"}"#))
        #expect(device.completeState()["features"] == ["3": ["state": "activated", "toggle": "on"]])
    }

    @Test func theStateOfAnUpgrade() {
        var device = device()
        func take(_ event: String, _ members: String) {
            device.take(event, bytes(#"{"time":"1","event":"\#(event)",\#(members)}"#))
        }
        take("connected", #""firmware":"1.3.0","battery_percent":80"#)
        take("firmware_check", #""firmware":"1.3.0","available":"1.4.0","text":"new""#)
        take("update", #""step":"firmware","status":"PREPARING""#)
        take("progress", #""what":"transfer","percent":40,"bytes":4,"total_bytes":10"#)
        let progress: JSON = ["what": "transfer", "percent": 40, "bytes": 4, "total_bytes": 10]
        var expected: JSON = [
            "time": "1", "firmware": "1.3.0", "battery_percent": 80, "available": "1.4.0",
            "update": ["step": "firmware", "status": "PREPARING"], "progress": progress,
        ]
        #expect(device.completeState() == expected)
        // A step ends the transfer before it, and null is what there is none of.
        take("update", #""step":"firmware","status":"SUCCESS""#)
        take("firmware_check", #""firmware":"1.4.0","available":null"#)
        expected = [
            "time": "1", "firmware": "1.4.0", "battery_percent": 80,
            "update": ["step": "firmware", "status": "SUCCESS"],
        ]
        #expect(device.completeState() == expected)
        // What a device does not report when it connects stays as it was known.
        take("connected", #""firmware":"1.4.0","battery_percent":null"#)
        #expect(device.completeState()["battery_percent"] == 80)
    }

    @Test func samplesAloneAreNoChangeOfTheState() {
        var device = device()
        #expect(!device.hasSamples && !device.isChanged)
        for sensor in 0..<33 { device.take(sample: bytes(#"{"time":"1","n":\#(sensor)}"#), of: "s\(sensor)") }
        #expect(device.hasSamples && !device.isChanged)
        let state = device.completeState()
        #expect(state["s31"] == ["n": 31] && state["s32"] == nil)  // so many sensors are kept
        #expect(!device.hasSamples)
        device.take("connected", bytes("no JSON"))
        #expect(!device.isChanged)
    }

    @Test func theSensorOfALine() {
        #expect(DeviceState.sensor(of: bytes(#"{"event":"sample","sensor":"force","force_n":1}"#)) == "force")
        #expect(DeviceState.sensor(of: bytes(#"{"event":"sample","force_n":1}"#)) == nil)
        #expect(DeviceState.sensor(of: bytes(#"{"sensor":"x"#)) == nil)
        #expect(DeviceState.sensor(of: []) == nil)
    }

    @Test func aNoteReadsBack() {
        var device = device()
        device.name = "left"
        #expect(Device(note: device.note.text)?.name == "left")
        #expect(Device(note: device.note.text)?.device == device.device)
        for note in ["", "{}", #"{"family":"a","address":"b","address_type":"c","topic":"bridge"}"#] {
            #expect(Device(note: note) == nil)
        }
    }
}

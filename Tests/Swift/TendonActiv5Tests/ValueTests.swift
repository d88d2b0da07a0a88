// SPDX-License-Identifier: MIT
import Tendon
import TendonActiv5
import Testing

/// Numbers of docs/protocols/activ5.md.
struct ValueTests {
    private func near(_ a: Double, _ b: Double, _ tolerance: Double = 1e-9) -> Bool {
        abs(a - b) <= tolerance * max(abs(b), 1e-12)
    }

    @Test func texts() {
        func parsed(_ text: String?) -> (MessageType, String) {
            let (type, value) = MessageParser.parseLegacyMessage(text)
            return (type, value.map { "\($0)" } ?? "nil")
        }
        #expect(parsed(nil) == (.unknown, "nil"))
        #expect(parsed("TC5k;1.00;04;BATOK") == (.initialMessage, "1.00"))
        #expect(parsed("\u{12}TC5k;1.00;04;BATOK\u{13}") == (.initialMessage, "1.00"))
        #expect(parsed("ASN1A5-123") == (.sn1, "A5-123"))
        #expect(parsed("Ai00112233") == (.uuid1, "00112233"))
        #expect(parsed("AI445566\0") == (.uuid2, "445566"))
        #expect(parsed("Hi there") == (.uuid1, " there"))
        #expect(parsed("hello") == (.unknown, "nil"))
        #expect(parsed("ISx/IS") == (.unknown, "nil"))
        let newtons = MessageParser.parseLegacyMessage("IS9/IS").value as? Double
        #expect(near(newtons ?? 0, 9.77627372697))
    }

    @Test func types() {
        #expect(MessageType(from: "TC5k;1.00") == .initialMessage)
        #expect(MessageType(from: "IS20/IS") == .isometric)
        #expect(MessageType(from: "Ai0011") == .uuid1)
        #expect(MessageType(from: "AI0011") == .uuid2)
        #expect(MessageType(from: "ASN1x") == .sn1)
        #expect(MessageType(from: "ASN2x") == .sn2)
        #expect(MessageType(from: "") == .unknown)
        #expect(MessageType.allCases.count == 11)
        #expect(A5Command.allCases.map(\.rawValue).contains("TVGTIME"))
        #expect(A5Command(rawValue: "ISOM!") == .startIsometric && A5Command(rawValue: "no") == nil)
        #expect(
            A5Command.allCases.map(\.rawValue).sorted() == [
                "2A19", "2A25", "ID1!", "ID2!", "ISOM!", "SN1!", "SN2!", "STOP!", "TARE!", "TVGTIME",
            ])
    }

    @Test func binary() throws {
        #expect(MessageParser.parseValue(data: [0x00, 0xFF]) == -256)
        #expect(MessageParser.parseValue(data: [0x2C]) == 0)
        func parse(_ uuid: BluetoothUUID, _ bytes: [UInt8]?) -> (type: MessageType, value: Any?) {
            MessageParser.parseMessage(characteristic: A5Characteristic(uuid: uuid, value: bytes))
        }
        #expect(near(try #require(parse("f0fe", [0x2C, 0x01]).value as? Double), 81.468947727))
        let timestamp = parse("f0f3", [0x26, 0x00, 0x01, 0x00])
        #expect(timestamp.type == .timestamp)
        #expect(near(try #require(timestamp.value as? Double), 65574 * 30.5 / 1_000_000 / 2))
        #expect(parse("f0fe", [0x2C]).type == .unknown)
        #expect(parse("2a19", [0x4B]).value as? UInt64 == 75)
        #expect(parse("2a19", nil).type == .unknown)
        #expect(parse("f0f8", [0x63, 0x64, 0, 0]).value as? String == "cd")
        #expect(parse("2a25", [0x58, 0x31]).value as? String == "X1")
        #expect(parse("5a01", Array("\u{12}IS9/IS\u{13}01;04;BATOK\u{13}".utf8)).type == .isometric)
        #expect(parse("5a02", [0x41]).type == .unknown)
        let frame: [UInt8] = [
            0xFF, 0x0F, 0xFE, 0x1F, 0xFF, 0x07, 0xFF, 0x0F, 0xFE, 0x1F, 0xFF, 0x07, 0x92, 0x09, 0x09, 0x07,
        ]
        let motion = try #require(parse("f0f5", frame).value as? IMUObject)
        #expect(motion == MessageParser.parseIMUValue(data: frame))
        #expect(motion.accelerationX == 1 && motion.accelerationY == 2)
        #expect(near(motion.accelerationZ, 0.4998778998779))
        #expect(near(motion.gyroX, 4.363323129985823))
        #expect(near(motion.timestamp, 1799.9999865))
        #expect(near(motion.scaledValue.gyroZ, 2.181128802705978 * 1.15))
        #expect(
            MessageParser.parseIMUValue(data: [])
                == IMUObject(
                    accelerationX: 0, accelerationY: 0, accelerationZ: 0, gyroX: 0, gyroY: 0, gyroZ: 0, timestamp: 0))
    }

    @Test func conversions() {
        #expect(4095.toGForce == 1)
        #expect(near(100.toRadPerSec, 100 * (250.0 / 4095) * .pi / 180))
        #expect(100.toRadPerSec.fromRadPerSec == 99, "truncation")
        #expect(near(1_000_000.toSec, 15.25))
        #expect(0.5.fromGForce == 2047)
        #expect(15.25.fromSec == 1_000_000)
        #expect(Double.nan.fromGForce == 0)
        #expect(Double.infinity.fromSec == Int.max)
        #expect(near(300.0.toNewtons, 81.468947727))
        #expect(near(20.0.toNewtonsLegacy, 21.7250527266))
        #expect(abs(100.0.toLBF - 6.10498) < 1e-4)
        #expect(abs(100.0.toLBFLegacy - 24.41993) < 1e-4)
        #expect(A5Force(newtons: 12.5, time: 0).rounded == 13)
    }

    /// Each of these ended the process.
    @Test @TendonActor func numbersBeyondTheirRange() {
        for (newtons, rounded) in [(1e300, Int.max), (-1e300, .min), (.infinity, .max), (-.infinity, .min), (.nan, 0)] {
            #expect(A5Force(newtons: newtons, time: 0).rounded == rounded)
        }
        let manager = A5DeviceManager(radio: .virtual(directory: "/proc/nowhere"))
        for seconds in [Double.infinity, -.infinity, .nan, .greatestFiniteMagnitude, -1, 0, 1e-300] {
            manager.options.searchTimeout = seconds
            manager.scanForDevices()
            #expect(!manager.isScanning)
        }
    }

    @Test @TendonActor func errorsSayWhatHappened() {
        let device = A5Device(
            device: A5Device.Handle(name: "a", address: Address(0xD0FF_FFFF_FFFD, type: .random)))
        for count in [0, 19] {
            #expect(throws: A5Error.invalidArgument("message: 1 to 18 bytes, not \(count)")) {
                try device.sendMessage(message: String(repeating: "x", count: count)).get()
            }
        }
        #expect(A5Error.range.description.hasPrefix("sampleRate: "))
        #expect(A5Error.imuUnsupported.localizedDescription == "the device has no motion sensor")
        #expect("\(A5Error.notReady)" == A5Error.notReady.text)
        let timeout = A5Error.host(TendonError(status: -10, operation: .connect))
        #expect("\(timeout)" == "connect: the deadline passed")
        let errors: [A5Error] = [
            .cancelled, .imuUnsupported, .batteryLevelNotReadable, .notReady, .unsupported, .range,
            .malformed(TendonError(status: -9 * 256 - 3, operation: .parse)),
        ]
        #expect(Set(errors.map(\.text)).count == errors.count)
    }

    @Test @TendonActor func doubleSqueezeHelper() {
        DoubleSqueezeHelper.reset()
        DoubleSqueezeHelper.squeezeThreshold = .base
        var calls: [String] = []
        func force(_ newtons: Double, _ time: UInt64) {
            DoubleSqueezeHelper.evaluateDoublePress(
                force: newtons, at: time, onPressed: { calls.append("pressed") },
                onDepressed: { calls.append("depressed") }, onSuccess: { calls.append("success") })
        }
        let start: UInt64 = 1 << 40
        #expect(DoubleSqueezeHelper.resetTimer == nil)
        force(20, start)
        #expect(calls.isEmpty)
        force(22, start)
        force(23, start + 50)
        #expect(calls == ["pressed", "pressed"], "for every force above the limit")
        #expect(DoubleSqueezeHelper.doublePressState == .firstPressed)
        #expect(DoubleSqueezeHelper.resetTimer == start + 5050)
        force(5, start + 100)
        force(3, start + 150)
        force(24, start + 700)
        #expect(DoubleSqueezeHelper.doublePressState == .secondPressed)
        force(4, start + 900)
        #expect(calls == ["pressed", "pressed", "depressed", "pressed", "depressed", "success"])
        #expect(DoubleSqueezeHelper.doublePressState == .initial)
        #expect(DoubleSqueezeHelper.resetTimer == nil)
        force(.nan, start + 1000)
        #expect(calls.count == 6)
        DoubleSqueezeHelper.squeezeThreshold = SqueezeThreshold(pressed: 50, depressed: 10)
        defer { DoubleSqueezeHelper.squeezeThreshold = .base }
        force(49, start + 2000)
        #expect(calls.count == 6, "the limits are the program's")
        force(51, start + 2100)
        force(9.9, start + 2200)
        #expect(Array(calls.dropFirst(6)) == ["pressed", "depressed"], "less than 10 N, not than 5 N")
        DoubleSqueezeHelper.reset()
    }
}

// SPDX-License-Identifier: MIT
// Destinations and listeners as people write them.
import CTendon
import Testing

@testable import TendonOSC

@Suite struct SettingsTests {
    @Test(arguments: [
        ("127.0.0.1:7000/iem", "127.0.0.1", 7000, "iem"), ("[::1]:4242/opentrack", "::1", 4242, "opentrack"),
        ("studio.local:9000", "studio.local", 9000, "raw"), ("[fe80::1%eth0]:9000/adm", "fe80::1%eth0", 9000, "adm"),
    ]) func destinations(text: String, host: String, port: UInt16, preset: String) throws {
        let destination = try OSCDestination(text)
        #expect(destination.endpoint.host == host)
        #expect(destination.endpoint.port == port)
        #expect(destination.preset == preset)
        #expect(destination.device == nil)
        #expect(text.hasPrefix(destination.endpoint.text))
    }

    @Test func aDeviceMayFollow() throws {
        #expect(try OSCDestination("127.0.0.1:7000/iem/AA:BB:CC:DD:EE:FF").device == "AA:BB:CC:DD:EE:FF")
        #expect(try OSCDestination("127.0.0.1:7000/raw/a/b").device == "a/b")
    }

    @Test(arguments: [
        "", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0/iem", "127.0.0.1:65536", "::1:9000", "[127.0.0.1]:9000",
        "[::1:9000",
        ":9000", "127.0.0.1:9000/", "127.0.0.1:9000/iem/", "a b:9000", "127.0.0.1:9000/iam", "127.0.0.1:9000/custom",
        "127.0.0.1:9000/IEM",
    ]) func wrongDestinations(text: String) {
        #expect(throws: OSCError.self) { try OSCDestination(text) }
    }

    @Test(arguments: ["127.0.0.1:9000/", "[::1]:9000/iem/", "127.0.0.1:9000/custom/"])
    func nothingBehindASlash(text: String) {
        let error = #expect(throws: OSCError.self) { try OSCDestination(text) }
        #expect(error?.text.contains("has nothing behind its last /") == true, "\(error?.text ?? "")")
    }

    @Test func customHasItsAddressAndMap() throws {
        let destination = try OSCDestination("127.0.0.1:9000/custom", custom: ("/head", "scene:-yaw,w"))
        #expect(destination.address == "/head")
        #expect(destination.map.count == 2)
        #expect(destination.map.is_inverse)
        for (address, map) in [("head", "yaw"), ("/he ad", "yaw"), ("/head", "yaw,"), ("/", "1"), ("/a\u{0}b", "yaw")] {
            #expect(throws: OSCError.self) {
                try OSCDestination("127.0.0.1:9000/custom", custom: (address, map))
            }
        }
    }

    @Test func listeners() throws {
        #expect(try OSCListener("9001").endpoint.text == "127.0.0.1:9001")
        #expect(try OSCListener("9001").isLoopback)
        #expect(try OSCListener("[::1]:9001").isLoopback)
        #expect(try !OSCListener("0.0.0.0:9001").isLoopback)
        #expect(try !OSCListener("[::]:9001").isLoopback)
        for text in ["", "0", "65536", "localhost:9001", "127.0.0.1", "-1", "9001/iem"] {
            #expect(throws: OSCError.self) { try OSCListener(text) }
        }
    }
}

// SPDX-License-Identifier: MIT
import CTendon
import Testing

@testable import TendonCommand

#if BlueZ || KernelSockets
    struct DoctorTests {
        /// Bits 8 and 11 of LE_Features (Core Spec Vol 6 Part B 4.6).
        @Test(arguments: [
            (UInt64(0), #"["1m"]"#, "PHYs: LE 1M"), (0x100, #"["1m","2m"]"#, "PHYs: LE 1M, LE 2M"),
            (0x800, #"["1m","coded"]"#, "PHYs: LE 1M, LE Coded"),
            (0xFFFF_FFFF, #"["1m","2m","coded"]"#, "PHYs: LE 1M, LE 2M, LE Coded"),
        ])
        func thePHYsOfAController(_ features: UInt64, _ json: String, _ line: String) {
            var c = tendon_bluez_limits()
            c.features = features
            let limits = ControllerLimits(c)
            #expect(limits.json["phys"]?.text == json)
            #expect(limits.lines.last == line)
        }
    }
#endif

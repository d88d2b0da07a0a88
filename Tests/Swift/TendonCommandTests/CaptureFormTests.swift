// SPDX-License-Identifier: MIT
import Testing

@testable import TendonCommand

/// Captures of other programs, by their first bytes.
@Suite struct CaptureFormTests {
    /// A record of PacketLogger: length, seconds, microseconds, type.
    private func record(_ length: [UInt8], microseconds: [UInt8] = [0, 0, 0, 5], type: UInt8 = 1) -> [UInt8] {
        length + [0x65, 0x53, 0xF1, 0] + microseconds + [type, 0x3E, 0x0F]
    }

    @Test func forms() {
        #expect(CaptureForm([0xD4, 0xC3, 0xB2, 0xA1, 2, 0]) == .pcap)
        #expect(CaptureForm([0xA1, 0xB2, 0x3C, 0x4D, 0, 2]) == .pcap)
        #expect(CaptureForm([0x0A, 0x0D, 0x0D, 0x0A, 0x1C]) == .pcapng)
        #expect(CaptureForm([0x1F, 0x8B, 8, 0]) == .gzip)
        #expect(CaptureForm(record([0, 0, 0, 26])) == .packetLogger)
        #expect(CaptureForm(record([26, 0, 0, 0], microseconds: [5, 0, 0, 0], type: 0xFB)) == .packetLogger)
    }

    @Test func others() {
        #expect(CaptureForm([]) == nil)
        #expect(CaptureForm(Array("btsnoop".utf8)) == nil)
        #expect(CaptureForm(record([0, 0, 0, 8])) == nil, "shorter than its own header")
        #expect(CaptureForm(record([0, 1, 0, 26])) == nil, "longer than a packet")
        #expect(CaptureForm(record([0, 0, 0, 26], microseconds: [0, 0x0F, 0x42, 0x40])) == nil, "a whole second")
        #expect(CaptureForm(record([0, 0, 0, 26], type: 5)) == nil)
        #expect(CaptureForm(Array(record([0, 0, 0, 26]).prefix(12))) == nil)
    }

    @Test func commands() {
        #expect(
            CaptureForm.pcapng.conversion(of: "a b.pcapng")
                == "tshark -F btsnoop -r 'a b.pcapng' -w 'a b.pcapng.btsnoop'")
        #expect(CaptureForm.gzip.conversion(of: "x.gz") == "zcat x.gz | tendon replay -")
        #expect(CaptureForm.pcap.conversion(of: "-") == "tshark -F btsnoop -r FILE -w FILE.btsnoop")
    }
}

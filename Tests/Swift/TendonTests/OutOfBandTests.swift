// SPDX-License-Identifier: MIT
import Glibc
import TestSupport
import Testing

@testable import Tendon

/// Data of pairing out of band. The pairing itself is in Tests/Kernel/cases/27-out-of-band.sh.
@Suite(.timeLimit(.minutes(1)))
struct OutOfBandTests {
    /// Core Specification Supplement, Part A: address 0x1B, role 0x1C, confirmation value 0x22, random value 0x23.
    private static let digits =
        "081b0504030201c001021c001122000102030405060708090a0b0c0d0e0f1123f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"

    @Test func digitsAreDecoded() throws {
        let data = try #require(OutOfBandData(" " + Self.digits.uppercased() + "\n"))
        #expect(data.address == Address("C0:01:02:03:04:05/random"))
        #expect(data.role == .peripheral)
        #expect(data.description == Self.digits)
        #expect(data.bytes.count == 48 && data.bytes.prefix(3) == [0x08, 0x1B, 0x05])
        #expect(try OutOfBandData(bytes: data.bytes) == data)
        #expect(Set([data, try OutOfBandData(bytes: data.bytes)]).count == 1)
    }

    @Test(arguments: [
        ("", OutOfBandData.Role.unknown), ("021c01", .central), ("021c02", .both), ("021c03", .both),
        ("021c04", .unknown),
    ])
    func roles(role: String, meaning: OutOfBandData.Role) {
        let digits = "081b0504030201c000" + role + Self.digits.suffix(72)
        #expect(OutOfBandData(digits)?.role == meaning)
    }

    @Test(arguments: ["", "08", "zz", String(digits.dropLast(2)), digits + "0", digits + digits])
    func otherTexts(text: String) {
        #expect(OutOfBandData(text) == nil)
    }

    @Test func bytesThatAreNone() {
        #expect(throws: TendonError.self) { try OutOfBandData(bytes: []) }
        let legacy: [UInt8] = [0x08, 0x1B, 5, 4, 3, 2, 1, 0xC0, 1, 0x11, 0x10] + [UInt8](repeating: 7, count: 16)
        do throws(TendonError) {
            _ = try OutOfBandData(bytes: legacy)
            Issue.record("LE Legacy Pairing is not supported")
        } catch {
            #expect(error.name == "ERROR_UNSUPPORTED")
        }
    }

    @Test func aFileHasALineForEachDevice() throws {
        let directory = RadioDirectory()
        let path = directory.path + "-data"
        defer { unlink(path) }
        func write(_ text: String, _ mode: mode_t) throws {
            let file = try #require(fopen(path, "w"))
            fputs(text, file)
            fclose(file)
            chmod(path, mode)
        }
        try write("# belts\n\(Self.digits) # left\n\n\(Self.digits)\n", 0o600)
        #expect(try OutOfBandData.contents(of: path).map(\.description) == [Self.digits, Self.digits])
        try write("", 0o600)
        #expect(try OutOfBandData.contents(of: path).isEmpty)
        try write(Self.digits, 0o644)
        func refusal(_ path: String) -> String? {
            #expect(throws: TendonError.self) { try OutOfBandData.contents(of: path) }?.name
        }
        #expect(refusal(path) == "ERROR_FILE_PERMISSION")
        #expect(refusal(path + "-missing") == "ERROR_NOT_FOUND")
    }

    @Test func theVirtualRadioHasNone() async throws {
        let shown = Asked()
        let pair = try await Pair(
            PairingAgent(inputOutput: .displayOnly, requiresAuthentication: false) { _, question in
                shown.note(question)
                return .accept
            })
        defer { pair.removeFiles() }
        let data = try #require(OutOfBandData(Self.digits))
        for agent in [PairingAgent.outOfBand([data]), .outOfBand([])] {
            do throws(TendonError) {
                try await pair.central.setPairingAgent(agent)
                Issue.record("the virtual radio has no Out of Band")
            } catch {
                #expect(error.name == "ERROR_UNSUPPORTED")
            }
        }
        do throws(TendonError) {
            _ = try await pair.central.makeOutOfBandData()
            Issue.record("the virtual radio has no Out of Band")
        } catch {
            #expect(error.name == "ERROR_UNSUPPORTED")
        }
        // The agent of before is there: it accepts Just Works.
        let peripheral = try await pair.central.connect(pair.wearable.address)
        try await peripheral.pair()
        #expect(await peripheral.isEncrypted)
        await peripheral.disconnect()
    }
}

// SPDX-License-Identifier: MIT
import CTendon
import Foundation
import Tendon
import TestSupport
import Testing

@testable import TendonFjorden

/// Texts in C arrays and in files, and what a grip is when the program is asked about it.
@Suite(.timeLimit(.minutes(1))) struct TextTests {
    typealias Four = (CChar, CChar, CChar, CChar)

    /// With its end, cut between characters.
    @Test(arguments: [("", ""), ("abc", "abc"), ("abcd", "abc"), ("abcdefgh", "abc"), ("äö", "ä"), ("aä€", "aä")])
    func aTextInAnArray(given: String, kept: String) {
        var array: Four = (0x78, 0x78, 0x78, 0x78)
        write(given, to: &array)
        #expect(text(in: array) == kept)
        #expect(array.3 == 0)
    }

    @Test func versionsThatDifferHaveDifferentHashes() {
        let texts = ["1.2.3", "2.2.3", "1.3.3", "1.2.4"]
        #expect(Set(texts.map { FirmwareVersion(string: $0)?.hashValue }).count == 4)
    }

    /// A file that cannot be replaced leaves nothing beside it, and stays what it was.
    @Test func aFileThatCannotBeReplaced() throws {
        func contents(of path: String) -> String? {
            (try? Tendon.contents(of: path, limit: 100)).map { String(decoding: $0, as: UTF8.self) }
        }
        let folder = NSTemporaryDirectory() + "tendon-fjorden-text-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder + "/file", withIntermediateDirectories: true)
        replace(folder + "/file", with: "text")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
        replace(folder + "/new/one", with: "text")
        #expect(contents(of: folder + "/new/one") == "text")
        replace(folder + "/new/one", with: "")
        #expect(contents(of: folder + "/new/one") == "")
        #expect(contents(of: folder + "/none") == nil)
        // The place of the new file cannot be opened.
        try FileManager.default.createDirectory(atPath: folder + "/two.new", withIntermediateDirectories: true)
        replace(folder + "/two", with: "text")
        #expect(contents(of: folder + "/two") == nil)
    }

    @Test(arguments: [
        (Int32(TENDON_RADIO_ERROR_NO_CAP_NET_RAW), true), (Int32(TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN), true),
        (Int32(TENDON_ERROR_FILE_PERMISSION), true), (Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN), false),
        (Int32(TENDON_ERROR_MALFORMED), false),
    ])
    func whatIsAQuestionOfPermission(status: Int32, isPermission: Bool) {
        #expect(TendonError(status: status, operation: .openRadio).isPermission == isPermission)
    }

    /// Who is asked before pairing sees the grip as the list had it.
    @Test @TendonActor func thePromptShowsTheGrip() async throws {
        var shown: [ConnectableGrip] = []
        let (manager, simulator) = try simulated {
            $0.pairingPrompt = { grip in
                await TendonActor.run { shown.append(grip) }
                return true
            }
        }
        simulator.setRSSI(simulator.grip, -47)
        try await manager.start()
        for await grips in try manager.searchForGrips() {
            guard let grip = grips.first, !grip.name.isEmpty else { continue }
            #expect(grip.rssi == -47)
            _ = try await manager.connect(toGrip: grip)
            #expect(shown.map(\.id) == [grip.id] && shown.map(\.name) == [grip.name] && shown.map(\.rssi) == [-47])
            break
        }
    }
}

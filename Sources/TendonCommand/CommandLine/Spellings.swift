// SPDX-License-Identifier: MIT
// Words that people try: other spellings of options and commands, and what other programs call the same.
import TendonSupport

enum Spellings {
    /// Taken for the option itself in every command that has it.
    static let accepted = ["-h": "--help", "-v": "--version", "--family": "--families"]

    /// What a word may mean that a command does not have: the first of these options that it has.
    private static let options: [String: [String]] = {
        let groups: [(words: String, meant: [String])] = [
            ("--for --timeout --time --duration --seconds --wait -t", ["--for", "--timeout"]),
            ("--device --mac --addr --id --name --target -a -d", ["--address"]),
            ("--interface --hci --controller --dongle -i", ["--adapter"]),
            ("--virtual --simulated --simulate", ["--radio virtual"]),
            ("--filter --type --kind --only --families --family", ["--families", "--name"]),
            ("--verbose --debug --quiet -q", ["--log-level"]),
            ("--format --output-format -j", ["--json"]),
            ("--conf --config-file --configuration --settings -c", ["--config"]),
            ("--broker --mqtt-broker --mqtt-host --mqtt-url --host", ["--mqtt"]),
            ("--http --web-port --port --listen", ["--web"]),
            ("--mqtt-password", ["--mqtt-password-file"]),
            ("--pin --code --key", ["--passkey"]),
            ("--yes -y", ["--accept"]),
            ("--output --file --write --save --record -o -w", ["--capture"]),
            ("--force --overwrite", ["--replace"]),
            ("--number --limit --max -n", ["--count"]),
            ("--every", ["--duplicates"]),
            ("--once", ["--no-reconnect"]),
        ]
        var table: [String: [String]] = [:]
        for group in groups {
            for word in group.words.split(separator: " ") { table[String(word), default: []] += group.meant }
        }
        return table
    }()

    /// First words of commands.
    private static let commands: [String: String] = {
        let groups = [
            "scan": "list ls discover search find devices lescan",
            "run": "connect start listen monitor gateway serve daemon live",
            "forget": "unpair unbond remove delete",
            "doctor": "status check test diagnose adapters info",
            "capture": "record sniff dump log trace", "simulate": "sim fake emulate demo mock", "replay": "play",
            "--version": "version",
        ]
        var table: [String: String] = [:]
        for (command, words) in groups {
            for word in words.split(separator: " ") { table[String(word)] = command }
        }
        return table
    }()

    /// The option that is meant; nil: none that the command has.
    static func option(_ word: String, among known: Set<String>) -> String? {
        options[word]?.first { known.contains(String($0.prefix { $0 != " " })) && $0 != word }
    }

    /// The command that is meant by its first word: a common word for it, a name of its family, or a later word of it.
    static func command(_ word: String) -> String? {
        let word = word.lowercased()
        if let command = commands[word] { return command }
        if let family = try? familyName(word), allCommands.contains(where: { $0.words[0] == family }) { return family }
        let found = allCommands.filter { $0.words.dropFirst().contains(word) }
        return found.count == 1 ? found.first?.name : nil
    }
}

// SPDX-License-Identifier: MIT
// Help, man page and shell completions, all from the table of commands.
import TendonSupport

enum Help {
    static let tagline = "connects Bluetooth LE wearables to this machine"
    /// The same in all commands.
    static let lostDevice =
        "If a connection is lost, run, stream and 'fjorden watch' connect again. Every other command that works with one "
        + "device ends with status 1, and prints the reason on standard error."

    // MARK: Help texts

    static func overview(for output: Output) -> String {
        let columns = columns(of: output)
        var lines = wrap("tendon \(tagline)", columns)
        lines += [
            "", output.styled("Usage:", .bold) + " tendon COMMAND [OPTIONS]", "", output.styled("Commands:", .bold),
        ]
        // In a pipe each command is one line, for grep.
        lines += table(visibleCommands.map { ($0.name, $0.summary) }, output.isTerminal ? columns : .max)
        let (heading, place) = ("Common options", " (anywhere on the line; -- ends options):")
        lines += [
            "",
            output.styled(heading, .bold)
                + wrap(heading + place, columns).joined(separator: "\n").dropFirst(heading.count),
        ]
        lines += describe(Option.common, columns)
        lines += ["", output.styled("Exit status:", .bold)]
        lines += table(ExitStatus.all.map { ("\($0.rawValue)", $0.meaning) }, columns)
        lines += ["", output.styled("Lost devices:", .bold)] + wrap(lostDevice, columns - 2).map { "  " + $0 }
        lines += ["", output.styled("Try:", .bold)]
        lines += table(
            [
                ("tendon simulate bose --radio virtual &", "a device to play with"),
                ("tendon run --radio virtual --for 10", "decoded head motion"),
                ("tendon help COMMAND", "details and examples"),
            ], columns)
        return lines.joined(separator: "\n") + "\n"
    }

    static func text(of command: Command, for output: Output) -> String {
        let columns = columns(of: output)
        var lines = wrap("tendon \(command.name): \(command.summary)", output.isTerminal ? columns : .max) + [""]
        lines.append(output.styled("Usage:", .bold) + " tendon " + synopsis(command))
        for detail in command.details { lines += [""] + wrap(detail, columns) }
        for (title, options) in groups(of: command.options.filter { !$0.hidden }) {
            lines += ["", output.styled("\(title):", .bold)] + describe(options, columns)
        }
        lines += ["", output.styled("Common options:", .bold)] + describe(command.common, columns)
        lines += ["", output.styled("Examples:", .bold)]
        for example in command.examples {
            lines += ["  " + example.line] + wrap(example.does, columns - 6).map { "      " + $0 }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The options of a command under headings; a short list has one.
    private static func groups(of options: [Option]) -> [(title: String, options: [Option])] {
        guard options.count > 20 else { return options.isEmpty ? [] : [("Options", options)] }
        let pairing = Set((PairingPolicy.options + PairingChoice.options).map(\.name))
        let titles = options.map { pairing.contains($0.name) ? "Pairing" : title(of: $0) }
        return once(titles).map { title in
            (title, zip(options, titles).filter { $0.1 == title }.map(\.0))
        }
    }

    private static func title(of option: Option) -> String {
        if option.families.count == 1 { return "Family \(option.families[0])" }
        return switch option.setting?.section {
        case "mqtt": "MQTT broker"
        case "web": "Page"
        case "metrics": "Metrics"
        case "output": "Output"
        case "rules": "Rules"
        default: "Devices and connections"
        }
    }

    static func synopsis(_ command: Command) -> String {
        [command.name, command.operands, "[OPTIONS]"].filter { !$0.isEmpty }.joined(separator: " ")
    }

    private static func describe(_ options: [Option], _ columns: Int) -> [String] {
        table(options.map { ($0.title, $0.helpText) }, columns, widest: 28)
    }

    /// Two columns of text, the second one in lines; on a narrow terminal it stands below the first.
    /// - Parameter widest: a longer title has a line of its own.
    private static func table(
        _ rows: [(title: String, text: String)], _ columns: Int, widest: Int = .max
    ) -> [String] {
        let width = min(widest, (rows.map(\.title.count).max() ?? 0) + 2)
        let isNarrow = columns < width + 34
        let indent = isNarrow ? 6 : 2 + width
        var lines: [String] = []
        for (title, text) in rows {
            let text = wrap(text, columns - indent)
            let joins = !isNarrow && title.count + 1 < width
            lines.append("  " + (joins ? pad(title, width) + (text.first ?? "") : title))
            lines += text.dropFirst(joins ? 1 : 0).map { pad("", indent) + $0 }
        }
        return lines
    }

    /// Columns of help: of the terminal, but no more than can be read well; of a pipe, those of paper.
    private static func columns(of output: Output) -> Int {
        output.isTerminal ? min(max(output.size.columns - 2, 20), 78) : 78
    }

    static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// "- A sentence", in lines.
    static func bullet(_ text: String) -> String {
        wrap("- " + text, columns(of: .standard), hanging: 2).map { $0 + "\n" }.joined()
    }

    /// - Parameter hanging: blanks before each line but the first.
    static func wrap(_ text: String, _ width: Int, hanging: Int = 0) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = pad("", hanging) + word
            } else {
                line += (line.isEmpty ? "" : " ") + word
            }
        }
        return lines + [line]
    }

    static var visibleCommands: [Command] { allCommands }
}

// MARK: - Man page

extension Help {
    /// A text of a man page, whose first character is no request.
    static func escape(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            default: result.append(character)
            }
        }
        return result.hasPrefix(".") || result.hasPrefix("'") ? "\\&" + result : result
    }

    static func manPage() -> String {
        func options(_ options: [Option]) -> [String] {
            options.filter { !$0.hidden }.flatMap { option in
                let marked = option.value.map { "\\fI\(escape($0))\\fR" }
                let value = marked.map { option.isValueOptional ? "[=\($0)]" : " \($0)" } ?? ""
                return [".TP", "\\fB\(escape(option.name))\\fR\(value)", escape(option.helpText)]
            }
        }
        var lines = [
            ".\\\" Generated by tendon --generate-man", ".TH TENDON 1 \"\" \"tendon \(version)\" \"User Commands\"",
            ".SH NAME", "tendon \\- \(escape(tagline))", ".SH SYNOPSIS",
            ".B tendon", "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]", ".SH COMMANDS",
        ]
        for command in visibleCommands {
            lines += [".SS tendon " + escape(synopsis(command)), escape(command.summary) + "."]
            for detail in command.details { lines += [".PP", escape(detail)] }
            lines += options(command.options)
            for example in command.examples {
                lines += [".PP", escape(example.does) + ":", ".RS 4", ".nf", escape(example.line), ".fi", ".RE"]
            }
        }
        lines += [".SH COMMON OPTIONS", "Accepted anywhere on the line; \\fB\\-\\-\\fR ends options."]
        lines += options(Option.common)
        lines += [".SH EXIT STATUS"]
        for status in ExitStatus.all { lines += [".TP", "\(status.rawValue)", escape(status.meaning)] }
        lines += [".SH LOST DEVICES", escape(lostDevice)]
        lines += [
            ".SH ENVIRONMENT", ".TP", "NO_COLOR", "when set and not empty: no colors", ".TP",
            "TERM", "empty or dumb: no colors, and lines of text instead of what is drawn again in its place", ".TP",
            "TENDON_RADIO", "bluez or virtual: the radio, without --radio", ".TP",
            "TENDON_CONFIG", "the configuration, without --config", ".TP",
            "XDG_RUNTIME_DIR",
            "the virtual radio lives in its directory tendon", ".TP",
            "XDG_STATE_HOME",
            "bonds, messages that wait and GATT caches are in its directory tendon; default: ~/.local/state",
            ".TP", "XDG_CACHE_HOME", "images of firmware are in its directory obvious; default: ~/.cache",
            ".TP", "TENDON_OBVIOUS_KEYS_FILE", "keys of packages for Obvious devices, without --keys-file",
            ".TP", "TENDON_OBVIOUS_BASE_URL",
            "cloud of Obvious devices; of the same kind are TENDON_OBVIOUS_API_KEY_FILE, TENDON_OBVIOUS_API_KEY, "
                + "TENDON_OBVIOUS_CA_FILE, TENDON_OBVIOUS_SPKI_SHA256 and TENDON_OBVIOUS_IMAGE_ORIGINS: see "
                + "ObviousCloudConfiguration in the documentation of TendonObviousCloud",
            ".SH SEE ALSO", ".BR tendon.conf (5)",
        ]
        return lines.joined(separator: "\n") + "\n"
    }
}

// MARK: - Completions

extension Help {
    static let shells = ["bash", "zsh", "fish"]

    static func completion(for shell: String) -> String {
        switch shell {
        case "bash": bash()
        case "zsh": "#compdef tendon\nautoload -U +X bashcompinit && bashcompinit\n" + bash()
        default: fish()
        }
    }

    private static var firstWords: [String] {
        var words: [String] = []
        for command in visibleCommands where !words.contains(command.words[0]) { words.append(command.words[0]) }
        return words
    }

    private static func secondWords(_ first: String) -> [String] {
        if ["simulate", "stream", "decode", "encode", "pair"].contains(first) { return familyNames() }
        if first == "help" { return firstWords }
        return once(visibleCommands.filter { $0.words.count > 1 && $0.words[0] == first }.map { $0.words[1] })
    }

    /// The commands that begin with these words, if no command is named so.
    static func group(_ words: [String]) -> String? {
        let group = allCommands.filter { $0.words.starts(with: words) }
        guard !group.isEmpty, !group.contains(where: { $0.words == words }) else { return nil }
        let rows = group.map { (title: "tendon \($0.name)", text: $0.summary) }
        let isTerminal = Output.standard.isTerminal
        return table(rows, isTerminal ? columns(of: .standard) : .max).map { String($0.dropFirst(2)) + "\n" }.joined()
    }

    /// Each word once, in the order of the first ones.
    static func once(_ words: [String]) -> [String] {
        var seen: Set<String> = []
        return words.filter { seen.insert($0).inserted }
    }

    /// Words that may follow the second word.
    private static func thirdWords(_ first: String) -> [(second: String, words: [String])] {
        switch first {
        case "decode": families.map { ($0.name, $0.decoded.map(\.kind)) }
        case "encode": families.map { ($0.name, $0.encoded.map(\.kind)) }
        case "feelspace":
            [
                ("mode", FeelspaceWords.modes.map(\.name)),
                ("signal", FeelspaceWords.systemSignals.map(\.name)),
            ]
        default:
            secondWords(first).compactMap { second in
                let words = visibleCommands.filter { $0.words.count > 2 && $0.words.starts(with: [first, second]) }
                return words.isEmpty ? nil : (second, words.map { $0.words[2] })
            }
        }
    }

    private static func bash() -> String {
        var lines = [
            "# Generated by tendon --generate-completion", "_tendon() {",
            "    local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" words= joined= prefix=",
            "    COMPREPLY=()", "    # --option=value: three words for bash, one for zsh.",
            "    if [[ $word == --*=* ]]; then before=\"${word%%=*}\" joined='='; prefix=\"$before=\" word=\"${word#*=}\"",
            "    elif [[ $word == '=' ]]; then word= joined='='",
            "    elif [[ $before == '=' ]]; then before=\"${COMP_WORDS[COMP_CWORD-2]}\" joined='='; fi",
            "    case \"$joined$before\" in",
        ]
        let all = Option.common + visibleCommands.flatMap { $0.options.filter { !$0.hidden } }
        var seen: Set<String> = []
        for option in all where option.value != nil && seen.insert(option.name).inserted {
            let source = option.choices.isEmpty ? "-f" : "-W '\(option.choices.joined(separator: " "))'"
            let forms = (option.isValueOptional ? [] : [option.name]) + ["=" + option.name]
            lines.append(
                "        \(forms.joined(separator: "|"))) "
                    + "COMPREPLY=($(compgen \(source) -P \"$prefix\" -- \"$word\")); return ;;")
        }
        let valued = once(all.filter { $0.value != nil && !$0.isValueOptional }.map(\.name)).joined(separator: "|")
        lines += [
            "    esac", "    # The words of the command: options may stand before and between them.",
            "    local at=1 command=()", "    while ((at < COMP_CWORD)); do case \"${COMP_WORDS[at]}\" in",
            "        \(valued)) [[ ${COMP_WORDS[at+1]} == '=' ]] && ((at++)); ((at += 2)) ;;",
            "        -*|=) ((at++)) ;;",
            "        *) command+=(\"${COMP_WORDS[at]}\"); ((at++)) ;;", "    esac; done",
            "    case \"${command[*]} \" in",
        ]
        // The longest first: of "obvious firmware check" the case "obvious" would match as well.
        for prefix in prefixes {
            let pattern = prefix.isEmpty ? "' '" : "'\(prefix.joined(separator: " ")) '*"
            lines.append("        \(pattern)) words='\(words(after: prefix).joined(separator: " "))' ;;")
        }
        lines += [
            "    esac", "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))", "}",
            "complete -o default -F _tendon tendon",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// What a command line may begin with: nothing, each command, and the words before its last ones; the longest first.
    private static var prefixes: [[String]] {
        var all: [[String]] = [[]]
        for command in visibleCommands {
            for count in 1...command.words.count { all.append(Array(command.words.prefix(count))) }
            for (second, _) in thirdWords(command.words[0]) { all.append([command.words[0], second]) }
        }
        for first in firstWords { all.append(["help", first]) }
        var seen: Set<[String]> = []
        return all.filter { seen.insert($0).inserted }.sorted { $0.count > $1.count }
    }

    /// Words and options that may follow these words.
    private static func words(after prefix: [String]) -> [String] {
        guard let first = prefix.first else { return firstWords + Option.common.map(\.name) }
        if prefix.count > 1, first == "help" { return secondWords(prefix[1]) }
        // Of the command itself; of a group, of each of its commands.
        var commands = visibleCommands.filter { prefix.starts(with: $0.words) }
        if commands.isEmpty { commands = visibleCommands.filter { $0.words.starts(with: prefix) } }
        let options = commands.flatMap { $0.options.filter { !$0.hidden } + $0.common }
        let next =
            prefix.count == 1 ? secondWords(first) : thirdWords(first).first { $0.second == prefix[1] }?.words ?? []
        return next + once(options.flatMap { $0.isValueOptional ? [$0.name, $0.name + "="] : [$0.name] })
    }

    private static func fish() -> String {
        func quote(_ text: String) -> String {
            "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "'"
        }
        func option(_ option: Option, condition: String) -> String {
            let help = (option.isValueOptional ? "[=\(option.value ?? "")] " : "") + option.helpText
            var line = "complete -c tendon\(condition) -l \(option.name.dropFirst(2)) -d \(quote(help))"
            // Without -r the value must follow =.
            if option.value != nil, !option.isValueOptional { line += " -r" }
            if !option.choices.isEmpty { line += " -f -a \(quote(option.choices.joined(separator: " ")))" }
            return line
        }
        var lines = ["# Generated by tendon --generate-completion"]
        for first in firstWords {
            let summary = visibleCommands.first { $0.words[0] == first }?.summary ?? ""
            lines.append("complete -c tendon -n __fish_use_subcommand -f -a \(first) -d \(quote(summary))")
            let condition = " -n '__fish_seen_subcommand_from \(first)'"
            let seconds = secondWords(first)
            if !seconds.isEmpty {
                lines.append("complete -c tendon\(condition) -f -a \(quote(seconds.joined(separator: " ")))")
            }
            for item in visibleCommands.filter({ $0.words[0] == first }).flatMap(\.options) where !item.hidden {
                lines.append(option(item, condition: condition))
            }
        }
        lines += Option.common.map { option($0, condition: "") }
        return lines.joined(separator: "\n") + "\n"
    }
}

// SPDX-License-Identifier: MIT
// The options of the Lab Streaming Layer.
#if LSL
    import TendonLSL
    import TendonOutputs
    import TendonSupport

    enum LSLOptions {
        private static let streams = Option(
            name: "--lsl", value: nil,
            help:
                "offer the samples of each sensor and the events of each device as streams of the Lab Streaming Layer",
            setting: Setting("lsl", key: "streams", isFixed: true))
        private static let library = Option(
            name: "--lsl-library", value: "FILE", help: "the file of liblsl; default: the installed one",
            takes: .file, setting: Setting("lsl", key: "library", isFixed: true))

        static let all = [streams, library]

        struct Settings {
            /// Nil: the installed one.
            var library: String?
        }

        /// Nil: no streams are wanted.
        static func settings(_ arguments: Arguments) throws(CommandError) -> Settings? {
            let file = arguments.value(library.name)
            guard arguments.has(streams.name) else {
                if file != nil { throw .usage("\(library.name) needs \(streams.name)", next: "tendon run --lsl") }
                return nil
            }
            return Settings(library: file)
        }

        static func output(_ arguments: Arguments) throws(CommandError) -> (any EventOutput)? {
            guard let settings = try settings(arguments) else { return nil }
            do throws(LSLError) {
                return try LSLOutput(
                    LSLLibrary.open(settings.library), families: OutputChoice.descriptions(arguments),
                    report: { Log.write(.warning, "lsl: \($0)") })
            } catch {
                throw CommandError(.failed, "lsl: \(error.text)")
            }
        }
    }
#endif

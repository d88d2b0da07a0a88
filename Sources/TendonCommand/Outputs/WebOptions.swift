// SPDX-License-Identifier: MIT
// The options of the page.
#if Web
    import TendonOutputs
    import TendonSupport
    import TendonWeb

    #if Metrics
        import TendonMetrics
    #endif

    enum WebOptions {
        private static let address = Option(
            name: "--web", value: "ADDRESS:PORT",
            help: "serve a page that shows the devices, such as 127.0.0.1:8099; other addresses than those of this "
                + "machine itself need --web-token-file",
            takes: .parsed { (text) throws(CommandError) in _ = try settings(text) },
            setting: Setting("web", key: "address", isFixed: true))
        private static let token = Option(
            name: "--web-token-file", value: "FILE",
            help: "the first line of this file, which other users cannot read, is the token that commands need; "
                + "without it the page only shows", setting: Setting("web", key: "token-file", isFixed: true))
        private static let name = Option(
            name: "--web-name", value: "NAME",
            help: "browsers may also reach the page by this name",
            takes: .parsed { (text) throws(CommandError) in
                guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3A && $0 != 0x2F })
                else { throw .usage("it takes the name of a machine, without a port") }
            }, setting: Setting("web", key: "name", isRepeated: true, isFixed: true))

        static let all = [address, token, name]

        private static func settings(_ text: String) throws(CommandError) -> WebSettings {
            do throws(WebError) { return try WebSettings(text) } catch { throw .usage(error.text) }
        }

        /// All that can be wrong before a socket is opened. Nil: no address is given.
        static func settings(_ arguments: Arguments) throws(CommandError) -> WebSettings? {
            guard let text = arguments.value(address.name) else {
                if let other = all.first(where: { arguments.changes($0) }) {
                    throw .usage("\(other.name) needs --web", next: "tendon run --web 127.0.0.1:8099")
                }
                return nil
            }
            var settings = try settings(text)
            settings.tokenFile = arguments.value(token.name)
            settings.names = arguments.all(name.name)
            do throws(WebError) { try settings.checkValues() } catch { throw .usage("web: \(error.text)") }
            do throws(WebError) { _ = try settings.token() } catch { throw CommandError(.failed, "web: \(error.text)") }
            return settings
        }

        static func output(
            _ arguments: Arguments, _ commands: GatewayCommands, _ figures: FigureBoard
        ) throws(CommandError) -> (any EventOutput)? {
            guard let settings = try settings(arguments) else { return nil }
            var exposition: (@Sendable () -> (type: String, text: [UInt8]))?
            #if Metrics
                exposition = {
                    (Exposition.contentType, Exposition.text(figures, version: TendonCommand.version))
                }
            #endif
            do throws(WebError) {
                let output = try WebOutput(
                    settings, families: OutputChoice.descriptions(arguments),
                    greeting: ["version": .string(TendonCommand.version)], source: figures, handler: commands,
                    exposition: exposition)
                Log.write(.notice, "the page is at \(settings.url)")
                return output
            } catch {
                throw CommandError(
                    .failed, "web: \(error.text)",
                    next: error.isPortInUse ? "another port: --web \(settings.host):PORT" : nil)
            }
        }
    }
#endif

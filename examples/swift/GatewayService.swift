// SPDX-License-Identifier: MIT
// Every wearable in range: prints what happens; a belt vibrates in front for each squeeze of a trainer. Start `tendon simulate
// activ5 feelspace` for some. With an argument it ends after so many samples.
import TendonGateway

@main
struct GatewayService {
    static func main() async throws {
        var settings = GatewaySettings(pairing: .always)
        settings.bose.sensors = ["rotation"]
        let gateway = try await Gateway(settings)
        var left = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? .max
        for await event in gateway.events {
            switch event.kind {
            case .sample:
                guard let sample = event.sample, let device = event.device else { break }
                let values = zip(sample.channels, sample.values).map { "\($0.name) \($1) \($0.unit)" }
                print(device.name ?? "\(device.address)", sample.sensor, values.joined(separator: ", "))
                left -= 1
            case "squeeze" where event["state"]?.text == "squeezed":
                for belt in gateway.devices where belt.family == .feelspace {
                    Task { await vibrate(belt, of: gateway) }
                }
            case .connected, .disconnected, .radioWaiting, .radioRestored: print(event.line)
            default: break
            }
            if left <= 0 { break }
        }
        await gateway.close()
    }

    static func vibrate(_ belt: GatewayDevice, of gateway: Gateway) async {
        do {
            try await gateway.perform("vibrate", [0], on: belt)
            print("the belt vibrates")
        } catch {
            print("the belt does not vibrate: \(error)")
        }
    }
}

// SPDX-License-Identifier: MIT
//
// A screen with the features of a device: a class without an annotation, listeners in extensions, calls without `await`.

import Dispatch
import Glibc
import Tendon
import TendonObvious

// porting.md: Obvious
class DeviceViewController {
    let featureManager = OcelotFeatureManager.getFeatureManager()
    var available: [String: Int] = [:]
    var states: [Int: OcelotFeatureStatus] = [:]
    var log: [String] = []

    func viewDidLoad() {
        featureManager.setFeatureEventListener(self)
        featureManager.setToggleEventListener(self)
        featureManager.setAPIKey("YourAPIKey")
        featureManager.startFeatureUpdate()
    }

    func show(_ text: String) {
        dispatchPrecondition(condition: .onQueue(.main))
        log.append(text)
    }
}

extension DeviceViewController: OcelotFeatureEventListener {
    func onFeatureUpdateStatus(_ status: Int) {
        guard status == FeatureUpdateConstants.SUCCESS else { return show("update: \(status)") }
        show("updated")
        featureManager.getFeatureList()
    }
    func onFeatureList(_ features: [String: Int]?) {
        available = features ?? [:]
        show("\(available.count) features")
        featureManager.checkFeatureStatuses(featureIds: Array(available.values))
    }
}

extension DeviceViewController: OcelotToggleEventListener {
    func onCheckFeatureStatus(_ featureid: Int, _ status: OcelotFeatureStatus) { states[featureid] = status }
    func onCheckFeatureStatuses(_ statuses: [Int: OcelotFeatureStatus]) {
        states = statuses
        show("checked")
        if let led = available["Led"] { featureManager.toggleFeature(featureid: led) }
    }
    func didToggleFeatureStatus(_ featureId: Int, _ status: OcelotFeatureStatus) {
        states[featureId] = status
        show("\(featureId) is \(status.toggleState)")
    }
    func featureStatusFailure() { show("failure") }
}
// porting.md: end

/// A cloud without anything new. A real program calls `ObviousCloud.install()` of TendonObviousCloud instead.
nonisolated struct QuietCloud: ObviousCloudService {
    func features(productId: String, key: ObviousAPIKey?) async throws(ObviousCloudError) -> [ObviousFeature] {
        [
            ObviousFeature(id: 16, name: "Led", isToggleable: true),
            ObviousFeature(id: 20, name: "Zoom", isToggleable: false),
        ]
    }
    func featureUpdate(
        _ query: FeatureUpdateQuery, key: ObviousAPIKey?
    ) async throws(ObviousCloudError) -> FeatureUpdateAnswer { .nothingNew }
    func reportFeatureUpdate(
        serialNumber: String, counter: UInt64, status: Int, key: ObviousAPIKey?
    ) async throws(ObviousCloudError) {}
    func provision(
        serialNumber: String, productId: String, nonce: [UInt8]?, key: ObviousAPIKey?
    ) async throws(ObviousCloudError) -> FeaturePackage { throw QuietCloud.nothing }
    func latestFirmware(
        _ query: FirmwareQuery, key: ObviousAPIKey?
    ) async throws(ObviousCloudError) -> FirmwareRelease? { nil }
    func downloadImage(
        of release: FirmwareRelease, to path: String, key: ObviousAPIKey?, progress: (@Sendable (Int) -> Void)?
    ) async throws(ObviousCloudError) { throw QuietCloud.nothing }
    func reportFirmware(
        serialNumber: String, versionCode: Int64, status: String, key: ObviousAPIKey?
    ) async throws(ObviousCloudError) {}
    func defaultCatalog(productId: String?, key: ObviousAPIKey?) async throws(ObviousCloudError) -> [CatalogItem] { [] }
    func checkout(
        items: [Int], serialNumber: String, productIdentifier: String, key: ObviousAPIKey?
    ) async throws(ObviousCloudError) -> ObviousCart { throw QuietCloud.nothing }
    func pay(
        _ payment: PaymentRequest, card: PaymentCard, idempotencyKey: String, key: ObviousAPIKey?
    ) async throws(ObviousCloudError) -> PaymentOutcome { throw QuietCloud.nothing }
    func authenticate(
        cartId: Int, paymentSecret: String, key: ObviousAPIKey?
    ) async throws(ObviousCloudError) -> PaymentOutcome { throw QuietCloud.nothing }

    private static let nothing = ObviousCloudError(.http, "there is none", httpStatus: 404)
}

/// Nothing is signed here.
nonisolated struct NoSignatures: ObviousCryptography {
    func isValid(signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool { false }
    func sha256(_ part: () -> [UInt8]?) -> [UInt8] { [UInt8](repeating: 0, count: 32) }
}

@main
enum App {
    static func main() async throws {
        let radio = RadioChoice.virtual(directory: "/tmp/tendon-phone-\(getpid())")
        let trust = ObviousTrust(keys: [], cryptography: NoSignatures())
        ObviousCloud.install(trust)
        ObviousCloud.install(QuietCloud())
        var options = SimulatedOcelotDevice.Options()
        options.features = [.init(id: 16, isEnabled: true, toggle: .Activated), .init(id: 20)]
        let device = try await SimulatedOcelotDevice(
            options, radio: radio, trust: trust, loop: try Loop(), interval: .milliseconds(20))
        let screen = DeviceViewController()
        screen.featureManager.setDeviceConnector(
            OcelotDeviceConnector(to: device.address, productId: "1234", radio: radio, bonds: .memory))
        screen.viewDidLoad()
        let expected = ["updated", "2 features", "checked", "16 is Deactivated"]
        let deadline = ContinuousClock.now + .seconds(20)
        while screen.log.count < expected.count, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(10))
        }
        print(screen.log.joined(separator: ", "))
        let state = await device.feature(16)
        guard screen.log == expected, state?.toggle == .Deactivated, screen.states[20] == .Disabled else { exit(1) }
    }
}

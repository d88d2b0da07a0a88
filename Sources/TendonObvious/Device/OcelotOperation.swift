// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The end of an operation.
struct OcelotOutcome: Sendable {
    /// SUCCESS is 0, as in ``FeatureUpdateConstants``.
    let code: Int
    /// `nil`: SUCCESS.
    let error: OcelotError?
    /// CHECK_STATUS, TOGGLE, SET_TOGGLES with SUCCESS: what the device reported.
    var features: [Int: OcelotFeatureStatus] = [:]
    /// GET_INFO with SUCCESS.
    var info: OcelotDeviceInfo?
    /// CHECK_FIRMWARE: of the device, and the newer one.
    var version = OcelotServiceConstants.INVALID_FIRMWARE_VERSION
    var firmware: OcelotFirmwareInfo?
    /// CHECK_FIRMWARE without a newer firmware: why the cloud has none.
    var note: OcelotError?
    /// CHECK_FIRMWARE, UPGRADE_FIRMWARE: the device runs firmware on trial that the record does not name.
    var isOtherTrial = false
}

/// A step of an operation that is reported before its end.
enum OcelotStep: Sendable {
    case update(Int)
    case provisioning(Int)
    case progress(String, Int)
    /// An upgrade: what the cloud has; nil: nothing newer.
    case found(version: Int64, FirmwareRelease?, newVersion: Int64)
    /// Bytes of its image in the cache.
    case downloaded(Int)
}

/// One operation of a manager: what it wants of the device, and its part of the cloud. For the loop's thread.
final class OcelotOperation: @unchecked Sendable {
    // Used only on the loop's thread.
    let kind: tendon_obvious_operation
    let cloud: Result<any ObviousCloudService, ObviousCloudError>
    let key: ObviousAPIKey?
    let trust: ObviousTrust?
    let appVersion: String
    let cache: FileCache
    /// What the cloud offers.
    var release: FirmwareRelease?
    /// While its image is downloaded and sent.
    var imageUse: ImageUse?
    let features: CTable<tendon_obvious_feature>?
    let count: Int
    private let onStep: @TendonActor (OcelotStep) -> Void
    private var onEnd: (@TendonActor (OcelotOutcome) -> Void)?
    /// What the cloud threw.
    var cloudError: ObviousCloudError?
    var isCancelled = false
    /// Its result is reported to the cloud.
    var hasReport = false
    /// The device's part is done.
    var outcome: OcelotOutcome?

    init(
        _ kind: tendon_obvious_operation, _ source: OcelotCloudSource,
        features: [(id: Int, toggle: OcelotToggleStatus)] = [],
        onStep: @escaping @TendonActor (OcelotStep) -> Void = { _ in },
        onEnd: @escaping @TendonActor (OcelotOutcome) -> Void
    ) {
        self.kind = kind
        do throws(ObviousCloudError) {
            cloud = .success(try source.service())
        } catch {
            cloud = .failure(error)
        }
        (key, trust, appVersion, cache) = (source.key, source.trust, source.appVersion, source.cache)
        count = features.count
        self.features = features.isEmpty ? nil : CTable(capacity: features.count)
        for (index, feature) in features.enumerated() {
            self.features?.pointer[index] = tendon_obvious_feature(
                id: UInt16(clamping: feature.id), enable: 0, toggle: UInt8(clamping: feature.toggle.rawValue))
        }
        self.onStep = onStep
        self.onEnd = onEnd
    }

    func report(_ step: OcelotStep) {
        let body = onStep
        TendonActor.assumeIsolated { body(step) }
    }

    /// What the device reported.
    var states: [Int: OcelotFeatureStatus] {
        var states: [Int: OcelotFeatureStatus] = [:]
        for feature in features?.first(count) ?? [] { states[Int(feature.id)] = OcelotFeatureStatus(feature) }
        return states
    }

    func end(_ outcome: OcelotOutcome) {
        let body = onEnd
        onEnd = nil
        if let body { TendonActor.assumeIsolated { body(outcome) } }
    }

    /// It ends before it began.
    func fail(_ error: OcelotError) { end(failure(error)) }

    func failure(_ error: OcelotError) -> OcelotOutcome {
        let isUpgrade = kind == TENDON_OBVIOUS_UPGRADE_FIRMWARE
        let failed = OcelotFirmwareManager.OcelotFirmwareUpgradeStatus.FAILED.rawValue
        return OcelotOutcome(code: isUpgrade ? failed : FeatureUpdateConstants.FAILED, error: error)
    }
}

/// The cloud, the API key and the keys of a manager.
struct OcelotCloudSource {
    enum Cloud {
        case installed
        case demo
        case own(any ObviousCloudService)
    }

    let cloud: Cloud
    private let ownTrust: ObviousTrust?
    private(set) var key: ObviousAPIKey?
    private var hasInvalidKey = false
    var appVersion = "1.0.0"
    var cache = FileCache.standard

    init(_ cloud: Cloud, trust: ObviousTrust? = nil) {
        self.cloud = cloud
        ownTrust = trust
    }

    var trust: ObviousTrust? { ownTrust ?? ObviousCloud.trust }

    mutating func setKey(_ text: String) {
        key = ObviousAPIKey(text)
        hasInvalidKey = key == nil
    }

    func service() throws(ObviousCloudError) -> any ObviousCloudService {
        guard !hasInvalidKey else { throw .noAPIKey }
        let service: (any ObviousCloudService)? =
            switch cloud {
            case .installed: ObviousCloud.installed
            case .demo: ObviousCloud.demo
            case .own(let service): service
            }
        guard let service else { throw .noCloud }
        return service
    }
}

// SPDX-License-Identifier: MIT
import ObviousTestSupport
import Tendon
import TendonObvious
import TestSupport
import Testing

/// What an application does with a device: its steps are those of the vendor's document, in its order. It owns the
/// Bluetooth connection, and feeds the connector.
@TendonActor
private final class ObviousDevice: OcelotDeviceConnectorCallback, OcelotFeatureEventListener {
    private let featureManager: OcelotFeatureManager
    private let firmwareManager: OcelotFirmwareManager
    private var deviceConnector: OcelotDeviceConnector
    private var serviceInfo: [BluetoothUUID: [BluetoothUUID]] = [:]
    private var characteristicDict: [String: Characteristic] = [:]
    private let central: Central
    private let address: Address
    private var peripheral: Peripheral?
    private var values: Task<Void, Never>?

    private(set) var availableFeatures: [String: Int] = [:]
    private(set) var enabled: [Int: Int] = [:]
    private(set) var states: [Int: OcelotFeatureStatus] = [:]
    private(set) var failures = 0
    private(set) var updates: [Int] = []
    private(set) var firmware: (current: Int64, new: OcelotFirmwareInfo?)?
    private(set) var percent: [Int] = []
    private(set) var upgrade: OcelotFirmwareManager.OcelotFirmwareUpgradeStatus?

    init(
        _ central: Central, _ address: Address, _ featureManager: OcelotFeatureManager,
        _ firmwareManager: OcelotFirmwareManager
    ) {
        self.central = central
        self.address = address
        self.featureManager = featureManager
        self.firmwareManager = firmwareManager
        deviceConnector = featureManager.getDeviceConnector()
        featureManager.setFeatureEventListener(self)
        featureManager.setToggleEventListener(self)
        featureManager.setAPIKey("YourAPIKey")
        firmwareManager.setEventListener(self)
        firmwareManager.setAPIKey("YourAPIKey")
        deviceConnector.setConnectorCallback(self)
        if let serviceCharMap = deviceConnector.getServerInformation() {
            serviceInfo = serviceCharMap
        }
    }

    // MARK: The connection: one sequence instead of the delegate of a peripheral

    func connect() async throws {
        let peripheral = try await central.connect(address)
        self.peripheral = peripheral
        try await peripheral.pair()
        for service in try await peripheral.discoverServices() {
            guard let characteristicUUIDs = serviceInfo[service.uuid] else { continue }
            for characteristic in try await peripheral.discoverCharacteristics(of: service)
            where characteristicUUIDs.contains(characteristic.uuid) {
                characteristicDict[characteristic.uuid.uuidString] = characteristic
            }
        }
        let id = OcelotServiceConstants.BLE_CHARACTERISTIC_OBVIOUS_DATA
        guard let data = characteristicDict[id] else { return }
        let notifications = try await peripheral.notifications(of: data)
        deviceConnector.maximumValueLength = peripheral.mtu - 3
        values = Task { @TendonActor [weak self] in
            do {
                for try await value in notifications { self?.deviceConnector.onUpdateDeviceData(id, value.bytes) }
            } catch {}
            self?.handleConnectionState(OcelotDeviceConnector.CONNECTION_STATE_DISCONNECTED)
        }
        handleConnectionState(OcelotDeviceConnector.CONNECTION_STATE_CONNECTED)
    }

    func handleConnectionState(_ state: Int) {
        featureManager.onConnectionStateChange(OcelotDeviceConnector.CONNECTION_STATUS_SUCCESS, state)
        firmwareManager.onConnectionStateChange(OcelotDeviceConnector.CONNECTION_STATUS_SUCCESS, state)
        deviceConnector.onConnectionStateChange(OcelotDeviceConnector.CONNECTION_STATUS_SUCCESS, state)
    }

    // MARK: OcelotDeviceConnectorCallback

    func getDeviceIdentifier() -> Address? { nil }

    func requestCharacteristicWrite(serviceId: String, characteristicId: String, rawdata: [UInt8]) -> Bool {
        guard let peripheral, let characteristic = characteristicDict[characteristicId] else { return false }
        Task { @TendonActor in
            let isWritten = (try? await peripheral.write(rawdata, to: characteristic)) != nil
            if characteristicId != OcelotServiceConstants.BLE_CHARACTERISTIC_OBVIOUS_DATA {
                deviceConnector.onWriteStatus(
                    characteristicId,
                    isWritten ? OcelotServiceConstants.WRITE_DATA_SUCCESS : OcelotServiceConstants.WRITE_DATA_FAILURE)
            }
        }
        return true
    }

    func requestCharacteristicWriteWithoutResponse(serviceId: String, characteristicId: String, rawdata: [UInt8])
        -> Bool
    {
        guard let peripheral, let characteristic = characteristicDict[characteristicId] else { return false }
        return (try? peripheral.writeWithoutResponse(rawdata, to: characteristic.handle))
            != nil
    }

    func requestCharacteristicRead(serviceId: String, characteristicId: String) -> Bool {
        guard let peripheral, let characteristic = characteristicDict[characteristicId] else { return false }
        Task { @TendonActor in
            do throws(TendonError) {
                deviceConnector.onUpdateDeviceData(characteristicId, try await peripheral.read(characteristic))
            } catch {
                deviceConnector.onReadStatus(characteristicId, error.code)
            }
        }
        return true
    }

    func requestDeviceConnect() {
        Task { @TendonActor in
            // The device may be starting.
            while (try? await connect()) == nil { try await Task.sleep(for: .milliseconds(20)) }
        }
    }

    func requestDeviceDisconnect() {
        Task { @TendonActor in await peripheral?.disconnect() }
    }

    func getOcelotProductIdentifier() -> String? { "1234" }

    // MARK: Features

    func onFeatureUpdateStatus(_ status: Int) {
        updates.append(status)
        if status == FeatureUpdateConstants.SUCCESS {
            featureManager.getFeatureList()
        }
    }

    func onFeatureList(_ features: [String: Int]?) {
        if let featureList = features {
            availableFeatures = featureList
        }
        checkNext()
    }

    /// One after the other: the next from the callback of the last.
    private func checkNext() {
        if let id = availableFeatures.values.sorted().first(where: { enabled[$0] == nil }) {
            featureManager.checkFeatureStatus(featureid: id)
        }
    }

    func onCheckFeatureStatus(_ featureid: Int, _ status: Int) {
        enabled[featureid] = status
        checkNext()
    }

    func start() { featureManager.startFeatureUpdate() }
    func toggle(_ id: Int) { featureManager.toggleFeature(featureid: id) }

    // MARK: Firmware

    private func takeFirmwareConnector() {
        deviceConnector = firmwareManager.getDeviceConnector()
        deviceConnector.setConnectorCallback(self)
    }

    func startFirmwareCheck() {
        takeFirmwareConnector()
        firmwareManager.upgradeCheck("1.0.0", self)
    }

    func startFirmwareUpgrade() {
        takeFirmwareConnector()
        firmwareManager.startFirmwareUpgrade("1.0.0")
    }
}

extension ObviousDevice: OcelotToggleEventListener {
    func onCheckFeatureStatus(_ featureid: Int, _ status: OcelotFeatureStatus) { states[featureid] = status }
    func didToggleFeatureStatus(_ featureId: Int, _ status: OcelotFeatureStatus) { states[featureId] = status }
    func featureStatusFailure() { failures += 1 }
}

extension ObviousDevice: OcelotFirmwareAvailableListener {
    func onFirmwareUpgradeAvailable(currentVersion: Int64, newFirmwareInfo: OcelotFirmwareInfo?) {
        guard currentVersion != OcelotServiceConstants.INVALID_FIRMWARE_VERSION else { return }
        firmware = (currentVersion, newFirmwareInfo)
    }
}

extension ObviousDevice: OcelotFirmwareEventListener {
    func onFirmwareProgressUpdate(_ serialNumber: String, _ percent: Int) { self.percent.append(percent) }
    func onFirmwareUpgradeStatus(_ status: OcelotFirmwareManager.OcelotFirmwareUpgradeStatus) { upgrade = status }
}

/// The shop of the document.
@TendonActor
private final class StoreViewModel: OcelotCatalogListResultListener {
    private let catalogInteractor: OcelotCatalogInteractor
    private var paymentClient: OcelotPaymentClient?
    private(set) var catalogList: [CatalogItem] = []
    private(set) var cartId = 0
    private(set) var totalPrice = 0
    private(set) var result: String?
    private(set) var page: String?

    init(_ catalogInteractor: OcelotCatalogInteractor) {
        self.catalogInteractor = catalogInteractor
        catalogInteractor.setAPIKey("YourAPIKey")
        catalogInteractor.setCheckoutListener(self)
        catalogInteractor.setCatalogListListener(self)
        catalogInteractor.getDefaultCatalog()
        paymentClient = OcelotPaymentClient.getPaymentClient(obviousClient: catalogInteractor, listener: self)
    }

    func onCatalogListSuccess(_ catalogList: [CatalogItem]) { self.catalogList = catalogList }
    func onCatalogListRequestFail(_ error: String?) { result = error }
}

extension StoreViewModel: OcelotCatalogCheckoutResultListener, ActionPresenter {
    func checkoutItems(items: [CatalogItem], serial: String, productIdentifier: String) {
        catalogInteractor.checkoutCart(checkout: items, serialNumber: serial, productIdentifier: productIdentifier)
    }

    func onCheckoutCartSuccess(_ totalPrice: Int, _ cartId: Int) {
        (self.totalPrice, self.cartId) = (totalPrice, cartId)
    }
    func onCheckoutCartFail(_ error: String?) { result = error }

    func startPaymentProcess(
        cardNumber: String, cardExpMonth: UInt, cardExpYear: UInt, cardCVC: String, cartId: Int, serialNumber: String,
        productId: String
    ) {
        paymentClient?.startPaymentProcessing(
            cardNumber: cardNumber, cardExpMonth: cardExpMonth, cardExpYear: cardExpYear, cardCVC: cardCVC,
            cartId: cartId, serialNumber: serialNumber, productId: productId)
    }

    func onCheckoutPayActionRequired(_ paymentSecret: String) {
        paymentClient?.authenticatePayment(
            viewController: self, cartId: cartId, paymentSecret: paymentSecret, isPresentingApplePay: false)
    }

    func present(url: String) {
        page = url
        paymentClient?.paymentActionFinished(cartId: cartId)
    }

    func onCheckoutPaySuccess() { result = "paid" }
    func onCheckoutPayFail(_ error: String?) { result = error }
}

@Suite(.timeLimit(.minutes(1)))
struct ObviousPort {
    @TendonActor private func device(_ site: OcelotSite, _ cloud: ScriptedCloud) async throws -> ObviousDevice {
        let central = try await Central(radio: site.radio, bonds: .memory)
        let features = OcelotFeatureManager(cloud: cloud, trust: site.signer.trust)
        let firmware = OcelotFirmwareManager(cloud: cloud, trust: site.signer.trust)
        // As the program's managers have: one connection, one connector.
        firmware.setDeviceConnector(features.getDeviceConnector())
        // Not where the system keeps the state of programs: the next run would find a record of this one.
        features.setFileCacheDirectory(site.cache)
        firmware.setFileCacheDirectory(site.cache)
        return ObviousDevice(central, site.device.address, features, firmware)
    }

    /// Sections "Starting Feature Updates" to "Toggling Features".
    @Test @TendonActor func features() async throws {
        let site = try await OcelotSite()
        let package = site.signer.package([.init(16), .init(17), .init(20, toggle: 1)], counter: 42)
        let device = try await device(site, ScriptedCloud { $0.updates = [.success(.package(package))] })
        try await device.connect()
        device.start()
        await eventually("all are checked") { device.enabled.count == 2 }
        #expect(device.updates == [FeatureUpdateConstants.SUCCESS])
        #expect(device.availableFeatures == ["Led": 16, "Zoom": 20] && device.enabled == [16: 1, 20: 1])
        #expect(device.states[20]?.toggleState == .Activated)
        device.toggle(20)
        await eventually("it is switched") { device.states[20]?.toggleState == .Deactivated }
        device.toggle(999)
        await eventually("it is reported") { device.failures == 1 }
    }

    /// Sections "Checking Firmware Version" and "Starting Firmware Upgrades".
    @Test @TendonActor func firmware() async throws {
        let site = try await OcelotSite()
        let device = try await device(site, site.cloud(offering: [UInt8](repeating: 7, count: 5000)))
        try await device.connect()
        device.startFirmwareCheck()
        await eventually("the check ends") { device.firmware != nil }
        #expect(device.firmware?.current == 1_003_000 && device.firmware?.new?.versionCode == 1_004_000)
        device.startFirmwareUpgrade()
        await eventually("the upgrade ends") { device.upgrade != nil }
        #expect(device.upgrade == .SUCCESS && device.percent.contains(100))
        #expect(await site.device.firmware == 1_004_000)
    }

    /// Section "Purchasing Features".
    @Test @TendonActor func purchase() async throws {
        let store = StoreViewModel(OcelotCatalogInteractor(cloud: ScriptedCloud()))
        await eventually("the catalog is there") { !store.catalogList.isEmpty }
        store.checkoutItems(items: store.catalogList, serial: "1122334455667788", productIdentifier: "1234")
        await eventually("there is a cart") { store.cartId != 0 }
        #expect(store.totalPrice == 499)
        store.startPaymentProcess(
            cardNumber: "4242 4242 4242 4242", cardExpMonth: 4, cardExpYear: 99, cardCVC: "123", cartId: store.cartId,
            serialNumber: "1122334455667788", productId: "1234")
        await eventually("it is paid") { store.result != nil }
        #expect(store.result == "paid" && store.page == "https://example.com/authenticate")
    }
}

// SPDX-License-Identifier: MIT
#if ObviousCloud
    import Tendon
    import TendonObvious

    /// An application that owns the Bluetooth connection, as the vendor's document describes it.
    @TendonActor
    public final class HostApp: OcelotDeviceConnectorCallback {
        public let connector: OcelotDeviceConnector
        private let central: Central
        private let address: Address
        private var peripheral: Peripheral?
        private var characteristics: [String: Characteristic] = [:]
        private var values: Task<Void, Never>?
        /// What was requested, in order.
        public private(set) var requests: [String] = []
        public var productId: String? = "1234"
        /// Whether it says which device it is.
        public var namesDevice = false
        /// Writes that are still sent; then they are refused. `nil`: all.
        public var sends: Int?
        public var readsStatus = true
        /// Whether it reports its connection before it has discovered the characteristics, as the vendor's guide does.
        public var reportsFirst = false

        public init(_ site: OcelotSite, _ connector: OcelotDeviceConnector) async throws {
            self.connector = connector
            central = try await Central(radio: site.radio, bonds: .memory)
            address = site.device.address
            connector.setConnectorCallback(self)
        }

        /// The application ends.
        public func close() async {
            await peripheral?.disconnect()
            central.close()
        }

        /// Connects, pairs, discovers, enables notifications, and passes it on.
        public func connect() async throws {
            let peripheral = try await central.connect(address)
            self.peripheral = peripheral
            connector.maximumValueLength = peripheral.mtu - 3
            if reportsFirst {
                reportConnection()
                // The discovery takes longer than the connector's first question.
                while requests.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
            }
            try await peripheral.pair()
            for (service, wanted) in connector.getServerInformation() ?? [:] {
                for found in try await peripheral.discoverServices(service) {
                    for characteristic in try await peripheral.discoverCharacteristics(of: found)
                    where wanted.contains(characteristic.uuid) {
                        characteristics[characteristic.uuid.uuidString] = characteristic
                    }
                }
            }
            let data = OcelotServiceConstants.BLE_CHARACTERISTIC_OBVIOUS_DATA
            if let characteristic = characteristics[data] {
                let received = try await peripheral.notifications(of: characteristic)
                values = Task { @TendonActor [connector] in
                    do {
                        for try await value in received { connector.onUpdateDeviceData(data, value.bytes) }
                    } catch {}
                    connector.onConnectionStateChange(
                        OcelotDeviceConnector.CONNECTION_STATUS_SUCCESS,
                        OcelotDeviceConnector.CONNECTION_STATE_DISCONNECTED
                    )
                }
            }
            reportConnection()
        }

        private func reportConnection() {
            connector.onConnectionStateChange(
                OcelotDeviceConnector.CONNECTION_STATUS_SUCCESS, OcelotDeviceConnector.CONNECTION_STATE_CONNECTED)
        }

        public func requestCharacteristicWrite(serviceId: String, characteristicId: String, rawdata: [UInt8]) -> Bool {
            false
        }

        public func requestCharacteristicWriteWithoutResponse(
            serviceId: String, characteristicId: String, rawdata: [UInt8]
        ) -> Bool {
            if requests.last != "write \(characteristicId)" { requests.append("write \(characteristicId)") }
            if let left = sends {
                guard left > 0 else { return false }
                sends = left - 1
            }
            guard let peripheral, let handle = characteristics[characteristicId]?.handle else { return false }
            return (try? peripheral.writeWithoutResponse(rawdata, to: handle)) != nil
        }

        public func requestCharacteristicRead(serviceId: String, characteristicId: String) -> Bool {
            requests.append("read \(characteristicId)")
            guard readsStatus, let peripheral, let characteristic = characteristics[characteristicId] else {
                return false
            }
            Task { @TendonActor [connector] in
                do throws(TendonError) {
                    connector.onUpdateDeviceData(characteristicId, try await peripheral.read(characteristic))
                } catch {
                    connector.onReadStatus(characteristicId, error.code)
                }
            }
            return true
        }

        public func requestDeviceConnect() {
            requests.append("connect")
            Task { @TendonActor in
                // The device may be starting.
                for _ in 0..<100 {
                    if (try? await self.connect()) != nil { return }
                    try? await Task.sleep(for: .milliseconds(20))
                }
            }
        }

        public func requestDeviceDisconnect() {
            requests.append("disconnect")
            Task { @TendonActor in await self.peripheral?.disconnect() }
        }

        public func getOcelotProductIdentifier() -> String? { productId }
        public func getDeviceIdentifier() -> Address? { namesDevice ? address : nil }
    }
#endif

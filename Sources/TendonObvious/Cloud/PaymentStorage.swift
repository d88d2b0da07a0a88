// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Where a program keeps the key of a cart's payment, so that a cart is charged at most once.
///
/// A key is on the disk before the request that has it is sent, and stays until the cloud's answer is definite: if the
/// result is not known, the next payment of the cart asks with the same key, in any program with this storage, whenever
/// and however the one before ended. The file contains no card data.
///
/// ```swift
/// let interactor = OcelotCatalogInteractor.getCatalogInteractor()
/// interactor.setPaymentStorage(.folder("/var/lib/shop"))
/// ```
public struct PaymentStorage: Sendable {
    fileprivate enum Place {
        case standard
        case folder(String)
        case memory(PaymentMemory)
    }

    fileprivate let place: Place

    /// `$XDG_STATE_HOME/tendon/journal`, else `~/.local/state/tendon/journal`, else `/var/lib/tendon/journal`: that of the
    /// installed cloud.
    public static let standard = PaymentStorage(place: .standard)

    /// A folder of the application's, made with the first payment and readable by its owner only.
    public static func folder(_ path: String) -> PaymentStorage { PaymentStorage(place: .folder(path)) }

    /// The memory of this process: after a restart, a payment whose result was not known can be charged again. That of a
    /// cloud without ``ObviousCloudService/paymentScope``.
    public static func memory() -> PaymentStorage { PaymentStorage(place: .memory(PaymentMemory())) }
}

/// What is known of the payment of a cart.
public enum CartPayment: Sendable, Hashable {
    /// Nothing was sent, or the cloud rejected it.
    case none
    /// A payment was sent, and its result is not known, or requires the user's authentication.
    case open
    /// The cloud has said that the cart is paid.
    case paid
}

/// A cart of a cloud.
struct CartName: Hashable, Sendable {
    var cart: Int
    var cloud: String

    /// The name of its record: the number, and a sum of the cloud. The record itself has both in full.
    var device: tendon_address {
        var address = tendon_address()
        address.type = UInt8(TENDON_ADDRESS_TYPE_PUBLIC.rawValue)
        let sum = Array(cloud.utf8)
        let number = UInt64(bitPattern: Int64(cart)) << 8 | UInt64(tendon_crc32(0, sum, sum.count) & 0xFF)
        withUnsafeMutableBytes(of: &address.bytes) { bytes in
            for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: number >> UInt64(40 - 8 * index)) }
        }
        return address
    }
}

/// What is kept of a cart: one line of text.
struct PaymentRecord: Hashable, Sendable {
    var name: CartName
    var key: String
    var isPaid = false

    var text: String { "1 \(isPaid ? "paid" : "open") \(key) \(name.cart) \(name.cloud)\n" }

    init(name: CartName, key: String) { (self.name, self.key) = (name, key) }

    init?(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
        guard words.count == 5, words[0] == "1", words[1] == "open" || words[1] == "paid", words[2].utf8.count == 36,
            let cart = Int(words[3]), words[4].last == "\n"
        else { return nil }
        self.init(name: CartName(cart: cart, cloud: String(words[4].dropLast())), key: String(words[2]))
        isPaid = words[1] == "paid"
    }
}

/// Records in memory.
private final class PaymentMemory: Sendable {
    private struct Content {
        var records: [CartName: PaymentRecord] = [:]
        var claimed: Set<CartName> = []
    }
    private let content = Mutex(Content())

    func claim(_ name: CartName) -> Bool { content.withLock { $0.claimed.insert(name).inserted } }
    func release(_ name: CartName) { _ = content.withLock { $0.claimed.remove(name) } }
    subscript(name: CartName) -> PaymentRecord? {
        get { content.withLock { $0.records[name] } }
        set { content.withLock { $0.records[name] = newValue } }
    }
}

// MARK: - Access

extension PaymentStorage {
    private static let family = "payment"

    private static func failed(_ status: tendon_status, _ what: String) -> ObviousCloudError {
        guard status != TENDON_ERROR_BUSY else {
            return ObviousCloudError(.payment, "another payment of this cart is in progress")
        }
        let reason = String(cString: tendon_status_text(status))
        return ObviousCloudError(.storage, "the record of the payment cannot be \(what): \(reason)")
    }

    private func journal() throws(ObviousCloudError) -> tendon_journal {
        var journal = tendon_journal()
        let status =
            if case .folder(let path) = place { tendon_journal_open(&journal, path) } else {
                tendon_journal_open(&journal, nil)
            }
        guard status >= 0 else { throw Self.failed(status, "kept") }
        return journal
    }

    /// `nil`: there is none. One that cannot be read is an error: it may be of a payment whose result is not known.
    func record(of name: CartName) throws(ObviousCloudError) -> PaymentRecord? {
        if case .memory(let memory) = place { return memory[name] }
        var (journal, device) = (try journal(), name.device)
        var bytes = [UInt8](repeating: 0, count: Int(TENDON_JOURNAL_RECORD_MAX))
        let length = tendon_journal_load(&journal, Self.family, &device, &bytes, bytes.count)
        guard length != TENDON_ERROR_NOT_FOUND else { return nil }
        guard length >= 0 else { throw Self.failed(length, "read") }
        guard let record = PaymentRecord(String(decoding: bytes.prefix(Int(length)), as: UTF8.self)),
            record.name == name
        else { throw Self.failed(Int32(TENDON_ERROR_MALFORMED), "read") }
        return record
    }

    /// Returns when it is on the disk.
    fileprivate func store(_ record: PaymentRecord) throws(ObviousCloudError) {
        if case .memory(let memory) = place { return memory[record.name] = record }
        var (journal, device) = (try journal(), record.name.device)
        let bytes = Array(record.text.utf8)
        let status = tendon_journal_store(&journal, Self.family, &device, bytes, bytes.count)
        guard status >= 0 else { throw Self.failed(status, "kept") }
    }

    func remove(_ name: CartName) throws(ObviousCloudError) {
        if case .memory(let memory) = place { return memory[name] = nil }
        var (journal, device) = (try journal(), name.device)
        let status = tendon_journal_remove(&journal, Self.family, &device)
        guard status >= 0 else { throw Self.failed(status, "removed") }
    }

    /// A definite answer to a payment of this cart.
    func settle(_ name: CartName, _ outcome: PaymentOutcome) {
        // If the disk fails here, the key stays: the next payment asks with it, and gets the same answer.
        switch outcome {
        case .succeeded: settlePaid(name)
        case .failed: try? remove(name)
        case .actionRequired, .pending: break
        }
    }

    fileprivate func settlePaid(_ name: CartName) {
        guard var record = try? record(of: name) else { return }
        record.isPaid = true
        try? store(record)
    }

    /// Takes a cart for one payment. Throws if another one is in progress, here or in another program.
    func claim(_ name: CartName) throws(ObviousCloudError) -> PaymentClaim {
        var descriptor: Int32 = -1
        if case .memory(let memory) = place {
            guard memory.claim(name) else { throw Self.failed(Int32(TENDON_ERROR_BUSY), "kept") }
        } else {
            var (journal, device) = (try journal(), name.device)
            descriptor = tendon_journal_claim(&journal, Self.family, &device)
            guard descriptor >= 0 else { throw Self.failed(descriptor, "kept") }
        }
        return try PaymentClaim(self, name, descriptor)
    }

    fileprivate func release(_ name: CartName, _ descriptor: Int32) {
        if case .memory(let memory) = place { memory.release(name) } else { tendon_journal_release(descriptor) }
    }
}

/// One payment of a cart, from before its request is made until its answer was judged.
final class PaymentClaim {
    private let storage: PaymentStorage
    private let descriptor: Int32
    private let record: PaymentRecord
    /// No request with the key was made before.
    private let isNew: Bool

    var key: String { record.key }
    var isPaid: Bool { record.isPaid }

    /// The key is on the disk when this returns.
    fileprivate init(_ storage: PaymentStorage, _ name: CartName, _ descriptor: Int32) throws(ObviousCloudError) {
        do throws(ObviousCloudError) {
            let before = try storage.record(of: name)
            (record, isNew) = (before ?? PaymentRecord(name: name, key: newUUID()), before == nil)
            if isNew { try storage.store(record) }
        } catch {
            storage.release(name, descriptor)
            throw error
        }
        (self.storage, self.descriptor) = (storage, descriptor)
    }

    deinit { storage.release(record.name, descriptor) }

    func note(_ outcome: PaymentOutcome) { storage.settle(record.name, outcome) }

    /// The error to report. After an earlier request whose result is not known, only the cloud's word about the cart is
    /// definite: one that was not sent, or that it rejected for a reason of its own, says nothing about the earlier one.
    func judge(_ error: ObviousCloudError) -> ObviousCloudError {
        if error.isCartPaid {
            storage.settlePaid(record.name)
        } else if isNew && error.provesNothingWasCharged {
            try? storage.remove(record.name)
        } else if !error.isUnknownResult {
            let reason = "\(ObviousCloudError.unknownResult.reason): \(error.reason)"
            return ObviousCloudError(.payment, reason, httpStatus: error.httpStatus, code: error.code)
        }
        return error
    }
}

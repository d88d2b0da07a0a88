// SPDX-License-Identifier: MIT
#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A card, in memory that is never swapped, in no core dump, and wiped after the payment.
///
/// Number and CVC are copied into it and exist nowhere else in this library: not in errors, logs, files or descriptions.
/// The application is responsible for its own copies; pass bytes instead of texts to avoid them.
///
/// ```swift
/// let card = try PaymentCard(number: "4242 4242 4242 4242", expMonth: 4, expYear: 33, cvc: "123")
/// card.wipe()
/// ```
public final class PaymentCard: Sendable {
    /// Digits of the number, then those of the CVC, then the body of a request while there is one.
    private let memory: LockedMemory
    private let numberLength: Int
    private let cvcLength: Int
    private let month: Int
    private let year: Int

    /// A card from texts. Throws `invalidCard` if ``isValid(number:expMonth:expYear:cvc:)`` is false.
    public convenience init(number: String, expMonth: UInt, expYear: UInt, cvc: String) throws(ObviousCloudError) {
        try self.init(numberBytes: number.utf8, expMonth: expMonth, expYear: expYear, cvcBytes: cvc.utf8)
    }

    /// A card from ASCII bytes, for programs that read them without making a text of them.
    public init(
        numberBytes: some Collection<UInt8>, expMonth: UInt, expYear: UInt, cvcBytes: some Collection<UInt8>
    ) throws(ObviousCloudError) {
        guard
            Self.isValid(
                numberBytes: numberBytes, expMonth: expMonth, expYear: expYear, cvcBytes: cvcBytes,
                thisYear: Self.currentYear())
        else { throw .invalidCard }
        memory = try LockedMemory(capacity: Self.capacity)
        numberLength = numberBytes.count { Self.isDigit($0) }
        cvcLength = cvcBytes.count
        month = Int(expMonth)
        year = Self.fullYear(expYear)
        guard memory.append(numberBytes.lazy.filter { Self.isDigit($0) }), memory.append(cvcBytes) else {
            throw .invalidCard
        }
    }

    /// One page: the largest body takes less.
    private static let capacity = 4096
    /// Longest serial number or product in a payment.
    private static let longestText = 256

    /// The local checks: 12 to 19 digits with a correct check digit (spaces and hyphens are skipped), month 1 to 12, a year
    /// that is not past (two digits: of this century), a CVC of 3 or 4 digits.
    public static func isValid(number: String, expMonth: UInt, expYear: UInt, cvc: String) -> Bool {
        isValid(
            numberBytes: number.utf8, expMonth: expMonth, expYear: expYear, cvcBytes: cvc.utf8, thisYear: currentYear())
    }

    static func isValid(
        numberBytes: some Collection<UInt8>, expMonth: UInt, expYear: UInt, cvcBytes: some Collection<UInt8>,
        thisYear: Int
    ) -> Bool {
        guard (1...12).contains(expMonth), expYear <= 9999, fullYear(expYear) >= thisYear else { return false }
        guard (3...4).contains(cvcBytes.count), cvcBytes.allSatisfy({ isDigit($0) }) else { return false }
        return numberBytes.count <= 64 && isCardNumber(numberBytes)
    }

    /// 12 to 19 ASCII digits with a correct check digit (the formula of Luhn, ISO/IEC 7812-1); spaces and hyphens are
    /// skipped. Makes no copy of the digits. They are added from the front: which of them count double depends on the
    /// number of digits, so both sums are kept.
    package static func isCardNumber(_ bytes: some Collection<UInt8>) -> Bool {
        var asIs = 0
        var doubled = 0
        var count = 0
        for byte in bytes where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "-") {
            guard isDigit(byte), count < 19 else { return false }
            let digit = Int(byte - UInt8(ascii: "0"))
            // The digit becomes the last one: it counts once there, and the one before it double.
            (asIs, doubled) = (doubled + digit, asIs + (digit < 5 ? 2 * digit : 2 * digit - 9))
            count += 1
        }
        return count >= 12 && asIs % 10 == 0
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func fullYear(_ year: UInt) -> Int { Int(year < 100 ? 2000 + year : year) }

    private static func currentYear() -> Int {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        return Int(parts.tm_year) + 1900
    }

    /// Forgets number and CVC now, not only when the last reference is released. A payment with it fails afterwards.
    public func wipe() { memory.wipe() }

    /// Builds the JSON body of a payment inside the locked memory, behind the digits. Returns the offset at which it
    /// begins; its last byte is the memory's last one.
    package func buildBody(_ request: PaymentRequest) throws(ObviousCloudError) -> Int {
        let start = numberLength + cvcLength
        guard memory.count >= start else { throw .invalidCard }
        memory.truncate(to: start)
        let texts = [request.serialNumber, request.productIdentifier]
        guard texts.allSatisfy({ $0.utf8.count <= Self.longestText }) else {
            throw ObviousCloudError(.argument, "bad argument")
        }
        // Digits are copied byte by byte: no array or text of them exists.
        guard append("{\"card\":{\"number\":\""), appendOwn(from: 0, count: numberLength),
            append("\",\"expMonth\":\(month),\"expYear\":\(year),\"cvc\":\""),
            appendOwn(from: numberLength, count: cvcLength), append("\"},\"serialNumber\":\""),
            appendEscaped(request.serialNumber), append("\",\"productIdentifier\":\""),
            appendEscaped(request.productIdentifier), append("\"}")
        else { throw ObviousCloudError(.argument, "bad argument") }
        return start
    }

    /// Forgets the body and keeps the card.
    package func removeBody() { memory.truncate(to: min(memory.count, numberLength + cvcLength)) }

    /// The memory of the body, for the transfer that sends it.
    package var bodyMemory: LockedMemory { memory }

    private func append(_ text: String) -> Bool { memory.append(text.utf8) }

    private func appendOwn(from offset: Int, count: Int) -> Bool {
        for index in offset..<offset + count {
            let byte = memory.withBytes { $0[index] }
            guard memory.append(CollectionOfOne(byte)) else { return false }
        }
        return true
    }

    private func appendEscaped(_ text: String) -> Bool {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                guard memory.append([UInt8(ascii: "\\"), byte]) else { return false }
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                let escape = Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
                guard memory.append(escape) else { return false }
            default:
                guard memory.append(CollectionOfOne(byte)) else { return false }
            }
        }
        return true
    }
}

extension PaymentCard: CustomStringConvertible, CustomReflectable {
    /// Nothing of the card.
    public var description: String { "PaymentCard" }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

// SPDX-License-Identifier: MIT
import Foundation
import Synchronization
import TendonSupport
import TestSupport
import Testing

@testable import TendonObvious
@testable import TendonObviousCloud

/// Card data, keys and secrets: where they must not be.
@Suite(.serialized) struct SecretTests {
    /// Every file below a folder that contains one of the texts.
    private func files(in folder: String, with texts: [[UInt8]]) -> [String] {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return names.filter { name in
            guard let data = FileManager.default.contents(atPath: folder + "/" + name) else { return false }
            return texts.contains { data.range(of: Data($0)) != nil }
        }
    }

    /// A purchase with every test card: nothing that was printed and no file has a number, neither of client nor cloud.
    @Test func noNumberIsPrintedOrWritten() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        var said: [String] = []
        for (index, number) in [TestCard.good, TestCard.declined, TestCard.action].enumerated() {
            let cart = try await cloud.checkout(items: [7], serialNumber: serial, productIdentifier: "1234", key: nil)
            let card = try TestCard.card(number)
            let outcome = try await cloud.pay(
                PaymentRequest(cartId: cart.id, serialNumber: serial, productIdentifier: "1234"), card: card,
                idempotencyKey: idempotencyKey.dropLast() + "\(index)", key: nil)
            var dumped = ""
            dump((card, outcome), to: &dumped)
            said += ["\(outcome)", "\(card)", "\(String(reflecting: card))", dumped]
        }
        // Errors of each kind.
        for fault in ["close", "cut", "status"] {
            try await server.fault(
                #"{"do": "\#(fault)", "after": 5, "status": 500, "times": 2, "match": "POST /v1/carts/"}"#)
            do {
                _ = try await cloud.pay(
                    PaymentRequest(cartId: 1, serialNumber: serial, productIdentifier: "1234"),
                    card: TestCard.card(TestCard.good), idempotencyKey: idempotencyKey, key: nil)
            } catch {
                said += ["\(error)", String(reflecting: error)]
            }
            try await server.clear()
        }
        let numbers = [TestCard.good, TestCard.declined, TestCard.action].map { Array($0.utf8) }
        for number in numbers {
            #expect(Data(server.printed).range(of: Data(number)) == nil)
            #expect(!said.contains { $0.utf8.elementsEqual(number) || Data($0.utf8).range(of: Data(number)) != nil })
        }
        #expect(server.printed.count > 500, "the cloud logs its requests")
        #expect(files(in: server.folder, with: numbers).isEmpty)
    }

    /// The process's memory after a payment: no copy of the number is left. Only this test has this number.
    @Test func noCopyStaysInMemory() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        let cart = try await cloud.checkout(items: [7], serialNumber: serial, productIdentifier: "1234", key: nil)
        let digits: [UInt8] = [4, 0, 0, 0, 0, 0, 2, 7, 6, 0, 0, 0, 3, 1, 8, 4]
        let card = try PaymentCard(
            numberBytes: digits.lazy.map { 0x30 + $0 }, expMonth: 4, expYear: 2099, cvcBytes: "123".utf8)
        #expect(await occurrences(of: digits) > 0, "the search finds the card while there is one")
        let outcome = try await cloud.pay(
            PaymentRequest(cartId: cart.id, serialNumber: serial, productIdentifier: "1234"), card: card,
            idempotencyKey: idempotencyKey, key: nil)
        guard case .actionRequired = outcome else {
            Issue.record("another outcome")
            return
        }
        card.wipe()
        #expect(await occurrences(of: digits) == 0)
    }

    /// libcurl and TLS have the card in memory of their own for a moment: no core dump of it.
    @Test(arguments: [false, true]) func nothingIsDumpedDuringAPayment(_ isCancelled: Bool) async throws {
        let server = try await ReferenceCloud(["--fault", #"{"do": "silent", "match": "POST /v1/carts/"}"#])
        let cloud = try server.client { if !isCancelled { $0.limits.wholeCall = 2000 } }
        let end = Flag()
        let task = Task {
            defer { end.set() }
            return try await cloud.pay(
                PaymentRequest(cartId: 1, serialNumber: serial, productIdentifier: "1234"),
                card: TestCard.card(TestCard.good), idempotencyKey: idempotencyKey, key: nil)
        }
        try await eventually("the payment is sent") { try await !server.requests().isEmpty }
        #expect(!CoreDumps.ofProcess.arePermitted && !end.isSet)
        if isCancelled { task.cancel() }
        _ = await task.result
        await eventually("permitted again") { CoreDumps.ofProcess.arePermitted }
    }

    /// Payments at the same time; a process that has no core dumps anyway still has none afterwards.
    @Test(arguments: [true, false]) func coreDumps(_ arePermitted: Bool) async throws {
        let state = Mutex(arePermitted)
        let dumps = CoreDumps(
            arePermitted: { state.withLock { $0 } }, permit: { value in state.withLock { $0 = value } })
        await dumps.prevented {
            #expect(!dumps.arePermitted)
            await dumps.prevented { #expect(!dumps.arePermitted) }
            #expect(!dumps.arePermitted)
        }
        #expect(dumps.arePermitted == arePermitted)
        await #expect(throws: ObviousCloudError.unknownResult) {
            try await dumps.prevented { () async throws(ObviousCloudError) in throw .unknownResult }
        }
        #expect(dumps.arePermitted == arePermitted)
    }

    @Test func aWipedCardPaysNothing() async throws {
        let server = try await ReferenceCloud()
        let card = try TestCard.card(TestCard.good)
        card.wipe()
        let error = await error {
            try await server.client().pay(
                PaymentRequest(cartId: 1, serialNumber: serial, productIdentifier: "1234"), card: card,
                idempotencyKey: idempotencyKey, key: nil)
        }
        #expect(error == .invalidCard)
        #expect(try await server.requests().isEmpty)
    }

    // MARK: The body

    @Test func bodyOfAPayment() throws {
        let card = try PaymentCard(number: "4242-4242 4242 4242", expMonth: 12, expYear: 99, cvc: "1234")
        func body(_ serial: String) throws -> String {
            let start = try card.buildBody(PaymentRequest(cartId: 1, serialNumber: serial, productIdentifier: "1234"))
            defer { card.removeBody() }
            return card.bodyMemory.withBytes { String(decoding: $0.dropFirst(start), as: UTF8.self) }
        }
        #expect(
            try body("A\"\\\n\u{e4}")
                == #"{"card":{"number":"4242424242424242","expMonth":12,"expYear":2099,"cvc":"1234"},"#
                + #""serialNumber":"A\"\\\u000a"# + "\u{e4}" + #"","productIdentifier":"1234"}"#)
        #expect(try JSON(parsing: Array(body("A\"\\\n").utf8))["serialNumber"]?.string == "A\"\\\n")
        #expect(throws: ObviousCloudError.self) { try body(String(repeating: "x", count: 257)) }
        #expect(try body("A").hasSuffix(#""serialNumber":"A","productIdentifier":"1234"}"#))
    }

    @Test(arguments: [
        ("4242424242424242", 4 as UInt, 2099 as UInt, "123", true), ("4242 4242-4242 4242", 1, 99, "1234", true),
        ("4242424242424241", 4, 2099, "123", false), ("4242424242424242", 0, 2099, "123", false),
        ("4242424242424242", 13, 2099, "123", false), ("4242424242424242", 4, 2000, "123", false),
        ("4242424242424242", 4, 1, "123", false), ("4242424242424242", 4, 100, "123", false),
        ("4242424242424242", 4, 10000, "123", false), ("4242424242424242", 4, 2099, "12", false),
        ("4242424242424242", 4, 2099, "12345", false), ("4242424242424242", 4, 2099, "12a", false),
        ("4242x4242", 4, 2099, "123", false), ("", 4, 2099, "123", false),
        ("4242424242424242" + String(repeating: " ", count: 49), 4, 2099, "123", false),
    ])
    func cards(_ number: String, _ month: UInt, _ year: UInt, _ cvc: String, _ isValid: Bool) {
        #expect(OcelotPaymentClient.validateCard(number: number, expMonth: month, expYear: year, cvc: cvc) == isValid)
        let card = try? PaymentCard(number: number, expMonth: month, expYear: year, cvc: cvc)
        #expect((card != nil) == isValid)
    }

    @Test(arguments: [
        ("4242424242424242", true), ("4242 4242 4242 4242", true), (" -4242424242424242- ", true),
        ("378282246310005", true),  // 15 digits
        ("000000000000", true), ("00000000000", false),  // 12 and 11
        ("0000000000000000000", true), ("00000000000000000000", false),  // 19 and 20
        ("4242424242424241", false), ("2424242424242424", false), ("4242424242424242x", false),
        ("4242\t424242424242", false), ("\u{664}242424242424242", false), ("", false), ("    ", false),
    ])
    func cardNumbers(_ text: String, _ isValid: Bool) {
        #expect(PaymentCard.isCardNumber(text.utf8) == isValid)
    }

    /// Every other digit in any place of a valid number is detected.
    @Test func eachDigitCounts() {
        let good = Array(TestCard.good.utf8)
        for place in good.indices {
            for digit in UInt8(ascii: "0")...UInt8(ascii: "9") {
                var number = good
                number[place] = digit
                #expect(PaymentCard.isCardNumber(number) == (digit == good[place]))
            }
        }
    }

    @Test func thisYearIsNotPast() {
        func isValid(_ year: UInt, _ now: Int) -> Bool {
            PaymentCard.isValid(
                numberBytes: TestCard.good.utf8, expMonth: 1, expYear: year, cvcBytes: "123".utf8, thisYear: now)
        }
        #expect(isValid(2033, 2033) && isValid(33, 2033) && !isValid(32, 2033) && !isValid(2032, 2033))
    }

    // MARK: Locked memory

    @Test func lockedMemory() throws {
        let memory = try LockedMemory(capacity: 10)
        #expect(memory.append(Array("secret".utf8)) && memory.count == 6)
        #expect(!memory.append([UInt8](repeating: 1, count: memory.capacity)) && memory.count == 6)
        // Full: not one byte beyond its end.
        #expect(memory.append([UInt8](repeating: 2, count: memory.capacity - 6)) && memory.count == memory.capacity)
        #expect(!memory.append([3]) && memory.count == memory.capacity)
        let flags = flags(of: memory)
        #expect(flags.contains("lo") && flags.contains("dd"), "locked, and not in core dumps: \(flags)")
        memory.truncate(to: 3)
        #expect(memory.withBytes { Array($0) } == Array("sec".utf8))
        memory.wipe()
        #expect(memory.count == 0 && memory.append([1]) && memory.withBytes { Array($0) } == [1])
    }

    /// The system does not permit it: no memory that is not locked is used instead.
    @Test func memoryThatCannotBeLocked() {
        #expect(throws: ObviousCloudError(.storage, "memory for card data cannot be locked")) {
            try LockedMemory(capacity: 10, lock: { _, _ in -1 })
        }
    }

    /// What the system gave before it said no goes back; a region is wiped before that.
    @Test func everyRegionGoesBack() throws {
        for (name, given) in [("mmap", 0), ("madvise", 1)] {
            let returned = calls(of: "munmap") {
                _ = failing(name, with: ENOMEM) {
                    #expect(throws: ObviousCloudError(.storage, "memory for card data cannot be locked")) {
                        try LockedMemory(capacity: 10)
                    }
                }
            }
            #expect(returned == given)
        }
        let unlocked = calls(of: "munmap") {
            #expect(throws: ObviousCloudError.self) { try LockedMemory(capacity: 10, lock: { _, _ in -1 }) }
        }
        #expect(unlocked == 1)
        for name in ["explicit_bzero", "munlock", "munmap"] {
            var memory: LockedMemory? = try LockedMemory(capacity: 10)
            #expect(calls(of: name) { memory = nil } == 1)
            _ = memory
        }
        // What did not fit is wiped as well.
        let memory = try LockedMemory(capacity: 10)
        let wiped = calls(of: "explicit_bzero") { #expect(!memory.append([UInt8](repeating: 7, count: 1 << 16))) }
        #expect(wiped == 1 && memory.count == 0)
        // Not inherited by a process that is started: the second call of madvise() is MADV_DONTFORK.
        #expect(try calls(of: "madvise") { _ = try LockedMemory(capacity: 10) } == 2)
    }

    /// VmFlags of the region in /proc/self/smaps.
    private func flags(of memory: LockedMemory) -> [Substring] {
        let address = memory.withBytes { UInt(bitPattern: $0.baseAddress) }
        var isHere = false
        for line in processFile("/proc/self/smaps").split(separator: "\n") {
            if let range = region(line) { isHere = range.contains(address) }
            if isHere, line.hasPrefix("VmFlags:") { return line.split(separator: " ") }
        }
        return []
    }

    // MARK: Keys

    @Test func keysAreNotDescribed() throws {
        let key = try #require(ObviousAPIKey("secret-key"))
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!"\(key)\(String(reflecting: key))\(dumped)\(Optional(key) as Any)".contains("secret-key"))
        for text in ["", "a b", "a\r\nX: 1", "ä", String(repeating: "k", count: 257)] {
            #expect(ObviousAPIKey(text) == nil)
        }
        var configuration = ObviousCloudConfiguration(baseURL: "https://example.com")
        configuration.apiKey = key
        #expect(!"\(configuration)".contains("secret-key"))
    }
}

/// A file of /proc, which has no size.
private func processFile(_ path: String) -> String {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    var (text, block): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 65536))
    while true {
        let count = read(file, &block, block.count)
        guard count > 0 else { return String(decoding: text, as: UTF8.self) }
        text += block.prefix(count)
    }
}

/// A range of addresses at the begin of a line of /proc/self/maps.
private func region(_ line: Substring) -> Range<UInt>? {
    let ends = line.prefix { $0 != " " }.split(separator: "-")
    guard ends.count == 2, let low = UInt(ends[0], radix: 16), let high = UInt(ends[1], radix: 16) else { return nil }
    return low..<high
}

/// How often these digits are, as ASCII text, in the writable memory of this process.
private func occurrences(of digits: [UInt8]) async -> Int {
    var memory = open("/proc/self/mem", O_RDONLY)
    // Not for other users than root while a test sends a payment.
    await eventually("no payment") {
        if memory < 0 { memory = open("/proc/self/mem", O_RDONLY) }
        return memory >= 0
    }
    defer { close(memory) }
    let maps = processFile("/proc/self/maps")
    // The text that is looked for, then the memory that is being read: hits in here do not count.
    let size = 1 << 20
    let own = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 + size, alignment: 16)
    defer {
        explicit_bzero(own.baseAddress!, own.count)
        own.deallocate()
    }
    for (index, digit) in digits.enumerated() { own[index] = 0x30 + digit }
    let (text, buffer) = (own.baseAddress!, own.baseAddress! + 64)
    let here = UInt(bitPattern: own.baseAddress)..<UInt(bitPattern: own.baseAddress) + UInt(own.count)
    var found = 0
    for line in maps.split(separator: "\n") where line.contains(" rw") && !line.contains("[v") {
        guard let range = region(line) else { continue }
        var at = range.lowerBound
        while at < range.upperBound {
            let count = pread(memory, buffer, min(size, Int(range.upperBound - at)), off_t(at))
            guard count > 0 else { break }
            var offset = 0
            while let hit = memchr(buffer + offset, Int32(own[0]), count - offset) {
                let index = UnsafeRawPointer(hit) - UnsafeRawPointer(buffer)
                let isText = count - index >= digits.count && memcmp(hit, text, digits.count) == 0
                found += isText && !here.contains(at + UInt(index)) ? 1 : 0
                offset = index + 1
            }
            let isLast = at + UInt(count) >= range.upperBound
            at += UInt(isLast ? count : max(count - digits.count + 1, 1))
        }
    }
    return found
}

// SPDX-License-Identifier: MIT
// obvious catalog, checkout, pay: the cloud. What is bought is for the device in range, or for the one that options name.
import Tendon
import TendonObvious
import TendonSupport

private let dryRun = Option(
    name: "--dry-run", value: nil, help: "check everything, say what would be done, and do nothing")

/// Of checkout and pay.
private let forWhichDevice = [CloudAccess.serial] + ObviousAccess.options
private let forWhichDeviceDetail =
    "For the first device in range, or the one given by --address: its serial number is read from it. With --serial no "
    + "device is needed. The product is that of --product, or the one of --keys-file."

/// Of lines without a device.
private let ofObvious: JSON = ["family": "obvious"]

extension Command {
    static let obviousCatalog = Command(
        "obvious catalog",
        summary: "list what can be bought for Obvious devices",
        details: ["Requests the default catalog from the cloud, of one product or of all."],
        options: CloudAccess.options + [CloudAccess.product],
        common: ["--json"],
        examples: [
            ("tendon obvious catalog --product 1234", "list the features that can be bought for a product"),
            ("tendon obvious catalog --cloud https://localhost:8443 --ca-file ca.pem", "ask another cloud"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("obvious catalog takes no operands") }
        let product = try arguments.product()
        let items = try await Shop(arguments).catalog(product)
        let events = Events(json: arguments.has("--json"))
        for item in items { events.result("catalog_item", nil, ofObvious.merging(item.members), text: item.line) }
        if items.isEmpty { Output.error.line("tendon: the catalog is empty") }
        return .done
    }

    static let obviousCheckout = Command(
        "obvious checkout", operands: "ITEM...",
        summary: "make a cart of catalog items for a device",
        details: ["ITEM is a number that 'tendon obvious catalog' prints. Nothing is paid yet.", forWhichDeviceDetail],
        options: CloudAccess.options + forWhichDevice + [dryRun],
        common: Command.once,
        examples: [
            (
                "tendon obvious checkout 7 --keys-file keys",
                "for the device in range; prints number and price of the cart"
            ),
            (
                "tendon obvious checkout 7 --serial 1122334455667788 --product 1234",
                "for a device that is elsewhere"
            ),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard !arguments.operands.isEmpty else {
            throw .usage("checkout needs the numbers of items", next: "tendon obvious catalog")
        }
        var numbers: [Int] = []
        for word in arguments.operands {
            guard let number = parseInteger(word), (0...Int(Int32.max)).contains(number) else {
                throw .usage("'\(sanitized(word))' is not the number of an item", next: "tendon obvious catalog")
            }
            numbers.append(number)
        }
        let shop = try Shop(arguments)
        let (serial, product) = try await ObviousAccess.identity(arguments)
        let events = Events(json: arguments.has("--json"))
        let catalog = try await shop.catalog(product)
        var items: [CatalogItem] = []
        for number in numbers {
            guard let item = catalog.first(where: { $0.id == number }) else {
                throw CommandError(
                    .failed, "the catalog has no item \(number)", next: "tendon obvious catalog --product \(product)")
            }
            items.append(item)
        }
        if arguments.has("--dry-run") {
            let list = items.map { "\(sanitized($0.name)) (\($0.price))" }.joined(separator: ", ")
            events.dryRun("obvious checkout", "would make a cart of \(list) for device \(serial)")
            return .done
        }
        let cart = try await shop.checkout(items, serial, product)
        events.result(
            "cart", nil,
            [
                "family": "obvious", "cart": JSON(cart.id), "total_price": JSON(cart.totalPrice),
                "currency": .string(sanitized(cart.currency)), "serial": .string(serial), "product": .string(product),
            ],
            text: "cart \(cart.id): \(cart.price)\n"
                + "to pay it: tendon obvious pay \(cart.id) --serial \(serial) --product \(product)\n")
        return .done
    }

    static let obviousPay = Command(
        "obvious pay", operands: "CART",
        summary: "pay a cart by card",
        details: [
            "Asks for the card on the terminal, without echo, or reads three lines from --card-fd: number, MM/YY, CVC. Card "
                + "data is never read from the command line or the environment, never stored and never printed.",
            "A cart is charged once. Its payment has one key from the first request to a definite answer of the cloud, kept in "
                + "$XDG_STATE_HOME/tendon/journal; if the result is not known, because the connection or the command ended, "
                + "run the same command again, with the same card: it asks the cloud with the same key.",
            "If the card requires authentication, prints the page to open in a browser and waits until it is done, at most "
                + "10 minutes. A bought feature becomes active with 'tendon obvious update'.",
            forWhichDeviceDetail,
        ],
        options: CloudAccess.options + forWhichDevice + [CardSource.option, dryRun],
        common: Command.once,
        examples: [
            ("tendon obvious pay 991 --keys-file keys", "for the device in range; ask for the card on the terminal"),
            (
                "tendon obvious pay 991 --serial 1122334455667788 --product 1234",
                "for a device that is elsewhere"
            ),
            (
                "tendon obvious pay 991 --serial 1122334455667788 --product 1234 --card-fd 3 3<card",
                "read the card from a file that the shell opened"
            ),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        // What is typed here may be a card's number: no error repeats it.
        guard arguments.operands.count == 1, let cart = parseInteger(arguments.operands[0]),
            (1...Int(Int32.max)).contains(cart)
        else {
            throw .usage("pay takes the number of one cart, and no card data", next: "tendon obvious checkout ITEM")
        }
        let source = try CardSource(arguments)
        let shop = try Shop(arguments)
        let (serial, product) = try await ObviousAccess.identity(arguments)
        let events = Events(json: arguments.has("--json"))
        try await shop.checkPayment(ofCart: cart)
        let card = try source.read()
        defer { card.wipe() }
        if arguments.has("--dry-run") {
            events.dryRun("obvious pay", "the card can be valid; would pay cart \(cart) for device \(serial) with it")
            return .done
        }
        let request = PaymentRequest(cartId: cart, serialNumber: serial, productIdentifier: product)
        try await shop.pay(request, card, events)
        return .done
    }
}

/// The shop of the cloud.
private struct Shop: Sendable {
    /// How often a cloud may ask for authentication of one payment.
    private static let mostRounds = 3

    init(_ arguments: Arguments) throws(CommandError) { try CloudAccess.install(arguments) }

    func catalog(_ product: String?) async throws(CommandError) -> [CatalogItem] {
        try await CloudAccess.call { () throws(ObviousCloudError) in
            try await OcelotCatalogInteractor.getCatalogInteractor().defaultCatalog(productId: product)
        }
    }

    func checkout(
        _ items: [CatalogItem], _ serial: String, _ product: String
    ) async throws(CommandError) -> ObviousCart {
        try await CloudAccess.call { () throws(ObviousCloudError) in
            try await OcelotCatalogInteractor.getCatalogInteractor().checkout(
                items, serialNumber: serial, productIdentifier: product)
        }
    }

    private func client() async -> OcelotPaymentClient {
        let interactor = await OcelotCatalogInteractor.getCatalogInteractor()
        return await OcelotPaymentClient.getPaymentClient(obviousClient: interactor, listener: nil)
    }

    /// Before the card is asked for.
    func checkPayment(ofCart cart: Int) async throws(CommandError) {
        let state = try await CloudAccess.call { () throws(ObviousCloudError) in
            try await client().payment(ofCart: cart)
        }
        switch state {
        case .none: break
        case .open:
            Output.error.line(
                "tendon: a payment of cart \(cart) was sent before, and its result is not known; the cloud is asked again "
                    + "with the same key: the card is charged once at most")
        case .paid: throw CommandError(.failed, "cart \(cart) is paid already", next: "tendon obvious update")
        }
    }

    func pay(_ request: PaymentRequest, _ card: PaymentCard, _ events: Events) async throws(CommandError) {
        let cart = request.cartId
        let result = try await CloudAccess.result { () throws(ObviousCloudError) in
            try await client().pay(request, card: card)
        }
        var outcome: PaymentOutcome
        switch result {
        case .success(let answer): outcome = answer
        case .failure(let error) where error.isUnknownResult:
            throw Shop.unknown(cart, Termination.shared.isRequested ? "interrupted" : sanitized(error.description))
        case .failure(let error): throw CommandError(error)
        }
        for _ in 0..<Shop.mostRounds {
            guard case .actionRequired(let action) = outcome else { break }
            outcome = try await authenticate(cart, action, events)
        }
        switch outcome {
        case .succeeded:
            events.payment(cart, "succeeded", [:], "cart \(cart) is paid\nto unlock it: tendon obvious update\n")
        case .failed(let code, let message):
            let text = message.isEmpty ? code : message
            events.payment(cart, "failed", ["error": .string(sanitized(code)), "text": .string(sanitized(text))], "")
            throw CommandError(
                .failed, "the payment of cart \(cart) failed: \(sanitized(text)) (\(sanitized(code)))",
                next: "another card; the cart is kept")
        case .actionRequired: throw CommandError(.failed, "the cloud asks for authentication again and again")
        case .pending: throw Shop.unknown(cart, "the cloud has not decided")
        }
    }

    private func authenticate(
        _ cart: Int, _ action: PaymentAction, _ events: Events
    ) async throws(CommandError) -> PaymentOutcome {
        let url = sanitized(action.url)
        events.payment(
            cart, "action_required", ["action_url": .string(url)],
            "the payment needs your authentication; open this page in a browser:\n  \(url)\nwaiting...\n")
        let result = try await CloudAccess.result { () throws(ObviousCloudError) in
            try await client().authentication(cartId: cart, paymentSecret: action.secret)
        }
        switch result {
        case .success(let outcome): return outcome
        case .failure(let error) where error.isCancelled || error.kind == .timeout:
            throw CommandError(
                .failed,
                "\(error.isCancelled ? "interrupted" : "no authentication in 10 minutes"): cart \(cart) is paid only if "
                    + "the authentication is finished in the browser", next: Shop.again(cart))
        case .failure(let error): throw CommandError(error)
        }
    }

    private static func unknown(_ cart: Int, _ why: String) -> CommandError {
        CommandError(
            .failed, "\(why): it is not known whether the card was charged for cart \(cart)",
            next: again(cart))
    }

    private static func again(_ cart: Int) -> String {
        "tendon obvious pay \(cart), again with the same card: it asks with the same key, and charges the card once at most"
    }
}

extension CatalogItem {
    fileprivate var price: String { "\(sanitized(itemprice)) \(sanitized(currency))" }

    fileprivate var members: JSON {
        [
            "item": JSON(id), "title": .string(sanitized(name)), "text": .string(sanitized(description)),
            "price": .string(sanitized(itemprice)), "currency": .string(sanitized(currency)),
            "features": JSON(featureIds),
        ]
    }

    fileprivate var line: String {
        "\(right("\(id)", 5))  \(left(sanitized(name), 20))  \(right(price, 10))  \(sanitized(description))\n"
    }
}

extension ObviousCart {
    /// In major units, as people read it: the cloud counts in hundredths.
    fileprivate var price: String { "\(fixed(Double(totalPrice) / 100, 2)) \(sanitized(currency))" }
}

extension Events {
    fileprivate func payment(_ cart: Int, _ state: String, _ more: JSON, _ text: String) {
        let members: JSON = ["cart": JSON(cart), "state": .string(state)]
        result("payment", nil, ofObvious.merging(members).merging(more), text: text)
    }

    /// What a command would do.
    func dryRun(_ command: String, _ what: String, _ device: DeviceLabel? = nil) {
        let members: JSON = ["command": .string(command), "text": .string(what)]
        result(
            "dry_run", device, device == nil ? ofObvious.merging(members) : members,
            text: "dry run: \(what); nothing was changed\n")
    }
}

// SPDX-License-Identifier: MIT

/// A feature of a product.
public struct ObviousFeature: Sendable, Hashable {
    /// 1 to 1024.
    public let id: Int
    /// Unique in its product.
    public let name: String
    /// Whether the user can switch it.
    public let isToggleable: Bool

    /// A feature.
    public init(id: Int, name: String, isToggleable: Bool) {
        self.id = id
        self.name = name
        self.isToggleable = isToggleable
    }
}

/// What the cloud must know of a device to make a package for it.
public struct FeatureUpdateQuery: Sendable, Hashable {
    /// 16 upper-case hexadecimal digits.
    public var serialNumber: String
    /// The product.
    public var productId: String
    /// The counter that the device reports.
    public var counter: UInt64
    /// The device's nonce, 16 bytes; `nil`: it has none.
    public var nonce: [UInt8]?
    /// "1.3.0"
    public var firmwareVersion: String
    /// The version of the application.
    public var appVersion: String

    /// A query.
    public init(
        serialNumber: String, productId: String, counter: UInt64, nonce: [UInt8]?, firmwareVersion: String,
        appVersion: String
    ) {
        self.serialNumber = serialNumber
        self.productId = productId
        self.counter = counter
        self.nonce = nonce
        self.firmwareVersion = firmwareVersion
        self.appVersion = appVersion
    }
}

/// A signed feature package (OFP1). Its hash was compared with the one that the cloud states; its signature was not.
public struct FeaturePackage: Sendable, Hashable {
    /// At most 8316.
    public let bytes: [UInt8]
    /// The counter that the cloud states.
    public let counter: UInt64
    /// SHA-256 of the bytes.
    public let sha256: [UInt8]

    /// A package.
    public init(bytes: [UInt8], counter: UInt64, sha256: [UInt8]) {
        self.bytes = bytes
        self.counter = counter
        self.sha256 = sha256
    }
}

/// The cloud's answer to a device that asks for its features.
public enum FeatureUpdateAnswer: Sendable, Hashable {
    /// A package for the device.
    case package(FeaturePackage)
    /// The device has what it may have.
    case nothingNew
    /// The device must be provisioned first; `inField`: whether that is possible through the cloud.
    case notProvisioned(inField: Bool)
}

/// What the cloud must know of a device to offer firmware.
public struct FirmwareQuery: Sendable, Hashable {
    /// The product.
    public var productId: String
    /// 16 upper-case hexadecimal digits.
    public var serialNumber: String
    /// The device's version, "1.3.0".
    public var currentVersion: String
    /// The version of the application.
    public var appVersion: String

    /// A query.
    public init(productId: String, serialNumber: String, currentVersion: String, appVersion: String) {
        self.productId = productId
        self.serialNumber = serialNumber
        self.currentVersion = currentVersion
        self.appVersion = appVersion
    }
}

/// Details of the firmware that is available for a device.
public struct OcelotFirmwareInfo: Sendable, Hashable {
    /// XXX,XXX,XXX: major, minor, patch.
    public let versionCode: Int64
    /// "1.4.0"
    public let versionName: String
    /// What is new.
    public let releaseNotes: String
    /// For the user who is asked whether to upgrade.
    public let upgradeMessage: String

    /// Details.
    public init(versionCode: Int64, versionName: String, releaseNotes: String, upgradeMessage: String) {
        self.versionCode = versionCode
        self.versionName = versionName
        self.releaseNotes = releaseNotes
        self.upgradeMessage = upgradeMessage
    }
}

/// Firmware that the cloud offers. Nothing is verified yet: the signed manifest decides.
public struct FirmwareRelease: Sendable, Hashable {
    /// For the user.
    public let info: OcelotFirmwareInfo
    /// Bytes of the image, 1 to 16 MiB.
    public let size: Int
    /// CRC-32 of the image.
    public let crc32: UInt32
    /// SHA-256 of the image.
    public let sha256: [UInt8]
    /// The signed manifest (OFM1), 136 bytes.
    public let manifest: [UInt8]
    /// Where the image is: a path that is appended to the cloud's base URL, or a whole URL.
    public let url: String

    /// A release.
    public init(
        info: OcelotFirmwareInfo, size: Int, crc32: UInt32, sha256: [UInt8], manifest: [UInt8], url: String
    ) {
        self.info = info
        self.size = size
        self.crc32 = crc32
        self.sha256 = sha256
        self.manifest = manifest
        self.url = url
    }
}

/// A bundle of one or more features that can be bought.
public struct CatalogItem: Sendable, Hashable {
    /// Its number.
    public let id: Int
    /// Its title.
    public let name: String
    /// What it is.
    public let description: String
    /// A decimal number as text, "4.99".
    public let itemprice: String
    /// A URL; empty or "null": none.
    public let imageurl: String
    /// A URL; empty or "null": none.
    public let thumbnailurl: String
    /// The currency of the price, "USD".
    public let currency: String
    /// The features that it unlocks.
    public let featureIds: [Int]

    /// An item.
    public init(
        id: Int, name: String, description: String, itemprice: String, imageurl: String, thumbnailurl: String,
        currency: String, featureIds: [Int]
    ) {
        self.id = id
        self.name = name
        self.description = description
        self.itemprice = itemprice
        self.imageurl = imageurl
        self.thumbnailurl = thumbnailurl
        self.currency = currency
        self.featureIds = featureIds
    }
}

/// A cart that can be paid.
public struct ObviousCart: Sendable, Hashable {
    /// Its number.
    public let id: Int
    /// In minor units of the currency: cents.
    public let totalPrice: Int
    /// "USD"
    public let currency: String

    /// A cart.
    public init(id: Int, totalPrice: Int, currency: String) {
        self.id = id
        self.totalPrice = totalPrice
        self.currency = currency
    }
}

/// A payment without its card.
public struct PaymentRequest: Sendable, Hashable {
    /// The cart that is paid.
    public var cartId: Int
    /// The device for which the cart was made.
    public var serialNumber: String
    /// Its product.
    public var productIdentifier: String

    /// A request.
    public init(cartId: Int, serialNumber: String, productIdentifier: String) {
        self.cartId = cartId
        self.serialNumber = serialNumber
        self.productIdentifier = productIdentifier
    }
}

/// What a user must do before a payment goes on.
public struct PaymentAction: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// Identifies the payment to the cloud. Keep it out of logs.
    public let secret: String
    /// The page to show to the user.
    public let url: String

    /// An action.
    public init(secret: String, url: String) {
        self.secret = secret
        self.url = url
    }

    /// Without the secret and the page, whose address can contain it.
    public var description: String { "PaymentAction" }
    /// Nothing, for the same reason.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The result of a step of a payment.
public enum PaymentOutcome: Sendable, Hashable {
    /// The cart is paid.
    case succeeded
    /// The user must authenticate the payment.
    case actionRequired(PaymentAction)
    /// The user has not done it yet.
    case pending
    /// Declined: the cloud's code ("card_declined") and a line for people.
    case failed(code: String, message: String)
}

/// An API key. Its text does not appear in descriptions.
public struct ObviousAPIKey: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The key itself: for the header of a request only.
    package let text: String

    /// `nil` if the text is no key: 1 to 256 printable ASCII characters without spaces.
    public init?(_ text: String) {
        guard (1...256).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        self.text = text
    }

    /// Not the key.
    public var description: String { "ObviousAPIKey" }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

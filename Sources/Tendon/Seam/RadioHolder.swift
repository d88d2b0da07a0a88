// SPDX-License-Identifier: MIT
import CTendon

/// The radio of a vendor's manager: its own radio, opened when it is needed, or that of the application's central. For
/// the loop's thread.
///
/// A manager on the application's central never opens another radio. Its own radio can be opened again after it failed.
package final class RadioHolder: @unchecked Sendable {
    // Used only on the loop's thread.
    private enum Source {
        case central(RadioCore, keeping: AnyObject?)
        case own(choice: () -> RadioChoice, bonds: () -> BondStorage)
    }

    package let loop: Loop
    private let source: Source
    private var isClosed = false
    /// The open radio.
    package private(set) var radio: RadioCore?
    /// The reason why the radio could not be opened, or why it failed; `nil` while it is open, and before the first
    /// `open()`.
    package private(set) var failure: TendonError?
    /// Called when the open radio fails, after it was closed; the manager's connections end by themselves.
    package var onFailure: ((TendonError) -> Void)?

    /// Creates a holder with the manager's own radio.
    package init(
        _ choice: @escaping () -> RadioChoice, bonds: @escaping () -> BondStorage = { .none }, loop: Loop = .shared
    ) {
        self.loop = loop
        source = .own(choice: choice, bonds: bonds)
    }

    /// The radio of the program's central, which is kept, because searching requires it.
    package init(_ radio: RadioCore, keeping central: Central? = nil) {
        loop = radio.loop
        source = .central(radio, keeping: central)
        radio.retain()
    }

    /// The radio; opened if it is not open.
    @discardableResult
    package func open() throws(TendonError) -> RadioCore {
        if let radio { return radio }
        if isClosed { throw TendonError(status: Int32(TENDON_ERROR_WRONG_STATE), operation: .openRadio) }
        do throws(TendonError) {
            let opened = try openSource()
            opened.onFailure(of: self) { [weak self] in self?.failed($0) }
            radio = opened
            failure = nil
            return opened
        } catch {
            failure = error
            throw error
        }
    }

    private func openSource() throws(TendonError) -> RadioCore {
        switch source {
        case .central(let radio, _):
            if let failure = radio.failure { throw failure }
            return radio
        case .own(let choice, let bonds):
            return try RadioCore.open(choice(), bonds: bonds(), loop: loop)
        }
    }

    private func failed(_ error: TendonError) {
        // The C core is in a callback of this radio.
        loop.post { [weak self] in
            guard let self, !isClosed, radio != nil else { return }
            releaseRadio()
            failure = error
            onFailure?(error)
        }
    }

    private func releaseRadio() {
        guard let radio else { return }
        self.radio = nil
        radio.onFailure(of: self, nil)
        if case .own = source { radio.close() }
    }

    /// The manager is released. Connections that are still closing keep the radio until they are closed.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        onFailure = nil
        releaseRadio()
        if case .central(let radio, _) = source { radio.release() }
    }
}

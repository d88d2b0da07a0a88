// SPDX-License-Identifier: MIT
@_exported import Tendon

/// An `EventSequence` that ends instead of throwing: for `for await`.
///
/// ```swift
/// for await state in GripManager.default.subscribeToStateChanges() { print(state) }
/// ```
public struct GripSequence<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = Never
    private let base: EventSequence<Element>

    init(_ base: EventSequence<Element>) { self.base = base }

    /// Elements lost because the consumer was too slow.
    public var dropped: UInt64 { base.dropped }

    public func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }

    /// Takes the elements, for one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        var base: EventSequence<Element>.Iterator

        public mutating func next() async -> Element? { try? await base.next(isolation: nil) }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            try? await base.next(isolation: actor)
        }
    }
}

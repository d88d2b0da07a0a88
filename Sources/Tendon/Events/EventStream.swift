// SPDX-License-Identifier: MIT

/// An `EventSequence` that ends where the other one throws: for `for await`.
public struct EventStream<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = Never
    /// The same elements; throws the reason why the stream has ended.
    public let throwing: EventSequence<Element>

    package init(_ throwing: EventSequence<Element>) { self.throwing = throwing }

    /// Elements lost because the consumer was too slow.
    public var dropped: UInt64 { throwing.dropped }

    /// The same stream, which ends this long from now.
    public func ending(after duration: Duration) -> EventStream { EventStream(throwing.ending(after: duration)) }

    /// The same elements; throws a timeout when an element is longer than this in coming.
    public func timeout(_ limit: Duration) -> EventSequence<Element> { throwing.timeout(limit) }

    public func makeAsyncIterator() -> Iterator { Iterator(base: throwing.makeAsyncIterator()) }

    /// Takes the elements, for one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        var base: EventSequence<Element>.Iterator

        public mutating func next() async -> Element? { try? await base.next(isolation: nil) }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            try? await base.next(isolation: actor)
        }
    }
}

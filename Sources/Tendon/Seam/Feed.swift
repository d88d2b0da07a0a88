// SPDX-License-Identifier: MIT

/// Events of one kind to a delegate, closures and sequences. For the loop's thread; closures and sequences may be added
/// from any thread.
///
/// `push` makes no heap call, and is compiled for each module's elements: without that, each event looks for the types that
/// it needs, a tenth of what a sample costs. Consumers may be added, be removed and end the feed while an event is delivered; a
/// removed consumer receives no further events.
@usableFromInline
package final class Feed<Element: Sendable>: @unchecked Sendable {
    // Used only on the loop's thread.
    package let loop: Loop
    private let consumers = Consumers()
    @usableFromInline private(set) var queues: [EventQueue<Element>] = [] { didSet { consumers.queues = queues.count } }
    @usableFromInline private(set) var handlers: [Handler] = [] { didSet { consumers.handlers = handlers.count } }
    @usableFromInline private(set) var delegates: [Handler] = [] {
        didSet { consumers.delegates = delegates.compactMap(\.isSet) }
    }
    private var isClosed = false
    private var closingError: TendonError?

    @usableFromInline
    final class Handler: @unchecked Sendable {
        // Used only on the loop's thread. Not isolated, so a call needs no closure: the thread is that of the actor.
        @usableFromInline let call: (Element) -> Void
        @usableFromInline let isSet: (() -> Bool)?
        @usableFromInline var isOn = true

        init(_ call: @escaping (Element) -> Void, isSet: (() -> Bool)? = nil) {
            self.call = call
            self.isSet = isSet
        }
    }

    package init(_ loop: Loop = .shared) { self.loop = loop }

    /// Whether there is no consumer, so that expensive events need not be created.
    package var isEmpty: Bool { consumers.isEmpty }

    // MARK: Consumers

    /// A delegate that may be set and removed: `deliver` is called if `isSet`. Neither may retain the feed's owner. A
    /// delegate stays when the feed is finished.
    package func delegate(
        isSet: @escaping @TendonActor () -> Bool, _ deliver: @escaping @TendonActor (Element) -> Void
    ) {
        delegates.append(Handler(onLoop(deliver), isSet: onLoop(isSet)))
    }

    /// A closure, until the token is cancelled or the feed is closed. On another thread, it is added before anything
    /// that the caller posts to the loop next.
    @discardableResult
    package func add(_ body: @escaping @TendonActor (Element) -> Void) -> FeedToken {
        let handler = Handler(onLoop(body))
        loop.runOrPost { [self] in
            if !isClosed, handler.isOn { handlers.append(handler) }
        }
        return FeedToken(loop) { [weak self, weak handler] in
            handler?.isOn = false
            self?.handlers.removeAll { $0 === handler }
        }
    }

    /// A sequence, which keeps `lifetime` until it is released or the feed is finished. One that is made after
    /// `close()` has ended.
    package func sequence(
        capacity: Int, policy: OverflowPolicy, keeping lifetime: AnyObject?
    ) -> EventSequence<Element> {
        EventSequence(queue(capacity: capacity, policy: policy, keeping: lifetime))
    }

    /// The same for a sequence type of the module. On another thread, it is added before anything that the caller posts
    /// to the loop next.
    package func queue(
        capacity: Int, policy: OverflowPolicy, keeping lifetime: AnyObject?
    ) -> EventQueue<Element> {
        let queue = EventQueue<Element>(loop, capacity: capacity, policy: policy)
        let kept = Kept(lifetime)
        loop.runOrPost { [self] in register(queue, keeping: kept.object) }
        return queue
    }

    private func register(_ queue: EventQueue<Element>, keeping lifetime: AnyObject?) {
        guard !isClosed else { return queue.finish(closingError) }
        queues.append(queue)
        queue.onTermination { [weak self, unowned queue] in
            self?.queues.removeAll { $0 === queue }
            withExtendedLifetime(lifetime) {}
        }
    }

    // MARK: Events

    /// Delivers in this call: to sequences, then to the delegate, then to closures.
    @inlinable
    package func push(_ element: Element) {
        for queue in queues { queue.push(element) }
        call(element)
    }

    /// Delivers to sequences in this call. Delegates and closures are called later, in order. For events that the C
    /// core reports while its functions must not be called.
    package func pushSoon(_ element: Element) {
        for queue in queues { queue.push(element) }
        guard !handlers.isEmpty || !delegates.isEmpty else { return }
        loop.post { [self] in call(element) }
    }

    @inlinable
    func call(_ element: Element) {
        for delegate in delegates where delegate.isSet?() ?? true { delegate.call(element) }
        for handler in handlers where handler.isOn { handler.call(element) }
    }

    /// Ends the existing sequences, and removes the closures if `handlersToo`; later consumers receive events.
    package func finish(_ error: TendonError? = nil, handlersToo: Bool = false) {
        let ended = queues
        queues.removeAll()
        for queue in ended { queue.finish(error) }
        if handlersToo {
            for handler in handlers { handler.isOn = false }
            handlers.removeAll()
        }
    }

    /// The source has ended: later consumers receive a sequence that has ended in the same way.
    package func close(_ error: TendonError? = nil) {
        guard !isClosed else { return }
        isClosed = true
        closingError = error
        finish(error, handlersToo: true)
        delegates.removeAll()
    }
}

/// What a feed is asked for with each event of its source. Not generic, so that nothing looks for the element's type.
private final class Consumers: @unchecked Sendable {
    // Used only on the loop's thread.
    var queues = 0
    var handlers = 0
    var delegates: [() -> Bool] = []

    var isEmpty: Bool {
        guard queues == 0, handlers == 0 else { return false }
        // A loop: `contains(where:)` makes a heap call for its closure.
        for isSet in delegates where isSet() { return false }
        return true
    }
}

/// The object that a sequence keeps alive.
private struct Kept: @unchecked Sendable {
    // Only kept.
    let object: AnyObject?
    init(_ object: AnyObject?) { self.object = object }
}

/// Removes a closure from a feed. From any thread.
package final class FeedToken: Sendable {
    private let loop: Loop
    private let remove: @Sendable () -> Void

    fileprivate init(_ loop: Loop, _ remove: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.remove = remove
    }

    /// The closure is not called after this returned on the loop's thread; from another thread, soon.
    package func cancel() {
        loop.runOrPost(remove)
    }
}

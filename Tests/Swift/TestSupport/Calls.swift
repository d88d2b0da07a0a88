// SPDX-License-Identifier: MIT
//
// Calls of system and library functions that fail because a test says so, or that are counted; see CCalls/calls.c for
// the functions.
import CCalls

/// Runs `body` while call number `first` of a function, counted from 0, fails with `error` on this thread.
/// - Parameter all: whether the calls after it fail, too.
/// - Returns: what `body` returns, and how many calls there were.
public func failing<Result>(
    _ name: String, with error: Int32, first: Int = 0, all: Bool = false, _ body: () throws -> Result
) rethrows -> (result: Result, calls: Int) {
    plan(name, error, first: first, all: all)
    defer { end(name) }
    let result = try body()
    return (result, end(name))
}

/// How often `body` calls a function on this thread.
public func calls(of name: String, _ body: () throws -> Void) rethrows -> Int {
    try failing(name, with: 0, body).calls
}

/// Makes this thread's next call of a function fail: for asynchronous functions that make it before they wait.
public func failNextCall(of name: String, with error: Int32) { plan(name, error, once: true) }

/// The machine was suspended for so many hours, as this thread sees it: the time of the day has passed, the monotonic clock
/// stands still.
public func suspend(hours: Int) { tendon_calls_suspend(UInt32(hours * 3600)) }

private func plan(_ name: String, _ error: Int32, first: Int = 0, all: Bool = false, once: Bool = false) {
    precondition(tendon_calls_plan(name, Int32(first), all, once, error), "a function that calls.c has")
}

@discardableResult
private func end(_ name: String) -> Int { Int(tendon_calls_end(name)) }

// SPDX-License-Identifier: MIT
//
// What a core of a vendor module must have ended when its last reference is released.
import Tendon

/// The members of a core that `abandon()` has not ended: feeds that are open, radios that are kept, searches that run,
/// timers, and the flag that keeps it from being abandoned twice. Finds new members by itself.
@TendonActor
public func leftovers(of core: Any) -> [String] {
    Mirror(reflecting: core).children.compactMap { child in
        guard let label = child.label, let value = unwrapped(child.value) else { return nil }
        let isEnded: Bool
        switch value {
        case let search as Search: isEnded = !search.isRunning
        case is LoopTimer: isEnded = false
        case let holder as RadioHolder: isEnded = flag(holder, "isClosed")
        case let flag as Bool where ["abandoned", "isAbandoned"].contains(label): isEnded = flag
        case let feeds where "\(type(of: feeds))".hasSuffix("Feeds"): isEnded = leftovers(of: feeds).isEmpty
        default:
            guard "\(type(of: value))".hasPrefix("Feed<") else { return nil }
            isEnded = flag(value, "isClosed")
        }
        return isEnded ? nil : label
    }
}

private func flag(_ object: Any, _ name: String) -> Bool {
    Mirror(reflecting: object).descendant(name) as? Bool ?? false
}

private func unwrapped(_ value: Any) -> Any? {
    let mirror = Mirror(reflecting: value)
    return mirror.displayStyle == .optional ? mirror.children.first?.value : value
}

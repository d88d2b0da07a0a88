// SPDX-License-Identifier: MIT
//
// The interface for vendor modules: shared code between a device session of the C core and the public API of a module.
//
//   RadioHolder    the radio: opened when it is needed, or the program's own central; why it did not open
//   Search         a scan whose reports go to the session directly
//   SessionLink    the connection that drives a session, and what keeps their memory alive
//   Feed           events to a delegate, closures and sequences, without a heap call per event
//   Pending        a result that a task waits for; ends with `.cancelled` when the task is cancelled
//   Lifetime       held by public objects and sequences; with its last reference the core is abandoned
//
// A module's core (one class, for the loop's thread) owns the C session's memory and one of each. In outline:
//
//   final class Core: Abandonable, @unchecked Sendable {       // used only on the loop's thread
//       let loop = Loop.shared
//       let events = Feed<Event>(Loop.shared)
//       private let session = CBlock<tendon_x_session>()
//       private let holder: RadioHolder
//       private var link: SessionLink?
//       private lazy var search = Search(
//           holder,
//           report: { [unowned self] report, now in
//               tendon_x_session_on_advertisement(session.pointer, report, now)
//               link?.refresh()
//           },
//           failed: { [unowned self] error in … })
//
//       func startLink(to peer: Address) throws(TendonError) {
//           let link = SessionLink(try holder.open(), to: peer, owner: self) { [unowned self] reason in … }
//           link.attach(xSessionInputs, session)              // drives the session; its config.link is link.c
//       }
//       func abandon() {                                      // once, from Lifetime
//           search.stop()
//           link?.abandon()                                   // the connection ends; then this object can go
//           events.close()
//           holder.close()
//       }
//   }
//
// Public objects keep a `Lifetime(core)`, sequences are made with `events.sequence(…, keeping: lifetime)`. A delegate
// is one `events.delegate(…)`, a closure one `events.add`. If `events.isEmpty`, an event need not be created.

/// An object whose life a `Lifetime` ends.
package protocol Abandonable: AnyObject, Sendable {
    var loop: Loop { get }
    /// The last reference was released. Called once, on the loop's thread.
    func abandon()
}

/// Keeps a core for public objects and sequences; with its last reference the core is abandoned.
package final class Lifetime<Core: Abandonable>: Sendable {
    package let core: Core

    package init(_ core: Core) { self.core = core }

    deinit {
        let core = core
        core.loop.post { core.abandon() }
    }
}

// SPDX-License-Identifier: MIT
//
// What the system may not permit: a thread, a descriptor.
import Glibc
import TestSupport
import Testing

@testable import Tendon

@Suite struct StartTests {
    private final class Object: Sendable {}

    private func error(_ body: () throws(TendonError) -> Void) -> TendonError? {
        do throws(TendonError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func aThreadThatIsNotPermitted() {
        weak var kept: Object?
        let (failure, _) = failing("pthread_create", with: EAGAIN) {
            let object = Object()
            kept = object
            return error { () throws(TendonError) in try startThread { _ = object } }
        }
        #expect(failure == TendonError(status: TendonError.system(EAGAIN), operation: .start))
        #expect(kept == nil)
    }

    /// The descriptors of epoll and of the wake-up are closed, as the thread would do.
    @Test func aLoopWithoutAThread() {
        var failure: TendonError?
        let closed = calls(of: "close") {
            failure =
                failing("pthread_create", with: EAGAIN) {
                    error { () throws(TendonError) in _ = try Loop() }
                }.result
        }
        #expect(failure == TendonError(status: TendonError.system(EAGAIN), operation: .start))
        #expect(closed == 2)
    }

    @Test func aLoopWithoutDescriptors() {
        for (name, open) in [("epoll_create1", 0), ("eventfd", 1)] as [(String, Int)] {
            var failure: TendonError?
            let closed = calls(of: "close") {
                failure = failing(name, with: EMFILE) { error { () throws(TendonError) in _ = try Loop() } }.result
            }
            #expect(failure == TendonError(status: TendonError.system(EMFILE), operation: .start))
            #expect(closed == open)
        }
    }
}

// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import TestSupport
import Testing

@testable import Tendon

/// A radio that fails, and everything on it.
struct RadioFailureTests {
    @Test func aRadioThatFails() async throws {
        let site = try await Site()
        let failure = TendonError(status: Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN), operation: .scan)
        let central = try await Central(radio: site.radio)
        let sequence = try await central.scan()
        let calls = Mutex<[String]>([])
        let core = central.core
        let owners = await onLoop {
            let owners = (RadioHolder(core), RadioHolder(core))
            func write(_ line: String) { calls.withLock { $0.append(line) } }
            _ = try? core.scan(
                ScanOptions(), report: { _, _ in }, ended: { write("scan \($0 == failure)") })
            core.onFailure(of: owners.0) { error in write("first \(error == failure)") }
            core.onFailure(of: owners.1) { _ in write("second") }
            core.onFailure(of: owners.1, nil)
            core.failNow(failure.status)
            core.failNow(failure.status)
            return owners
        }
        #expect(calls.withLock { $0 } == ["scan true", "first true"])
        await #expect(throws: failure) { for try await _ in sequence {} }
        #expect(await central.state == .failed(failure))
        await #expect(throws: failure) { try await central.scan() }
        await #expect(throws: failure) { try await central.connect(site.address) }
        await central.close()
        #expect(await central.state == .failed(failure), "the reason stays")
        await onLoop {
            owners.0.close()
            owners.1.close()
        }
    }
}

struct RadioOfTheEnvironmentTests {
    @Test func theVariableNamesARadio() {
        #expect(RadioChoice(environment: nil) == .bluez())
        #expect(RadioChoice(environment: "") == .bluez())
        #expect(RadioChoice(environment: "bluez") == .bluez())
        #expect(RadioChoice(environment: "virtual") == .virtual())
        #expect(RadioChoice(environment: "Virtual") == nil)
        #expect(RadioChoice(environment: "wifi") == nil)
    }

    /// Without an adapter the error is the program's to handle: the virtual radio is never used in its place.
    @Test func noOtherRadioIsUsedInItsPlace() async {
        do throws(TendonError) {
            let central = try await Central(radio: .automatic, bonds: .none)
            #expect(central.radioName == "bluez")
            await central.close()
        } catch {
            #expect([.radio, .system, .management].contains(error.layer), "\(error)")
        }
    }
}

struct RadioHolderTests {
    /// A failure is kept, and the next call tries again.
    @Test func whyItDidNotOpenIsKept() async throws {
        let site = try await Site()
        await onLoop {
            var choice = RadioChoice.virtual(directory: "/proc/no/such/directory")
            let holder = RadioHolder({ choice })
            #expect(holder.failure == nil)
            let error = #expect(throws: TendonError.self) { try holder.open() }
            #expect(error?.operation == .openRadio)
            #expect(holder.failure == error)
            #expect(holder.radio == nil)
            choice = site.radio
            #expect(throws: Never.self) { try holder.open() }
            #expect(holder.failure == nil)
            #expect(holder.radio?.name == "virtual")
            holder.close()
            #expect(throws: TendonError.self) { try holder.open() }
        }
    }

    @Test func aFailureIsReportedOnceAndClosesTheRadio() async throws {
        let site = try await Site()
        let down = Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)
        let errors = Mutex<[TendonError]>([])
        let holder = await onLoop { RadioHolder({ site.radio }) }
        await onLoop {
            holder.onFailure = { error in errors.withLock { $0.append(error) } }
            let radio = try? holder.open()
            radio?.failNow(down)
            radio?.failNow(down)
        }
        await eventually("reported") { errors.withLock { !$0.isEmpty } }
        await onLoop {
            #expect(errors.withLock { $0.map(\.status) } == [down])
            #expect(holder.radio == nil)
            #expect(holder.failure?.status == down)
            #expect(throws: Never.self) { try holder.open() }
            #expect(holder.failure == nil)
            holder.close()
        }
    }

    /// A manager on the program's central never opens another radio.
    @Test func theProgramsCentralIsTheOnlyRadio() async throws {
        let site = try await Site()
        let down = Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)
        var central: Central? = try await Central(radio: site.radio)
        let radio = try #require(central?.core)
        let holder = await onLoop { RadioHolder(radio) }
        await onLoop {
            #expect((try? holder.open()) === radio)
            radio.failNow(down)
        }
        await eventually("failed") { await onLoop { holder.failure?.status == down } }
        await onLoop {
            let error = #expect(throws: TendonError.self) { try holder.open() }
            #expect(error?.status == down)
        }
        #expect(await central?.state == .failed(TendonError(status: down, operation: .scan)))
        central = nil
        await onLoop { holder.close() }
    }

    /// A manager that is released gives back what it has taken, and nothing else: the program's central goes on.
    @Test func aCentralOutlivesAHolder() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let radio = central.core
        let holder = await onLoop { RadioHolder(radio, keeping: central) }
        #expect(await onLoop { radio.users } == 2)
        await onLoop { holder.close() }
        #expect(await onLoop { radio.users } == 1)
        for try await found in try await central.scan() where found.address == site.address { break }
        #expect(await central.state != .closed)
        await central.close()
        #expect(await onLoop { radio.users } == 0)
    }
}

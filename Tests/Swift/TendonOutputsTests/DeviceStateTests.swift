// SPDX-License-Identifier: MIT
// What is known of a device, and which of its events say it.
import TendonSupport
import Testing

@testable import TendonOutputs

@Suite struct DeviceStateTests {
    private func bytes(_ text: String) -> ArraySlice<UInt8> { Array((text + "\n").utf8)[...] }

    /// docs/mqtt.md, "State": what an event calls only `state` has the name of the event.
    @Test func membersOfEvents() {
        var state = DeviceState()
        let isTaken = state.take(
            "connected",
            bytes(
                #"{"time":"1","event":"connected","family":"activ5","address":"A","address_type":"random","name":"n","#
                    + #""firmware":"1.0","serial":null,"text":"t","error":"e","error_number":5,"device_time_ms":7}"#))
        #expect(isTaken)
        #expect(state.value == ["time": "1", "firmware": "1.0"])
        _ = state.take("mode", bytes(#"{"time":"2","event":"mode","state":"compass"}"#))
        #expect(state.value == ["time": "2", "firmware": "1.0", "mode": "compass"])
        let isWrong = state.take("mode", bytes("no JSON"))
        #expect(!isWrong)
        #expect(state.value["mode"] == "compass")
    }

    /// A measurement is whole: what the next one has not, such as its time, is not known of it. Parts of one have no member
    /// in common.
    @Test func aMeasurementTakesThePlaceOfTheOneBefore() {
        var state = DeviceState()
        func take(_ event: String, _ members: String) -> JSON {
            _ = state.take(event, bytes(#"{"time":"1","event":"e","address":"A"\#(members)}"#), isMeasurement: true)
            return state.value
        }
        #expect(take("pressure", #","high":120,"pulse":72,"user":null"#) == ["time": "1", "high": 120, "pulse": 72])
        #expect(take("pressure", #","high":180"#) == ["time": "1", "high": 180])
        #expect(take("bike", #","power":200,"cadence":90"#) == ["time": "1", "high": 180, "power": 200, "cadence": 90])
        #expect(take("bike", #","speed":30,"heart":99"#)["power"] == 200)
        #expect(take("bike", #","power":210"#) == ["time": "1", "high": 180, "speed": 30, "heart": 99, "power": 210])
        #expect(take("bike", #","power":220,"speed":31"#) == ["time": "1", "high": 180, "power": 220, "speed": 31])
        #expect(take("pressure", #","high":90,"pulse":60"#)["pulse"] == 60)
        // The times of both are no member in common.
        let times = #","received_at":7.5,"sampled_at":7.4,"error_ms":1.2"#
        #expect(take("rower", #","distance":5,"pace":6"# + times)["pace"] == 6)
        #expect(take("rower", #","watts":7"# + times)["pace"] == 6)
        #expect(take("rower", #","distance":8"# + times)["pace"] == nil)
        #expect(take("pressure", #","user":1,"high":null"#)["high"] == nil)
        // A member that has the name of the event there; one that is no state.
        #expect(take("lamp", #","state":"on","level":2"#)["lamp"] == "on")
        #expect(take("lamp", #","level":3"#)["lamp"] == nil)
        let before = state.parts
        #expect(take("note", #","sensor":"a""#)["level"] == 3)
        #expect(state.parts == before, "nothing grows with the values")
        // What a device calls an error is a value of it.
        #expect(take("machine", #","error":3,"error_number":4,"text":"a""#)["error"] == 3)
        _ = state.take("refused", bytes(#"{"time":"1","event":"refused","error":"E","error_number":9,"text":"b"}"#))
        #expect(state.value["error"] == 3 && state.value["error_number"] == 4 && state.value["text"] == "a")
    }

    @Test func featuresAreKeptByTheirNumber() {
        var state = DeviceState()
        _ = state.take("feature", bytes(#"{"time":"1","event":"feature","feature":3,"state":"activated"}"#))
        _ = state.take("feature", bytes(#"{"time":"2","event":"feature","feature":4,"state":"unknown"}"#))
        _ = state.take("feature", bytes(#"{"time":"3","event":"feature","feature":3,"state":"expired"}"#))
        #expect(state.value == ["time": "3", "features": ["3": ["state": "expired"], "4": ["state": "unknown"]]])
        // Without a number it is an event like others.
        _ = state.take("feature", bytes(#"{"time":"4","event":"feature","state":"x"}"#))
        #expect(state.value["feature"] == "x")
    }

    @Test func samplesAreObjectsOfTheirSensor() {
        var state = DeviceState()
        state.take(sample: bytes(#"{"time":"1","sensor":"force","device_time_ms":4,"force_n":2}"#), of: "force")
        state.take(sample: bytes("no JSON"), of: "motion")
        #expect(state.hasSamples)
        #expect(state.value == [:])
        #expect(state.complete() == ["time": "1", "force": ["force_n": 2]])
        #expect(!state.hasSamples)
        // The same sample is not there a second time.
        state.take(sample: bytes(#"{"time":"2","sensor":"motion","x":1}"#), of: "motion")
        #expect(state.complete() == ["time": "2", "force": ["force_n": 2], "motion": ["x": 1]])
    }

    /// A device decides what its sensors are called: there are at most 32, and each keeps its newest sample.
    @Test func thereIsALimitOfSensors() {
        var state = DeviceState()
        for number in 0..<33 {
            state.take(sample: bytes(#"{"time":"1","x":\#(number)}"#), of: "sensor \(number)")
        }
        state.take(sample: bytes(#"{"time":"2","x":100}"#), of: "sensor 7")
        let value = state.complete()
        #expect(value["sensor 31"] == ["x": 31])
        #expect(value["sensor 32"] == nil)
        #expect(value["sensor 7"] == ["x": 100], "the limit is of sensors, not of samples")
    }

    @Test(
        arguments: [
            (#"{"sensor":"force"}"#, "force"), (#"{"a":1,"sensor":"a b","x":"y"}"#, "a b"), (#""sensor":"""#, ""),
            (#"{"sensor":7}"#, nil), (#"{"sensor":"x"#, nil), (#""sensor":""#, nil), ("", nil),
            (#"{"sensors":"x"}"#, nil),
        ] as [(String, String?)])
    func theSensorOfALine(line: String, sensor: String?) {
        #expect(DeviceState.sensor(of: Array(line.utf8)[...]) == sensor)
        // Of a part of a buffer as well.
        let buffer = Array("{}\n".utf8) + Array(line.utf8)
        #expect(DeviceState.sensor(of: buffer[3...]) == sensor)
    }

    @Test func whichEventsAreState() {
        let family = FamilyDescription(family: "f", manufacturer: "m", model: "n", states: ["mode"])
        for (event, known, unknown) in [
            ("connected", true, true), ("battery", true, true), ("mode", true, false), ("press", false, false),
        ] {
            #expect((family as FamilyDescription?).describesState(event) == known)
            #expect((nil as FamilyDescription?).describesState(event) == unknown)
        }
    }

    @Test func textsOfTheProgramAreCompared() {
        let sample: EventName = "sample"
        #expect(sample.isEqual(to: "sample"))
        for other: EventName in ["", "sampl", "samples", "sbmple"] { #expect(!sample.isEqual(to: other)) }
    }
}

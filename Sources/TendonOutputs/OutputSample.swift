// SPDX-License-Identifier: MIT
// The numbers of a sample, for outputs that send or store numbers: without a line that is composed and parsed again.
import CTendon

/// One value of a sample.
package struct SampleChannel: Sendable, Equatable {
    /// What a table has in its cells. Bytes and texts can look like numbers: a reader has to know.
    package enum Kind: String, Sendable {
        case number, flag
        /// One of those that a device file has for some numbers; for others the number.
        case word
        case text, bytes, time
    }

    package let name: String
    /// "g", "deg", "N" ...; empty: it has none, or it is not known.
    package let unit: String
    package let kind: Kind

    package init(_ name: String, _ unit: String = "", _ kind: Kind = .number) {
        (self.name, self.unit, self.kind) = (name, unit, kind)
    }
}

/// What the samples of a sensor look like. It is made once and does not change: outputs keep what they have prepared for it
/// by its identity.
package final class SampleForm: Sendable {
    /// As `sensor` of the line; of a record of a list, with the name of the list behind a point.
    package let sensor: String
    package let channels: [SampleChannel]
    /// Further values of a sample, for tables alone: words, texts or bytes; or numbers, which are behind those of the channels.
    package let texts: [SampleChannel]
    /// As tables have them.
    package var columns: [SampleChannel] { channels + texts }
    /// Its lists, for tables: what a record of each looks like.
    package let lists: [SampleForm]
    /// Members of its lines that no table has: channels beyond the limit, and lists that have such members or lists.
    package let inLinesAlone: [String]
    /// Of a list: its first channel is the number of the record in its sample, from 0.
    package let countsRecords: Bool
    package static let recordIndex = SampleChannel("index")
    package var isEmpty: Bool { channels.isEmpty && texts.isEmpty && lists.isEmpty && inLinesAlone.isEmpty }
    /// Channels of a sample; those beyond are left out. As many as the C gateway has.
    package static let limit = Int(TENDON_VIEW_CHANNELS)

    package init(
        _ sensor: String, _ channels: [SampleChannel], texts: [SampleChannel] = [], lists: [SampleForm] = [],
        inLinesAlone: [String] = [], countsRecords: Bool = false
    ) {
        (self.sensor, self.texts, self.lists, self.countsRecords) = (sensor, texts, lists, countsRecords)
        let channels = (countsRecords ? [SampleForm.recordIndex] : []) + channels
        self.channels = Array(channels.prefix(SampleForm.limit))
        self.inLinesAlone = inLinesAlone + channels.dropFirst(SampleForm.limit).map(\.name)
    }
}

/// One sample. Without words it is a value without memory of its own: making it and passing it on allocates nothing.
package struct OutputSample: Sendable {
    package let form: SampleForm
    private var numbers = SIMD32<Double>(repeating: .nan)
    /// When it arrived, and when it was measured: monotonic nanoseconds. 0, nil: not known.
    package var receivedAt: UInt64 = 0
    package var sampledAt: UInt64?
    /// Of a capture, when it arrived, microseconds since 1970; nil: it is received now.
    package var capturedAt: UInt64?
    /// Bound of the error of `sampledAt`.
    package var errorMilliseconds: Double?
    /// Samples per second that the device was set to; 0: it sends when something changes, or its rate is not known.
    package var rate = 0.0
    /// Milliseconds of the device's own clock.
    package var deviceTime: Double?
    /// By column, what a table has in place of a number, as lines have it; empty: there are only numbers.
    package var words: [String?] = []
    /// Those of its lists, in the order of the value. They have no times of their own.
    package var records: [OutputSample] = []
    /// The orientation of a head in the frame of tendon/osc/orientation.h; nil: the sample is none.
    package var head: tendon_quaternion?

    package init(_ form: SampleForm) { self.form = form }

    package var count: Int { form.channels.count }

    /// Of the sample that a record is of.
    package mutating func takeTimes(of sample: OutputSample) {
        (receivedAt, sampledAt, errorMilliseconds) = (sample.receivedAt, sample.sampledAt, sample.errorMilliseconds)
        (capturedAt, deviceTime) = (sample.capturedAt, sample.deviceTime)
    }

    /// In the order of the form's channels; not a number: not known.
    package subscript(_ channel: Int) -> Double {
        get { numbers[channel] }
        set { numbers[channel] = newValue }
    }
}

/// The device that a sample is of. The same object from sample to sample, as long as its name stays.
package protocol SampleSource: AnyObject, Sendable {
    var device: OutputDevice { get }
}

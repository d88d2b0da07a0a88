// SPDX-License-Identifier: MIT
// Samples of the views of the C library (tendon/gateway/view.h), for outputs that take numbers.
import CTendon
import Tendon
import TendonOutputs
import TendonSupport

/// The forms of the samples of a device, or of a captured connection.
struct ViewForms {
    /// By the name of the sensor, which the C library has, and never frees.
    private var known: [UnsafePointer<CChar>: SampleForm] = [:]

    /// - Parameter texts: of a form that is made now.
    mutating func form(of view: tendon_view, texts: @autoclosure () -> [SampleChannel] = []) -> SampleForm {
        if let form = known[view.sensor], form.channels.count == view.count { return form }
        let channels = (0..<view.count).map {
            SampleChannel(text(view.channels[$0].name), text(view.channels[$0].unit))
        }
        let form = SampleForm(text(view.sensor), channels, texts: texts())
        known[view.sensor] = form
        return form
    }
}

extension OutputSample {
    /// The values of a view, whose channels are those of the form.
    init(_ form: SampleForm, _ view: inout tendon_view) {
        self.init(form)
        withUnsafeBytes(of: &view.values) { bytes in
            let values = bytes.bindMemory(to: Double.self)
            for channel in 0..<min(view.count, count) { self[channel] = values[channel] }
        }
    }

    mutating func take(_ times: SampleTimes) {
        (receivedAt, sampledAt, errorMilliseconds) = (times.receivedAt, times.sampledAt, times.errorMilliseconds)
    }
}

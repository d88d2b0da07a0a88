// SPDX-License-Identifier: MIT
// Bose: one sample as numbers, for outputs that want numbers: those of the C library's view.
import CTendon
import Tendon
import TendonOutputs
import TendonSupport

extension BoseSampleLine {
    /// By the number of the sensor.
    private static let forms: [SampleForm?] = BoseNames.sensors.indices.map { sensor in
        var sample = tendon_bose_sample()
        sample.sensor_id = UInt8(sensor)
        sample.has_quaternion = [TENDON_BOSE_ROTATION, TENDON_BOSE_GAME_ROTATION].contains {
            sensor == Int($0.rawValue)
        }
        sample.has_vector = !sample.has_quaternion
        return BoseSampleLine(sample: sample, deviceTime: 0).view { SampleForm($0.pointee) }
    }

    /// Nil: it has no numbers.
    private func view<Result>(_ body: (UnsafeMutablePointer<tendon_view>) -> Result) -> Result? {
        withUnsafePointer(to: sample) { sample in
            var event = tendon_bose_event()
            event.kind = TENDON_BOSE_EVENT_SAMPLE
            event.sample = sample
            var view = tendon_view()
            return tendon_bose_view(&view, &event) ? body(&view) : nil
        }
    }

    /// Nil: a sensor that is not known.
    var numbers: OutputSample? {
        let sensor = Int(sample.sensor_id)
        guard sensor < BoseSampleLine.forms.count, let form = BoseSampleLine.forms[sensor],
            var numbers = view({ OutputSample(form, $0) }) ?? nil
        else { return nil }
        numbers.deviceTime = Double(deviceTime)
        if sample.has_quaternion { numbers.head = tendon_head_from_bose(sample.quaternion) }
        return numbers
    }
}

extension SampleForm {
    /// The channels of a view.
    convenience init(_ view: tendon_view) {
        self.init(
            text(view.sensor),
            (0..<view.count).map { SampleChannel(text(view.channels[$0].name), text(view.channels[$0].unit)) })
    }
}

extension OutputSample {
    /// The values of a view with the channels of the form. Nil: it has others.
    init?(_ form: SampleForm, _ view: UnsafeMutablePointer<tendon_view>) {
        guard view.pointee.count == form.channels.count else { return nil }
        self.init(form)
        withUnsafeBytes(of: &view.pointee.values) { bytes in
            for (channel, value) in bytes.bindMemory(to: Double.self).prefix(count).enumerated() {
                self[channel] = value
            }
        }
    }

    mutating func take(_ times: SampleTimes) {
        (receivedAt, sampledAt, errorMilliseconds) = (times.receivedAt, times.sampledAt, times.errorMilliseconds)
    }
}

/// Whether a client's memory grows with the calls it has made.
struct Growth: Experiment {
    /// Bytes of resident memory, after calls that warm up and after all others.
    struct Measurement: Codable {
        let before: Int
        let after: Int
    }

    let id = "X4.million"

    /// A million calls, or in a smaller setting as many fewer.
    func outcome(_ setting: Setting) throws -> Outcome {
        let child = try Child(
            setting.program, ["growth", setting.clear, "\(setting.calls * 50)", "32"], limit: 600)
        let measurement: Measurement = try child.value()
        try child.finish()
        var outcome = Outcome(id: id)
        outcome.residentMiB = [Contender.penstock.rawValue: Memory.mebibytes(measurement.after)]
        outcome.overWarmUpMiB = Memory.mebibytes(measurement.after - measurement.before)
        return outcome
    }
}

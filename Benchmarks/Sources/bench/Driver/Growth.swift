import Foundation

/// Whether what a client has of the machine grows with the calls it has made.
struct Growth: Experiment {
    /// What the process has.
    struct Holdings: Codable {
        /// Bytes of resident memory.
        let memory: Int
        let descriptors: Int
        let threads: Int

        /// Of this process, now.
        static func now() throws -> Holdings {
            let files = FileManager.default
            return Holdings(
                memory: try Memory.resident(),
                descriptors: try files.contentsOfDirectory(atPath: "/proc/self/fd").count,
                threads: try files.contentsOfDirectory(atPath: "/proc/self/task").count)
        }
    }

    /// After calls that warm up, and after all others.
    struct Measurement: Codable {
        let before: Holdings
        let after: Holdings
    }

    let id = "X4.million"

    /// A million calls, or in a smaller setting as many fewer.
    func outcome(_ setting: Setting) throws -> Outcome {
        let child = try Child(
            setting.program, ["growth", setting.clear, "\(setting.calls * 50)", "32"], limit: 600)
        let measurement: Measurement = try child.value()
        try child.finish()
        var outcome = Outcome(id: id)
        outcome.residentMiB = [Contender.penstock.rawValue: Memory.mebibytes(measurement.after.memory)]
        outcome.overWarmUpMiB = Memory.mebibytes(measurement.after.memory - measurement.before.memory)
        outcome.descriptorsOverWarmUp = Double(measurement.after.descriptors - measurement.before.descriptors)
        outcome.threadsOverWarmUp = Double(measurement.after.threads - measurement.before.threads)
        return outcome
    }
}

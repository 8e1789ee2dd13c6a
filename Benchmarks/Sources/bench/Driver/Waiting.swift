/// What ten thousand calls hold in memory while they wait for a slow server.
struct Waiting: Experiment {
    let id = "X4.waiting"
    private static let calls = 10_000
    private static let contenders = [Contender.c, .cLean, .penstock]

    func outcome(_ setting: Setting) throws -> Outcome {
        var measured: [Contender: [(resident: Int, growth: Int)]] = [:]
        for _ in 0..<setting.rounds {
            for contender in Self.contenders {
                measured[contender, default: []].append(try measure(contender, setting))
            }
        }
        var outcome = Outcome(id: id)
        outcome.residentMiB = Outcome.medians(measured) { Memory.mebibytes($0.resident) }
        outcome.growthMiB = Outcome.medians(measured) { Memory.mebibytes($0.growth) }
        outcome.ratioToC = Outcome.ratio(outcome.growthMiB, Contender.penstock, to: .c)
        return outcome
    }

    /// The server says when it holds every call back; the memory is looked at then.
    private func measure(_ contender: Contender, _ setting: Setting) throws -> (resident: Int, growth: Int) {
        let server = try Child(setting.program, ["server", "\(Self.calls)"])
        let url = "http://127.0.0.1:\(try server.line())"
        let client = try Child(setting.program, ["waiting", contender.rawValue, url, "\(Self.calls)"])
        let idle: Int = try client.value()
        guard try server.line() == "full" else { throw Failure("the slow server is not full") }
        let resident = try Memory.resident(of: client.id)
        try server.writeLine()
        try client.finish()
        try server.finish()
        return (resident, resident - idle)
    }
}

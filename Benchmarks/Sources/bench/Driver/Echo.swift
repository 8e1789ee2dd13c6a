/// Messages over a WebSocket and back, beside the bare loop, with a server of its own for each round.
struct Echo: Experiment {
    let id = "X14.echo"
    private static let contenders = [Contender.c, .penstock]

    func outcome(_ setting: Setting) throws -> Outcome {
        var measured: [Contender: [Measurement]] = [:]
        for round in 0..<setting.rounds {
            for contender in round.isMultiple(of: 2) ? Self.contenders : Self.contenders.reversed() {
                measured[contender, default: []].append(try measure(contender, setting))
            }
        }
        return Outcome(id, measured)
    }

    private func measure(_ contender: Contender, _ setting: Setting) throws -> Measurement {
        let server = try Child(setting.program, ["echo-server"], limit: 120)
        let url = "http://127.0.0.1:\(try server.line())"
        let child = try Child(setting.program, ["echo", contender.rawValue, url, "\(setting.calls)"], limit: 120)
        let measurement: Measurement = try child.value()
        try child.finish()
        try server.finish()
        return measurement
    }
}

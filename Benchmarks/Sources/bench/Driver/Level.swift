/// Calls at one depth of one kind. The contenders take turns, so that what else the machine does meets all alike.
struct Level: Experiment {
    let id: String
    let isSecure: Bool
    let document: Document
    let inFlight: Int
    /// Whether clients with a log are measured too.
    let isLogged: Bool

    init(
        _ id: String, secure: Bool = false, _ document: Document = .item, inFlight: Int, isLogged: Bool = false
    ) {
        self.id = id
        isSecure = secure
        self.document = document
        self.inFlight = inFlight
        self.isLogged = isLogged
    }

    static let all: [any Experiment] = [
        Level("X3.h1.1", inFlight: 1),
        Level("X2.h1.32", inFlight: 32, isLogged: true),
        Level("h1.256", inFlight: 256),
        Level("X3.h2.1", secure: true, inFlight: 1),
        Level("X3.h2.32", secure: true, inFlight: 32),
        Level("h2.256", secure: true, inFlight: 256),
        Level("h1.32.1MiB", .mebibyte, inFlight: 32),
        Level("h2.32.1MiB", secure: true, .mebibyte, inFlight: 32),
    ]

    /// URLSession on Linux can be told of no authority but the system's, and the model and the lean loop are for small
    /// responses.
    private var contenders: [Contender] {
        Contender.allCases.filter { contender in
            switch contender {
            case .urlSession: !isSecure
            case .penstockModel, .cLean: document == .item
            case .penstockLogOff, .penstockLogInfo: isLogged
            case .c, .penstock: true
            }
        }
    }

    func outcome(_ setting: Setting) throws -> Outcome {
        var measured: [Contender: [Measurement]] = [:]
        for round in 0..<setting.rounds {
            for contender in round.isMultiple(of: 2) ? contenders : contenders.reversed() {
                measured[contender, default: []].append(try measure(contender, setting))
            }
        }
        return Outcome(id, measured)
    }

    private func measure(_ contender: Contender, _ setting: Setting) throws -> Measurement {
        let all = document == .mebibyte ? max(2 * inFlight, setting.calls / 20) : setting.calls
        let child = try Child(
            setting.program,
            ["calls", contender.rawValue, isSecure ? setting.secure : setting.clear, document.rawValue]
                + ["\(contender.calls(of: all))", "\(inFlight)"] + (isSecure ? [setting.authorities] : []), limit: 180)
        let measurement: Measurement = try child.value()
        try child.finish()
        return measurement
    }
}

/// What is measured: each in a process of its own.
enum Contender: String, CaseIterable {
    case c
    case cLean = "c-lean"
    case penstock
    case penstockModel = "penstock-model"
    case penstockLogOff = "penstock-log-off"
    case penstockLogInfo = "penstock-log-info"
    case urlSession = "urlsession"

    /// What performs calls, and says how many of them brought what they should.
    typealias Runner = (_ calls: Int) async -> Int

    func runner(_ target: Target, inFlight: Int) throws -> Runner {
        let runner =
            switch self {
            case .c: BareCurlContender.plain(target, inFlight)
            case .cLean: BareCurlContender.lean(target, inFlight)
            case .penstock: PenstockContender.bytes(target, inFlight)
            case .penstockModel: PenstockContender.model(target, inFlight)
            case .penstockLogOff: PenstockContender.bytes(target, inFlight, log: .off)
            case .penstockLogInfo: PenstockContender.bytes(target, inFlight, log: .info)
            case .urlSession: URLSessionContender.runner(target, inFlight)
            }
        guard let runner else { throw Failure("\(rawValue) cannot begin") }
        return runner
    }

    /// URLSession on Linux is so much slower that its rounds are made of fewer calls, to take about as long.
    func calls(of calls: Int) -> Int {
        self == .urlSession ? max(1, calls * 3 / 20) : calls
    }

    /// Makes the calls in `inFlight` tasks, each one call after the other.
    static func crowd(_ calls: Int, _ inFlight: Int, _ call: @escaping @Sendable (Int) async -> Bool) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for worker in 0..<inFlight {
                group.addTask {
                    var good = 0
                    for index in stride(from: worker, to: calls, by: inFlight) {
                        if await call(index) { good += 1 }
                    }
                    return good
                }
            }
            return await group.reduce(0, +)
        }
    }
}

/// What is asked for, and of whom.
struct Target {
    /// The server's URL, without a path.
    let server: String
    let document: Document
    /// A PEM file for https.
    var authorities: String?

    var url: String { "\(server)/\(document.rawValue)" }
}

enum Document: String {
    /// A small JSON document.
    case item
    /// 1 MiB that nothing compresses.
    case mebibyte
    /// What the slow server holds back.
    case wait
    case gibibyte
    /// The small JSON document, which may be reused for an hour.
    case fresh

    func isRight(_ length: Int) -> Bool {
        switch self {
        case .mebibyte: length == 1 << 20
        case .gibibyte: length == 1 << 30
        case .item, .wait, .fresh: length > 0
        }
    }
}

/// What is measured: each in a process of its own.
enum Contender: String, CaseIterable {
    case c
    case penstock
    case penstockModel = "penstock-model"
    case urlSession = "urlsession"

    /// What performs calls, and says how many of them brought what they should.
    typealias Runner = (_ calls: Int) async -> Int

    /// - Returns: `nil` where the URL is none.
    func runner(url: String, inFlight: Int) -> Runner? {
        switch self {
        case .c: BareCurlContender.runner(url, inFlight)
        case .penstock: PenstockContender.runner(url, inFlight, GetBytes()) { !$0.isEmpty }
        case .penstockModel: PenstockContender.runner(url, inFlight, GetItem()) { $0.id == 1 }
        case .urlSession: URLSessionContender.runner(url, inFlight)
        }
    }

    /// URLSession on Linux is so much slower that its rounds are made of fewer calls, to take about as long.
    func calls(of calls: Int) -> Int {
        self == .urlSession ? max(1, calls * 3 / 20) : calls
    }

    /// Makes the calls in `inFlight` tasks, each one call after the other.
    static func crowd(_ calls: Int, _ inFlight: Int, _ call: @escaping @Sendable () async -> Bool) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for worker in 0..<inFlight {
                group.addTask {
                    var good = 0
                    for _ in stride(from: worker, to: calls, by: inFlight) {
                        if await call() { good += 1 }
                    }
                    return good
                }
            }
            return await group.reduce(0, +)
        }
    }
}

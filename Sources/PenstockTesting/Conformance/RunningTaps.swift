import Foundation
import PenstockCore

/// Replies that go on until they are closed, by default a byte a millisecond: what a suspension can be told by, however
/// slow the machine is.
final class RunningTaps: Sendable {
    private struct Tap {
        var count = 0
        var isOpen = true
    }

    private let taps = Locked<[String: Tap]>([:])
    private let piece: Data
    private let pause: Duration

    init(piece: Data = Data([1]), pause: Duration = .milliseconds(1)) {
        self.piece = piece
        self.pause = pause
    }

    /// - Returns: the path of a new one.
    func open() -> String {
        taps.withLock { taps in
            let path = "/tap-\(taps.count)"
            taps[path] = Tap()
            return path
        }
    }

    /// Lets the reply end.
    func close(_ path: String) {
        taps.withLock { $0[path]?.isOpen = false }
    }

    /// Waits, for a thread of a server, until it is closed.
    func waitUntilClosed(_ path: String) {
        while taps.withLock({ $0[path]?.isOpen == true }) { usleep(1_000) }
    }

    /// How many pieces it gave.
    func count(_ path: String) -> Int {
        taps.withLock { $0[path]?.count ?? 0 }
    }

    @Sendable func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        let path = request.path
        guard path.hasPrefix("/tap-") else { return .text("ok") }
        var response = LoopbackServer.Response()
        response.body = .produced(pause: pause) { [self] _ in tick(path) ? piece : nil }
        return response
    }

    /// Returns once `received` has stayed the same while the server gave a hundred bytes more; never for an exchange
    /// whose bytes go on.
    func waitForStillness(of received: Locked<Int>, behind path: String) async throws {
        var seen = received.withLock { $0 }
        var start = count(path)
        while count(path) < start + 100 {
            try await Task.sleep(for: .milliseconds(1))
            let now = received.withLock { $0 }
            if now != seen { (seen, start) = (now, count(path)) }
        }
    }

    private func tick(_ path: String) -> Bool {
        taps.withLock { taps in
            guard taps[path]?.isOpen == true else { return false }
            taps[path]?.count += 1
            return true
        }
    }
}

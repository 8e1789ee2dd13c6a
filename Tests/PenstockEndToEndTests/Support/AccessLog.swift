import Foundation

/// What nginx wrote about the requests it served.
struct AccessLog {
    /// A request, written when it ended.
    struct Line {
        let port: Int
        let status: Int
        let contentBytes: Int
        let target: String

        /// `port status bytes target`, as the configuration says.
        init?(_ text: Substring) {
            let parts = text.split(separator: " ", maxSplits: 3)
            guard parts.count == 4, let port = Int(parts[0]), let status = Int(parts[1]), let bytes = Int(parts[2])
            else { return nil }
            (self.port, self.status, contentBytes, target) = (port, status, bytes, String(parts[3]))
        }
    }

    private let nginx: NginxServer

    init(_ nginx: NginxServer) {
        self.nginx = nginx
    }

    /// Everything that nginx has written about requests that ended before this is called.
    ///
    /// nginx has one process, which ends a request before it begins the next: a request of our own is the mark up to
    /// which the log is complete.
    func linesSoFar() throws -> [Line] {
        let mark = UUID().uuidString
        let port = nginx.http.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        guard Loopback.get("/echo?\(mark)", port: port) != nil else { throw HarnessError("nginx does not answer") }
        let lines = try readLines()
        guard lines.contains(where: { $0.target.contains(mark) }) else { throw HarnessError("nginx writes no log") }
        return lines
    }

    /// The line of the request that has `mark` in its target, once it ended.
    func line(about mark: String) async throws -> Line {
        let deadline = ContinuousClock.now.advanced(by: .seconds(10))
        while ContinuousClock.now < deadline {
            if let line = try readLines().first(where: { $0.target.contains(mark) }) { return line }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw HarnessError("nginx did not end the request in ten seconds")
    }

    private func readLines() throws -> [Line] {
        try String(contentsOf: nginx.accessLog, encoding: .utf8).split(separator: "\n").compactMap(Line.init)
    }
}

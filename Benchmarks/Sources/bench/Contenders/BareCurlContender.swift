import BareCurl
import PenstockCore

/// libcurl alone, on one thread, with the header that Penstock sends.
enum BareCurlContender {
    /// The textbook's loop.
    static func plain(_ target: Target, _ inFlight: Int) -> Contender.Runner? {
        runner(target, inFlight, isLazy: false, buffer: 0)
    }

    /// The best loop for many small responses: interest in sockets is kept lazily, and the buffers are small.
    static func lean(_ target: Target, _ inFlight: Int) -> Contender.Runner? {
        runner(target, inFlight, isLazy: true, buffer: 1_024)
    }

    private static func runner(
        _ target: Target, _ inFlight: Int, isLazy: Bool, buffer: Int
    ) -> Contender.Runner? {
        let header = "User-Agent: Penstock/\(PenstockVersion.current)"
        let loop = bare_curl_open(target.url, header, target.authorities, inFlight, isLazy ? 1 : 0, buffer)
        guard let loop else { return nil }
        return { bare_curl_run(loop, $0) }
    }
}

import BareCurl
import PenstockCore

/// libcurl alone, on one thread, with the header that Penstock sends.
enum BareCurlContender {
    static func runner(_ target: Target, _ inFlight: Int) -> Contender.Runner? {
        let header = "User-Agent: Penstock/\(PenstockVersion.current)"
        guard let loop = bare_curl_open(target.url, header, target.authorities, inFlight) else { return nil }
        return { bare_curl_run(loop, $0) }
    }
}

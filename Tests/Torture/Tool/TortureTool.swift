#if os(Linux)
    import CTorture
    import Foundation
    import PenstockCore

    /// Makes one request over and over, each time with another of its calls failing:
    /// `torture SCENARIO CLEAR SECURE HTTP2 AUTHORITIES [full]`.
    ///
    /// The servers are another process's, so that only the client's calls fail. Swift's own allocations are not among them:
    /// the language ends the process where memory for its objects is not there, and no program can do otherwise.
    @main
    enum TortureTool {
        static func main() async {
            let arguments = CommandLine.arguments
            guard arguments.count >= 6, let scenario = Scenario(rawValue: arguments[1]),
                let clear = try? HTTPURL(arguments[2]), let secure = try? HTTPURL(arguments[3]),
                let http2 = try? HTTPURL(arguments[4])
            else { exit(64) }
            let sites = Sites(
                clear: clear, secure: secure, http2: http2, trust: .authorities(URL(fileURLWithPath: arguments[5])))
            guard torture_prepare() else { exit(70) }
            var campaign = Campaign(scenario: scenario, sites: sites, isFull: arguments.last == "full")
            await campaign.run()
            print(campaign.summary)
            exit(campaign.breaches.isEmpty ? 0 : 1)
        }
    }

    /// Where the requests go.
    struct Sites: Sendable {
        let clear: HTTPURL
        /// HTTP/1.1 over TLS.
        let secure: HTTPURL
        let http2: HTTPURL
        let trust: TrustPolicy
    }
#endif

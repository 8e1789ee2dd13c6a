import PenstockCore
import Testing

@Suite struct ProxyPolicyTests {
    private let secret = ProxyCredentials(user: "maria", password: "pa55")

    @Test func `Nothing that prints a policy prints its credentials`() throws {
        let policies = [
            ProxyPolicy.http(try HTTPURL("http://proxy.example:3128"), credentials: secret),
            .socks5("proxy.example", credentials: secret),
        ]
        for policy in policies {
            var texts = ["\(policy)", String(reflecting: policy), "\(CallOptions.with { $0.proxy = policy })"]
            var dumped = ""
            dump(policy, to: &dumped)
            texts.append(dumped)
            for text in texts {
                #expect(text.contains("proxy.example"))
                #expect(!text.contains("maria") && !text.contains("pa55"))
            }
        }
    }

    @Test func `Policies differ by way and by credentials`() throws {
        let url = try HTTPURL("http://proxy.example:3128")
        let policies: [ProxyPolicy] = [
            .none, .http(url), .http(url, credentials: secret), .socks5("proxy.example"),
            .http(url, credentials: .init(user: "maria", password: "other")), .socks5("proxy.example", port: 1_081),
        ]
        #expect(Set(policies).count == policies.count)
        #expect(ProxyPolicy.socks5("proxy.example") == .socks5("proxy.example", port: 1_080))
        #expect(ProxyPolicy.http(try HTTPURL("http://PROXY.example:3128/path")) == .http(url))
    }
}

#if os(Linux)
    import Foundation
    import Penstock
    import PenstockTesting
    import Testing

    @Suite struct PublicSuffixesTests {
        static let list = "/usr/share/publicsuffix/public_suffix_list.dat"

        static let domains: [(String, Bool)] = [
            ("com", true), ("co.uk", true), ("github.io", true), ("example.com", false), ("shop.co.uk", false),
            ("www.ck", false), ("other.ck", true), ("unknown-tld", true), ("a.unknown-tld", false),
            ("xn--55qx5d.cn", true),
        ]

        @Test(arguments: domains) func `the system's list knows public suffixes`(domain: String, isPublic: Bool) throws
        {
            let suffixes = try #require(SystemPublicSuffixes.shared)
            #expect(suffixes.isPublicSuffix(domain) == isPublic)
            #expect(suffixes.registrableDomain(of: "a.shop.co.uk") == "shop.co.uk")
        }

        @Test func `libpsl and our own reader agree on every rule of the list, one label more and one label less`()
            throws
        {
            let text = try String(contentsOfFile: Self.list, encoding: .utf8)
            let own = try #require(PublicSuffixList(text))
            let system = try #require(SystemPublicSuffixes.shared)
            var compared = 0
            for line in text.split(separator: "\n") where !line.hasPrefix("//") {
                let rule = line.drop { $0 == "!" }
                let name = rule.hasPrefix("*.") ? rule.dropFirst(2) : rule
                guard let host = try? HTTPURL("https://\(name)/").host else { continue }
                var names = ["x.\(host)", "y.x.\(host)"]
                // What is left of a wildcard is a suffix to libpsl, and by the list's own algorithm is none.
                if !rule.hasPrefix("*.") { names.append(host) }
                for name in names {
                    compared += 1
                    #expect(own.isPublicSuffix(name) == system.isPublicSuffix(name), "\(name)")
                }
            }
            #expect(compared > 20_000)
        }

        @Test func `the cookies of a client on the platform's transport go to the domain that they ask for`() throws {
            let store = try #require(APIClient("https://x.shop.co.uk").configuration.cookies as? MemoryCookieStore)
            store.receive(
                ["wide=1; Domain=shop.co.uk", "suffix=1; Domain=co.uk"], from: try HTTPURL("https://x.shop.co.uk/"),
                in: .init())
            #expect(store.field(for: try HTTPURL("https://y.shop.co.uk/"), in: .init()) == "wide=1")
            var own = APIClient.Configuration("https://x.shop.co.uk")
            own.cookies = nil
            #expect(APIClient(own).configuration.cookies == nil)
        }
    }
#endif

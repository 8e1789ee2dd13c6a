#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTesting
    import Testing

    @testable import PenstockCurl

    /// What a resolver learns of its addresses from a connection, or from none.
    @Suite(.timeLimit(.minutes(5))) struct ChoiceTests {
        private static let a = HostAddress(trusted: "1.0.0.1")
        private static let b = HostAddress(trusted: "1.0.0.2")
        private static let six = HostAddress(trusted: "2001:db8::1")
        private static let began: UInt64 = 5_000_000_000

        /// Addresses with the milliseconds after which each was tried.
        private func choice(_ tried: [(HostAddress, UInt64)]) -> CurlChoice {
            var choice = CurlChoice(Self.began)
            for (address, moment) in tried { choice.tries(address, Self.began + moment * 1_000_000) }
            return choice
        }

        /// The order in which all three are tried from now on.
        private func order(_ tell: (HostResolver) -> Void) async throws -> [HostAddress]? {
            let list = try StaticHosts(["a.example": [Self.a.text, Self.b.text, Self.six.text]])
            let resolver = HostResolver([list], fallsBackToSystem: false, time: TestClock().timeSource)
            tell(resolver)
            return await resolver.addresses(of: "a.example", port: 80)
        }

        @Test func `an address that was passed over rests, the one connected to is measured`() async throws {
            let choice = choice([(Self.a, 0), (Self.b, 100)])
            let order = try await order { choice.tell($0, Self.b.text, connected: 130_000) }
            #expect(order == [Self.six, Self.b, Self.a])
        }

        @Test("What is measured is the time of the address itself", arguments: [(29, true), (31, false)])
        func time(milliseconds: Int, isSlower: Bool) async throws {
            let choice = choice([(Self.b, 100)])
            let order = try await order { resolver in
                resolver.connected(to: Self.a, in: .milliseconds(milliseconds))
                choice.tell(resolver, Self.b.text, connected: 130_000)
            }
            #expect(order == (isSlower ? [Self.six, Self.a, Self.b] : [Self.six, Self.b, Self.a]))
        }

        @Test("An address of the other family rests where it had 250 ms", arguments: [(249, false), (250, true)])
        func otherFamily(milliseconds: Int, rests: Bool) async throws {
            let choice = choice([(Self.six, 0), (Self.a, 200)])
            let order = try await order { choice.tell($0, Self.a.text, connected: milliseconds * 1_000) }
            #expect(order == (rests ? [Self.b, Self.a, Self.six] : [Self.b, Self.six, Self.a]))
        }

        @Test(
            "An address that was given next to no time is not to blame",
            arguments: [
                (false, UInt64(0), true), (true, 249, false), (true, 250, true),
            ])
        func failures(isLate: Bool, milliseconds: UInt64, rests: Bool) async throws {
            let choice = choice([(Self.a, 0)])
            let order = try await order {
                choice.tellFailure($0, isLate: isLate, Self.began + milliseconds * 1_000_000)
            }
            #expect(order == (rests ? [Self.b, Self.six, Self.a] : [Self.a, Self.b, Self.six]))
        }

        @Test("A connection to another address tells nothing", arguments: ["", "1.0.0.9", "no address"])
        func stranger(text: String) async throws {
            let choice = choice([(Self.a, 0), (Self.b, 100)])
            #expect(try await order { choice.tell($0, text, connected: 130_000) } == [Self.a, Self.b, Self.six])
        }
    }
#endif

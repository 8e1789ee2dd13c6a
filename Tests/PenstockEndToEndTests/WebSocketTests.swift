import Foundation
import Penstock
import PenstockCurl
import PenstockTestSupport
import PenstockTesting
import Testing

/// WebSockets against an implementation that the authors of this package did not write, both ways, and through nginx and squid.
@Suite(.needsServers, .timeLimit(.minutes(5)), .covers("X14"))
struct WebSocketTests {
    enum Way: String, CaseIterable, Sendable {
        case direct, nginx, secureNginx, proxy, secureProxy, socks
    }

    private func client(_ way: Way, _ body: (APIClient) async throws -> Void) async throws {
        let servers = try await WebSocketServers.shared()
        let base =
            switch way {
            case .direct, .proxy, .socks: servers.direct
            case .nginx: servers.proxied
            case .secureNginx, .secureProxy: servers.secure
            }
        let proxies = try await ProxyServers.shared()
        try await Wire.libcurl.client(
            for: base,
            with: {
                $0.options.trust = .authorities(servers.certificateAuthority)
                switch way {
                case .proxy, .secureProxy:
                    $0.options.proxy = .http(proxies.guarded, credentials: ProxyServers.credentials)
                case .socks:
                    $0.options.proxy = .socks5("127.0.0.1", port: proxies.socks, credentials: ProxyServers.credentials)
                default: break
                }
            }, body)
    }

    @Test("Messages of every size come back, compressed or not, by every way", arguments: Way.allCases, [true, false])
    func echo(way: Way, compresses: Bool) async throws {
        try await client(way) { client in
            let socket = client.webSocket(
                "/", WebSocketOptions(subprotocols: ["chat"], deflate: compresses ? WebSocketDeflate() : nil))
            var iterator = socket.messages.makeAsyncIterator()
            for size in [0, 1, 125, 126, 65_535, 65_536, 1_000_000] {
                for message in [
                    WebSocketMessage.binary(sampleBytes(seed: 5, count: size)),
                    .text(String(repeating: "é", count: size)),
                ] {
                    try await socket.send(message)
                    let answer = try await iterator.next()
                    #expect(answer == message)
                }
            }
            #expect(socket.subprotocol == "chat")
            #expect((socket.compression != nil) == compresses)
            try await socket.send("pieces")
            let whole = try await iterator.next()
            #expect(whole == .text((0..<100).map(String.init).joined()))
            await socket.close()
            #expect(socket.closedBy?.code == .normal)
        }
    }

    @Test("The parameters of compression are kept by both ends", arguments: [9, 12, 15], [false, true])
    func parameters(bits: Int, forgets: Bool) async throws {
        try await client(.direct) { client in
            var deflate = WebSocketDeflate()
            (deflate.serverMaxWindowBits, deflate.clientMaxWindowBits) = (bits, bits)
            (deflate.serverNoContextTakeover, deflate.clientNoContextTakeover) = (forgets, forgets)
            let socket = client.webSocket("/", WebSocketOptions(subprotocols: ["chat"], deflate: deflate))
            var iterator = socket.messages.makeAsyncIterator()
            let text = WebSocketMessage.text((0..<5_000).map { "\($0 % 97) " }.joined())
            for _ in 0..<5 {
                try await socket.send(text)
                let answer = try await iterator.next()
                #expect(answer == text)
            }
            let agreed = try #require(socket.compression)
            #expect(agreed.serverMaxWindowBits <= bits && agreed.clientMaxWindowBits <= bits)
            #expect(agreed.serverNoContextTakeover == forgets || !forgets)
            await socket.close()
        }
    }

    @Test("A close of the other end's choice is told")
    func closing() async throws {
        try await client(.nginx) { client in
            let socket = client.webSocket("/", WebSocketOptions(subprotocols: ["chat"]))
            try await socket.send("close")
            let error = await #expect(throws: APIError.self) { for try await _ in socket.messages {} }
            #expect(
                error?.underlying as? WebSocketClosure
                    == WebSocketClosure(code: .init(rawValue: 4_001), reason: "as you wish"))
        }
    }

    @Test("A client of another make gets from the fault server what it sent")
    func otherClient() async throws {
        let server = try LoopbackServer {
            .webSocket($0, subprotocols: ["chat"], compression: ZlibCompression()) { $0.echo() }
        }
        defer { server.stop() }
        let url = "ws://127.0.0.1:\(server.url.port)/"
        let output = try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result { try Programs.run(Programs.python, ["-c", WebSocketServers.clientScript, url]) })
            }
        }
        #expect(output == "all good\n")
        #expect(server.requestCount == 2)
    }
}

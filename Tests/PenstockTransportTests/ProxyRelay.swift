#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import PenstockTesting

    /// A proxy that leads to ports of 127.0.0.1, whatever the name, and tells to which it has led.
    struct ProxyRelay: Sendable {
        enum Kind: CaseIterable, Sendable {
            case http, socks

            /// Without a proxy, and through one of each kind.
            static let ways: [Kind?] = [nil] + allCases
        }

        let policy: ProxyPolicy
        private let server: LoopbackServer
        private let led = Locked<[Int]>([])

        init(_ kind: Kind) throws {
            server = try LoopbackServer.serving { [led] wire, _ in
                var input = Input(wire: wire)
                guard let opening = kind == .http ? input.readRequest() : input.readSOCKS(),
                    let origin = try? RawClient(port: opening.port)
                else { return }
                led.withLock { $0.append(opening.port) }
                opening.answer.map { _ = wire.send($0) }
                origin.send(opening.handedOn)
                Self.pass(wire, origin)
            }
            policy = kind == .http ? .http(server.url) : .socks5("127.0.0.1", port: server.url.port)
        }

        /// How often it has made a connection to a server.
        func connections(to server: LoopbackServer) -> Int {
            led.withLock { ports in ports.count { $0 == server.url.port } }
        }

        func stop() {
            server.stop()
        }

        /// Bytes both ways, until one of both has closed.
        private static func pass(_ wire: LoopbackWire, _ origin: RawClient) {
            while true {
                if wire.isReadable(within: .milliseconds(1)) {
                    guard let bytes = wire.receive() else { return }
                    origin.send(bytes)
                }
                if !origin.isQuiet(for: 1) {
                    guard let bytes = origin.readSome() else { return }
                    wire.send(bytes)
                }
            }
        }

        // MARK: What a client says to it

        private struct Opening {
            let port: Int
            /// What the client is told first; `nil` where that comes from the origin.
            var answer: Data?
            var handedOn = Data()
        }

        private struct Input {
            let wire: LoopbackWire
            var bytes: [UInt8] = []

            mutating func take(_ count: Int) -> [UInt8]? {
                while bytes.count < count {
                    guard let more = wire.receive() else { return nil }
                    bytes += more
                }
                defer { bytes.removeFirst(count) }
                return Array(bytes.prefix(count))
            }

            /// `CONNECT` (RFC 9110 §9.3.6), or a request whose target is in the absolute form.
            mutating func readRequest() -> Opening? {
                var head = ""
                while !head.hasSuffix("\r\n\r\n") {
                    guard let next = take(1) else { return nil }
                    head += String(decoding: next, as: UTF8.self)
                }
                let words = head.split(separator: " ", maxSplits: 2)
                guard words.count == 3 else { return nil }
                if words[0] == "CONNECT" {
                    let port = words[1].split(separator: ":").last.flatMap { Int($0) }
                    return port.map { Opening(port: $0, answer: Data("HTTP/1.1 200 OK\r\n\r\n".utf8)) }
                }
                guard let url = try? HTTPURL(String(words[1])) else { return nil }
                return Opening(port: url.port, handedOn: Data(head.utf8))
            }

            /// RFC 1928 §3 and §4, without credentials.
            mutating func readSOCKS() -> Opening? {
                guard let greeting = take(2), greeting[0] == 5, take(Int(greeting[1])) != nil else { return nil }
                wire.send(Data([5, 0]))
                guard let request = take(4), request[1] == 1 else { return nil }
                guard let length = request[3] == 3 ? take(1).map({ Int($0[0]) }) : request[3] == 1 ? 4 : 16,
                    take(length) != nil, let port = take(2)
                else { return nil }
                return Opening(
                    port: Int(port[0]) << 8 | Int(port[1]), answer: Data([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
            }
        }
    }
#endif

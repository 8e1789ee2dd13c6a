import BareCurl
import Foundation
import PenstockCore

/// Messages of 1 KiB that a server sends back over a WebSocket, one after the other.
enum EchoContender {
    private static let size = 1_024

    static func runner(_ contender: Contender, _ server: String) async throws -> Contender.Runner {
        switch contender {
        case .c:
            guard let socket = bare_echo_open(server) else { throw Failure("the bare socket does not open") }
            return { bare_echo_run(socket, $0, size) }
        case .penstock: return try await penstock(server)
        default: throw Failure("\(contender.rawValue) has no sockets")
        }
    }

    private static func penstock(_ server: String) async throws -> Contender.Runner {
        let client = PenstockContender.client(Target(server: server, document: .item))
        let socket = client.webSocket("/", WebSocketOptions(deflate: nil))
        try await socket.open()
        return { calls in
            var good = 0
            var messages = socket.messages.makeAsyncIterator()
            for index in 0..<calls {
                let payload = Data(repeating: UInt8(truncatingIfNeeded: index), count: size)
                guard (try? await socket.send(.binary(payload))) != nil else { break }
                if case .binary(payload)? = try? await messages.next() { good += 1 }
            }
            return good
        }
    }
}

#if os(Linux)
    import Foundation
    import PenstockCore

    /// A server on a raw socket: one thread for each connection runs the given script. Bound to loopback.
    final class WireServer: Sendable {
        private struct State {
            var open: Set<Int32> = []
            var accepted = 0
            var requests: [WireRequest] = []
        }

        let port: UInt16
        private let listener: Int32
        private let state = Locked(State())
        private let idle = DispatchGroup()

        /// - Parameter script: serves one connection; its second argument counts connections from 0.
        init(_ script: @escaping @Sendable (WireConnection, Int) -> Void) throws {
            (listener, port) = try Self.listen()
            let listener = listener
            idle.enter()
            Thread.detachNewThread { [self] in
                while true {
                    let descriptor = accept(listener, nil, nil)
                    guard descriptor >= 0 else { break }
                    serve(descriptor, script)
                }
                idle.leave()
            }
        }

        /// A server that answers every request on every connection with the same bytes.
        static func answering(_ response: String) throws -> WireServer {
            try WireServer { connection, _ in
                while connection.readRequest() != nil { connection.send(response) }
            }
        }

        var connections: Int { state.withLock(\.accepted) }
        var requests: [WireRequest] { state.withLock(\.requests) }

        func url(_ path: String = "/") throws -> HTTPURL {
            try HTTPURL("http://127.0.0.1:\(port)\(path)")
        }

        /// Whether something listens on a port of this machine.
        static func accepts(_ port: UInt16) -> Bool {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = loopback(port)
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        }

        private static func loopback(_ port: UInt16) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            address.sin_port = port.bigEndian
            return address
        }

        /// Closes everything and waits for the threads.
        func stop() {
            shutdown(listener, Int32(SHUT_RDWR))
            state.withLock { state in
                for descriptor in state.open { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
            }
            idle.wait()
            close(listener)
        }

        private func serve(_ descriptor: Int32, _ script: @escaping @Sendable (WireConnection, Int) -> Void) {
            let number = state.withLock { state in
                state.open.insert(descriptor)
                defer { state.accepted += 1 }
                return state.accepted
            }
            idle.enter()
            Thread.detachNewThread { [self] in
                let connection = WireConnection(descriptor) { request in
                    self.state.withLock { $0.requests.append(request) }
                }
                script(connection, number)
                state.withLock { state in
                    state.open.remove(descriptor)
                    close(descriptor)
                }
                idle.leave()
            }
        }

        private static func listen() throws -> (Int32, UInt16) {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = loopback(0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    guard bind(descriptor, address, length) == 0, Glibc.listen(descriptor, 4_096) == 0 else {
                        return -1
                    }
                    return Int(getsockname(descriptor, address, &length))
                }
            }
            guard code == 0 else { throw POSIXError(.EADDRINUSE) }
            return (descriptor, UInt16(bigEndian: address.sin_port))
        }
    }

    /// One request as it stood on the wire.
    struct WireRequest: Sendable, Equatable {
        /// Request line and fields, with the empty line.
        var head: String
        /// As it came: chunks still have their frames.
        var body: String
    }

    /// The server's end of a connection; blocking.
    final class WireConnection {
        private let descriptor: Int32
        private let record: (WireRequest) -> Void
        private var buffer: [UInt8] = []

        init(_ descriptor: Int32, record: @escaping (WireRequest) -> Void) {
            self.descriptor = descriptor
            self.record = record
        }

        /// `nil` at the end of the connection.
        func readRequest() -> WireRequest? {
            guard let head = readHead() else { return nil }
            let lowercased = head.lowercased()
            var body = ""
            if lowercased.contains("transfer-encoding: chunked") {
                guard let chunks = read(until: "0\r\n\r\n") else { return nil }
                body = chunks
            } else if let range = lowercased.range(of: "content-length: ") {
                let count = Int(lowercased[range.upperBound...].prefix { $0.isNumber }) ?? 0
                guard let bytes = read(count: count) else { return nil }
                body = bytes
            }
            let request = WireRequest(head: head, body: body)
            record(request)
            return request
        }

        func readHead() -> String? { read(until: "\r\n\r\n") }

        func send(_ text: String) {
            send(Array(text.utf8))
        }

        func send(_ bytes: [UInt8]) {
            var offset = 0
            while offset < bytes.count {
                let count = bytes.withUnsafeBytes { bytes in
                    Glibc.send(
                        descriptor, bytes.baseAddress.map { $0 + offset }, bytes.count - offset, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                offset += count
            }
        }

        /// Returns when the client has closed its end; whatever it still sends is dropped.
        func untilClosed() {
            while fill() {}
        }

        private func read(until mark: String) -> String? {
            let mark = Array(mark.utf8)
            var searched = 0
            while true {
                if let end = find(mark, from: searched) { return take(end) }
                searched = max(0, buffer.count - mark.count)
                guard fill() else { return nil }
            }
        }

        private func read(count: Int) -> String? {
            while buffer.count < count { guard fill() else { return nil } }
            return take(count)
        }

        private func find(_ mark: [UInt8], from start: Int) -> Int? {
            guard buffer.count >= mark.count else { return nil }
            for index in start...(buffer.count - mark.count) where buffer[index...].starts(with: mark) {
                return index + mark.count
            }
            return nil
        }

        private func take(_ count: Int) -> String {
            defer { buffer.removeFirst(count) }
            return String(decoding: buffer[..<count], as: UTF8.self)
        }

        private func fill() -> Bool {
            var piece = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { return false }
            buffer.append(contentsOf: piece[..<count])
            return true
        }
    }
#endif

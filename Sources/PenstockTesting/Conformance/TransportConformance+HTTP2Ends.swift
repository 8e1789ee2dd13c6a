import Foundation
import PenstockCore

extension TransportConformance {
    /// How streams and connections of HTTP/2 are ended by the server, and what that proves (RFC 9113 §6.4, §6.8, §8.7).
    public static let http2Ends = streamEnds + brokenOff

    private static let streamEnds: [Rule] = [
        refused(.post, body: small), refused(.get, body: .none),
        Rule(
            "A stream that is refused once is answered on another connection, or was not processed", over: .http2,
            onHead: { $0.number == 1 ? .fault(.closeStream(.refusedStream), at: .requestStart) : .proceed }
        ) { probe in
            let exchange = try probe.exchange(.post, body: small, timeouts: soon)
            do throws(TransportError) {
                try expectStatus(await probe.transport.perform(exchange).response)
            } catch { try expect(error, .connectionLost, sendState: .unprocessed) }
            try expect(probe.server.requestCount <= 1, "it was made \(probe.server.requestCount) times")
        },
        Rule(
            "A stream that is refused on a connection in use is never said to be more than it is", over: .http2,
            onHead: { $0.path == "/refused" ? .fault(.closeStream(.refusedStream), at: .requestStart) : .proceed }
        ) { probe in
            try await probe.send()
            let error = try await probe.failure(.post, "/refused", body: small, timeouts: soon)
            try expect(error, .connectionLost)
            try expect([.unprocessed, .maybeProcessed].contains(error.sendState), "send state \(error.sendState)")
            try expect(probe.server.requestCount, is: 1, "requests")
            try await probe.send(timeouts: soon)
        },
        Rule(
            "A stream of GET that is refused on a connection in use is sent again", over: .http2,
            onHead: { $0.number == 2 ? .fault(.closeStream(.refusedStream), at: .requestStart) : .proceed }
        ) { probe in
            try await probe.send()
            let exchange = try probe.exchange(.get, "/again", timeouts: soon)
            do throws(TransportError) {
                try expectStatus(await probe.transport.perform(exchange).response)
            } catch { try expect(error, .connectionLost, sendState: .unprocessed) }
        },
        Rule(
            "A stream that is reset with any other code may have been processed, and is not sent again", over: .http2,
            onHead: { request in
                let code = UInt32(request.path.dropFirst()) ?? 0
                return .fault(.closeStream(.init(rawValue: code)), at: .requestBody(after: 3))
            }
        ) { probe in
            for code in [1, 2, 3, 5, 6, 8, 9, 10, 11, 12, 99] {
                let error = try await probe.failure(.post, "/\(code)", body: small, timeouts: soon)
                try expect(error, .connectionLost, .protocolViolation, sendState: .maybeProcessed)
            }
            try expect(probe.server.faults.count, is: 11, "streams")
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule(
            "A stream that ends without an error and without a head was not answered", over: .http2,
            onHead: { _ in .fault(.closeStream(.noError), at: .requestBody(after: 3)) }
        ) { probe in
            let error = try await probe.failure(.post, body: small, timeouts: soon)
            try expect(error, .connectionLost, .protocolViolation, sendState: .maybeProcessed)
            try expect(probe.server.faults.count, is: 1, "streams")
        },
        Rule(
            "A stream that is reset after its whole response has been answered", over: .http2,
            server: { request in
                let code = UInt32(request.path.dropFirst()) ?? 0
                return .text("ok").fault(.closeStream(.init(rawValue: code)), at: .responseEnd)
            }
        ) { probe in
            for code in [0, 8, 7, 2] {
                try expect(await probe.send(.post, "/\(code)", timeouts: soon).status, is: 200, "status")
            }
        },
        Rule(
            "A stream that is reset in the middle of its content has no whole response", over: .http2,
            server: { request in
                let code = UInt32(request.path.dropFirst()) ?? 0
                return .text("0123456789").fault(.closeStream(.init(rawValue: code)), at: .responseBody(after: 4))
            }
        ) { probe in
            for code in [0, 1, 2, 7, 8, 11] {
                let error = try await probe.failure(.post, "/\(code)", body: small, timeouts: soon)
                try expect(error, .connectionLost, .protocolViolation, sendState: .answered)
                try expect(error.partialResponse?.status, is: 200, "status of the partial response")
            }
        },
        Rule(
            "Content without a length that ends with its connection is not taken for whole", over: .http2,
            server: { request in
                .chunks([Data("abc".utf8), Data("def".utf8)])
                    .fault(request.path == "/close" ? .close : .shutDown, at: .responseBody(after: 4))
            }
        ) { probe in
            for path in ["/close", "/goodbye"] {
                try await expect(probe.failure(.get, path, timeouts: soon), .connectionLost, sendState: .answered)
            }
        },
        Rule(
            "Streams beyond the last of a GOAWAY were not processed", over: .http2,
            onHead: { _ in .fault(.goAway(lastStream: 0, .noError), at: .requestStart) }
        ) { probe in
            let error = try await probe.failure(.post, body: small, timeouts: soon)
            try expect(error, .connectionLost, .protocolViolation)
            // Where the end of the connection overtakes the GOAWAY, nothing is proven.
            try expect([.unprocessed, .maybeProcessed].contains(error.sendState), "send state \(error.sendState)")
            try expect(probe.server.requestCount, is: 0, "requests")
        },
        Rule(
            "Streams up to the last of a GOAWAY go on, and new ones take another connection", over: .http2,
            server: { request in
                switch request.path {
                case "/slow": .text("slow").delayed(by: .milliseconds(700))
                case "/leave": Frames(for: request).goAway(lastStream: request.stream ?? 0).ok().response
                default: .text("ok")
                }
            }
        ) { probe in
            async let slow = probe.send(.get, "/slow", timeouts: soon)
            try await probe.server.waitForRequests(count: 1)
            try expect(await probe.send(.get, "/leave", timeouts: soon).status, is: 200, "status of the last")
            try expect(await probe.send(timeouts: soon).status, is: 200, "status of the next")
            try expect(await slow.body, is: Data("slow".utf8), "content of the slow one")
            let connections = probe.server.requests.map(\.connection)
            try expect(connections.count, is: 3, "requests")
            try expect(connections.last, is: 2, "the connection of the next")
        },
        Rule(
            "A GOAWAY with an error lets those go on that it does not refuse", over: .http2,
            server: { request in
                guard request.path == "/leave" else { return .text("ok") }
                return Frames(for: request).goAway(lastStream: request.stream ?? 0, .enhanceYourCalm).ok().response
            }
        ) { probe in
            try expect(await probe.send(.get, "/leave", timeouts: soon).status, is: 200, "status")
            try expect(await probe.send(timeouts: soon).status, is: 200, "status of the next")
            try expect(probe.server.connectionCount, is: 2, "connections")
        },
        Rule(
            "A server that says goodbye twice is understood", over: .http2,
            server: { request in
                guard request.path == "/leave" else { return .text("ok") }
                return Frames(for: request).goAway(lastStream: 0x7FFF_FFFF)
                    .goAway(lastStream: request.stream ?? 0).ok().response
            }
        ) { probe in
            try expect(await probe.send(.get, "/leave", timeouts: soon).status, is: 200, "status")
            try expect(await probe.send(timeouts: soon).status, is: 200, "status of the next")
        },
        Rule(
            "An idle connection of HTTP/2 that the server has closed is not used again", over: .http2,
            server: { .text("ok").fault($0.path == "/close" ? .close : .shutDown, at: .responseEnd) }
        ) { probe in
            for path in ["/close", "/goodbye", "/close"] {
                try expect(await probe.send(.post, path, body: small, timeouts: soon).status, is: 200, "status")
                try await probe.server.waitForOpenConnections(atMost: 0)
            }
            try expect(probe.server.requestCount, is: 3, "requests")
        },
        Rule(
            "A request that HTTP/1.1 is required for is made by it, or fails", over: .http2,
            onHead: { request in
                request.stream == nil ? .proceed : .fault(.closeStream(.http11Required), at: .requestStart)
            }
        ) { probe in
            let exchange = try probe.exchange(.get, timeouts: soon)
            do throws(TransportError) {
                let response = try await probe.transport.perform(exchange).response
                try expectStatus(response)
                try expectVersion(response)
            } catch { try expect(error, .connectionLost, .protocolViolation) }
        },
        notMadeTwice(.post), notMadeTwice(.patch),
        Rule(
            "A request that may be made twice, and that HTTP/1.1 is required for when it was made, is not called unprocessed",
            over: .http2, server: requiringHTTP1(at: .responseStart)
        ) { probe in
            for method in [HTTPMethod.get, .put] {
                switch await probe.outcome(of: try probe.exchange(method, timeouts: soon)) {
                case .success(let answer):
                    try expect(answer.connection.resends, is: [.maybeProcessed], "how far it had come before")
                case .failure(let error): try expect(error, .connectionLost, sendState: .maybeProcessed)
                }
            }
        },
        Rule(
            "A request whose answer has begun is not sent again, although HTTP/1.1 is required", over: .http2,
            server: requiringHTTP1(at: .responseBody(after: 1))
        ) { probe in
            let stream = try await probe.open(timeouts: soon)
            do throws(TransportError) {
                while try await stream.content.next() != nil {}
                throw TransportError(.other, sendState: .answered, message: "the content ended as if it were whole")
            } catch { try expect(error, .connectionLost, sendState: .answered) }
            for (index, method) in [HTTPMethod.get, .post].enumerated() {
                let error = try await probe.failure(method, body: method == .get ? .none : small, timeouts: soon)
                try expect(error, .connectionLost, sendState: .answered)
                try expect(error.partialResponse?.status, is: 200, "status of the partial response")
                try expect(probe.server.requestCount, is: index + 2, "requests")
            }
        },
        Rule(
            "A stream that is refused each time is not sent more than twice", over: .http2,
            onHead: { $0.path == "/refused" ? .fault(.closeStream(.refusedStream), at: .requestStart) : .proceed }
        ) { probe in
            for isWarm in [false, true] {
                let before = probe.server.faults.count
                if isWarm { try await probe.send(timeouts: soon) }
                try await expect(probe.failure(.get, "/refused", timeouts: soon), .connectionLost)
                let count = probe.server.faults.count - before
                try expect((1...2).contains(count), "it was sent \(count) times")
            }
        },
    ]

    private static func requiringHTTP1(
        at trigger: LoopbackServer.Fault.Trigger
    ) -> @Sendable (LoopbackServer.Request) -> LoopbackServer.Response {
        { $0.stream == nil ? .text("ok") : .text("ok").fault(.closeStream(.http11Required), at: trigger) }
    }

    private static func notMadeTwice(_ method: HTTPMethod) -> Rule {
        Rule(
            "A request that HTTP/1.1 is required for when it was made is not made twice: \(method)", over: .http2,
            server: requiringHTTP1(at: .responseStart)
        ) { probe in
            let error = try await probe.failure(method, body: small, timeouts: soon)
            try expect(error, .connectionLost, sendState: .maybeProcessed)
            try expect(probe.server.requestCount, is: 1, "requests")
            // The next may be made over HTTP/1.1 from the beginning, now that this is known to be required.
            switch await probe.outcome(of: try probe.exchange(method, body: small, timeouts: soon)) {
            case .success(let answer):
                try expectVersion(answer.response)
                try expect(answer.connection.resends, is: [], "what was sent before")
            case .failure(let error): try expect(error, .connectionLost, sendState: .maybeProcessed)
            }
            try expect(probe.server.requestCount, is: 2, "requests")
        }
    }

    private static func refused(_ method: HTTPMethod, body: HTTPBody) -> Rule {
        Rule(
            "A stream that is refused was not processed: \(method)", over: .http2,
            onHead: { _ in .fault(.closeStream(.refusedStream), at: .requestStart) }
        ) { probe in
            try await expect(
                probe.failure(method, body: body, timeouts: soon), .connectionLost, sendState: .unprocessed)
            try expect(probe.server.requestCount, is: 0, "requests")
        }
    }

    private static let small = HTTPBody.bytes(Data("abcdef".utf8))

    private static func expectStatus(_ response: HTTPResponse) throws(TransportError) {
        if response.status != 200 { throw TransportError(.other, sendState: .answered, message: "\(response.status)") }
    }

    private static func expectVersion(_ response: HTTPResponse) throws(TransportError) {
        if response.version != .http11 { throw TransportError(.other, sendState: .answered, message: "HTTP/2") }
    }
}

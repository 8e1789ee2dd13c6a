#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import Testing

    @testable import PenstockCurl

    @Suite(.timeLimit(.minutes(5))) struct ControlTests {
        /// Reads a request, sends `beginning`, says so, and waits for the client to go away.
        private func stalling(_ beginning: String, _ reached: Gate, _ closed: Gate) throws -> WireServer {
            try WireServer { connection, _ in
                _ = connection.readRequest()
                connection.send(beginning)
                reached.open()
                connection.untilClosed()
                closed.open()
            }
        }

        @Test(arguments: [("", SendState.maybeProcessed), ("HTTP/1.1 200 OK\r\n\r\nabc", .answered)])
        func cancellingClosesTheWire(_ beginning: String, _ state: SendState) async throws {
            let (reached, closed, moved) = (Gate(), Gate(), Gate())
            if state != .answered { moved.open() }
            try await withServer(stalling(beginning, reached, closed)) { transport, server in
                let control = ExchangeControl { _ in moved.open() }
                let order = TransportRequest(
                    HTTPRequest(method: .get, url: try server.url()), control: control)
                let call = Task { try await failure(transport, order) }
                await reached.opened()
                await moved.opened()
                control.cancel()
                let error = try await call.value
                #expect(error.kind == .cancelled)
                #expect(error.sendState == state)
                await closed.opened()
            }
        }

        @Test func cancellingBeforeTheStartSendsNothing() async throws {
            try await withServer(.answering(okay)) { transport, server in
                let control = ExchangeControl()
                control.cancel()
                let order = TransportRequest(HTTPRequest(method: .get, url: try server.url()), control: control)
                let error = try await failure(transport, order)
                #expect(error.kind == .cancelled)
                #expect(error.sendState == .unsent)
                #expect(server.connections == 0)
            }
        }

        @Test func cancellingAtAnyMomentEndsEachCallOnce() async throws {
            try await withServer(.answering(okay)) { transport, server in
                let ended = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<1_000 {
                        let control = ExchangeControl()
                        let order = TransportRequest(HTTPRequest(method: .get, url: try server.url()), control: control)
                        group.addTask {
                            do throws(TransportError) {
                                return try await transport.perform(order).response.status == 200
                            } catch {
                                return error.kind == .cancelled
                            }
                        }
                        group.addTask {
                            for _ in 0..<(number % 7) { await Task.yield() }
                            control.cancel()
                            return true
                        }
                    }
                    return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                #expect(ended == 2_000)
            }
        }

        @Test func suspendedCallsTakeNoBytes() async throws {
            let (moved, rest) = (Gate(), Gate())
            let server = try WireServer { connection, _ in
                _ = connection.readRequest()
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 200001\r\n\r\na")
                moved.wait()
                connection.send(String(repeating: "b", count: 200_000))
                rest.open()
            }
            try await withServer(server) { transport, server in
                let received = Locked(0)
                let suspending = Locked<ExchangeControl?>(nil)
                let control = ExchangeControl { progress in
                    received.withLock { $0 = progress.received }
                    if progress.received == 1 { suspending.withLock { $0 }?.suspend() }
                    moved.open()
                }
                suspending.withLock { $0 = control }
                let order = TransportRequest(
                    HTTPRequest(method: .get, url: try server.url()), timeouts: Timeouts(idle: .seconds(2)),
                    control: control)
                let call = Task {
                    defer { moved.open() }
                    return try await transport.perform(order)
                }
                await moved.opened()
                try await goAround(transport)
                try await waitOut(transport, .milliseconds(2_500))
                #expect(received.withLock { $0 } == 1)
                control.resume()
                #expect(try await call.value.response.body.count == 200_001)
                await rest.opened()
                suspending.withLock { $0 = nil }
            }
        }

        @Test func `A call that its progress report suspends takes nothing of what has come already`() async throws {
            let length = 200_000
            let server = try WireServer { connection, _ in
                _ = connection.readRequest()
                let content = String(repeating: "b", count: length)
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n\(content)")
            }
            try await withServer(server) { transport, server in
                let (reports, reported) = (Locked<[Int]>([]), Gate())
                let suspending = Locked<ExchangeControl?>(nil)
                let control = ExchangeControl { progress in
                    reports.withLock { $0.append(progress.received) }
                    suspending.withLock { $0.take() }?.suspend()
                    reported.open()
                }
                suspending.withLock { $0 = control }
                let order = TransportRequest(HTTPRequest(method: .get, url: try server.url()), control: control)
                let call = Task { try await transport.perform(order) }
                await reported.opened()
                try await goAround(transport)
                let taken = reports.withLock { $0 }
                #expect(taken.count == 1 && taken.allSatisfy { $0 < length })
                control.resume()
                #expect(try await call.value.response.body.count == length)
            }
        }

        @Test func `A call that its progress report suspends sends nothing more`() async throws {
            let length = 4_000_000
            try await withServer(.answering(okay)) { transport, server in
                let (reports, reported) = (Locked<[Int]>([]), Gate())
                let suspending = Locked<ExchangeControl?>(nil)
                let control = ExchangeControl { progress in
                    guard progress.sent > 0 else { return }
                    reports.withLock { $0.append(progress.sent) }
                    suspending.withLock { $0.take() }?.suspend()
                    reported.open()
                }
                suspending.withLock { $0 = control }
                let request = HTTPRequest(method: .put, url: try server.url(), body: .bytes(Data(count: length)))
                let call = Task { try await transport.perform(TransportRequest(request, control: control)) }
                await reported.opened()
                try await goAround(transport)
                let sent = reports.withLock { $0 }
                #expect(sent.count == 1 && sent.allSatisfy { $0 < length })
                control.resume()
                #expect(try await call.value.response.status == 200)
                #expect(reports.withLock { $0.last } == length)
            }
        }

        /// An exchange that ends by its own time-out: the loop's time has moved on then.
        private func waitOut(_ transport: CurlTransport, _ duration: Duration) async throws {
            let server = try WireServer { connection, _ in connection.untilClosed() }
            defer { server.stop() }
            let order = TransportRequest(
                HTTPRequest(method: .get, url: try server.url()), timeouts: .total(duration))
            #expect(try await failure(transport, order).kind == .timeout(.total))
        }

        @Test func suspendedCallsDoNotBegin() async throws {
            try await withServer(.answering(okay)) { transport, server in
                let control = ExchangeControl()
                control.suspend()
                let order = TransportRequest(HTTPRequest(method: .get, url: try server.url()), control: control)
                let call = Task { try await transport.perform(order) }
                try await goAround(transport)
                #expect(server.connections == 0)
                control.resume()
                #expect(try await call.value.response.status == 200)
            }
        }

        @Test func suspendedCallsCanBeCancelled() async throws {
            try await withServer(.answering(okay)) { transport, server in
                let control = ExchangeControl()
                control.suspend()
                let order = TransportRequest(HTTPRequest(method: .get, url: try server.url()), control: control)
                let call = Task { try await failure(transport, order) }
                try await goAround(transport)
                control.cancel()
                #expect(try await call.value.kind == .cancelled)
                #expect(server.connections == 0)
            }
        }

        @Test func progressIsMonotoneAndComplete() async throws {
            try await withServer(.answering(okay)) { transport, server in
                let seen = Locked([TransferProgress]())
                let control = ExchangeControl { progress in seen.withLock { $0.append(progress) } }
                let request = HTTPRequest(method: .post, url: try server.url(), body: .bytes(Data(count: 300_000)))
                _ = try await transport.perform(TransportRequest(request, control: control))
                let steps = seen.withLock { $0 }
                #expect(steps.map(\.sent) == steps.map(\.sent).sorted())
                #expect(
                    steps.last
                        == TransferProgress(sent: 300_000, expectedToSend: 300_000, received: 2, expectedToReceive: 2))
            }
        }
    }

    @Suite(.timeLimit(.minutes(5))) struct ShutdownTests {
        @Test func shutdownEndsEveryCallAndRefusesMore() async throws {
            let waiting = Locked(0)
            let all = Gate()
            let server = try WireServer { connection, _ in
                _ = connection.readRequest()
                if waiting.withLock({
                    $0 += 1; return $0
                }) == 20 {
                    all.open()
                }
                connection.untilClosed()
            }
            defer { server.stop() }
            let transport = CurlTransport()
            let order = TransportRequest(HTTPRequest(method: .get, url: try server.url()))
            let calls = (0..<20).map { _ in Task { try await failure(transport, order) } }
            await all.opened()
            await transport.shutdown()
            for call in calls {
                let error = try await call.value
                #expect(error.kind == .cancelled)
                #expect(error.sendState == .maybeProcessed)
            }
            #expect(try openSockets(to: server.port).isEmpty)
            let error = try await failure(transport, order)
            #expect(error.kind == .cancelled)
            #expect(error.sendState == .unsent)
            await transport.shutdown()
        }

        @Test func aTransportThatIsLetGoOfClosesItsConnections() async throws {
            let closed = Gate()
            let server = try WireServer { connection, _ in
                _ = connection.readRequest()
                connection.send(okay)
                connection.untilClosed()
                closed.open()
            }
            defer { server.stop() }
            _ = try await CurlTransport().perform(TransportRequest(HTTPRequest(method: .get, url: server.url())))
            await closed.opened()
        }
    }
#endif

#if os(Linux)
    import Foundation
    import PenstockCore

    /// One connection of HTTP/2. Its thread alone touches the socket and the session; the handler of each request, and the
    /// reply, have a thread of their own, so that a stream that waits holds up no other.
    final class HTTP2Connection {
        private let wire: Wire
        let session: HTTP2Session
        private let inbox: HTTP2Inbox
        let service: LoopbackService
        private let threads: ThreadGroup
        private var requests: [Int32: HTTP2Request] = [:]
        private var isOver = false
        /// The last stream that was handed to the handler.
        private var lastAnswered: Int32 = 0

        init(
            _ wire: Wire, session: HTTP2Session, inbox: HTTP2Inbox, service: LoopbackService, threads: ThreadGroup
        ) {
            self.wire = wire
            self.session = session
            self.inbox = inbox
            self.service = service
            self.threads = threads
        }

        func run() {
            session.start(with: self)
            while step() {}
            inbox.close()
            for request in requests.values { leave(request) }
        }

        /// - Returns: whether the connection goes on.
        private func step() -> Bool {
            for command in inbox.takeAll() where !isOver { command(self) }
            guard !isOver, flush(), session.isAlive else { return false }
            guard wire.hasArrived(orWoken: inbox.reader) else { return true }
            guard let bytes = wire.receiveArrived() else { return false }
            if session.take(bytes) { return true }
            service.ledger.recordRefusal()
            _ = flush()
            return false
        }

        private func flush() -> Bool {
            while let bytes = session.nextOutput() {
                guard wire.send(bytes) else { return false }
            }
            return true
        }

        func sendRaw(_ bytes: Data) {
            if !flush() || !wire.send(bytes) { isOver = true }
        }

        /// A stream is closed while its request or its response was under way, if that was so.
        private func leave(_ request: HTTP2Request) {
            if !request.isDone, !request.stream.isWhole { service.ledger.recordAbort() }
            request.stream.change { $0.isGone = true }
        }
    }

    // MARK: Requests

    extension HTTP2Connection: HTTP2Events {
        func received(_ frame: LoopbackServer.HTTP2Frame) {
            wire.tally.frame(frame)
        }

        func streamBegan(_ id: Int32) {
            requests[id] = HTTP2Request(id: id, connection: wire.tally.number)
        }

        func received(_ name: String, _ value: String, on id: Int32) {
            requests[id]?.take(name, value)
        }

        func headEnded(_ id: Int32) {
            guard let head = requests[id]?.head(limit: service.configuration.maximumHeadBytes) else {
                return refuse(id, status: 431)
            }
            var request = head
            service.number(&request, on: wire.tally)
            requests[id]?.request = request
            switch service.onHead(request) {
            case .proceed: continueIfExpected(request)
            case .respond(let response): answer(id) { _ in response }
            case .fault(let effect, let trigger):
                requests[id]?.fault = .init(effect, at: trigger)
                if trigger == .requestStart { fireRequestFault(id) } else { continueIfExpected(request) }
            }
        }

        private func continueIfExpected(_ request: LoopbackServer.Request) {
            guard request.fields["Expect"]?.lowercased() == "100-continue" else { return }
            session.submitInterim([(":status", "100")], on: Int32(request.stream ?? 0))
        }

        func received(_ content: Data, on id: Int32) {
            let isWanted = requests[id]?.take(content) ?? false
            session.consume(content.count, of: id, isStalled: requests[id]?.isStalled ?? false)
            guard isWanted, let request = requests[id] else { return }
            if request.body.count > service.configuration.maximumBodyBytes { return refuse(id, status: 413) }
            if case .requestBody(let count) = request.fault?.trigger, request.body.count >= count {
                fireRequestFault(id)
            }
        }

        func requestEnded(_ id: Int32) {
            requests[id]?.isComplete = true
            guard let incoming = requests[id], !incoming.isAnswered, !incoming.hasFired else { return }
            if incoming.fault?.isInRequest == true { return fireRequestFault(id) }
            var request = incoming.request
            request.body = incoming.body
            service.ledger.record(request)
            requests[id]?.request = request
            lastAnswered = max(lastAnswered, id)
            answer(id, service.handler)
        }

        private func refuse(_ id: Int32, status: Int) {
            guard requests[id]?.isAnswered == false else { return }
            service.ledger.recordRefusal()
            answer(id) { _ in .init(status: status) }
        }

        // MARK: Replies

        func endSent(on id: Int32) {
            guard let request = requests[id] else { return }
            requests[id]?.isDone = true
            // The rest of the request is not wanted (RFC 9113 §8.1).
            if !request.isComplete { session.reset(id, .noError) }
            request.stream.change { $0.isEnded = true }
        }

        func streamClosed(_ id: Int32) {
            guard let request = requests.removeValue(forKey: id) else { return }
            if isOver { request.stream.change { $0.isGone = true } } else { leave(request) }
        }

        func content(of id: Int32, upTo count: Int) -> (HTTP2Stream.Portion, trailers: HTTPFields) {
            requests[id]?.stream.take(upTo: count) ?? (.nothingYet, [:])
        }

        private func answer(
            _ id: Int32, _ handler: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
        ) {
            guard let incoming = requests[id] else { return }
            requests[id]?.isAnswered = true
            let (request, stream, fault) = (incoming.request, incoming.stream, incoming.fault)
            threads.start { [inbox] in
                var response = handler(request)
                response.fault = fault ?? response.fault
                HTTP2Reply(request: request, stream: stream, inbox: inbox).give(response)
            }
        }

        // MARK: Faults

        /// nghttp2 must not be asked for output while it reads: it waits for its turn.
        private func fireRequestFault(_ id: Int32) {
            guard let request = requests[id], let fault = request.fault else { return }
            requests[id]?.hasFired = true
            requests[id]?.isStalled = fault.effect == .stall
            inbox.post { $0.fire(fault, of: request.request) }
        }

        /// Carries out a fault on the connection's thread, when everything that the stream has put in is sent.
        func fire(_ fault: LoopbackServer.Fault, of request: LoopbackServer.Request) {
            _ = flush()
            service.ledger.record(fault, of: request, on: wire.tally)
            carryOut(fault.effect, on: Int32(request.stream ?? 0), lastStream: fault.isInRequest ? -2 : 0)
        }

        /// - Parameter lastStream: how far before the stream the last one is that GOAWAY says was processed.
        func carryOut(_ effect: LoopbackServer.Fault.Effect, on id: Int32, lastStream: Int32 = 0) {
            switch effect {
            case .stall: requests[id]?.isStalled = true
            case .closeStream(let code):
                requests[id]?.isDone = true
                session.reset(id, code)
            case .close: end { wire.closeSilently() }
            case .reset: end { wire.resetOnClose() }
            // Of streams that others have sent meanwhile it tells the truth as well.
            case .shutDown: goAway(lastStream: max(lastAnswered, id + lastStream), .noError)
            case .goAway(let lastStream, let code): goAway(lastStream: Int32(clamping: lastStream), code)
            }
        }

        private func goAway(lastStream: Int32, _ code: LoopbackServer.HTTP2ErrorCode) {
            end {
                session.goAway(lastStream: lastStream, code)
                _ = flush()
                wire.sayGoodbye()
                wire.closeSilently()
            }
        }

        /// What is cut off from here on is the server's doing.
        private func end(_ body: () -> Void) {
            _ = flush()
            isOver = true
            body()
            for id in requests.keys { requests[id]?.isDone = true }
        }
    }
#endif

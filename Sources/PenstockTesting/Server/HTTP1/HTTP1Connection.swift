import Foundation

/// One connection of HTTP/1.1, served by a thread of its own until it closes.
struct HTTP1Connection {
    private let wire: Wire
    private let reader: RequestReader
    private let service: LoopbackService

    init(_ wire: Wire, service: LoopbackService) {
        self.wire = wire
        self.service = service
        reader = RequestReader(wire, configuration: service.configuration)
    }

    func run() {
        while reader.waitForRequest() {
            do throws(ReadFailure) {
                var (request, isPersistent) = try reader.readHead(connection: wire.tally.number)
                service.number(&request, on: wire.tally)
                guard try serve(request, isPersistent: isPersistent) else { return }
            } catch {
                return giveUp(error)
            }
        }
    }

    /// - Returns: whether the connection stays open.
    private func serve(_ head: LoopbackServer.Request, isPersistent: Bool) throws(ReadFailure) -> Bool {
        switch service.onHead(head) {
        case .proceed: return try answer(head, isPersistent: isPersistent, fault: nil)
        case .respond(let response):
            _ = reply(response, to: head, isPersistent: false)
            return finishUnread()
        case .fault(let effect, let trigger):
            let fault = LoopbackServer.Fault(effect, at: trigger)
            guard fault.isInRequest else {
                return try answer(head, isPersistent: isPersistent, fault: fault)
            }
            if case .requestBody(let count) = trigger {
                _ = try reader.readContent(head.fields, upTo: max(0, count))
            }
            return fire(fault, of: head)
        }
    }

    private func answer(
        _ head: LoopbackServer.Request, isPersistent: Bool, fault: LoopbackServer.Fault?
    ) throws(ReadFailure) -> Bool {
        var request = head
        request.body = try reader.readContent(head.fields)
        service.ledger.record(request)
        var response = service.handler(request)
        response.fault = fault ?? response.fault
        return reply(response, to: request, isPersistent: isPersistent)
    }

    /// - Returns: whether the connection stays open.
    private func reply(
        _ response: LoopbackServer.Response, to request: LoopbackServer.Request, isPersistent: Bool
    ) -> Bool {
        let isClosing =
            response.ending == .close || !isPersistent || response.fault?.effect.isShutDown == true
        let sink = HTTP1Sink(wire, reader: reader, isClosing: isClosing)
        do throws(Reply.Stop) {
            try Reply(response, to: request, sink: sink).perform()
            return end(response.ending, isClosing: isClosing)
        } catch {
            guard case .faulted(let fault) = error else { return abandoned() }
            return fire(fault, of: request)
        }
    }

    // MARK: Endings

    private func end(_ ending: LoopbackServer.Response.Ending, isClosing: Bool) -> Bool {
        switch ending {
        case .keepAlive, .close:
            if isClosing { wire.sayGoodbye() }
            return !isClosing
        case .drop: return false
        case .reset:
            wire.resetOnClose()
            return false
        case .hold:
            _ = reader.clientGoes(within: nil)
            return abandoned()
        }
    }

    private func fire(_ fault: LoopbackServer.Fault, of request: LoopbackServer.Request) -> Bool {
        service.ledger.record(fault, of: request, on: wire.tally)
        switch fault.effect {
        case .close: wire.closeSilently()
        case .reset, .closeStream: wire.resetOnClose()
        case .shutDown, .goAway: wire.finish()
        case .stall:
            wire.waitForHangUp()
            if fault.trigger != .responseEnd { return abandoned() }
        }
        return false
    }

    private func abandoned() -> Bool {
        service.ledger.recordAbort()
        return false
    }

    private func giveUp(_ failure: ReadFailure) {
        guard case .refused(let status) = failure else { return service.ledger.recordAbort() }
        service.ledger.recordRefusal()
        let sink = HTTP1Sink(wire, reader: reader, isClosing: true)
        try? Reply(.init(status: status), to: nil, sink: sink).perform()
        _ = finishUnread()
    }

    /// Ends a connection of which not all was read. Closing with bytes unread would reset the connection and take the reply with it.
    private func finishUnread() -> Bool {
        wire.finish(within: .milliseconds(500))
        return false
    }
}

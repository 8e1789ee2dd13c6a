import Foundation

/// Where a reply goes: a connection of HTTP/1.1, or a stream of HTTP/2. Each function returns `false` when the client was
/// gone.
protocol ReplySink: AnyObject {
    func send(_ interim: LoopbackServer.Interim) -> Bool
    /// May be kept back until content or ``flush()`` follows.
    func sendHead(of response: LoopbackServer.Response) -> Bool
    func flush() -> Bool
    /// Never empty.
    func send(_ content: Data) -> Bool
    /// Ends the content.
    func finish(_ response: LoopbackServer.Response) -> Bool
    /// Bytes instead of a reply.
    func sendRaw(_ bytes: Data) -> Bool
    /// Hands the connection over, where it carries nothing else.
    func takeOver(_ serve: (LoopbackWire) -> Void) -> Bool
    /// Waits for the client to go, and tells whether it went.
    func clientGoes(within duration: Duration) -> Bool
}

/// Gives one reply step by step, until it is complete, its fault fires, or the client is gone: the order is the same
/// whichever protocol carries it.
struct Reply {
    /// Why a reply ended early.
    enum Stop: Error {
        case clientGone
        case faulted(LoopbackServer.Fault)
    }

    let response: LoopbackServer.Response
    /// Whether content may be sent: not to `HEAD`, and not with some statuses.
    let hasContent: Bool
    let sink: any ReplySink

    init(
        _ response: LoopbackServer.Response, to request: LoopbackServer.Request?, sink: any ReplySink
    ) {
        self.response = response
        self.sink = sink
        hasContent = request?.method != .head && Reply.allowsContent(response.status)
    }

    func perform() throws(Stop) {
        for interim in response.interim {
            try pause(interim.delay)
            try check(sink.send(interim))
        }
        try pause(response.delay)
        if let fault = response.fault, fault.isInRequest || fault.trigger == .responseStart {
            try fire(fault)
        }
        switch response.content {
        case .raw(let bytes): try check(sink.sendRaw(bytes))
        case .message: try sendMessage()
        case .takeOver(let serve):
            try check(sink.sendHead(of: response))
            try check(sink.flush())
            try check(sink.takeOver(serve))
        }
        if let surplus = response.surplus { try send(surplus) }
    }

    private func send(_ surplus: LoopbackServer.Surplus) throws(Stop) {
        try pause(surplus.delay)
        var index = 0
        while let bytes = surplus.next(index) {
            try check(sink.sendRaw(bytes))
            index += 1
        }
    }

    private func sendMessage() throws(Stop) {
        try check(sink.sendHead(of: response))
        if hasContent { try sendContent() }
        if let fault = response.fault, case .responseBody = fault.trigger { try fire(fault) }
        if response.trailerDelay > .zero { try flushAndPause(response.trailerDelay) }
        try check(sink.finish(response))
        if let fault = response.fault { try fire(fault) }
    }

    // MARK: Content

    private func sendContent() throws(Stop) {
        if response.contentDelay > .zero { try flushAndPause(response.contentDelay) }
        var budget = Budget(response.fault)
        switch response.body {
        case .bytes(let body): try send(body, &budget)
        case .produced(let pause, let next):
            try check(sink.flush())
            var index = 0
            while let piece = next(index) {
                if index > 0 { try self.pause(pause) }
                try send(piece, &budget)
                index += 1
            }
        }
    }

    /// How much content may still go before the fault.
    private struct Budget {
        var rest = Int.max
        var fault: LoopbackServer.Fault?

        init(_ fault: LoopbackServer.Fault?) {
            guard let fault, case .responseBody(let count) = fault.trigger else { return }
            (rest, self.fault) = (max(0, count), fault)
        }
    }

    private func send(_ content: Data, _ budget: inout Budget) throws(Stop) {
        var unsent = content.prefix(budget.rest)
        let isCut = content.count >= budget.rest
        budget.rest -= unsent.count
        while !unsent.isEmpty {
            let piece = unsent.prefix(response.throttle?.bytes ?? unsent.count)
            try check(sink.send(Data(piece)))
            unsent = unsent.dropFirst(piece.count)
            if let throttle = response.throttle, !unsent.isEmpty { try pause(throttle.interval) }
        }
        if isCut, let fault = budget.fault { try fire(fault) }
    }

    // MARK: Steps

    private func pause(_ duration: Duration) throws(Stop) {
        if sink.clientGoes(within: duration) { throw .clientGone }
    }

    private func flushAndPause(_ duration: Duration) throws(Stop) {
        try check(sink.flush())
        try pause(duration)
    }

    private func fire(_ fault: LoopbackServer.Fault) throws(Stop) {
        try check(sink.flush())
        throw .faulted(fault)
    }

    private func check(_ isSent: Bool) throws(Stop) {
        if !isSent { throw .clientGone }
    }

    /// RFC 9110 §6.4.1.
    static func allowsContent(_ status: Int) -> Bool {
        status >= 200 && status != 204 && status != 304
    }
}

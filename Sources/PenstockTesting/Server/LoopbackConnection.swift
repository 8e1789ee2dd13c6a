import Foundation

/// One connection of the server, served by a thread of its own until it closes.
struct LoopbackConnection {
    let number: Int
    let socket: Socket
    let ledger: LoopbackLedger
    let configuration: LoopbackServer.Configuration
    let handler: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response

    func run() {
        var reader = RequestReader(socket, configuration: configuration)
        while reader.waitForRequest() {
            do throws(ReadFailure) {
                let (request, isPersistent) = try reader.read(connection: number)
                ledger.record(request)
                guard answer(request, isPersistent: isPersistent, reader: &reader) else { return }
            } catch {
                return giveUp(error)
            }
        }
    }

    /// - Returns: whether the connection stays open.
    private func answer(
        _ request: LoopbackServer.Request, isPersistent: Bool, reader: inout RequestReader
    ) -> Bool {
        let response = handler(request)
        guard !reader.clientGoes(within: response.delay) else { return abandoned() }
        let closing = response.ending == .close || !isPersistent
        let isWritten = ResponseWriter(socket: socket).write(
            response, headOnly: request.method == .head, closing: closing,
            clientGoes: { reader.clientGoes(within: $0) })
        guard isWritten else { return abandoned() }
        return finish(response.ending, reader: &reader) && !closing
    }

    private func finish(_ ending: LoopbackServer.Response.Ending, reader: inout RequestReader) -> Bool {
        switch ending {
        case .keepAlive: return true
        case .close, .drop: return false
        case .reset:
            socket.resetOnClose()
            return false
        case .hold:
            _ = reader.clientGoes(within: nil)
            return abandoned()
        }
    }

    private func abandoned() -> Bool {
        ledger.recordAbort()
        return false
    }

    private func giveUp(_ failure: ReadFailure) {
        guard case .refused(let status) = failure else { return ledger.recordAbort() }
        ledger.recordRefusal()
        let writer = ResponseWriter(socket: socket)
        _ = writer.write(.init(status: status), headOnly: false, closing: true, clientGoes: { _ in false })
        drain()
    }

    /// Closing with bytes unread would reset the connection and take the reply with it.
    private func drain() {
        socket.finishSending()
        for _ in 0..<1_000 {
            guard socket.isReadable(within: .milliseconds(500)), socket.receive() != nil else { return }
        }
    }
}

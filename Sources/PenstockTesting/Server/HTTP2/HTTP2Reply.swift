#if os(Linux)
    import Foundation

    /// Gives the reply to one request, and ends the stream as the reply says. On the stream's thread.
    struct HTTP2Reply {
        let request: LoopbackServer.Request
        let stream: HTTP2Stream
        let inbox: HTTP2Inbox

        func give(_ response: LoopbackServer.Response) {
            if let settings = response.settings { inbox.post { $0.session.submit(settings) } }
            do throws(Reply.Stop) {
                try Reply(response, to: request, sink: HTTP2Sink(stream, inbox: inbox)).perform()
                end(response.ending)
            } catch {
                guard case .faulted(let fault) = error else { return }
                inbox.post { [request] in $0.fire(fault, of: request) }
            }
        }

        private func end(_ ending: LoopbackServer.Response.Ending) {
            let effect: LoopbackServer.Fault.Effect
            switch ending {
            case .keepAlive, .hold: return
            case .close: effect = .shutDown
            case .drop: effect = .close
            case .reset: effect = .reset
            }
            let id = stream.id
            inbox.post { $0.carryOut(effect, on: id) }
        }
    }
#endif

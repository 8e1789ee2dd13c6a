import Foundation
import PenstockCore

extension TransportConformance {
    /// What a call's control does to its exchange.
    public static let control: [Rule] = controls + suspension

    private static let controls: [Rule] = [
        Rule(
            "Cancelling closes the wire and ends the call as cancelled", needsWire: true,
            server: { $0.path == "/hold" ? .hold : .text("ok") }
        ) { probe in
            let control = ExchangeControl()
            async let error = probe.failure(.get, "/hold", control: control)
            try await probe.server.waitForRequests(count: 1)
            control.cancel()
            control.cancel()
            try await expect(error, .cancelled, sendState: .maybeProcessed)
            try await probe.server.waitForAborts(count: 1)
            try await probe.send()
        },
        Rule(
            "Cancelling in the middle of the content closes the wire", needsWire: true,
            server: { _ in .short(Data("abc".utf8), declared: 10, ending: .hold) }
        ) { probe in
            let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
            let control = ExchangeControl { if $0.received == 3 { arrival.yield() } }
            async let error = probe.failure(control: control)
            for await _ in arrived { break }
            control.cancel()
            try await expect(error, .cancelled, sendState: .answered)
            try await probe.server.waitForAborts(count: 1)
        },
        Rule("A call that is cancelled before it begins sends nothing") { probe in
            let control = ExchangeControl()
            control.cancel()
            try await expect(probe.failure(control: control), .cancelled, sendState: .unsent)
            try await probe.send(.get, "/after")
            try expect(probe.server.requests.map(\.path), is: ["/after"], "requests")
        },
        Rule("A call that is suspended before it begins sends nothing until it is resumed") { probe in
            let control = ExchangeControl()
            control.suspend()
            async let held = probe.send(.get, "/held", control: control)
            // Time enough for the held one to be sent, if it were.
            for _ in 1...10 { try await probe.send(.get, "/other") }
            try expect(probe.server.requests.allSatisfy { $0.path == "/other" }, "it was sent")
            control.resume()
            try expect(await held.status, is: 200, "status")
        },
        Rule("A call that is cancelled while it is suspended ends") { probe in
            let control = ExchangeControl()
            control.suspend()
            async let error = probe.failure(.get, "/held", control: control)
            try await probe.send(.get, "/other")
            control.cancel()
            try await expect(error, .cancelled, sendState: .unsent)
        },
        Rule(
            "Suspending stops the bytes, resuming completes", requires: .suspension, needsWire: true,
            server: taps.answer
        ) { probe in
            let tap = taps.open()
            defer { taps.close(tap) }
            let received = Locked(0)
            let control = ExchangeControl { progress in received.withLock { $0 = progress.received } }
            async let response = probe.send(.get, tap, control: control)
            while received.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
            control.suspend()
            try await taps.waitForStillness(of: received, behind: tap)
            taps.close(tap)
            control.resume()
            try expect(await response.body.count, is: taps.count(tap), "bytes")
        },
        Rule("Progress never goes back and ends with everything", server: { _ in .init(body: allBytes) }) { probe in
            let seen = Locked<[TransferProgress]>([])
            let control = ExchangeControl { progress in seen.withLock { $0.append(progress) } }
            try await probe.send(.post, body: .bytes(allBytes), control: control)
            let steps = seen.withLock { $0 }
            try expect(steps.map(\.sent) == steps.map(\.sent).sorted(), "bytes sent went back")
            try expect(steps.map(\.received) == steps.map(\.received).sorted(), "bytes received went back")
            try expect(steps.last?.sent, is: allBytes.count, "bytes sent at the end")
            try expect(steps.last?.received, is: allBytes.count, "bytes received at the end")
        },
        Rule("Shutting down ends every exchange and refuses new ones", needsWire: true, server: { _ in .hold }) {
            probe in
            async let first = probe.failure()
            async let second = probe.failure()
            try await probe.server.waitForRequests(count: 2)
            await probe.transport.shutdown()
            try await expect(first, .cancelled)
            try await expect(second, .cancelled)
            try await expect(probe.failure(), .cancelled, sendState: .unsent)
            await probe.transport.shutdown()
        },
    ]

    private static let taps = RunningTaps()
}

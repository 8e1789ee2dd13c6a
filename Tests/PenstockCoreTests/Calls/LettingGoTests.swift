import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What ends with whoever wanted it.
@Suite(.timeLimit(.minutes(5))) struct LettingGoTests {
    /// Owns the calls that it hears of.
    private actor Page {
        private let calls = CallScope()

        func load(_ client: APIClient, _ heard: Box<Int>) {
            client.start(Hello(), in: calls, on: self) { page, _ in
                page.preconditionIsolated()
                heard.update { $0 += 1 }
            }
            client.start(Hello(), in: calls).onResult(on: self) { _, _ in heard.update { $0 += 1 } }
        }
    }

    @Test("An actor that hears of its calls is not kept alive by them: they end with it, and nothing is delivered")
    func actors() async {
        let script = CallSupport.holding(2)
        let client = CallSupport.client(script)
        let heard = Box(0)
        do {
            let page = Page()
            await page.load(client, heard)
            await script.waitForExchanges(count: 2)
            withExtendedLifetime(page) {}
        }
        while !Task.isCancelled, client.callCount + script.openExchangeCount > 0 { await Task.yield() }
        #expect(client.callCount == 0)
        #expect(script.openExchangeCount == 0)
        #expect(heard.value == 0)
    }

    /// Moves one byte, and then holds on.
    private final class Dripping: Transport {
        let script = CallSupport.holding(2)
        let capabilities = TransportCapabilities.all

        func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            request.control.onProgress?(TransferProgress(received: 1))
            return try await script.perform(request)
        }

        func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
            try await script.open(request)
        }

        func preconnect(_ request: TransportRequest) async throws(TransportError) {}
        func shutdown() async {}
    }

    @Test("Leaving the loop over a sequence that owns its call ends the call, whoever holds the sequence")
    func loops() async throws {
        let transport = Dripping()
        let client = CallSupport.client(transport)
        let updates = client.updates(of: Hello())
        for try await _ in updates { break }
        while !Task.isCancelled, client.callCount + transport.script.openExchangeCount > 0 { await Task.yield() }
        #expect(client.callCount == 0)
        #expect(transport.script.openExchangeCount == 0)
        withExtendedLifetime(updates) {}
    }

    /// What a task gets of a sequence when it is cancelled: how many elements, and what is thrown.
    private func cancelled<Element: Sendable>(
        _ script: ScriptedTransport, _ sequence: CallStream<Element>, after count: Int
    ) async throws -> (elements: Int, failure: APIError?) {
        let seen = Box(0)
        let gate = Latch()
        let task = Task {
            await failure {
                var iterator = sequence.makeAsyncIterator()
                while try await iterator.next() != nil {
                    seen.update { $0 += 1 }
                    // What comes after the cancellation is not to be told of.
                    if seen.value == count { await gate.wait() }
                }
                #expect(try await iterator.next() == nil)
            }
        }
        await script.waitForExchanges(count: 1)
        if count > 0 { script.release() }
        while !Task.isCancelled, seen.value < count { await Task.yield() }
        task.cancel()
        gate.open()
        return (seen.value, await task.value)
    }

    @Test("A loop whose task is cancelled before the last element has come throws that, and no other loop does")
    func cancelledLoops() async throws {
        for (count, kind) in [(0, APIError.Kind.cancelled), (1, nil)] {
            let scripts = (0..<4).map { _ in CallSupport.holding() }
            let clients = scripts.map { CallSupport.client($0) }
            let calls = clients.suffix(2).map { $0.start(Hello()) }
            let results = [
                try await cancelled(scripts[0], clients[0].updates(of: Hello()), after: count),
                try await cancelled(scripts[1], clients[1].responses(to: Hello()), after: count),
                try await cancelled(scripts[2], calls[0].updates, after: count),
                try await cancelled(scripts[3], calls[1].responses, after: count),
            ]
            #expect(results.map(\.elements) == [count, count, count, count])
            #expect(results.map(\.failure?.kind) == [kind, kind, kind, kind])
            for call in calls { call.cancel() }
        }
    }

    @Test(
        "A loop that has thrown ends, also when its task is cancelled, and whether or not it was waiting for the error",
        arguments: [true, false])
    func afterError(waits: Bool) async throws {
        let script = ScriptedTransport([.held(.respond(HTTPResponse(status: 500)))])
        let client = CallSupport.client(script) { $0.options.retry = RetryPolicy.none }
        let (isReading, call) = (Box(false), client.start(Hello()))
        await script.waitForExchanges(count: 1)
        if !waits {
            script.release()
            while !Task.isCancelled, client.callCount > 0 { await Task.yield() }
        }
        let task = Task { () -> Bool in
            var iterator = call.updates.makeAsyncIterator()
            isReading.value = true
            let error = await failure { while try await iterator.next() != nil {} }
            withUnsafeCurrentTask { $0?.cancel() }
            return try await iterator.next() == nil && error?.kind == .httpStatus(500)
        }
        while !Task.isCancelled, !isReading.value { await Task.yield() }
        if waits {
            for _ in 0..<200 { await Task.yield() }
            script.release()
        }
        #expect(try await task.valueOfTest)
    }

    @Test("Leaving the loop over what a handle yields does not end the call")
    func handles() async throws {
        let transport = Dripping()
        let client = CallSupport.client(transport)
        let call = client.start(Hello())
        for try await _ in call.updates { break }
        await transport.script.waitForExchanges(count: 1)
        transport.script.release()
        #expect(try await call.value.text == "hello")
    }
}

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

import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Whatever happens to a call, it completes exactly once.
@Suite(.timeLimit(.minutes(5))) struct CompletionFuzzTests {
    private typealias Ends = Mailbox<Result<Message, APIError>>

    /// How the end of a call is heard of.
    private enum Delivery: CaseIterable {
        case closure, delegate, updates, stream, send, onActor, target, responses, manager
    }

    /// How many calls there are, so that each delivery has every outcome among its own.
    private static let count = 450

    /// What becomes of an exchange that is held.
    private enum Fate: CaseIterable {
        case released, cancelled, releasedAndCancelled, cancelledAndReleased
    }

    @Test(
        "Every call of every outcome completes exactly once, by every delivery, also when it is cancelled anywhere",
        .covers("S4.3"), arguments: [1, 2, 3, 4] as [UInt64])
    @MainActor func everyPathCompletesOnce(seed: UInt64) async throws {
        var random = Seeded(seed: seed)
        let recorder = EventRecorder()
        var running: [Running] = []
        var held: [(transport: ScriptedTransport, call: Running)] = []
        for _ in 0..<Self.count {
            let delivery = Delivery.allCases.randomElement(using: &random) ?? .closure
            if Bool.random(using: &random) {
                let transport = ScriptedTransport([.held(Self.step(&random))])
                let client = CallSupport.client(transport) { $0.sinks = [recorder] }
                let call = Running(client, .init(), delivery)
                running.append(call)
                held.append((transport, call))
            } else {
                let client = CallSupport.client(Self.transport(&random)) { $0.sinks = [recorder] }
                let call = Running(client, Self.options(&random), delivery)
                running.append(call)
                if Bool.random(using: &random) { await Self.pause(&random) }
                if Int.random(in: 0..<3, using: &random) == 0 { call.cancel() }
            }
            // One of those that wait, whichever, goes on now and then.
            if Bool.random(using: &random), let index = held.indices.randomElement(using: &random) {
                let (transport, call) = held.remove(at: index)
                await Self.decide(transport, call, &random)
            }
        }
        for (transport, call) in held { await Self.decide(transport, call, &random) }
        for call in running { await call.end() }
        await drainMainActor()
        #expect(running.map(\.ends.values.count) == Array(repeating: 1, count: Self.count), "seed \(seed)")
        #expect(recorder.calls.count == Self.count, "seed \(seed)")
        #expect(recorder.grammarViolations == [], "seed \(seed)")
        // By each delivery, calls have succeeded, failed and been cancelled.
        for delivery in Delivery.allCases {
            let ends = running.filter { $0.delivery == delivery }.flatMap(\.ends.values)
            #expect(ends.contains { $0.failure == nil }, "\(delivery), seed \(seed)")
            #expect(ends.contains { $0.failure?.kind == .cancelled }, "\(delivery), seed \(seed)")
            #expect(ends.contains { ![nil, .cancelled].contains($0.failure?.kind) }, "\(delivery), seed \(seed)")
        }
    }

    /// A call, and each end of it that was heard of.
    @MainActor
    private final class Running {
        let delivery: Delivery
        let ends = Ends()
        private let client: APIClient
        /// `nil` for one that is only a task's.
        private var call: Call<Message>?
        private var listener: Listener?
        private var reader: Task<Void, Never>?
        private var manager: APIManager<Hello>?

        init(_ client: APIClient, _ options: CallOptions, _ delivery: Delivery) {
            (self.client, self.delivery) = (client, delivery)
            switch delivery {
            case .closure: call = client.start(Hello(), options: options, completion: ends.put)
            case .delegate:
                let listener = Listener(ends)
                call = client.start(Hello(), delegate: listener, options: options)
                self.listener = listener
            case .updates:
                let call = client.start(Hello(), options: options)
                self.call = call
                reader = Task { [ends] in
                    do {
                        for try await update in call.updates {
                            if let response = update.response { ends.put(.success(response.value)) }
                        }
                    } catch {
                        ends.put(.failure(error as? APIError ?? APIError(.cancelled, stage: .delivery)))
                    }
                }
            case .onActor:
                call = client.start(Hello(), options: options)
                    .onResult(on: MainActor.shared) { [ends] _, result in MainActor.assumeIsolated { ends.put(result) }
                    }
            case .target:
                let listener = Listener(ends)
                call = client.start(Hello(), options: options).deliver(to: listener, Listener.hear)
                self.listener = listener
            case .manager:
                let listener = Listener(ends)
                let manager = APIManager(client: client) { Hello() }
                manager.delegate = listener
                manager.load()
                (self.manager, self.listener) = (manager, listener)
            case .send:
                reader = Task { [ends] in
                    do throws(APIError) {
                        ends.put(.success(try await client.send(Hello(), options: options)))
                    } catch {
                        ends.put(.failure(error))
                    }
                }
            case .responses:
                reader = Task { [ends] in
                    do {
                        for try await response in client.responses(to: Hello(), options: options) {
                            ends.put(.success(response.value))
                        }
                        // Who leaves the sequence hears of no end.
                        if Task.isCancelled, ends.values.isEmpty {
                            ends.put(.failure(APIError(.cancelled, stage: .delivery)))
                        }
                    } catch {
                        ends.put(.failure(error as? APIError ?? APIError(.cancelled, stage: .delivery)))
                    }
                }
            case .stream:
                reader = Task { [ends] in
                    do throws(APIError) {
                        let response = try await client.stream(Hello(), options: options)
                        let text = String(decoding: try await response.collect(), as: UTF8.self)
                        ends.put(.success(Message(text: text)))
                    } catch {
                        ends.put(.failure(error))
                    }
                }
            }
        }

        func cancel() {
            call?.cancel()
            reader?.cancel()
            manager?.cancel()
        }

        /// Returns when it has ended. Who reads has heard of that himself; the others are told.
        func end() async {
            if let reader { return await reader.value }
            _ = await call?.result
            await ends.wait(for: 1)
        }
    }

    /// Lets an exchange that is held come to its end, one way or the other.
    @MainActor
    private static func decide(_ transport: ScriptedTransport, _ call: Running, _ random: inout Seeded) async {
        let fate = Fate.allCases.randomElement(using: &random) ?? .released
        // One that is cancelled may not have begun yet.
        if fate == .released || Bool.random(using: &random) { await transport.waitForExchanges(count: 1) }
        switch fate {
        case .released: transport.release()
        case .cancelled: call.cancel()
        case .releasedAndCancelled:
            transport.release()
            await pause(&random)
            call.cancel()
        case .cancelledAndReleased:
            call.cancel()
            await pause(&random)
            transport.release()
        }
    }

    private static let bodies = [
        "", "{", "null", "[]", "{}", #"{"text":1}"#, #"{"text":"hello"}"#, "<html>", "\u{0}", #"{"retcode":"x"}"#,
    ]

    private static func transport(_ random: inout Seeded) -> any Transport {
        let (response, failure) = (response(&random), TransportError(.connectionLost, sendState: .maybeProcessed))
        let fails = Int.random(in: 0..<5, using: &random) == 0
        return StubTransport { _ throws(TransportError) in
            if fails { throw failure }
            return response
        }
    }

    /// What is held is what was hoped for in half of all cases.
    private static func step(_ random: inout Seeded) -> ScriptedTransport.Step {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .fail(TransportError(.connectionLost, sendState: .maybeProcessed))
        case 1:
            .stream(
                CallSupport.greeting, [Data("{".utf8)], failure: TransportError(.connectionLost, sendState: .answered))
        case 2: .respond(response(&random))
        default: .respond(CallSupport.greeting)
        }
    }

    private static func response(_ random: inout Seeded) -> HTTPResponse {
        let status = [200, 204, 301, 302, 304, 404, 500, 999].randomElement(using: &random) ?? 200
        let body = Data((bodies.randomElement(using: &random) ?? "").utf8)
        let location =
            ["/hello", "/other", "file:///x", "http://[", "https://else.example.com/"]
            .randomElement(using: &random) ?? ""
        return HTTPResponse(status: status, fields: ["Location": location], body: body)
    }

    private static func options(_ random: inout Seeded) -> CallOptions {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .with { $0.baseURL = "ftp://nowhere" }
        case 1: .headers(["Bad": "a\r\nb"])
        case 2: .with { $0.environment = .production }
        case 3: .with { $0.timeouts = .total(.zero) }
        default: .init()
        }
    }

    private static func pause(_ random: inout Seeded) async {
        for _ in 0..<Int.random(in: 0..<8, using: &random) { await Task.yield() }
    }
}

import Foundation
import PenstockCore
import PenstockTesting

struct Message: Codable, Hashable, Sendable {
    var text: String
}

/// The API that the tests of calls send.
struct Hello: Endpoint, Encodable {
    typealias Output = Message
    var name = "world"
    var route: Route { .get("/hello") }
}

enum CallSupport {
    static let greeting = HTTPResponse(status: 200, body: Data(#"{"text":"hello"}"#.utf8))

    static func client(
        _ transport: any Transport, _ change: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        var configuration = APIClient.Configuration(
            services: [Service(.main, "https://api.example.com")], build: .debug)
        // One attempt for each call, unless a test is about more.
        configuration.options.retry = RetryPolicy.none
        change(&configuration)
        return APIClient(configuration, transport: transport)
    }

    /// Answers each request at once.
    static func answering() -> StubTransport {
        StubTransport { _ throws(TransportError) in greeting }
    }

    /// Holds `count` exchanges until they are cancelled or released.
    static func holding(_ count: Int = 1) -> ScriptedTransport {
        ScriptedTransport(Array(repeating: .held(.respond(greeting)), count: count))
    }
}

/// Counts what is delivered, and waits for it.
@MainActor
final class Mailbox<Value: Sendable> {
    private(set) var values: [Value] = []
    private let count = Monitor(0)

    func put(_ value: Value) {
        values.append(value)
        count.withLock { $0 += 1 }
    }

    /// Returns once so much has come, or the test is cancelled.
    func wait(for count: Int) async {
        await self.count.waitUnlessCancelled { $0 >= count }
    }
}

/// What a closure is given.
///
/// - Throws: `CancellationError` once the test is cancelled.
func delivered<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ begin: (@escaping @Sendable (Value) -> Void) -> Void
) async throws -> Value {
    let given = Monitor<Value?>(nil)
    begin { value in given.withLock { $0 = value } }
    await given.waitUnlessCancelled { $0 != nil }
    guard let value = given.withLock({ $0 }) else { throw CancellationError() }
    return value
}

/// Lets everything that is ready to run on the main actor run.
@MainActor
func drainMainActor() async {
    for _ in 0..<20 { await Task.yield() }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

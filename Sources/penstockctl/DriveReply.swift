import Foundation
import Penstock

/// One line of output.
struct DriveReply: Encodable, Sendable {
    private struct Hello: Encodable, Sendable {
        let name: String
        let version: String
        let `protocol`: Int
        let cache: String
    }

    private var hello: Hello?
    private var id: Int?
    private var status: Int?
    private var headers: [[String]]?
    private var body: String?
    private var bodyBase64: String?
    private var cache: String?
    private var error: String?

    static func hello(cache: String) -> DriveReply {
        DriveReply(
            hello: Hello(name: "Penstock", version: PenstockVersion.current, protocol: 1, cache: cache))
    }

    private init(hello: Hello) {
        self.hello = hello
    }

    init(id: Int, error: String) {
        self.id = id
        self.error = error
    }

    init(_ id: Int, _ result: Result<APIResponse<Data>, APIError>) {
        self.id = id
        switch result {
        case .success(let response): take(response)
        case .failure(let error): self.error = "\(error.kind)"
        }
    }

    private mutating func take(_ response: APIResponse<Data>) {
        status = response.http.status
        headers = response.http.fields.map { [$0.name.text, $0.value] }
        cache = response.cacheStatus?.description
        if let text = String(utf8: response.data) {
            body = text
        } else {
            bodyBase64 = response.data.base64EncodedString()
        }
    }

    /// `nil` where it cannot be written as JSON.
    fileprivate var line: Data? {
        guard let json = try? JSONEncoder().encode(self) else { return nil }
        return Console.printable(json: json) + Data("\n".utf8)
    }
}

/// Where replies go, as long as somebody reads them.
final class DriveOutput: Sendable {
    private struct State {
        var isGone = false
        var whenGone: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// Whether a reply could not be written.
    var isGone: Bool { state.withLock(\.isGone) }

    /// Has something done once nobody reads the replies any more, which may be so already.
    func whenGone(_ work: @escaping @Sendable () -> Void) {
        let isGone = state.withLock { state in
            state.whenGone = work
            return state.isGone
        }
        if isGone { work() }
    }

    func write(_ reply: DriveReply) {
        guard let line = reply.line else { return }
        do throws(OutputFailure) {
            try Console.out(line)
        } catch {
            let (isNews, work) = state.withLock { state in
                defer { state.isGone = true }
                return (!state.isGone, state.whenGone)
            }
            if isNews { Console.note(error.message) }
            work?()
        }
    }
}

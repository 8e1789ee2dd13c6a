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
        if let text = String(data: response.data, encoding: .utf8) {
            body = text
        } else {
            bodyBase64 = response.data.base64EncodedString()
        }
    }

    /// Prints the line. A reader that is gone ends the input too.
    func print() {
        guard var line = try? JSONEncoder().encode(self) else { return }
        line.append(UInt8(ascii: "\n"))
        try? Console.out(line)
    }
}

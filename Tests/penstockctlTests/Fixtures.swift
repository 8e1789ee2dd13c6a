import Foundation
import PenstockCore
import PenstockTesting

/// The object that `--json` prints; ``Tool/keys()`` tells which keys it has.
struct Report: Decodable {
    struct Hop: Decodable, Equatable {
        let status: Int
        let from: String
        let to: String
    }

    struct Connection: Decodable {
        let reused: Bool?
        let remoteAddress: String?
        let remotePort: Int?
    }

    struct Failure: Decodable {
        let kind: String
        let stage: String
        let message: String
        let status: Int?
    }

    let status: Int?
    let headers: [[String]]?
    let body: String?
    let bodyBase64: Data?
    let `protocol`: String?
    let url: String?
    let redirects: [Hop]?
    let timings: [String: Double]?
    let connection: Connection?
    let source: String?
    let error: Failure?
}

extension Tool {
    /// The one object on standard output; anything before or after it fails.
    func report() throws -> Report {
        try JSONDecoder().decode(Report.self, from: output)
    }

    /// The keys of that object.
    func keys() throws -> Set<String> {
        let object = try JSONSerialization.jsonObject(with: output) as? [String: Any]
        return Set((object ?? [:]).keys)
    }
}

extension LoopbackServer {
    /// Answers every request with its method, target and content type, and the content itself below them.
    static func echo() throws -> LoopbackServer {
        try LoopbackServer { request in
            let type = request.fields[.contentType] ?? "none"
            return .text("\(request.method) \(request.target) \(type)\n\(request.text)")
        }
    }

    func address(_ path: String) -> String {
        url.origin.text + path
    }
}

/// A folder that goes when its test ends.
final class Folder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("penstockctl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    func write(_ data: Data, to name: String) throws -> String {
        try data.write(to: url.appendingPathComponent(name))
        return path(name)
    }

    func read(_ name: String) throws -> Data {
        try Data(contentsOf: url.appendingPathComponent(name))
    }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }
}

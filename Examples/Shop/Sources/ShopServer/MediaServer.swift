import Foundation
import PenstockCore
import PenstockTesting
import Synchronization

/// Takes pictures, slowly, and gives films, whose first copy breaks off in the middle.
public final class MediaServer: Sendable {
    public typealias Request = LoopbackServer.Request
    public typealias Response = LoopbackServer.Response

    /// The film, and where the connection breaks that it is first sent over.
    public static let film = content(of: 1 << 20)
    public static let cut = 600_000

    /// The sockets, and the server's own count of what came by them.
    public let wire: LoopbackServer
    private let album: Album

    public init() throws {
        let album = Album()
        self.album = album
        var configuration = LoopbackServer.Configuration()
        // 8 MiB take half a second, so that there is something to see of a progress bar: half of them may be in the system's
        // buffers at once.
        configuration.receiving = .init(bytes: 128 << 10, per: .milliseconds(8))
        wire = try LoopbackServer(configuration) { request in
            switch (request.method, request.path) {
            case (.post, "/pictures"): album.take(request)
            case (.get, "/films/7"): album.film(request)
            default: .init(status: 404)
            }
        }
    }

    public var url: String { wire.url.absoluteString }

    /// What came, by its name.
    public var pictures: [String: Data] { album.pictures.withLock { $0 } }

    /// Bytes of which no two blocks are the same.
    public static func content(of count: Int) -> Data {
        var content = Data(capacity: count)
        for block in 0..<count / 1_024 {
            content += Data(repeating: UInt8(truncatingIfNeeded: block), count: 1_022)
            content += [UInt8(truncatingIfNeeded: block >> 8), UInt8(truncatingIfNeeded: block)]
        }
        return content
    }
}

/// What the server has.
private final class Album: Sendable {
    typealias Request = LoopbackServer.Request
    typealias Response = LoopbackServer.Response

    private struct Picture: Encodable {
        let name: String
        let title: String
        let bytes: Int
    }

    let pictures = Mutex<[String: Data]>([:])
    private let copies = Mutex(0)

    func take(_ request: Request) -> Response {
        let parts = Self.parts(of: request)
        guard let title = parts.first(where: { $0.name == "title" }),
            let picture = parts.first(where: { $0.name == "picture" }), let name = picture.fileName,
            let answer = try? JSONEncoder().encode(
                Picture(
                    name: name, title: String(decoding: title.content, as: UTF8.self), bytes: picture.content.count))
        else { return .text("A title and a picture are wanted.", status: 400) }
        pictures.withLock { $0[name] = picture.content }
        return .init(status: 201, fields: [.contentType: "application/json"], body: answer)
    }

    /// All of it, or what is asked for (RFC 9110 §14).
    func film(_ request: Request) -> Response {
        let (film, version) = (MediaServer.film, #""seventh-1""#)
        let isFirst = copies.withLock { copies in
            copies += 1
            return copies == 1
        }
        var fields: HTTPFields = [.contentType: "video/mp4", "ETag": version, "Accept-Ranges": "bytes"]
        guard let range = request.fields["Range"], request.fields["If-Range"] == version,
            let start = Int(range.dropFirst("bytes=".count).dropLast()), (0..<film.count).contains(start)
        else {
            let whole = Response(fields: fields, body: film).throttled(to: 64 << 10, per: .milliseconds(16))
            return isFirst ? whole.fault(.close, at: .responseBody(after: MediaServer.cut)) : whole
        }
        fields["Content-Range"] = "bytes \(start)-\(film.count - 1)/\(film.count)"
        return Response(status: 206, fields: fields, body: film.dropFirst(start))
    }

    /// The parts of a form (RFC 7578), as far as this server cares.
    private static func parts(of request: Request) -> [(name: String, fileName: String?, content: Data)] {
        guard let type = request.fields[.contentType], type.hasPrefix("multipart/form-data"),
            let boundary = parameter("boundary", of: type)
        else { return [] }
        var parts: [(String, String?, Data)] = []
        var rest = Data("\r\n".utf8) + request.body
        let (delimiter, gap) = (Data("\r\n--\(boundary)".utf8), Data("\r\n\r\n".utf8))
        while let start = rest.range(of: delimiter) {
            rest = rest[start.upperBound...]
            guard let end = rest.range(of: delimiter), let head = rest.range(of: gap), head.upperBound <= end.lowerBound
            else { break }
            let text = String(decoding: rest[..<head.lowerBound], as: UTF8.self)
            let content = Data(rest[head.upperBound..<end.lowerBound])
            if let name = parameter("name", of: text) { parts.append((name, parameter("filename", of: text), content)) }
            rest = rest[end.lowerBound...]
        }
        return parts
    }

    private static func parameter(_ name: String, of text: String) -> String? {
        guard let start = text.range(of: " \(name)=") ?? text.range(of: ";\(name)=") else { return nil }
        let rest = text[start.upperBound...]
        if rest.first == "\"" { return String(rest.dropFirst().prefix { $0 != "\"" }) }
        return String(rest.prefix { $0 != ";" && $0 != "\r\n" })
    }
}

import Foundation

/// What is kept on disk of requests that were handed over: the content that each sends (`<key>.part`), and the replies that
/// nobody has taken yet (`<key>.reply`). Nobody but its owner may read it (0600). Everything here waits for the disk.
struct BackgroundFolder: Sendable {
    /// How long a reply waits for an upload that takes it: longer than the system tries to send anything.
    static let replyLifetime: TimeInterval = 30 * 86_400
    private static let (part, reply) = ("part", "reply")

    let place: URL

    private struct Reply: Codable {
        var status: Int
        var fields: [[String]]
        var version: String
        var body: Data
    }

    // MARK: Contents

    func part(of key: BackgroundKey) -> URL { file(key, Self.part) }

    /// An empty file for the content of a request.
    func makePart(of key: BackgroundKey) throws(SystemError) -> FileDescriptor {
        let path = part(of: key).path
        try SystemError.ofFile { () throws(PrivateFileError) in try PrivateFile(path: path).makeFolder() }
        return try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    }

    /// The keys of those that were handed over and not ended.
    func parts() -> [BackgroundKey] { keys(Self.part).map(\.key) }

    func removePart(of key: BackgroundKey) {
        try? FileManager.default.removeItem(at: part(of: key))
    }

    // MARK: Replies

    /// Where it cannot be kept, it is lost for later processes: the server is asked then.
    func keep(_ response: HTTPResponse, to key: BackgroundKey) {
        let reply = Reply(
            status: response.status, fields: response.fields.map { [$0.name.text, $0.value] },
            version: response.version.rawValue, body: response.body)
        guard let text = try? JSONEncoder().encode(reply) else { return }
        let file = PrivateFile(self.file(key, Self.reply))
        do throws(PrivateFileError) {
            try file.makeFolder()
            try file.replace(with: text)
        } catch {
            return
        }
    }

    func reply(to key: BackgroundKey) -> HTTPResponse? {
        let file = PrivateFile(self.file(key, Self.reply))
        // Base64 takes a third more.
        let limit = 2 * BackgroundTransfers.maximumReply + (1 << 20)
        guard let text = try? file.contents(limit: limit, .narrows { Self.reply(in: $0) != nil }),
            let reply = Self.reply(in: text)
        else { return nil }
        var fields = HTTPFields()
        for field in reply.fields where field.count == 2 { fields.append(field[1], for: HTTPFieldName(field[0])) }
        return HTTPResponse(
            status: reply.status, fields: fields, body: reply.body, version: HTTPVersion(rawValue: reply.version))
    }

    private static func reply(in text: Data) -> Reply? { try? JSONDecoder().decode(Reply.self, from: text) }

    func remove(_ key: BackgroundKey) {
        removePart(of: key)
        try? FileManager.default.removeItem(at: file(key, Self.reply))
    }

    /// Removes replies that nobody has asked for.
    func removeReplies(before date: Date = .distantFuture) {
        for (key, modified) in keys(Self.reply) where modified < date { remove(key) }
    }

    // MARK: Names

    private func file(_ key: BackgroundKey, _ form: String) -> URL {
        place.appendingPathComponent("\(key.text).\(form)")
    }

    private func keys(_ form: String) -> [(key: BackgroundKey, modified: Date)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        return names.compactMap { name in
            guard name.hasSuffix(".\(form)"), let key = BackgroundKey(String(name.dropLast(form.count + 1))) else {
                return nil
            }
            let facts = try? FileManager.default.attributesOfItem(atPath: place.appendingPathComponent(name).path)
            return (key, facts?[.modificationDate] as? Date ?? .distantPast)
        }
    }
}

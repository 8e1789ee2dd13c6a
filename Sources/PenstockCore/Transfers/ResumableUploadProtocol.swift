import Foundation

/// The rules by which a server lets an upload be taken up again.
@nonexhaustive
public enum ResumableUploadProtocol: String, Hashable, Sendable, Codable {
    /// Resumable Uploads for HTTP, the IETF's draft (draft-ietf-httpbis-resumable-upload).
    case httpDraft = "http-draft"
    /// tus 1.0 (<https://tus.io/protocols/resumable-upload>): its core, and its creation extension.
    case tus
}

/// One request of an upload, as far as the machine decides it.
enum UploadStep: Hashable, Sendable {
    /// Asks for an upload resource. It has no content, so that nothing is lost with its answer but an empty resource, and
    /// nothing is ever sent to a server that has not named the place where it can be continued.
    case create
    /// Asks how many bytes the server has.
    case query
    /// Sends these bytes of the file.
    case append(Range<Int>, completes: Bool)
}

/// What an answer of the server says about an upload, whichever the protocol.
struct UploadAnswer: Hashable, Sendable {
    var status: Int
    /// Where the upload resource is, in full.
    var location: HTTPURL?
    /// How many bytes the server has.
    var offset: Int?
    /// Whether the server has all, and says so. tus has no such word.
    var isComplete: Bool?
    /// How many bytes the server expects.
    var length: Int?
    var limits: UploadLimits?
    /// How long the server asks to be left alone.
    var retryAfter: Duration?
    /// Whether the server refuses because the upload is complete already.
    var isCompletedProblem = false
}

/// What a server takes (`Upload-Limit` of the draft).
struct UploadLimits: Hashable, Sendable {
    var maximumSize: Int?
    var minimumSize: Int?
    var maximumAppend: Int?
}

/// The wire form of both protocols: fields of requests, and what the fields of answers mean.
extension ResumableUploadProtocol {
    /// The revision of the draft whose messages are understood: what implementations of it compare with each other until it is
    /// an RFC. 8 has the same messages as every later revision.
    static let draftVersion = "8"

    func method(of step: UploadStep, creating: HTTPMethod) -> HTTPMethod {
        switch step {
        case .create: creating
        case .query: .head
        case .append: .patch
        }
    }

    /// The fields of a request, beside those that the app sets.
    func fields(of step: UploadStep, length: Int, metadata: UploadMetadata) -> HeaderEdits {
        switch self {
        case .httpDraft: draftFields(of: step, length, metadata)
        case .tus: tusFields(of: step, length, metadata)
        }
    }

    private func draftFields(of step: UploadStep, _ length: Int, _ metadata: UploadMetadata) -> HeaderEdits {
        let edits = HeaderEdits().setting(Self.version, Self.draftVersion)
        switch step {
        case .create:
            let created = edits.setting(Self.complete, "?0").setting(Self.length, "\(length)")
                .setting(.contentType, metadata.contentType)
            return metadata.disposition.map { created.setting("Content-Disposition", $0) } ?? created
        case .query: return edits
        case .append(let bytes, let completes):
            return edits.setting(Self.complete, completes ? "?1" : "?0").setting(Self.offset, "\(bytes.lowerBound)")
                .setting(.contentType, "application/partial-upload")
        }
    }

    private func tusFields(of step: UploadStep, _ length: Int, _ metadata: UploadMetadata) -> HeaderEdits {
        let edits = HeaderEdits().setting("Tus-Resumable", "1.0.0")
        switch step {
        case .create:
            let created = edits.setting(Self.length, "\(length)").removing(.contentType)
            return metadata.tus.isEmpty ? created : created.setting("Upload-Metadata", metadata.tus)
        case .query: return edits
        case .append(let bytes, _):
            return edits.setting(Self.offset, "\(bytes.lowerBound)")
                .setting(.contentType, "application/offset+octet-stream")
        }
    }

    /// The longest `Location` that is taken, in bytes: it is kept on disk, in a file that is read again only up to a length.
    private static let longestLocation = 16 << 10
    private static let version: HTTPFieldName = "Upload-Draft-Interop-Version"
    private static let complete: HTTPFieldName = "Upload-Complete"
    private static let length: HTTPFieldName = "Upload-Length"
    private static let offset: HTTPFieldName = "Upload-Offset"
    private static let limit: HTTPFieldName = "Upload-Limit"

    // MARK: Answers

    /// - Parameters:
    ///   - url: what was asked for, by which a relative `Location` is resolved.
    ///   - now: what a `Retry-After` that is a date is compared with.
    func answer(_ response: HTTPResponse, from url: HTTPURL, at now: Date) -> UploadAnswer {
        var answer = UploadAnswer(status: response.status)
        // Of several, which one counts would be a guess.
        let locations = response.fields.values(of: .location)
        answer.location = (locations.count == 1 ? locations.first : nil).flatMap { text in
            text.utf8.count <= Self.longestLocation ? try? url.resolving(text) : nil
        }
        answer.retryAfter = RetryAfter.delay(in: response.fields, at: now)
        let (offset, length) = (response.fields.values(of: Self.offset), response.fields.values(of: Self.length))
        switch self {
        case .httpDraft:
            answer.offset = Self.integer(offset)
            answer.length = Self.integer(length)
            answer.isComplete = Self.boolean(response.fields.values(of: Self.complete))
            answer.limits = Self.limits(response.fields.values(of: Self.limit).joined(separator: ","))
            answer.isCompletedProblem = Self.isCompleted(response)
        case .tus:
            answer.offset = Self.number(offset)
            answer.length = Self.number(length)
            answer.limits = Self.number(response.fields.values(of: "Tus-Max-Size")).map {
                UploadLimits(maximumSize: $0)
            }
        }
        return answer
    }

    /// Digits and nothing else, at most fifteen; anything else is as if it were not there. tus has no other form.
    static func number(_ values: [String]) -> Int? {
        guard values.count == 1, let value = values.first else { return nil }
        let text = HTTPSyntax.trimmed(value)
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
        return Int(text)
    }

    /// An integer that is not below zero (RFC 9651 §3.3.1), whose parameters do not matter; anything else is as if it were not
    /// there.
    static func integer(_ values: [String]) -> Int? {
        bareItem(values).flatMap { number([$0]) }
    }

    /// - Returns: also `nil` for two that differ and for two that are alike: an item is one.
    private static func bareItem(_ values: [String]) -> String? {
        guard let item = try? StructuredField.item(values.joined(separator: ", ")) else { return nil }
        return withoutParameters(item)
    }

    /// No number and no boolean has a semicolon.
    private static func withoutParameters(_ item: String) -> String {
        String(item.prefix { $0 != ";" })
    }

    static func boolean(_ values: [String]) -> Bool? {
        switch bareItem(values) {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    /// A dictionary (RFC 9651 §3.2). Where it is malformed, or a known member is no number, the whole field is as if it were not
    /// there; members that are not known do not matter.
    static func limits(_ text: String) -> UploadLimits? {
        guard let dictionary = try? StructuredField.dictionary(text) else { return nil }
        var limits = UploadLimits()
        var isEmpty = true
        for (key, value) in dictionary {
            guard let path = members[key] else { continue }
            guard let number = number([withoutParameters(value)]) else { return nil }
            limits[keyPath: path] = number
            isEmpty = false
        }
        return isEmpty ? nil : limits
    }

    private static var members: [String: WritableKeyPath<UploadLimits, Int?>] {
        ["max-size": \.maximumSize, "min-size": \.minimumSize, "max-append-size": \.maximumAppend]
    }

    /// The problem type `completed-upload` (RFC 9457).
    private static func isCompleted(_ response: HTTPResponse) -> Bool {
        struct Problem: Decodable {
            let type: String
        }
        guard response.status >= 400, response.body.count <= 16 << 10 else { return false }
        let problem = try? JSONDecoder().decode(Problem.self, from: response.body)
        return problem?.type.hasSuffix("#completed-upload") ?? false
    }
}

/// What the server is told of a file beside its bytes.
struct UploadMetadata: Hashable, Sendable {
    var fileName: String?
    var contentType: String
    /// The app's own words, of tus alone.
    var others: [String: String] = [:]

    /// Whether tus has a form for a key.
    static func isKey(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
    }

    /// `Upload-Metadata`: keys, and their values in Base64.
    var tus: String {
        var all = others
        if let fileName { all["filename"] = fileName }
        all["filetype"] = contentType
        return all.sorted { $0.key < $1.key }.map { "\($0.key) \(Data($0.value.utf8).base64EncodedString())" }
            .joined(separator: ",")
    }

    /// `Content-Disposition` (RFC 6266), whose extended form takes every name (RFC 8187).
    var disposition: String? {
        fileName.map { name in
            let escaped = name.utf8.map { byte in
                Self.isPlain(byte) ? String(UnicodeScalar(byte)) : "%" + Self.hex(byte)
            }
            return "inline; filename*=UTF-8''\(escaped.joined())"
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        HTTPSyntax.isTokenByte(byte) && ![UInt8(ascii: "%"), UInt8(ascii: "'"), UInt8(ascii: "*")].contains(byte)
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }
}

/// What requests for an upload resource are sent with, by where the server has put it.
enum UploadWay: Hashable, Sendable {
    /// It has the origin of the service, whose headers and credentials go there.
    case ofService
    /// It is somewhere else, and a redirect may lead there: what goes there is what a redirect may take along.
    case bare
    /// Nothing goes there; the reason is for people.
    case refused(reason: String)

    /// The way as ``RedirectPolicy`` decides on a redirect of a request with a body.
    ///
    /// - Parameter service: the origin of the service, where uploads begin.
    init(to place: HTTPURL, from service: HTTPURL.Origin, _ redirects: RedirectPolicy) {
        let origin = place.origin
        if origin == service {
            self = .ofService
        } else if service.scheme == .https, origin.scheme != .https {
            self = .refused(reason: "the server has put the upload at \(origin), which is not https")
        } else if redirects.isFollowing, redirects.sendsBodyAcrossOrigins {
            self = .bare
        } else {
            self = .refused(
                reason: "the server has put the upload at \(origin), which is not the origin of the service;"
                    + " RedirectPolicy.sendsBodyAcrossOrigins lets the file go there, without credentials")
        }
    }
}

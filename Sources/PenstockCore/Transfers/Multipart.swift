import Foundation

/// One part of a `multipart/form-data` body (RFC 7578): a field of a form, or a file.
///
/// ```swift
/// struct UploadPicture: Endpoint {
///     typealias Output = Picture
///     let title: String
///     let picture: URL
///     var route: Route { .post("/pictures") }
///     var body: HTTPBody { .multipart([.field("title", title), .file("picture", picture)]) }
/// }
/// ```
public struct MultipartPart: Sendable {
    /// The name of the field. Written as browsers write it: UTF-8, with `%22` for a quote and `%0D%0A` for each end of a line.
    public var name: String
    /// The file's name as the server shall see it, written as ``name`` is, but that a CR or LF alone stays alone: `%0D`, `%0A`. `nil`
    /// for a field that is no file.
    public var fileName: String?
    /// Fields of the part's own. `Content-Disposition` is not among them, since name and file name make it; neither are
    /// `Content-Length` and `Content-Transfer-Encoding`, which form data does not have (RFC 7578 §4.7, §4.8). ``HTTPBody/contentType``
    /// of the content is the `Content-Type`, unless one stands here.
    public var fields: HTTPFields
    /// The content: bytes, a file, or a stream, which need not know its length.
    public var content: HTTPBody

    /// A part of any kind.
    ///
    /// - Parameters:
    ///   - fileName: makes it a file; none by default.
    ///   - fields: besides `Content-Disposition` and `Content-Type`. None by default.
    public init(_ name: String, fileName: String? = nil, fields: HTTPFields = [:], content: HTTPBody) {
        self.name = name
        self.fileName = fileName
        self.fields = fields
        self.content = content
    }

    /// A field with a text, sent as UTF-8 byte for byte.
    public static func field(_ name: String, _ value: String) -> MultipartPart {
        MultipartPart(name, content: .bytes(Data(value.utf8)))
    }

    /// A file from memory.
    ///
    /// - Parameters:
    ///   - fileName: as the server shall see it.
    ///   - contentType: by the suffix of the file name unless given; `application/octet-stream` where that says nothing.
    public static func data(
        _ name: String, _ data: Data, fileName: String, contentType: String? = nil
    ) -> MultipartPart {
        var content = HTTPBody.bytes(data)
        content.contentType = contentType ?? MediaType.bySuffix(of: fileName)
        return MultipartPart(name, fileName: fileName, content: content)
    }

    /// A file from the disk, read as it is sent. One that is not what it was when the request was made, or that changes while it
    /// is sent, ends the call with a ``SourceFileError``; the server never gets all of such a request.
    ///
    /// - Parameters:
    ///   - fileName: as the server shall see it; the last part of the URL by default.
    ///   - contentType: by the suffix of the file name unless given.
    public static func file(
        _ name: String, _ url: URL, fileName: String? = nil, contentType: String? = nil
    ) -> MultipartPart {
        let fileName = fileName ?? url.lastPathComponent
        var content = HTTPBody.file(url)
        content.contentType = contentType ?? MediaType.bySuffix(of: fileName)
        return MultipartPart(name, fileName: fileName, content: content)
    }
}

/// Why a form cannot be sent.
@nonexhaustive
public enum MultipartError: Error, Hashable, Sendable {
    /// A name or a file name has a control character in it that no server reads back, such as NUL.
    case invalidName(String)
    /// A field of a part's own breaks HTTP's grammar, or is one that the form itself writes.
    case invalidField(String)
    /// A stream in the form gave other than its declared length of bytes.
    case wrongLength(declared: Int, given: Int)
}

extension HTTPBody {
    /// A form of several parts, as `multipart/form-data` (RFC 7578). Its `Content-Type` is that of the body, with a boundary of 128
    /// random bits, so that no content has it in it by accident.
    ///
    /// The length is known beforehand unless a part is a stream that does not know its own. Files are read as they are sent, 64 KiB
    /// at a time; a form that is all in memory is bytes, which a signer can read, up to 1 MiB. It can be sent again unless a part can
    /// not. What is wrong with it shows when it is sent, before anything is: ``APIError/TransportFault/requestBody`` with a
    /// ``MultipartError`` or a ``SourceFileError`` as its cause.
    public static func multipart(_ parts: [MultipartPart]) -> HTTPBody {
        var random = SystemRandomNumberGenerator()
        return multipart(parts, boundary: MultipartForm.boundary(using: &random))
    }

    static func multipart(_ parts: [MultipartPart], boundary: String) -> HTTPBody {
        do {
            return try MultipartForm(parts, boundary: boundary).body
        } catch {
            return .defective(error)
        }
    }
}

/// A form as it goes over the wire: what stands between the contents, and the contents.
struct MultipartForm: Sendable {
    /// A form that is all in memory is one piece up to this many bytes; beyond, its copy would cost more than it is worth.
    private static let longestPiece = 1 << 20

    /// What is sent one after the other.
    enum Segment: Sendable {
        case bytes(Data)
        case file(SourceFile)
        case stream(length: Int?, open: @Sendable () throws -> HTTPBody.Chunks)

        var length: Int? {
            switch self {
            case .bytes(let data): data.count
            case .file(let file): file.length
            case .stream(let length, _): length
            }
        }
    }

    let boundary: String
    private(set) var segments: [Segment] = []
    private let isReplayable: Bool

    init(_ parts: [MultipartPart], boundary: String) throws {
        self.boundary = boundary
        isReplayable = parts.allSatisfy(\.content.isReplayable)
        for (index, part) in parts.enumerated() {
            append(Data("\(index == 0 ? "" : "\r\n")--\(boundary)\r\n\(try Self.head(of: part))\r\n".utf8))
            try append(part.content)
        }
        append(Data("\(parts.isEmpty ? "" : "\r\n")--\(boundary)--\r\n".utf8))
    }

    /// 128 random bits behind a word that tells people who wrote it.
    static func boundary(using random: inout some RandomNumberGenerator) -> String {
        let digits = (0..<2).map { _ in
            let half = String(random.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - half.utf8.count) + half
        }
        return "penstock-" + digits.joined()
    }

    /// `nil` where a stream does not know its own, and where the streams claim more than any number says.
    var length: Int? {
        var total = 0
        for segment in segments {
            guard let length = segment.length else { return nil }
            let (sum, isTooLong) = total.addingReportingOverflow(length)
            if isTooLong { return nil }
            total = sum
        }
        return total
    }

    var body: HTTPBody {
        var body: HTTPBody
        if segments.count == 1, case .bytes(let data)? = segments.first {
            body = .bytes(data)
        } else {
            body = .stream(length: length, isReplayable: isReplayable) { [segments] in
                let reader = MultipartReader(segments)
                return HTTPBody.Chunks { try await reader.next() }
            }
        }
        body.contentType = "multipart/form-data; boundary=\(boundary)"
        return body
    }

    private mutating func append(_ content: HTTPBody) throws {
        if let defect = content.defect { throw defect }
        switch content.source {
        case .none: break
        case .bytes(let data): append(data)
        case .file(let url):
            let file = try SourceFile(url)
            // Between the making of the part and that of the form.
            guard file.length == content.length else { throw SourceFileError.changed(url) }
            segments.append(.file(file))
        case .stream(let open): segments.append(.stream(length: content.length, open: open))
        }
    }

    /// Short pieces go together, as each that is handed over costs more than its bytes do.
    private mutating func append(_ data: Data) {
        guard case .bytes(var last)? = segments.last, last.count + data.count <= Self.longestPiece else {
            return segments.append(.bytes(data))
        }
        // The bytes are let go of first, because they would be copied for each piece while the segment holds them as well.
        segments[segments.count - 1] = .bytes(Data())
        last.append(data)
        segments[segments.count - 1] = .bytes(last)
    }

    // MARK: Heads

    private static let ownFields: [HTTPFieldName] = [
        .contentDisposition, .contentLength, .transferEncoding, "Content-Transfer-Encoding",
    ]

    /// The lines before a part's content, the empty one left out.
    static func head(of part: MultipartPart) throws(MultipartError) -> String {
        if let name = part.fields.rejected.first { throw .invalidField(name) }
        if let name = ownFields.first(where: part.fields.contains) { throw .invalidField(name.text) }
        var head = "Content-Disposition: form-data; name=\"\(try escaped(withWholeLineEnds(part.name)))\""
        if let fileName = part.fileName { head += "; filename=\"\(try escaped(fileName))\"" }
        head += "\r\n"
        if let type = part.content.contentType, !part.fields.contains(.contentType) {
            guard HTTPSyntax.isFieldValue(type) else { throw .invalidField("Content-Type") }
            head += "Content-Type: \(type)\r\n"
        }
        for field in part.fields { head += "\(field.name.text): \(field.value)\r\n" }
        return head
    }

    /// The name of a field, unlike that of a file, has every end of a line as CR and LF before it is escaped (WHATWG HTML, "constructing
    /// the entry list").
    private static func withWholeLineEnds(_ name: String) -> String {
        var output: [UInt8] = []
        var endsInReturn = false
        for byte in name.utf8 {
            if endsInReturn != (byte == 0x0A) { output.append(endsInReturn ? 0x0A : 0x0D) }
            output.append(byte)
            endsInReturn = byte == 0x0D
        }
        if endsInReturn { output.append(0x0A) }
        return String(decoding: output, as: UTF8.self)
    }

    /// The name as browsers write it: nothing but what would end the quotes or the line is escaped, and nothing undone by servers that
    /// know no escapes (WHATWG HTML, "multipart/form-data encoding algorithm").
    static func escaped(_ name: String) throws(MultipartError) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(name.utf8.count)
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "\""): output += "%22".utf8
            case 0x0D: output += "%0D".utf8
            case 0x0A: output += "%0A".utf8
            case 0x09, 0x20...0x7E, 0x80...: output.append(byte)
            default: throw .invalidName(name)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}

/// Reads a form piece by piece, for one sending.
actor MultipartReader {
    /// What is read of a file at a time.
    private static let piece = 64 << 10

    private var segments: ArraySlice<MultipartForm.Segment>
    private var file: (reader: SourceFile.Reader, offset: Int)?
    private var stream: (chunks: HTTPBody.Chunks, declared: Int?, given: Int)?
    private var failure: (any Error)?

    init(_ segments: [MultipartForm.Segment]) {
        self.segments = segments[...]
    }

    /// The next bytes; `nil` at the end. What has failed has no end: whoever reads on gets the same error, and never the rest.
    func next() async throws -> Data? {
        if let failure { throw failure }
        do {
            return try await following()
        } catch {
            failure = error
            throw error
        }
    }

    private func following() async throws -> Data? {
        while true {
            if let piece = try await ofFile() { return piece }
            if let piece = try await ofStream() { return piece }
            switch segments.popFirst() {
            case nil: return nil
            case .bytes(let data)?: if !data.isEmpty { return data }
            case .file(let source)?: file = (try await DiskWork.run(source.reader), 0)
            case .stream(let length, let open)?: stream = (try open(), length, 0)
            }
        }
    }

    private func ofFile() async throws -> Data? {
        guard let (reader, offset) = file else { return nil }
        let piece = try await DiskWork.run { () throws(SourceFileError) in try reader.read(Self.piece, at: offset) }
        file = piece.isEmpty ? nil : (reader, offset + piece.count)
        return piece.isEmpty ? nil : piece
    }

    private func ofStream() async throws -> Data? {
        guard var open = stream else { return nil }
        while let piece = try await Self.next(of: open.chunks) {
            guard !piece.isEmpty else { continue }
            open.given += piece.count
            if let declared = open.declared, open.given > declared {
                throw MultipartError.wrongLength(declared: declared, given: open.given)
            }
            stream = open
            return piece
        }
        stream = nil
        if let declared = open.declared, open.given < declared {
            throw MultipartError.wrongLength(declared: declared, given: open.given)
        }
        return nil
    }
}

extension MultipartReader {
    /// All iterators of a stream go on where the one before has stopped.
    private static func next(of chunks: HTTPBody.Chunks) async throws -> Data? {
        var iterator = chunks.makeAsyncIterator()
        return try await iterator.next()
    }
}

/// What the suffix of a file's name says of its content.
public enum MediaType {
    /// The type of what is just bytes (RFC 2046 §4.5.1).
    public static let bytes = "application/octet-stream"

    /// The media type that a name's suffix stands for, by IANA's registry; ``bytes`` where it has none, or one that is not known.
    ///
    /// It is for what an app sends. What a server says of its own content is believed instead.
    public static func bySuffix(of name: String) -> String {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return bytes }
        return table[name[name.index(after: dot)...].lowercased()] ?? bytes
    }

    private static let table: [String: String] = [
        "7z": "application/x-7z-compressed", "aac": "audio/aac", "apng": "image/apng", "avi": "video/x-msvideo",
        "avif": "image/avif", "bmp": "image/bmp", "br": "application/x-brotli", "bz2": "application/x-bzip2",
        "css": "text/css", "csv": "text/csv", "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "epub": "application/epub+zip",
        "flac": "audio/flac", "gif": "image/gif", "gz": "application/gzip", "heic": "image/heic", "heif": "image/heif",
        "htm": "text/html", "html": "text/html", "ico": "image/vnd.microsoft.icon", "ics": "text/calendar",
        "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json",
        "jxl": "image/jxl", "log": "text/plain", "m4a": "audio/mp4", "m4v": "video/mp4", "md": "text/markdown",
        "mjs": "text/javascript", "mkv": "video/matroska", "mov": "video/quicktime", "mp3": "audio/mpeg",
        "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg", "odt": "application/vnd.oasis.opendocument.text",
        "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/ogg", "otf": "font/otf",
        "pdf": "application/pdf", "png": "image/png", "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "rar": "application/vnd.rar",
        "rtf": "application/rtf", "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff",
        "tiff": "image/tiff", "ttf": "font/ttf", "txt": "text/plain", "vcf": "text/vcard", "wasm": "application/wasm",
        "wav": "audio/wav", "weba": "audio/webm", "webm": "video/webm", "webp": "image/webp", "woff": "font/woff",
        "woff2": "font/woff2", "xhtml": "application/xhtml+xml", "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
        "xz": "application/x-xz", "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip",
        "zst": "application/zstd",
    ]
}

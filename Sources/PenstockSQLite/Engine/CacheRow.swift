import Foundation
import PenstockCore

/// What the column `head` of a row holds: the key, where the body is, and all that is known of the response, behind one
/// checksum over the row's number and all of it.
///
///     checksum 8 · format 1 · flags 1 · status 2 · version 8 · body 8 · body's checksum 8 · length 8 · piece 4
///     · length of key 4 · key · the rest
struct CacheRow {
    let response: CachedResponse
    let body: BodyPlace

    /// Where the bytes are, and what tells them from all others.
    struct BodyPlace: Equatable {
        /// Different for each body that was ever stored.
        var version: UInt64
        /// The body's number in the table `chunk`; zero when it stands in the row.
        var number: Int64 = 0
        /// The checksum of the body that stands in the row.
        var checksum: UInt64 = 0
        var length: Int = 0
        /// Length of each piece but the last.
        var chunkBytes: Int = 0
    }

    /// Nothing longer is stored.
    static let maximumBytes = 256 << 10
    private static let format: UInt8 = 1

    struct Flags: OptionSet {
        let rawValue: UInt8

        static let invalidated = Flags(rawValue: 1)
        static let unmatchable = Flags(rawValue: 2)
        static let part = Flags(rawValue: 4)
        static let completeLength = Flags(rawValue: 8)
        static let ttl = Flags(rawValue: 16)
        static let maxStale = Flags(rawValue: 32)
    }

    // MARK: Keys

    /// A key as bytes: equal keys have equal bytes.
    static func bytes(of key: CacheKey) -> [UInt8] {
        // At once into memory of the right size, since each look-up needs it.
        let digest = key.contentDigest ?? ""
        let credentials = key.credentialDigest ?? ""
        let owner = key.partition
        let texts = key.method.rawValue.utf8.count + key.url.utf8.count + owner.environment.utf8.count
        let rest = owner.identity.utf8.count + digest.utf8.count + credentials.utf8.count + owner.way.utf8.count
        let count = texts + rest + 29
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            bytes[0] = (key.contentDigest == nil ? 0 : 1) | (key.credentialDigest == nil ? 0 : 2)
            if !owner.way.isEmpty { bytes[0] |= 4 }
            used = 1
            append(key.method.rawValue, to: bytes, &used)
            append(key.url, to: bytes, &used)
            append(owner.environment, to: bytes, &used)
            append(owner.identity, to: bytes, &used)
            append(digest, to: bytes, &used)
            if key.credentialDigest != nil { append(credentials, to: bytes, &used) }
            if !owner.way.isEmpty { append(owner.way, to: bytes, &used) }
        }
    }

    /// Appends a text as ``ByteWriter`` does.
    private static func append(_ text: String, to bytes: UnsafeMutableRawBufferPointer, _ used: inout Int) {
        var text = text
        text.withUTF8 { utf8 in
            bytes.storeBytes(of: UInt32(utf8.count).littleEndian, toByteOffset: used, as: UInt32.self)
            UnsafeMutableRawBufferPointer(rebasing: bytes[(used + 4)...]).copyMemory(from: UnsafeRawBufferPointer(utf8))
            used += 4 + utf8.count
        }
    }

    private static func key(from bytes: UnsafeRawBufferPointer) throws(Malformed) -> CacheKey {
        var reader = ByteReader(bytes)
        let digests = try reader.number(UInt8.self)
        let name = try reader.text()
        let url = try reader.text()
        var partition = CachePartition(environment: try reader.text(), identity: try reader.text())
        let digest = try reader.text()
        let credentials = digests & 2 == 0 ? nil : try reader.text()
        if digests & 4 != 0 { partition.way = try reader.text() }
        guard let method = HTTPMethod(rawValue: name) else { throw Malformed() }
        return CacheKey(
            storedMethod: method, url: url, partition: partition, contentDigest: digests & 1 == 0 ? nil : digest,
            credentialDigest: credentials)
    }

    // MARK: Writing

    static func encode(_ response: CachedResponse, key: [UInt8], body: BodyPlace, row: Int64) -> [UInt8] {
        var writer = ByteWriter(capacity: 1_024)
        writer.append(UInt64(0))
        writer.append(format)
        writer.append(flags(of: response).rawValue)
        writer.append(UInt16(truncatingIfNeeded: response.status))
        writer.append(body.version)
        writer.append(body.number)
        writer.append(body.checksum)
        writer.append(Int64(body.length))
        writer.append(UInt32(truncatingIfNeeded: body.chunkBytes))
        writer.append(UInt32(truncatingIfNeeded: key.count))
        writer.append(contentsOf: key)
        appendRest(of: response, to: &writer)
        var bytes = writer.bytes
        seal(&bytes, row: row)
        return bytes
    }

    /// Writes the checksum of all that follows it.
    static func seal(_ head: inout [UInt8], row: Int64) {
        let sum = head.withUnsafeBytes { checksum(UnsafeRawBufferPointer(rebasing: $0.dropFirst(8)), row: row) }
        withUnsafeBytes(of: sum.littleEndian) { head.replaceSubrange(0..<8, with: $0) }
    }

    private static func checksum(_ bytes: UnsafeRawBufferPointer, row: Int64) -> UInt64 {
        XXHash64.hash(bytes, seed: UInt64(bitPattern: row))
    }

    private static func flags(of response: CachedResponse) -> Flags {
        var flags: Flags = []
        if response.isInvalidated { flags.insert(.invalidated) }
        if response.variant.isUnmatchable { flags.insert(.unmatchable) }
        if response.part != nil { flags.insert(.part) }
        if response.part?.completeLength != nil { flags.insert(.completeLength) }
        if response.appTTL != nil { flags.insert(.ttl) }
        if response.appMaxStale != nil { flags.insert(.maxStale) }
        return flags
    }

    private static func appendRest(of response: CachedResponse, to writer: inout ByteWriter) {
        writer.append(response.requestTime)
        writer.append(response.responseTime)
        writer.append(response.version.rawValue)
        if let part = response.part {
            writer.append(Int64(part.offset))
            if let length = part.completeLength { writer.append(Int64(length)) }
        }
        if let ttl = response.appTTL { writer.append(ttl) }
        if let maxStale = response.appMaxStale { writer.append(maxStale) }
        writer.append(UInt16(truncatingIfNeeded: response.variant.selectors.count))
        for selector in response.variant.selectors {
            writer.append(selector.value == nil ? UInt8(0) : 1)
            writer.append(selector.name)
            writer.append(selector.value ?? "")
        }
        writer.append(UInt16(truncatingIfNeeded: response.tags.count))
        for tag in response.tags { writer.append(tag) }
        writer.append(UInt16(truncatingIfNeeded: response.fields.count))
        for field in response.fields {
            writer.append(field.name.text)
            writer.append(field.value)
        }
    }

    // MARK: Reading

    /// What stands before the rest: enough to know whose row it is and where its body is.
    struct Front {
        let flags: Flags
        let status: Int
        let body: BodyPlace
        let key: UnsafeRawBufferPointer
        fileprivate var reader: ByteReader
    }

    /// Checks the checksum and reads the front.
    static func front(of head: UnsafeRawBufferPointer, row: Int64) throws(Malformed) -> Front {
        var reader = ByteReader(head)
        let sum: UInt64 = try reader.number()
        guard sum == checksum(UnsafeRawBufferPointer(rebasing: head.dropFirst(8)), row: row),
            try reader.number(UInt8.self) == format
        else { throw Malformed() }
        let flags = Flags(rawValue: try reader.number())
        let status = try reader.count(UInt16.self)
        var body = BodyPlace(version: try reader.number())
        body.number = try reader.number()
        body.checksum = try reader.number()
        body.length = try reader.count(Int64.self)
        body.chunkBytes = try reader.count(UInt32.self)
        guard body.length >= 0, body.chunkBytes > 0 || body.number == 0 else { throw Malformed() }
        let key = try reader.slice(reader.count(UInt32.self))
        return Front(flags: flags, status: status, body: body, key: key, reader: reader)
    }

    /// Reads the whole of it.
    ///
    /// - Parameter key: the key that the front was found to have; `nil` to read it.
    init(_ front: Front, key: CacheKey?) throws(Malformed) {
        var reader = front.reader
        let flags = front.flags
        let requestTime = try reader.date()
        let responseTime = try reader.date()
        let version = HTTPVersion(rawValue: try reader.text())
        let part = flags.contains(.part) ? try Self.part(&reader, flags, length: front.body.length) : nil
        let ttl = flags.contains(.ttl) ? try reader.duration() : nil
        let maxStale = flags.contains(.maxStale) ? try reader.duration() : nil
        let selectors = try Self.selectors(&reader)
        let tags = try Self.tags(&reader)
        let fields = try Self.fields(&reader)
        guard reader.isAtEnd else { throw Malformed() }
        let known: CacheKey
        if let key { known = key } else { known = try Self.key(from: front.key) }
        response = CachedResponse(
            key: known,
            variant: CacheVariant(selectors: selectors, isUnmatchable: flags.contains(.unmatchable)),
            status: front.status, fields: fields, version: version, requestTime: requestTime,
            responseTime: responseTime, bodyLength: front.body.length, part: part, tags: tags, appTTL: ttl,
            appMaxStale: maxStale, isInvalidated: flags.contains(.invalidated))
        body = front.body
    }

    /// A part lies within the whole: nobody who adds its offset and its length comes to a number that there is not.
    private static func part(
        _ reader: inout ByteReader, _ flags: Flags, length: Int
    ) throws(Malformed) -> CachedPart {
        let offset = try reader.count(Int64.self)
        let complete = flags.contains(.completeLength) ? try reader.count(Int64.self) : nil
        let (end, isTooLarge) = offset.addingReportingOverflow(length)
        guard offset >= 0, !isTooLarge, end <= complete ?? .max else { throw Malformed() }
        return CachedPart(offset: offset, completeLength: complete)
    }

    private static func selectors(_ reader: inout ByteReader) throws(Malformed) -> [CacheVariant.Selector] {
        var selectors: [CacheVariant.Selector] = []
        for _ in 0..<(try reader.number(UInt16.self)) {
            let hasValue = try reader.number(UInt8.self) == 1
            let name = try reader.text()
            let value = try reader.text()
            selectors.append(.init(name: name, value: hasValue ? value : nil))
        }
        return selectors
    }

    private static func tags(_ reader: inout ByteReader) throws(Malformed) -> [String] {
        var tags: [String] = []
        for _ in 0..<(try reader.number(UInt16.self)) { tags.append(try reader.text()) }
        return tags
    }

    private static func fields(_ reader: inout ByteReader) throws(Malformed) -> HTTPFields {
        var fields = HTTPFields()
        let count = try reader.count(UInt16.self)
        // A field takes eight bytes at least, so the count cannot ask for more than there is.
        fields.reserveCapacity(min(count, maximumBytes / 8))
        for _ in 0..<count {
            fields.add(HTTPField(name: HTTPFieldName(try reader.text()), value: try reader.text()))
        }
        return fields
    }
}

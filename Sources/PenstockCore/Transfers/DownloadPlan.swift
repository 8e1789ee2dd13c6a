import Foundation

/// What is known of a file that has come in part: kept beside it, and in the plan of the download.
struct PartialDownload: Codable, Hashable, Sendable {
    /// The version of the file that describes it. Another one is not read.
    static let version = 1

    var version = PartialDownload.version
    /// What the part is of, as ``DownloadPlace`` writes it.
    var key: String
    /// A strong one, as `If-Range` takes it: an entity tag, or a date (RFC 9110 §13.1.5).
    var validator: String
    /// The length of the whole; `nil` where the server has not said.
    var length: Int?
    /// The fields of the response that began it: those that ``DownloadPlan/keptFields`` names.
    var fields: [[String]]
    /// How many bytes are on the disk whatever happens to the machine.
    var synced = 0
    /// The start of the machine in which it was written. What came since is in the file unless the machine was started anew.
    var boot: String?

    var httpFields: HTTPFields {
        HTTPFields(fields.compactMap { $0.count == 2 ? HTTPField(name: HTTPFieldName($0[0]), value: $0[1]) : nil })
    }

    /// How much of a part can be gone on from; `nil` where it is not what this describes.
    ///
    /// - Parameters:
    ///   - size: how much is in the file.
    ///   - boot: the present start of the machine; `nil` where the system does not tell.
    func usable(_ size: Int, in boot: String?) -> Int? {
        guard version == Self.version, synced >= 0, size >= synced, length.map({ size <= $0 }) ?? true else {
            return nil
        }
        return boot != nil && boot == self.boot ? size : synced
    }
}

/// What is done about a download: what to ask for, what to make of an answer, and whether to go on after a failure. It knows no
/// file and no time.
///
/// | what comes | what is done |
/// |---|---|
/// | 200 to an unconditional request | written from the beginning |
/// | 200 to a request for the rest: the server ignores ranges, or has another version | the part is dropped, the answer written from the beginning |
/// | 206 for the rest, of the same version | the part is gone on with |
/// | 206 that begins elsewhere, has no `Content-Range`, another validator or another length | the part is dropped, all is asked for anew |
/// | 206 without a validator | gone on with where the digest of the whole is known and will be checked; else all is asked for anew (RFC 9110 §15.3.7.3) |
/// | 206 that was not asked for | an error |
/// | 204 or 205, which have no content | an error |
/// | 416 to a request for the rest, which names the length of the part | the part is the whole |
/// | any other 416 | the part is dropped, all is asked for anew |
/// | content in a coding | asked for anew with the codings that the transport removes; such a part is gone on with by nobody |
/// | the connection ends early, or the server is too slow | the rest is asked for, where the validator is strong; else all |
/// | 206 for some of the rest | the rest behind it is asked for |
///
/// A part that an earlier call has left and that is the whole may be of a version that is no more. Where the app has not named the
/// digest of the whole, its last byte is asked for once more, which tells.
struct DownloadPlan: Hashable, Sendable {
    /// What is asked for.
    enum Ask: Hashable, Sendable {
        /// All of it, without a coding.
        case whole
        /// All of it, in a coding that the transport removes.
        case coded
        case rest(from: Int, ifRange: String)
    }

    /// What is done next.
    enum Step: Hashable, Sendable {
        case ask(Ask, after: Duration)
        /// Everything is there.
        case finish
        case fail(APIError.Kind, String)
    }

    /// What is done with the content behind a head.
    enum Verdict: Hashable, Sendable {
        /// It is written from `offset` on, and holds nothing behind `end`.
        case write(from: Int, end: Int?)
        /// It is of no use; ``next()`` says what is.
        case drop
        /// What is there is everything.
        case finish
        case fail(APIError.Kind, String)
    }

    /// How often a part is dropped, because answers contradict one another, before the server is not believed any more.
    static let mostRestarts = 2
    /// What counts as headway, in bytes. An exchange that brought so much more than ever was there has not failed in vain: the next failure
    /// is the first one again. Less may be what is left in the buffers of a connection that is dead, and what begins anew brings what was
    /// there.
    static let headway = 64 << 10

    /// How many answers a file may come in, besides one for each KiB: what brings less at a time for long is no way to load it.
    static let mostAnswers = 1_024

    /// Fields of the response that a download keeps beside its part: what names it and what checks it.
    static let keptFields: [HTTPFieldName] = [
        .contentType, .contentDisposition, .eTag, .lastModified, "Repr-Digest", "Content-Language",
    ]

    private let retry: RetryPolicy
    /// How much of it is there.
    private(set) var offset: Int
    /// What `If-Range` names; `nil` where nobody can go on with what is there.
    private(set) var validator: String?
    private(set) var length: Int?
    private(set) var asksCoded = false
    private var isOnce = false
    /// Whether the app has named the digest of the whole, or the server has with what is there.
    private let isDigestGiven: Bool
    private var isDigestNamed: Bool
    private var restarts = 0
    private var failures = 0
    /// How many answers were in full, and brought some of the rest.
    private var answers = 0
    private var begunAt = 0
    /// Whether the exchange does not tell whether it has brought all, and from where on more was asked for because of that.
    private var mayBeCutOff = false
    private var askedOnAt: Int?
    private var end: Int?
    /// How far exchanges before this one have come, at most, and of which version that is.
    private var reached = 0
    private var reachedOf: String?
    /// How often what was there has been loaded anew, and whether the exchange does so.
    private var renewals = 0
    private var isRenewal = false

    /// - Parameters:
    ///   - kept: what an earlier exchange has brought; `nil` for nothing.
    ///   - isDigestGiven: whether the app has named the digest of the whole.
    ///   - method: of the request. Only a GET has ranges (RFC 9110 §14.2), and is sent again; another one is sent once.
    init(
        _ kept: (part: PartialDownload, offset: Int)?, _ method: HTTPMethod, retry: RetryPolicy,
        isDigestGiven: Bool = false
    ) {
        self.isDigestGiven = isDigestGiven
        isDigestNamed = kept.map { Self.digest($0.part.httpFields) != nil } ?? false
        self.retry = method == .get ? retry : .none
        guard method == .get else {
            (offset, asksCoded, isOnce) = (0, true, true)
            return
        }
        offset = kept?.offset ?? 0
        validator = kept?.part.validator
        reachedOf = validator
        length = kept?.part.length
        if !isDigestGiven, offset > 0, offset == length { offset -= 1 }
        (begunAt, reached) = (offset, offset)
    }

    /// What to do first, and after ``Verdict/drop``.
    func next() -> Step {
        if offset > 0, offset == length { return .finish }
        return .ask(ask, after: .zero)
    }

    private var ask: Ask {
        if asksCoded { return .coded }
        guard offset > 0, let validator else { return .whole }
        return .rest(from: offset, ifRange: validator)
    }

    // MARK: The head

    /// Judges the head of an answer.
    ///
    /// - Parameter mayBeCutOff: ``ConnectionInfo/mayBeCutOff``.
    mutating func judge(
        _ status: Int, _ fields: HTTPFields, to ask: Ask, at now: Date, mayBeCutOff: Bool = false
    ) -> Verdict {
        self.mayBeCutOff = mayBeCutOff
        return switch status {
        case 204, 205: .fail(.httpStatus(status), "the answer has no content, which is no empty file")
        case 206: partial(fields, to: ask)
        case 416: unsatisfiable(fields, to: ask)
        case 200..<300: whole(fields, to: ask, at: now)
        default: .fail(.httpStatus(status), "")
        }
    }

    private mutating func whole(_ fields: HTTPFields, to ask: Ask, at now: Date) -> Verdict {
        // Who sends all of the same version again says nothing of where it ends.
        if case .rest(askedOnAt, let tag) = ask, Self.strongValidator(fields, at: now) == tag { return .finish }
        let isCoded = ContentCoding.isCoded(fields)
        if isCoded, ask != .coded {
            (asksCoded, offset, validator, length) = (true, 0, nil, nil)
            return .drop
        }
        offset = 0
        isDigestNamed = Self.digest(fields) != nil
        validator = isCoded || isOnce ? nil : Self.strongValidator(fields, at: now)
        length = isCoded ? nil : Self.contentLength(fields)
        isRenewal = reached > 0
        if isRenewal { renewals += 1 }
        if validator != reachedOf { (reached, reachedOf) = (0, validator) }
        return write(until: length)
    }

    private mutating func partial(_ fields: HTTPFields, to ask: Ask) -> Verdict {
        guard case .rest(let from, let ifRange) = ask else {
            return .fail(.transport(.protocolViolation), "a part came where all was asked for")
        }
        guard let range = ContentRange(fields), !ContentCoding.isCoded(fields) else {
            return restart("a part came without saying which")
        }
        guard range.bytes.lowerBound == from else { return restart("another part came than was asked for") }
        guard Self.isSame(fields, as: ifRange),
            isDigestGiven || isDigestNamed || Self.namesVersion(fields, like: ifRange)
        else { return restart("a part of another version came, or of one that nobody names") }
        let whole = range.completeLength ?? length
        guard length == nil || whole == length, whole.map({ range.bytes.upperBound <= $0 }) ?? true else {
            return restart("a part of another length came")
        }
        length = whole
        isRenewal = false
        return write(until: range.bytes.upperBound)
    }

    private mutating func unsatisfiable(_ fields: HTTPFields, to ask: Ask) -> Verdict {
        guard case .rest(let from, let ifRange) = ask else { return .fail(.httpStatus(416), "") }
        let told = Self.unsatisfiedLength(fields)
        guard told == from || told == nil && askedOnAt == from, length == nil || length == from,
            Self.isSame(fields, as: ifRange)
        else {
            return restart("the server has no bytes where the file should go on")
        }
        length = from
        return .finish
    }

    private mutating func write(until end: Int?) -> Verdict {
        (begunAt, self.end) = (offset, end)
        return .write(from: offset, end: end)
    }

    private mutating func restart(_ reason: String) -> Verdict {
        guard restarts < Self.mostRestarts else { return .fail(.transport(.protocolViolation), reason) }
        restarts += 1
        (offset, validator, length) = (0, nil, nil)
        return .drop
    }

    // MARK: The content

    /// Counts bytes that were written.
    ///
    /// - Returns: `false` where the server sends more than it has said: none of them counts.
    mutating func take(_ count: Int) -> Bool {
        guard count <= (end ?? .max) - offset else { return false }
        offset += count
        return true
    }

    /// The content has ended as it should.
    ///
    /// - Parameter random: draws the wait.
    mutating func ended(using random: inout some RandomNumberGenerator) -> Step {
        // All of it ends where it ends; of a part without a length of the whole only the next answer tells.
        if let length {
            if offset == length { return .finish }
        } else if begunAt == 0, end == nil {
            return askOn()
        }
        // A server may send less than the rest, but it has to get on.
        guard offset == end, offset > begunAt, validator != nil else {
            return failed(.transport(.connectionLost), using: &random)
        }
        reached = max(reached, offset)
        answers += 1
        guard answers <= Self.mostAnswers + offset >> 10 else {
            return .fail(.transport(.protocolViolation), "the file comes in too many parts")
        }
        return .ask(ask, after: .zero)
    }

    /// Whether the file is there as it came, and it is only asked whether there is more.
    var isComplete: Bool { askedOnAt == offset }

    /// Where nobody knows whether all has come, the rest is asked for once: that there is none is the proof.
    private mutating func askOn() -> Step {
        guard mayBeCutOff, askedOnAt == nil, offset > 0, validator != nil else { return .finish }
        askedOnAt = offset
        reached = max(reached, offset)
        return .ask(ask, after: .zero)
    }

    /// The content has ended early.
    ///
    /// - Parameter random: draws the wait.
    mutating func failed(_ kind: APIError.Kind, using random: inout some RandomNumberGenerator) -> Step {
        switch kind {
        case .transport(.connectionLost), .timeout(.idle), .limitExceeded(.minimumThroughput): break
        default: return .fail(kind, "")
        }
        failures = hasGained() ? max(renewals, 1) : failures + 1
        if validator == nil { offset = 0 }
        guard failures <= retry.limit else { return .fail(kind, "") }
        return .ask(ask, after: retry.backoff.delay(before: failures, using: &random))
    }

    /// Whether the exchange has brought enough that never was there before and stays. It is over with that.
    private mutating func hasGained() -> Bool {
        defer { reached = max(reached, offset) }
        return validator != nil && !isRenewal && offset - reached >= Self.headway
    }
}

// MARK: What the fields say

extension DownloadPlan {
    /// The validator of a response by which parts may be joined: a strong entity tag, or a date that has been so for a minute
    /// before the response was made, so that nothing can have been written within the same second since (RFC 9110 §8.8.2.2).
    static func strongValidator(_ fields: HTTPFields, at now: Date) -> String? {
        if fields.contains(.eTag) { return EntityTag.of(fields).flatMap { $0.isWeak ? nil : $0.text } }
        guard let modified = HTTPDate.only(in: fields, .lastModified, at: now),
            let made = HTTPDate.only(in: fields, .date, at: now), made.timeIntervalSince(modified) >= 60
        else { return nil }
        return fields[.lastModified]
    }

    /// Whether the validators of an answer, as far as it has any, are the one that was asked for.
    static func isSame(_ fields: HTTPFields, as validator: String) -> Bool {
        guard let tag = EntityTag(validator) else {
            return fields.values(of: .lastModified).allSatisfy { $0 == validator }
        }
        return !fields.contains(.eTag) || EntityTag.of(fields)?.matchesStrongly(tag) == true
    }

    /// Whether an answer has a validator of the kind that was asked for.
    static func namesVersion(_ fields: HTTPFields, like validator: String) -> Bool {
        fields.contains(EntityTag(validator) == nil ? .lastModified : .eTag)
    }

    static func contentLength(_ fields: HTTPFields) -> Int? {
        let lines = fields.values(of: .contentLength)
        return lines.count == 1 ? lines.first.flatMap { ByteOffset.parse($0) } : nil
    }

    /// The length that a 416 names: `bytes */1234` (RFC 9110 §14.4).
    static func unsatisfiedLength(_ fields: HTTPFields) -> Int? {
        let lines = fields.values(of: .contentRange)
        guard lines.count == 1, let line = lines.first, line.lowercased().hasPrefix("bytes */") else { return nil }
        return ByteOffset.parse(line.dropFirst(8))
    }

    /// A digest of the whole, in hexadecimal digits.
    struct Digest: Hashable, Sendable {
        let algorithm: DigestAlgorithm
        let hex: String
    }

    /// The digest of the whole that the server names (`Repr-Digest`, RFC 9530 §3): its SHA-256, or its SHA-512 where there is no
    /// other; `nil` where it names none that can be read. It is of the content in its coding, so one of coded content says nothing
    /// of the file.
    static func digest(_ fields: HTTPFields) -> Digest? {
        guard !ContentCoding.isCoded(fields) else { return nil }
        // A field that is no Dictionary says nothing, whatever else stands in it (RFC 9651 §4.2).
        let members = try? StructuredField.dictionary(fields.values(of: "Repr-Digest").joined(separator: ", "))
        for algorithm in DigestAlgorithm.allCases {
            guard
                let value = members?.first(where: { $0.key == algorithm.rawValue })?.value.prefix(while: { $0 != ";" }),
                value.first == ":", value.last == ":",
                let bytes = Data(base64Encoded: String(value.dropFirst().dropLast())), bytes.count == algorithm.bytes
            else { continue }
            return Digest(algorithm: algorithm, hex: SHA256.text(of: bytes))
        }
        return nil
    }
}

/// Parts of representations: which can be stored, and how they are joined (RFC 9111 §3.3, §3.4; RFC 9110 §15.3.7).
enum PartialContent {
    /// Where the content of a 206 belongs; `nil` when that is not certain: several parts in one, more content than the range
    /// has room for, or content whose coding was removed, in which offsets mean nothing. Less content than the range says
    /// begins where the range does.
    static func bytes(of arrival: CacheArrival) -> ContentRange? {
        let type = arrival.fields[.contentType]?.lowercased() ?? ""
        guard !type.utf8.starts(with: "multipart/byteranges".utf8), !ContentCoding.isCoded(arrival.fields),
            let range = ContentRange(arrival.fields), (1...range.bytes.count).contains(arrival.bodyLength)
        else { return nil }
        return range.prefix(arrival.bodyLength)
    }

    /// Whether both have strong entity tags that differ.
    static func isKnownToDiffer(_ stored: CachedResponse, _ arrival: CacheArrival) -> Bool {
        guard let old = stored.terms.strongTag, let new = EntityTag.of(arrival.fields), !new.isWeak else {
            return false
        }
        return old != new
    }
}

extension CacheQuery {
    /// A stored part and the one that came as one response; `nil` unless both have the same strong entity tag, and touch.
    func joined(_ stored: CachedResponse, with arrival: CacheArrival) -> CacheInsertion? {
        guard let part = stored.part, let held = stored.held, let new = PartialContent.bytes(of: arrival),
            new == ContentRange(arrival.fields),
            let tag = EntityTag.of(arrival.fields), stored.terms.tag?.matchesStrongly(tag) ?? false,
            part.completeLength == nil || new.completeLength == nil || part.completeLength == new.completeLength
        else { return nil }
        guard held.lowerBound <= new.bytes.upperBound, new.bytes.lowerBound <= held.upperBound else { return nil }
        let union = min(held.lowerBound, new.bytes.lowerBound)..<max(held.upperBound, new.bytes.upperBound)
        return placed(
            union, new.completeLength ?? part.completeLength, StoredFields.merged(stored.fields, with: arrival),
            arrival, stored.variant
        ).with(Self.pieces(held, new.bytes))
    }

    /// What is held stays; the rest is taken from what came, before and after it.
    private static func pieces(_ held: Range<Int>, _ new: Range<Int>) -> [CacheInsertion.Piece] {
        var pieces: [CacheInsertion.Piece] = []
        if new.lowerBound < held.lowerBound { pieces.append(.received(0..<(held.lowerBound - new.lowerBound))) }
        pieces.append(.stored(0..<held.count))
        if new.upperBound > held.upperBound {
            pieces.append(.received((held.upperBound - new.lowerBound)..<new.count))
        }
        return pieces
    }
}

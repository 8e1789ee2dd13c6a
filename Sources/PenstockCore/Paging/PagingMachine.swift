/// Where a page is, as its service counts.
@nonexhaustive
public enum PagePosition: Hashable, Sendable {
    /// Wherever the service begins, before it has said anything.
    case start
    /// The number of a page, as the service numbers them.
    case number(Int)
    /// How many items stand before it.
    case offset(Int)
    /// What the service gave with the page before it, to be sent back as it is.
    case cursor(String)
    /// Where the `Link` field of the page before it leads.
    case link(HTTPURL)
}

extension PagePosition: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A cursor, in which a service may keep whatever it likes, by its length alone; a link as URLs print.
    public var description: String {
        switch self {
        case .start: "start"
        case .number(let number): "page \(number)"
        case .offset(let offset): "offset \(offset)"
        case .cursor(let cursor): "cursor of \(cursor.utf8.count) bytes"
        case .link(let url): "\(url)"
        }
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["position": description], displayStyle: .enum) }
}

/// How much of a service that never comes to an end is believed.
public struct PagingLimits: Hashable, Sendable {
    /// How many pages are loaded, until ``Pager/reset()``. 10,000 by default: at twenty rows each that is more than anybody
    /// scrolls through, and it is reached within minutes by a loop that a server leads in circles.
    public var pages: Int
    /// How many bytes a cursor or a link may have. 8,192 by default: what common servers take for a whole request line.
    public var positionLength: Int

    /// The defaults, but for what is given.
    public init(pages: Int = 10_000, positionLength: Int = 8_192) {
        self.pages = pages
        self.positionLength = positionLength
    }
}

/// Why there is no next page although the service says that there is one. It is what an ``APIError`` of
/// ``APIError/Kind/validation(rule:)`` has underneath, whose rule is `paging`.
@nonexhaustive
public enum PagingError: Error, Hashable, Sendable {
    /// The service names a page as the next one that was loaded before: it would lead in circles.
    case repeated(PagePosition)
    /// The service has answered with another page than was asked for.
    case unexpectedPage(asked: Int, answered: Int)
    /// The pages that were loaded are as many as the limits allow.
    case tooManyPages(limit: Int)
    /// A cursor or a link of so many bytes.
    case positionTooLong(bytes: Int)
    /// The `Link` field names a next page whose URL cannot be used.
    case unusableLink(String)
    /// The next page is at another origin, which must not see what the service's requests carry.
    case foreignOrigin(HTTPURL.Origin)
}

extension PagingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .repeated: "the service names a page as the next one that was loaded before"
        case .unexpectedPage(let asked, let answered): "page \(asked) was asked for, and page \(answered) came"
        case .tooManyPages(let limit): "there are more than \(limit) pages"
        case .positionTooLong(let bytes): "the next page's position has \(bytes) bytes"
        case .unusableLink(let reason): "the link to the next page cannot be used: \(reason)"
        case .foreignOrigin(let origin): "the next page is at another origin, \(origin)"
        }
    }
}

/// Which page is loaded next: a state machine without tasks. One page is loaded at a time; a failed load does not advance;
/// after a reset nothing that was asked for before it counts.
package struct PagingMachine: Sendable {
    /// One load. A later load of the same page is another one.
    package struct Load: Hashable, Sendable {
        package let number: Int
        package let position: PagePosition
    }

    package enum Decision: Hashable, Sendable {
        /// The caller loads it and then says what came of it.
        case begin(Load)
        /// It is being loaded.
        case join(Load)
        /// There are no more pages.
        case end
        /// There are, but they must not be loaded.
        case refuse(PagingError)
    }

    private enum State: Sendable {
        case idle(PagePosition)
        case loading(Load)
        case ended
        case refused(PagingError)
    }

    private let start: PagePosition
    private let limits: PagingLimits
    private var state: State
    private var lastLoad = 0
    /// The positions that were loaded, as digests: a cursor may be long and there may be many.
    private var seen: Set<String> = []
    /// How many pages were loaded since the beginning or the last reset.
    package private(set) var pageCount = 0

    package init(start: PagePosition, limits: PagingLimits = .init()) {
        self.start = start
        self.limits = limits
        state = .idle(start)
    }

    /// Whether a load may bring a page, or the reason why it cannot.
    package var hasMore: Bool {
        if case .ended = state { false } else { true }
    }

    /// Whether no page has come since the beginning or the last reset, and none is being loaded.
    package var hasNothing: Bool { pageCount == 0 && current == nil }

    package var current: Load? {
        if case .loading(let load) = state { load } else { nil }
    }

    /// Somebody wants the next page.
    package mutating func next() -> Decision {
        switch state {
        case .loading(let load): return .join(load)
        case .ended: return .end
        case .refused(let error): return .refuse(error)
        case .idle(let position):
            guard pageCount < limits.pages else {
                state = .refused(.tooManyPages(limit: limits.pages))
                return next()
            }
            lastLoad += 1
            let load = Load(number: lastLoad, position: position)
            state = .loading(load)
            return .begin(load)
        }
    }

    /// A page has come.
    ///
    /// - Parameters:
    ///   - url: where it came from, so that a link which leads back to the first page is known as well.
    ///   - following: where the one after it is; `nil` when it was the last.
    /// - Returns: whether it counts; `false` for a load that is not under way any more.
    package mutating func finish(_ load: Load, from url: HTTPURL? = nil, following: PagePosition?) -> Bool {
        guard load == current else { return false }
        pageCount += 1
        seen.insert(Self.digest(load.position))
        if let url { seen.insert(Self.digest(.link(url))) }
        state = following.map(state(at:)) ?? .ended
        return true
    }

    /// No page has come: the next attempt is for the same one.
    package mutating func fail(_ load: Load) {
        if load == current { state = .idle(load.position) }
    }

    /// Begins anew.
    ///
    /// - Returns: the load that was under way, whose page must not be shown any more.
    @discardableResult
    package mutating func reset() -> Load? {
        defer {
            state = .idle(start)
            seen = []
            pageCount = 0
        }
        return current
    }

    private func state(at position: PagePosition) -> State {
        let length = position.length
        if length > limits.positionLength { return .refused(.positionTooLong(bytes: length)) }
        if seen.contains(Self.digest(position)) { return .refused(.repeated(position)) }
        return .idle(position)
    }

    private static func digest(_ position: PagePosition) -> String {
        switch position {
        case .start: "start"
        case .number(let number): "number \(number)"
        case .offset(let offset): "offset \(offset)"
        case .cursor(let cursor): "cursor \(SHA256.hex(cursor.utf8))"
        case .link(let url): "link \(SHA256.hex(url.absoluteString.utf8))"
        }
    }
}

extension PagePosition {
    /// The length of what the server wrote, in bytes.
    fileprivate var length: Int {
        switch self {
        case .start, .number, .offset: 0
        case .cursor(let cursor): cursor.utf8.count
        case .link(let url): url.absoluteString.utf8.count
        }
    }
}

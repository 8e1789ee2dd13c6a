/// How a service counts its pages: what is asked for each, and where the one after it is.
///
/// ```swift
/// .numbered(isLast: \.products.isEmpty) { page in ProductList(page: page) }
/// .offset(size: 20, count: \.products.count) { offset in ProductList(offset: offset, limit: 20) }
/// .cursor(\.nextCursor) { cursor in ProductList(after: cursor) }
/// .link { ProductList() }                                             // Link: <…>; rel="next"
/// ```
public struct PageSource<API: Endpoint>: Sendable {
    let start: PagePosition
    let limits: PagingLimits
    let request: @Sendable (PagePosition) -> PageRequest<API>
    /// Where the page after the one that came is; `nil` when it was the last.
    let following: @Sendable (APIResponse<API.Output>, PagePosition) throws(PagingError) -> PagePosition?

    /// Pages that have numbers.
    ///
    /// - Parameters:
    ///   - first: the number of the first page; 1 by default.
    ///   - limits: how much is loaded at most.
    ///   - isLast: whether no page comes after this one: it is empty, or says so.
    ///   - answered: the number that the page itself names, where it does. A page that is not the one that was asked for is
    ///     refused with ``PagingError/unexpectedPage(asked:answered:)``, since rows would be repeated or skipped.
    ///   - endpoint: asks for the page of a number.
    public static func numbered(
        from first: Int = 1, limits: PagingLimits = .init(), isLast: @escaping @Sendable (API.Output) -> Bool,
        answered: @escaping @Sendable (API.Output) -> Int? = { _ in nil },
        endpoint: @escaping @Sendable (Int) -> API
    ) -> PageSource {
        PageSource(start: .number(first), limits: limits) { position in
            .init(endpoint: endpoint(position.count))
        } following: { response, position throws(PagingError) in
            try check(answered(response.value), asked: position.count)
            let (next, isTooLarge) = position.count.addingReportingOverflow(1)
            return isLast(response.value) || isTooLarge ? nil : .number(next)
        }
    }

    /// Pages that begin at a row, counted from 0. The next one begins after the rows that came, so that a short page
    /// skips nothing. An empty page is the last.
    ///
    /// - Parameters:
    ///   - size: how many rows are asked for. A page with fewer is the last one, unless `total` is known. `nil`, as by default,
    ///     asks until an empty page comes: for servers that give fewer rows than they are asked for.
    ///   - limits: how much is loaded at most.
    ///   - count: how many rows came.
    ///   - total: how many rows there are, where the page tells.
    ///   - answered: the offset that the page itself names, where it does. A page that is not the one that was asked for is
    ///     refused with ``PagingError/unexpectedPage(asked:answered:)``.
    ///   - endpoint: asks for the page at an offset.
    public static func offset(
        size: Int? = nil, limits: PagingLimits = .init(), count: @escaping @Sendable (API.Output) -> Int,
        total: @escaping @Sendable (API.Output) -> Int? = { _ in nil },
        answered: @escaping @Sendable (API.Output) -> Int? = { _ in nil },
        endpoint: @escaping @Sendable (Int) -> API
    ) -> PageSource {
        PageSource(start: .offset(0), limits: limits) { position in
            .init(endpoint: endpoint(position.count))
        } following: { response, position throws(PagingError) in
            try check(answered(response.value), asked: position.count)
            let next = OffsetRule.next(
                after: position.count, count: count(response.value), total: total(response.value), size: size)
            return next.map { .offset($0) }
        }
    }

    /// Pages that name the next one by a cursor, whatever it means to the service.
    ///
    /// - Parameters:
    ///   - limits: how much is loaded at most, and how long a cursor may be.
    ///   - next: the cursor of the page after this one; `nil` or an empty text when it is the last.
    ///   - endpoint: asks for the page of a cursor; `nil` for the first.
    public static func cursor(
        _ next: @escaping @Sendable (API.Output) -> String?, limits: PagingLimits = .init(),
        endpoint: @escaping @Sendable (String?) -> API
    ) -> PageSource {
        PageSource(start: .start, limits: limits) { position in
            if case .cursor(let cursor) = position {
                .init(endpoint: endpoint(cursor))
            } else {
                .init(endpoint: endpoint(nil))
            }
        } following: { response, _ throws(PagingError) in
            guard let cursor = next(response.value), !cursor.isEmpty else { return nil }
            return .cursor(cursor)
        }
    }

    /// Pages that name the next one by a URL in their `Link` field (RFC 8288).
    ///
    /// The link is asked for with GET, as a call of the same API, and with everything that requests of the service carry: headers,
    /// common parameters, credentials, cookies. Therefore it is followed within the service's own origin alone, and refused with
    /// ``PagingError/foreignOrigin(_:)`` elsewhere. Common parameters that the link repeats are those of the moment, not
    /// the link's.
    ///
    /// - Parameters:
    ///   - relation: `next` by default.
    ///   - limits: how much is loaded at most, and how long a link may be.
    ///   - endpoint: asks for the first page.
    public static func link(
        relation: String = "next", limits: PagingLimits = .init(), endpoint: @escaping @Sendable () -> API
    ) -> PageSource {
        PageSource(start: .start, limits: limits) { position in
            if case .link(let url) = position {
                .init(endpoint: endpoint(), link: url)
            } else {
                .init(endpoint: endpoint())
            }
        } following: { response, _ throws(PagingError) in
            let links = WebLink.links(in: response.http.fields.values(of: "Link"))
            guard let link = links.first(where: { $0.leads(relation, from: response.request.url) }) else { return nil }
            do throws(HTTPURL.ParseError) {
                return .link(try response.request.url.resolving(link.target))
            } catch {
                throw .unusableLink("\(error)")
            }
        }
    }

    private static func check(_ answered: Int?, asked: Int) throws(PagingError) {
        if let answered, answered != asked { throw .unexpectedPage(asked: asked, answered: answered) }
    }
}

/// Where the next page begins when pages are counted in rows.
package enum OffsetRule {
    /// - Returns: `nil` when no page follows.
    package static func next(after offset: Int, count: Int, total: Int?, size: Int?) -> Int? {
        guard count > 0 else { return nil }
        let (next, isTooLarge) = offset.addingReportingOverflow(count)
        guard !isTooLarge else { return nil }
        if let total { return next < total ? next : nil }
        if let size, count < size { return nil }
        return next
    }
}

extension PagePosition {
    /// The number of a page, or its offset.
    fileprivate var count: Int {
        switch self {
        case .number(let count), .offset(let count): count
        case .start, .cursor, .link: 0
        }
    }
}

/// What is sent for one page: the endpoint, to a link where the page is known by one.
struct PageRequest<API: Endpoint>: Sendable {
    let endpoint: API
    var link: HTTPURL?

    /// The options of the call, with the link.
    func options(over options: CallOptions) -> CallOptions {
        guard let link else { return options }
        return options.onPage(link) { APIError(PagingError.foreignOrigin($0), stage: .prepare) }
    }
}

extension APIError {
    /// The error of a page that must not be loaded.
    init(_ error: PagingError, stage: StageName = .validation) {
        self.init(.validation(rule: "paging"), stage: stage, debugMessage: "\(error)", underlying: error)
    }
}

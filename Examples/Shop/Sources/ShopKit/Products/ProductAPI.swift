import Penstock

/// What the shop sells.
public struct ProductAPI: Sendable {
    private let client: APIClient
    private let outbox: Outbox

    /// - Parameter outbox: delivers likes, however fast they are tapped.
    public init(client: APIClient, outbox: Outbox) {
        self.client = client
        self.outbox = outbox
    }

    /// - Parameter page: counted from 1.
    public func products(page: Int) async throws(APIError) -> Catalogue {
        try await client.send(ProductList(page: page))
    }

    public func product(_ id: Product.ID) async throws(APIError) -> Product {
        try await client.send(ProductDetail(id: id))
    }

    /// The heart beside a product.
    ///
    /// - Parameter isLiked: what the shop said last.
    public func like(of product: Product.ID, isLiked: Bool) async throws(OutboxError) -> OutboxToggle<SetLike> {
        try await OutboxToggle("like/\(product)", initially: isLiked, in: outbox) {
            SetLike(id: product, isLiked: $0)
        }
    }

    /// Whether the user likes a product, as the shop has it, and how often it was told.
    public func likes(of product: Product.ID) async throws(APIError) -> Likes {
        try await client.send(ProductLikes(id: product))
    }

    /// A product by the short number that old newsletters print.
    public func product(inNewsletter number: Int) async throws(APIError) -> Product {
        try await client.send(NewsletterLink(number: number))
    }

    /// Everything the shop sells, one after the other as it comes.
    public func priceList() async throws(APIError) -> StreamedLines<Product> {
        try await client.lines(of: PriceList())
    }
}

// MARK: Many at a time

extension ProductAPI {
    /// Everything the shop sells, page after page; a page is loaded when the products before it are used up.
    public var everything: PagedItems<some Endpoint, Product> {
        client.items(\.products, of: .numbered(isLast: \.products.isEmpty) { ProductList(page: $0) })
    }

    /// The first page, and a product that is shown beside it, both at once.
    public func front(with id: Product.ID) async throws(BatchError) -> (Catalogue, Product) {
        try await client.batch(ProductList(page: 1), ProductDetail(id: id))
    }

    /// Products in the order of their numbers as given.
    public func products(_ ids: [Product.ID]) async throws(BatchError) -> [Product] {
        try await client.batch(ids.map(ProductDetail.init))
    }

    /// The first product of the first page, with all that is known of it.
    public func firstInDetail() async throws -> Product {
        var graph = CallGraph()
        let page = try graph.add(ProductList(page: 1))
        let detail = try graph.add(after: page) { page in
            guard let first = page.products.first else { throw EmptyShop() }
            return ProductDetail(id: first.id)
        }
        return try await client.run(graph)[detail].get()
    }
}

// MARK: The same for code that works with closures and delegates

extension ProductAPI {
    /// Tells a closure on the main actor, once; never when the scope is gone.
    @discardableResult
    public func products(
        page: Int, in scope: CallScope? = nil,
        completion: @escaping @MainActor (Result<Catalogue, APIError>) -> Void
    ) -> Call<Catalogue> {
        client.start(ProductList(page: page), in: scope, completion: completion)
    }

    /// Tells a delegate on the main actor, once; never when the delegate or the scope is gone.
    @discardableResult
    public func products(
        page: Int, in scope: CallScope? = nil, delegate: some CallDelegate<Catalogue>
    ) -> Call<Catalogue> {
        client.start(ProductList(page: page), delegate: delegate, in: scope)
    }

    @discardableResult
    public func reviews(
        of id: Product.ID, in scope: CallScope? = nil,
        completion: @escaping @MainActor (Result<[Review], APIError>) -> Void
    ) -> Call<[Review]> {
        client.start(ReviewList(id: id), in: scope, completion: completion)
    }
}

/// The shop has nothing to sell.
struct EmptyShop: Error {}

struct ProductList: Endpoint, Encodable {
    typealias Output = Catalogue
    let page: Int
    var route: Route { .get("/products") }
    var validator: Validator<Catalogue> {
        .rule("a price is never negative") { $0.products.allSatisfy { $0.price >= 0 } }
    }

    static let parameterRules: ParameterRules<Self> = [.range("page", \.page, 1...1_000)]
}

struct ProductDetail: Endpoint {
    typealias Output = Product
    let id: Product.ID
    var route: Route { .get("/products/\(id)") }
}

/// Says whether the user likes a product. Of several only the last is sent.
public struct SetLike: OutboxEndpoint {
    public typealias Output = Void
    let id: Product.ID
    let isLiked: Bool
    public var route: Route { .put("/products/\(id)/like") }
    public var lane: OutboxLane { "like/\(id)" }
    public var fold: OutboxFold? { "like/\(id)" }
}

/// What the shop knows of a product's heart.
public struct Likes: Decodable, Hashable, Sendable {
    public let isLiked: Bool
    public let writes: Int
}

struct ProductLikes: Endpoint {
    typealias Output = Likes
    let id: Product.ID
    var route: Route { .get("/products/\(id)/like") }
    var options: CallOptions { .cache(.reload) }
}

struct ReviewList: Endpoint {
    typealias Output = [Review]
    let id: Product.ID
    var route: Route { .get("/products/\(id)/reviews") }
}

struct PriceList: Endpoint {
    typealias Output = Product
    var route: Route { .get("/price-list") }
}

struct NewsletterLink: Endpoint {
    typealias Output = Product
    let number: Int
    var route: Route { .get("/p/\(number)") }
}

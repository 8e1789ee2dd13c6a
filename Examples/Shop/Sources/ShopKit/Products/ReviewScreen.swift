import Penstock

/// A screen that owns its calls: when it goes they end, and nothing of them arrives.
@MainActor
public final class ReviewScreen {
    private let products: ProductAPI
    private let calls = CallScope()
    private let show: @MainActor (Result<[Review], APIError>) -> Void

    /// - Parameter show: called once for each product.
    public init(_ products: ProductAPI, show: @escaping @MainActor (Result<[Review], APIError>) -> Void) {
        self.products = products
        self.show = show
    }

    @discardableResult
    public func load(_ ids: [Product.ID]) -> [Call<[Review]>] {
        ids.map { id in
            products.reviews(of: id, in: calls, completion: show)
        }
    }
}

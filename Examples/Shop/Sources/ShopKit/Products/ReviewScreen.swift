import Penstock

/// A screen that owns its calls: when it goes they end, and nothing of them arrives.
@MainActor
public final class ReviewScreen {
    private let products: ProductAPI
    private let calls = CallScope()
    private let show: ([Review]) -> Void

    /// - Parameter show: called with the reviews of each product as they come; with none for a product that has none to show.
    public init(_ products: ProductAPI, show: @escaping ([Review]) -> Void) {
        self.products = products
        self.show = show
    }

    @discardableResult
    public func load(_ ids: [Product.ID]) -> [Call<[Review]>] {
        ids.map { id in
            products.reviews(of: id, in: calls) { [show] result in show((try? result.get()) ?? []) }
        }
    }
}

import Penstock

/// A screen in the delegate style: it asks for products and is told when they are there.
@MainActor
public final class CatalogueScreen: CallDelegate {
    public private(set) var names: [String] = []
    public private(set) var complaint: String?
    private let products: ProductAPI
    private let calls = CallScope()

    public init(_ products: ProductAPI) {
        self.products = products
    }

    @discardableResult
    public func show(page: Int) -> Call<Catalogue> {
        products.products(page: page, in: calls, delegate: self)
    }

    public func call(_ id: CallID, didFinishWith result: Result<Catalogue, APIError>) {
        switch result {
        case .success(let catalogue): names = catalogue.products.map(\.name)
        case .failure(let error): complaint = error.localizedDescription
        }
    }
}

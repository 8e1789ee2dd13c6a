import Penstock

/// Something the shop sells.
public struct Product: Decodable, Hashable, Sendable, Identifiable {
    public let id: Int
    public let name: String
    /// In cents.
    public let price: Int
    @Default<Zero> public var stock: Int
    @Default<Empty> public var tags: [String]
}

/// One page of what the shop sells.
public struct Catalogue: Decodable, Hashable, Sendable {
    public let title: String
    public let products: [Product]
}

/// What a customer thinks of a product.
public struct Review: Decodable, Hashable, Sendable {
    @Default<Anonymous> public var author: String
    public let text: String
}

import PenstockCore

extension Catalogue.V2 {
    struct Order: Endpoint, Encodable {
        typealias Output = Product
        let id: Int
        let coupon: String
        var route: Route { .put("/v2/orders/\(id)") }
    }
}

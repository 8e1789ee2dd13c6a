import PenstockCore

extension Catalogue.V1 {
    struct Products: Endpoint {
        typealias Output = Product
        var route: Route { .get("/v1/products") }
    }

    /// Named like its successor.
    struct Order: Endpoint, Encodable {
        typealias Output = Product
        let id: Int
        var route: Route { .post("/v1/order") }
    }
}

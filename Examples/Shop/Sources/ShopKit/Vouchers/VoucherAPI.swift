import Penstock

/// Vouchers, which the shop gives to its own app alone. Nothing here knows of signatures.
public struct VoucherAPI: Sendable {
    private let client: APIClient

    public init(client: APIClient) {
        self.client = client
    }

    /// What a voucher takes off the price, in per cent.
    public func discount(of code: String) async throws(APIError) -> Int {
        try await client.send(GetVoucher(code: code))
    }
}

struct GetVoucher: Endpoint {
    typealias Output = Int
    let code: String
    var service: ServiceID { .vouchers }
    var route: Route { .get("/vouchers/\(code, name: "code")") }
    var decoding: ResponseDecoding<Int> { .json }
}

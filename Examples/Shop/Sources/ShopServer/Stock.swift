/// What a server begins with: its goods and its customers.
public struct Stock: Sendable {
    struct Item: Encodable, Sendable {
        let id: Int
        let name: String
        let price: Int
        /// Left out of the reply when it is not known.
        var stock: Int?
        var tags: [String]?
    }

    struct Customer: Sendable {
        let id: String
        let account: String
        var password: String
        var name: String
        var email = ""
    }

    let title: String
    let items: [Item]
    let customers: [Customer]

    public static let development = Stock(
        title: "Development tea room",
        items: [
            Item(id: 1, name: "Teapot", price: 24_90, stock: 12, tags: ["china", "new"]),
            Item(id: 2, name: "Cup", price: 6_50, stock: 40),
            Item(id: 3, name: "Oolong", price: 11_00, stock: 7, tags: ["tea"]),
            Item(id: 4, name: "Gift card", price: 20_00),
        ],
        customers: [Customer(id: "u-17", account: "alice", password: "open sesame", name: "Alice")])

    public static let test = Stock(
        title: "Test coffee bar",
        items: [
            Item(id: 1, name: "Espresso machine", price: 349_00, stock: 2),
            Item(id: 2, name: "Grinder", price: 89_00, stock: 5, tags: ["steel"]),
        ],
        customers: [Customer(id: "t-1", account: "tester", password: "open sesame", name: "Tess")])
}

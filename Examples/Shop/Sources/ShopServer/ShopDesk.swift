import Foundation
import PenstockTesting
import Synchronization

/// Answers the shop's requests, and remembers who is logged in and what is left.
final class ShopDesk: Sendable {
    typealias Request = LoopbackServer.Request
    typealias Response = LoopbackServer.Response

    private struct State {
        /// By account.
        var customers: [String: Stock.Customer] = [:]
        /// Accounts by token.
        var logins: [String: String] = [:]
        var orders: [Receipt] = []
        /// By the number of the item.
        var left: [Int: Int] = [:]
        /// What was answered to each order that had a key.
        var answers: [String: Response] = [:]
        /// By the number of the item: who likes it, and how often that was written.
        var likes: [Int: (isLiked: Bool, writes: Int)] = [:]
    }

    let member = MemberDesk()
    let till: TillDesk
    private let vouchers: VoucherDesk
    private let stock: Stock
    private let state: Mutex<State>

    init(_ stock: Stock, keys: ServerKeys) {
        self.stock = stock
        till = TillDesk(keys)
        vouchers = VoucherDesk(secret: keys.vouchers)
        let counted = stock.items.compactMap { item in item.stock.map { (item.id, $0) } }
        let customers = Dictionary(stock.customers.map { ($0.account, $0) }) { first, _ in first }
        state = Mutex(State(customers: customers, left: Dictionary(counted) { first, _ in first }))
    }

    func answer(_ request: Request) -> Response {
        let parts = request.path.split(separator: "/").map(String.init)
        switch (request.method, parts.count, parts.first) {
        case (.get, 1, "price-list"): return priceList()
        case (.get, 3, "orders") where parts[2] == "events": return steps(after: request.fields["Last-Event-ID"])
        case (.get, 1, "products"): return catalogue(page: request.parameter("page"))
        case (.get, 2, "products"): return detail(parts[1])
        case (.get, 3, "products") where parts[2] == "like": return likes(Int(parts[1]))
        case (.get, 3, "products"): return .success([String]()).delayed(by: .seconds(30))
        case (.get, 2, "p"): return .init(status: 301, fields: ["Location": "/products/\(parts[1])"])
        case (.post, 1, "user"): return register(request)
        case (.post, 2, "user"): return parts[1] == "login" ? login(request) : logout(request)
        case (.put, 2, "user") where parts[1] == "password": return changePassword(request)
        case (.get, 2, "user") where parts[1] == "profile": return profile(request) { _ in }
        case (.patch, 2, "user") where parts[1] == "profile": return editProfile(request)
        case (.get, 1, "orders"): return orders(of: request)
        case (.post, 1, "taps"): return .json(#"{"retcode":0,"retdesc":""}"#)
        case (.post, 1, "members"): return member.join(customer(of: request))
        case (.get, 2, "members"): return member.page(parts[1], request)
        case (.post, 1, "token"): return member.renew(request)
        case (.get, 2, "vouchers"): return vouchers.voucher(parts[1], request)
        case (.post, 1, "payments"): return till.pay(request)
        case (.get, 1, "chat"): return .webSocket(request) { $0.echo() }
        case (.post, 1, "orders"): return orderOnce(request)
        case (.put, 3, "products") where parts[2] == "like": return like(request, Int(parts[1]))
        default: return .text("There is nothing here.", status: 404)
        }
    }

    // MARK: Goods

    private func catalogue(page: String?) -> Response {
        struct Page: Encodable {
            let title: String
            let products: [Stock.Item]
        }
        return .success(Page(title: stock.title, products: page == "1" ? stock.items.map(current) : []))
    }

    private func detail(_ id: String) -> Response {
        guard let item = item(Int(id)) else { return .failure(2002, "no such product") }
        return .success(item)
    }

    /// One product on each line.
    private func priceList() -> Response {
        let lines = stock.items.map(current).compactMap { try? JSONEncoder().encode($0) }
        return .chunks(lines.map { $0 + Data("\n".utf8) }, fields: ["Content-Type": "application/x-ndjson"])
    }

    private func item(_ id: Int?) -> Stock.Item? {
        stock.items.first { $0.id == id }.map(current)
    }

    /// The item with what is left of it.
    private func current(_ item: Stock.Item) -> Stock.Item {
        var item = item
        item.stock = state.withLock { $0.left[item.id] }
        return item
    }

    // MARK: Likes

    private func like(_ request: Request, _ id: Int?) -> Response {
        struct Form: Decodable {
            let isLiked: Bool
        }
        guard let id, item(id) != nil else { return .failure(2002, "no such product") }
        guard let form = request.form(Form.self) else { return .malformed }
        state.withLock { $0.likes[id] = (form.isLiked, ($0.likes[id]?.writes ?? 0) + 1) }
        return .json(#"{"retcode":0,"retdesc":""}"#)
    }

    private func likes(_ id: Int?) -> Response {
        struct Likes: Encodable {
            let isLiked: Bool
            let writes: Int
        }
        guard let id, item(id) != nil else { return .failure(2002, "no such product") }
        let known = state.withLock { $0.likes[id] }
        return .success(Likes(isLiked: known?.isLiked ?? false, writes: known?.writes ?? 0))
    }

    // MARK: Logins

    private struct Form: Decodable {
        let account: String
        let password: String
        var name: String?
    }

    private func login(_ request: Request) -> Response {
        guard let form = request.form(Form.self) else { return .malformed }
        let customer = state.withLock { $0.customers[form.account] }
        guard let customer, customer.password == form.password else {
            return .failure(1001, "wrong account or password")
        }
        return welcome(customer)
    }

    private func register(_ request: Request) -> Response {
        guard let form = request.form(Form.self) else { return .malformed }
        let customer = state.withLock { state -> Stock.Customer? in
            guard state.customers[form.account] == nil else { return nil }
            let new = Stock.Customer(
                id: "n-\(state.customers.count + 1)", account: form.account, password: form.password,
                name: form.name ?? form.account)
            state.customers[form.account] = new
            return new
        }
        return customer.map(welcome) ?? .failure(1003, "the account is taken")
    }

    private func welcome(_ customer: Stock.Customer) -> Response {
        struct Welcome: Encodable {
            let id: String
            let token: String
            let name: String
        }
        let token = UUID().uuidString
        state.withLock { $0.logins[token] = customer.account }
        return .success(Welcome(id: customer.id, token: token, name: customer.name))
    }

    /// Answers without any data.
    private func logout(_ request: Request) -> Response {
        if let token = credentials(of: request)?.loginToken {
            state.withLock { _ = $0.logins.removeValue(forKey: token) }
        }
        return .done
    }

    private func changePassword(_ request: Request) -> Response {
        struct Passwords: Decodable {
            let old: String
            let new: String
        }
        guard let customer = customer(of: request) else { return .notLoggedIn }
        guard let form = request.form(Passwords.self) else { return .malformed }
        guard customer.password == form.old else { return .failure(1004, "the old password is another one") }
        state.withLock { $0.customers[customer.account]?.password = form.new }
        return .done
    }

    private func editProfile(_ request: Request) -> Response {
        struct Changes: Decodable {
            let name: String?
            let email: String?
        }
        guard let changes = request.form(Changes.self) else { return .malformed }
        return profile(request) { customer in
            customer.name = changes.name ?? customer.name
            customer.email = changes.email ?? customer.email
        }
    }

    private func profile(_ request: Request, after change: (inout Stock.Customer) -> Void) -> Response {
        struct Profile: Encodable {
            let account: String
            let name: String
            let email: String
        }
        guard var customer = customer(of: request) else { return .notLoggedIn }
        change(&customer)
        state.withLock { [customer] in $0.customers[customer.account] = customer }
        return .success(Profile(account: customer.account, name: customer.name, email: customer.email))
    }

    /// What the app's common parameters bring.
    private struct Credentials: Decodable {
        let loginId: String
        let loginToken: String
    }

    /// In the content, or in the query of a request that has none.
    private func credentials(of request: Request) -> Credentials? {
        if let form = request.form(Credentials.self) { return form }
        guard let id = request.parameter("loginId"), let token = request.parameter("loginToken") else { return nil }
        return Credentials(loginId: id, loginToken: token)
    }

    private func customer(of request: Request) -> Stock.Customer? {
        guard let claim = credentials(of: request),
            let customer = state.withLock({ state in state.logins[claim.loginToken].flatMap { state.customers[$0] } }),
            customer.id == claim.loginId
        else { return nil }
        return customer
    }

    // MARK: Orders

    /// An order that comes with a key is booked once, however often it comes.
    private func orderOnce(_ request: Request) -> Response {
        guard let key = request.fields["Idempotency-Key"] else { return order(request) }
        if let known = state.withLock({ $0.answers[key] }) { return known }
        let answer = order(request)
        state.withLock { $0.answers[key] = answer }
        return answer
    }

    private func order(_ request: Request) -> Response {
        struct Form: Decodable {
            let productId: Int
            let quantity: Int
        }
        guard let customer = customer(of: request) else { return .notLoggedIn }
        guard let form = request.form(Form.self), form.quantity > 0 else { return .malformed }
        guard let item = item(form.productId) else { return .failure(2002, "no such product") }
        let receipt = take(form.quantity, of: item) { number in
            Receipt(
                id: number, product: item, quantity: form.quantity, total: item.price * form.quantity,
                account: customer.account, reference: request.fields["X-Order-Reference"])
        }
        guard var receipt else { return .failure(2001, "sold out") }
        receipt.product = current(item)
        return .success(receipt)
    }

    private func orders(of request: Request) -> Response {
        guard let customer = customer(of: request) else { return .notLoggedIn }
        return .success(state.withLock { $0.orders.filter { $0.account == customer.account } })
    }

    /// What happens to an order, as events: two before the connection breaks, the others after the client has come back.
    private func steps(after last: String?) -> Response {
        let steps = ["packed", "handed to the courier", "delivered"]
        let done = last.flatMap { Int($0) } ?? 0
        guard done < steps.count else { return .init(status: 204) }
        let next = steps.enumerated().dropFirst(done).prefix(2).map { number, step in
            Data("id: \(number + 1)\nevent: step\ndata: {\"step\":\"\(step)\"}\n\n".utf8)
        }
        return .chunks([Data("retry: 100\n\n".utf8)] + next, fields: ["Content-Type": "text/event-stream"])
    }

    /// - Returns: what `make` makes of the order's number, or `nil` when there is not enough left.
    private func take(_ quantity: Int, of item: Stock.Item, _ make: (Int) -> Receipt) -> Receipt? {
        state.withLock { state in
            guard let left = state.left[item.id], left >= quantity else { return nil }
            state.left[item.id] = left - quantity
            let receipt = make(state.orders.count + 1)
            state.orders.append(receipt)
            return receipt
        }
    }
}

/// An order as the server tells of it.
struct Receipt: Encodable, Sendable {
    let id: Int
    var product: Stock.Item
    let quantity: Int
    let total: Int
    let account: String
    let reference: String?
}

import Foundation
import PenstockTesting
import Synchronization

/// Answers the shop's requests, and remembers who is logged in and what is left.
final class ShopDesk: Sendable {
    typealias Request = LoopbackServer.Request
    typealias Response = LoopbackServer.Response

    private struct State {
        /// By token.
        var customers: [String: Stock.Customer] = [:]
        /// By the number of the item.
        var left: [Int: Int] = [:]
        var lastOrder = 0
        /// What was answered to each order that had a key.
        var answers: [String: Response] = [:]
        /// By the number of the item: who likes it, and how often that was written.
        var likes: [Int: (isLiked: Bool, writes: Int)] = [:]
    }

    let member = MemberDesk()
    private let stock: Stock
    private let state: Mutex<State>

    init(_ stock: Stock) {
        self.stock = stock
        let counted = stock.items.compactMap { item in item.stock.map { (item.id, $0) } }
        state = Mutex(State(left: Dictionary(counted) { first, _ in first }))
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
        case (.post, 2, "user"): return parts[1] == "login" ? login(request) : logout(request)
        case (.post, 1, "taps"): return .json(#"{"retcode":0,"retdesc":""}"#)
        case (.post, 1, "members"): return member.join(customer(of: request))
        case (.get, 2, "members"): return member.page(parts[1], request)
        case (.post, 1, "token"): return member.renew(request)
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

    private func login(_ request: Request) -> Response {
        struct Form: Decodable {
            let account: String
            let password: String
        }
        struct Welcome: Encodable {
            let id: String
            let token: String
            let name: String
        }
        guard let form = request.form(Form.self) else { return .malformed }
        guard
            let customer = stock.customers.first(where: { $0.account == form.account && $0.password == form.password })
        else { return .failure(1001, "wrong account or password") }
        let token = UUID().uuidString
        state.withLock { $0.customers[token] = customer }
        return .success(Welcome(id: customer.id, token: token, name: customer.name))
    }

    /// Answers without any data.
    private func logout(_ request: Request) -> Response {
        if let token = request.form(Credentials.self)?.loginToken {
            state.withLock { _ = $0.customers.removeValue(forKey: token) }
        }
        return .json(#"{"retcode":0,"retdesc":""}"#)
    }

    /// What the app's common parameters bring.
    private struct Credentials: Decodable {
        let loginId: String
        let loginToken: String
    }

    private func customer(of request: Request) -> Stock.Customer? {
        guard let claim = request.form(Credentials.self),
            let customer = state.withLock({ $0.customers[claim.loginToken] }), customer.id == claim.loginId
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
        struct Receipt: Encodable {
            let id: Int
            let product: Stock.Item
            let quantity: Int
            let total: Int
            let account: String
            let reference: String?
        }
        guard let customer = customer(of: request) else { return .failure(1002, "not logged in") }
        guard let form = request.form(Form.self), form.quantity > 0 else { return .malformed }
        guard let item = item(form.productId) else { return .failure(2002, "no such product") }
        guard let number = take(form.quantity, of: item) else { return .failure(2001, "sold out") }
        return .success(
            Receipt(
                id: number, product: current(item), quantity: form.quantity, total: item.price * form.quantity,
                account: customer.account, reference: request.fields["X-Order-Reference"]))
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

    /// - Returns: the number of the order, or `nil` when there is not enough left.
    private func take(_ quantity: Int, of item: Stock.Item) -> Int? {
        state.withLock { state in
            guard let left = state.left[item.id], left >= quantity else { return nil }
            state.left[item.id] = left - quantity
            state.lastOrder += 1
            return state.lastOrder
        }
    }
}

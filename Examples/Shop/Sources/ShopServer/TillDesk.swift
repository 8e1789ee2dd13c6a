import Foundation
import PenstockSecurity
import PenstockTesting
import Synchronization

/// Takes payments that are sealed for the till, and seals what it answers for the app.
public final class TillDesk: Sendable {
    typealias Request = LoopbackServer.Request
    typealias Response = LoopbackServer.Response

    private struct Form: Decodable {
        let cents: Int
        let card: String
    }

    private struct Payment: Encodable {
        let id: Int
        let cents: Int
        let card: String
    }

    private let own: SealingKey
    private let app: SealingKey
    private let answers = Mutex<[String]>([])

    init(_ keys: ServerKeys) {
        own = keys.till
        app = keys.app
    }

    /// The contents of what it has answered, as they went over the wire.
    public var answered: [String] { answers.withLock { $0 } }

    func pay(_ request: Request) -> Response {
        guard request.fields[.contentType] == "application/jose",
            let message = try? JWE.open(request.text, with: [own]),
            let form = try? JSONDecoder().decode(Form.self, from: message.content)
        else { return .malformed }
        let payment = Payment(
            id: answered.count + 1, cents: form.cents, card: String(form.card.filter(\.isNumber).suffix(4)))
        guard case .bytes(let plain) = Response.success(payment).body,
            let text = try? JWE.seal(plain, with: app, contentType: "application/json")
        else { return .init(status: 500) }
        answers.withLock { $0.append(text) }
        return .init(fields: [.contentType: "application/jose"], body: Data(text.utf8))
    }
}

/// The servers' half of what lies between them and their app.
public struct ServerKeys: Sendable {
    var vouchers: SharedSecret
    /// Opens what is sealed for the till.
    var till: SealingKey
    /// Seals for the app.
    var app: SealingKey

    public init(vouchers: SharedSecret, till: SealingKey, app: SealingKey) {
        self.vouchers = vouchers
        self.till = till
        self.app = app
    }

    /// Keys that no app has the other half of.
    static func nobodys() throws -> ServerKeys {
        let key = SealingKey.agreement(try P256PrivateKey())
        return ServerKeys(vouchers: try SharedSecret(text: UUID().uuidString), till: key, app: key)
    }
}

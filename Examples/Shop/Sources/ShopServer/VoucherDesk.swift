import Foundation
import PenstockSecurity
import PenstockTesting
import Synchronization

/// Gives vouchers to the app that knows the secret: to who has signed for them, a moment ago, and not with what was used before.
final class VoucherDesk: Sendable {
    typealias Request = LoopbackServer.Request
    typealias Response = LoopbackServer.Response

    private let secret: SharedSecret
    private let nonces = Mutex<Set<String>>([])

    init(secret: SharedSecret) {
        self.secret = secret
    }

    func voucher(_ code: String, _ request: Request) -> Response {
        guard let nonce = request.fields["X-Nonce"], isSigned(request, nonce),
            nonces.withLock({ $0.insert(nonce).inserted })
        else { return .text("Not for you.", status: 401) }
        return code == "SPRING" ? .success(10) : .failure(3001, "no such voucher")
    }

    /// Writes down the five lines that a `SortedParameterSigner` signs, for a request without a query and a body.
    private func isSigned(_ request: Request, _ nonce: String) -> Bool {
        guard request.query == nil, request.body.isEmpty, let key = request.fields["X-App-Key"],
            let time = request.fields["X-Timestamp"], let seconds = Double(time),
            abs(seconds - Date().timeIntervalSince1970) < 300
        else { return false }
        let lines = [
            request.method.rawValue, request.fields["Host"] ?? "", request.path,
            "X-App-Key=\(key)&X-Nonce=\(nonce)&X-Timestamp=\(time)",
            // The SHA-256 of nothing.
            "body:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        ]
        guard let code = try? secret.sign(Data(lines.joined(separator: "\n").utf8)) else { return false }
        return code.map { String(format: "%02x", $0) }.joined() == request.fields["X-Signature"]
    }
}

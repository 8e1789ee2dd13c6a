import Foundation
import PenstockTesting
import Synchronization

/// What is for members: pages behind a token that expires, and a desk that renews it and takes each refresh token once.
public final class MemberDesk: Sendable {
    typealias Request = LoopbackServer.Request
    typealias Response = LoopbackServer.Response

    private struct State {
        var access: String?
        var refresh: String?
        var renewals = 0
        var refusals = 0
    }

    private struct Pass: Encodable {
        let accessToken: String
        let refreshToken: String
        let seconds: Int
    }

    private let state = Mutex(State())

    /// How often a token was renewed, and how many requests were refused.
    public var counts: (renewals: Int, refusals: Int) { state.withLock { ($0.renewals, $0.refusals) } }

    /// The token that is out is good for nothing from now on.
    public func expire() {
        state.withLock { $0.access = nil }
    }

    func join(_ customer: Stock.Customer?) -> Response {
        guard customer != nil else { return .failure(1002, "not logged in") }
        let pass = grant()
        return .success(Pass(accessToken: pass.access, refreshToken: pass.refresh, seconds: 3_600))
    }

    func page(_ name: String, _ request: Request) -> Response {
        let isMember = state.withLock { state in
            let isMember = state.access.map { request.fields["Authorization"] == "Bearer \($0)" } ?? false
            if !isMember { state.refusals += 1 }
            return isMember
        }
        guard isMember else {
            return .init(status: 401, fields: ["WWW-Authenticate": #"Bearer realm="members", error="invalid_token""#])
        }
        return .success("the \(name) of a member")
    }

    /// The refresh-token grant (RFC 6749 §6).
    func renew(_ request: Request) -> Response {
        let form = String(decoding: request.body, as: UTF8.self).split(separator: "&")
        let isKnown = state.withLock { state in
            guard let refresh = state.refresh, form.contains("refresh_token=\(refresh)") else { return false }
            state.renewals += 1
            return true
        }
        guard isKnown else { return .json(#"{"error":"invalid_grant"}"#, status: 400) }
        let pass = grant()
        return .json(
            #"{"access_token":"\#(pass.access)","token_type":"Bearer","expires_in":3600,"refresh_token":"\#(pass.refresh)"}"#
        )
    }

    private func grant() -> (access: String, refresh: String) {
        let pass = (access: UUID().uuidString, refresh: UUID().uuidString)
        state.withLock { ($0.access, $0.refresh) = pass }
        return pass
    }
}

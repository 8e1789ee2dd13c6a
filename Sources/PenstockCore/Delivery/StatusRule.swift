import Foundation

/// Which HTTP statuses mean success.
///
/// ```swift
/// StatusRule.success                                  // 200 to 299
/// StatusRule.codes(200..<300, 304..<305)
/// StatusRule.success.openingEnvelopeOfFailures()      // a service that explains its 4xx replies in an envelope
/// ```
///
/// No stored response steps in for a server error that means success, but where the server or the request says `stale-if-error`;
/// see ``CachePolicy``.
public struct StatusRule: Hashable, Sendable {
    let accepted: [Range<Int>]
    /// Whether the envelope in a reply of any other status is looked at before the status is reported; off by default.
    public let opensEnvelopeOfFailures: Bool

    init(_ accepted: [Range<Int>], opensEnvelopeOfFailures: Bool = false) {
        self.accepted = accepted
        self.opensEnvelopeOfFailures = opensEnvelopeOfFailures
    }

    /// 200 to 299 (RFC 9110 §15.3).
    public static let success = StatusRule([200..<300])
    /// Every status; the envelope or the app decides.
    public static let any = StatusRule([0..<1000])

    /// The statuses of these ranges and no others; with none, no status means success.
    public static func codes(_ accepted: Range<Int>...) -> StatusRule {
        StatusRule(accepted)
    }

    /// Opens envelopes in 4xx and 5xx replies too, for services that put them there: a well-formed one whose code is no success then fails
    /// the call as ``APIError/Kind/business(code:message:)``. A malformed one, or one that says success, changes nothing: the
    /// status is the error.
    public func openingEnvelopeOfFailures(_ opens: Bool = true) -> StatusRule {
        StatusRule(accepted, opensEnvelopeOfFailures: opens)
    }

    /// Whether the status means success.
    public func accepts(_ status: Int) -> Bool {
        accepted.contains { $0.contains(status) }
    }

    /// - Throws: ``APIError/Kind/httpStatus(_:)``, or the envelope's error where the rule says so. Both hold the response.
    package func check(
        _ response: HTTPResponse, envelope: Envelope?, options: DecodingOptions = DecodingOptions()
    ) throws(APIError) {
        guard !accepts(response.status) else { return }
        let isSurprise = (200..<300).contains(response.status)
        var error = APIError(
            .httpStatus(response.status), stage: .status, debugMessage: isSurprise ? "\(text) was to come" : "")
        if let business = businessError(in: response, envelope: envelope, options: options) { error = business }
        error.response = response
        throw error
    }

    /// The accepted statuses, for developers.
    private var text: String {
        guard !accepted.isEmpty else { return "no status" }
        return accepted.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound - 1)" }
            .joined(separator: " or ")
    }

    private func businessError(
        in response: HTTPResponse, envelope: Envelope?, options: DecodingOptions
    ) -> APIError? {
        guard opensEnvelopeOfFailures, envelope != nil else { return nil }
        do throws(APIError) {
            _ = try ResponseDecoding.nothing.open(Payload(response.body), envelope: envelope, options: options)
            return nil
        } catch {
            if case .business = error.kind { return error }
            return nil
        }
    }
}

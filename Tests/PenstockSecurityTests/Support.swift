import Foundation
import PenstockCore
import PenstockTesting

@testable import PenstockSecurity

/// Bytes from hexadecimal digits.
func bytes(_ digits: String) -> Data {
    let digits = Array(digits.utf8)
    return Data(
        stride(from: 0, to: digits.count, by: 2).map { index in
            UInt8(String(decoding: digits[index..<(index + 2)], as: UTF8.self), radix: 16) ?? 0
        })
}

func base64(_ text: String) -> Data { Data(base64Encoded: text) ?? Data() }

extension HTTPRequest {
    init(
        _ method: HTTPMethod, _ url: String, _ fields: [(HTTPFieldName, String)] = [], body: HTTPBody = .none
    ) throws {
        self.init(
            method: method, url: try HTTPURL(url),
            fields: HTTPFields(fields.map { HTTPField(name: $0.0, value: $0.1) }),
            body: body)
    }
}

/// An endpoint with a query and a form.
struct Pay: Endpoint, Encodable {
    typealias Output = Data
    let to: String
    let amount: Int
    var route: Route { .post("/pay") }
    var placement: ParameterPlacement { .form }
}

/// A value that is read and changed from several places.
final class Box<Value: Sendable>: Sendable {
    private let state: Locked<Value>

    init(_ value: Value) { state = Locked(value) }

    var value: Value { state.withLock { $0 } }
    func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result { state.withLock(change) }
}

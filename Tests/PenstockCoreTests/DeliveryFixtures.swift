import Foundation
import PenstockCore

struct Product: Codable, Hashable, Sendable {
    let id: Int
    let name: String
}

func payload(_ json: String) -> Payload {
    Payload(Data(json.utf8))
}

/// What the whole way of a body comes to.
struct Decoded<Output> {
    let value: Output
    let notes: [DecodingNote]
    let code: BusinessCode?
    let message: String?
}

/// The whole way of a body, as the client walks it.
func decode<Output: Sendable>(
    _ json: String, as decoding: ResponseDecoding<Output>, envelope: Envelope? = .retcode,
    options: DecodingOptions = DecodingOptions()
) throws(APIError) -> Decoded<Output> {
    let opened = try decoding.open(payload(json), envelope: envelope, options: options)
    let (value, notes) = try opened.decoded()
    return Decoded(value: value, notes: notes, code: opened.code, message: opened.message)
}

/// The kind of the error that `body` throws, `nil` when it throws none.
func kind(of body: () throws(APIError) -> some Any) -> APIError.Kind? {
    do throws(APIError) {
        _ = try body()
        return nil
    } catch {
        return error.kind
    }
}

func error(of body: () throws(APIError) -> some Any) -> APIError? {
    do throws(APIError) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

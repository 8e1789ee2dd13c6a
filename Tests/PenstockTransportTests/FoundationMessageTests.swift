import Foundation
import PenstockCore
import PenstockURLSession
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct FoundationMessageTests {
    @Test func `a request of Foundation's and one of ours are made of each other`() throws {
        var foundation = URLRequest(url: try #require(URL(string: "https://a.example/p?q=1")))
        foundation.httpMethod = "PURGE"
        foundation.setValue("1", forHTTPHeaderField: "X-A")
        foundation.httpBody = Data("body".utf8)
        let ours = try HTTPRequest(foundation)
        #expect(ours.method.rawValue == "PURGE" && ours.url.absoluteString == "https://a.example/p?q=1")
        #expect(ours.fields["X-A"] == "1")
        if case .bytes(let data) = ours.body.source {
            #expect(data == Data("body".utf8))
        } else {
            Issue.record("\(ours.body.source)")
        }
        let back = try URLRequest(ours)
        #expect(back.url == foundation.url && back.httpMethod == "PURGE" && back.httpBody == Data("body".utf8))
        #expect(back.value(forHTTPHeaderField: "X-A") == "1")
        let bare = try HTTPRequest(URLRequest(url: try #require(URL(string: "https://a.example/"))))
        #expect(bare.method == .get && bare.body.isNone)
    }

    @Test func `what one of them cannot hold is refused`() throws {
        let file = URLRequest(url: URL(fileURLWithPath: "/x"))
        #expect(throws: APIError.self) { try HTTPRequest(file) }
        var streamed = URLRequest(url: try #require(URL(string: "https://a.example/")))
        streamed.httpBodyStream = InputStream(data: Data("x".utf8))
        let error = #expect(throws: APIError.self) { try HTTPRequest(streamed) }
        #expect(error?.kind == .unsupported(feature: "a URLRequest whose body is a stream"))
        let chunks = HTTPBody.stream { AsyncThrowingStream { $0.finish() } }
        let url = try HTTPURL("https://a.example/")
        let other = #expect(throws: APIError.self) {
            try URLRequest(HTTPRequest(method: .post, url: url, body: chunks))
        }
        #expect(other?.kind == .unsupported(feature: "a streamed body in a URLRequest"))
    }

    @Test func `a response of Foundation's and one of ours are made of each other`() throws {
        let url = try HTTPURL("https://a.example/p")
        let ours = HTTPResponse(status: 404, fields: ["X-A": "1", "X-B": "2"], body: Data("no".utf8))
        let foundation = try #require(ours.urlResponse(for: url))
        #expect(foundation.statusCode == 404 && foundation.url?.absoluteString == "https://a.example/p")
        let back = HTTPResponse(foundation, body: Data("no".utf8))
        #expect(back.status == 404 && back.fields["X-B"] == "2" && back.body == ours.body)
    }
}

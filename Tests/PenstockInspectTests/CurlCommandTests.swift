import Foundation
import PenstockCore
import PenstockInspect
import PenstockTestSupport
import PenstockTesting
import Testing

/// A request as a command for a shell.
@Suite(.timeLimit(.minutes(5))) struct CurlCommandTests {
    /// What a real shell makes of the command: its words.
    private static func words(of command: String) async throws -> [String] {
        let script = "set -- \(command); printf '%s\\0' \"$@\""
        let result = try await Subprocess.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
        #expect(result.status == 0)
        return result.output.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    @Test("A shell takes every part as it stands, whatever is in it")
    func shellSafety() async throws {
        let hostile = "a'b\"c$(touch /x)`id`\\ \u{1B}[2J\n; rm -rf / && é \u{202E}'"
        var request = HTTPRequest(method: .post, url: try HTTPURL("https://a.example/x?q=it's&[1]={2}"))
        request.fields["X-Note"] = "it's $HOME `id` \"q\" \\"
        request.fields["X-Empty"] = ""
        request.body = .bytes(Data(hostile.utf8))
        let words = try await Self.words(of: request.curlCommand(showsContent: true))
        #expect(
            words == [
                "curl", "--globoff", "-X", "POST", "-H", "X-Note: it's $HOME `id` \"q\" \\", "-H", "X-Empty;",
                "--data-raw", hostile, "\(request.url)",
            ])
        #expect(!request.curlCommand(showsContent: true).unicodeScalars.contains { $0.value < 32 || $0 == "\u{202E}" })
    }

    @Test("Secrets are not in it, nor is content unless it is asked for")
    func redaction() throws {
        var request = HTTPRequest(method: .post, url: try HTTPURL("https://a.example/x?token=c4n4ry&page=2"))
        request.fields[.authorization] = "Bearer c4n4ry"
        request.fields[.contentType] = "application/json"
        request.body = .bytes(Data(#"{"password":"c4n4ry","quantity":2}"#.utf8))
        let (plain, whole) = (request.curlCommand(), request.curlCommand(showsContent: true))
        #expect(!plain.contains("c4n4ry") && !whole.contains("c4n4ry"))
        #expect(plain.contains("‹34 bytes›") && !plain.contains("quantity"))
        #expect(whole.contains("quantity") && whole.contains("page=2"))
        request.fields["Content-Encoding"] = "br"
        #expect(request.curlCommand(showsContent: true).contains("‹34 bytes›"))
    }

    @Test("The method, and where content comes from, is said as curl wants it")
    func forms() async throws {
        let url = try HTTPURL("https://a.example/")
        func command(_ method: HTTPMethod, _ body: HTTPBody = .none) -> String {
            HTTPRequest(method: method, url: url, body: body).curlCommand(showsContent: true)
        }
        #expect(command(.get) == "curl --globoff 'https://a.example/'")
        #expect(command(.head) == "curl --globoff --head 'https://a.example/'")
        #expect(command(.get, .bytes(Data("a".utf8))) == "curl --globoff -X 'GET' --data-raw 'a' 'https://a.example/'")
        #expect(command(.put, .onceOnly(HTTPBody.Chunks { $0.finish() })).contains("--data-binary @-"))
        #expect(command(.put, .bytes(Data([0xFF]))).contains("‹1 bytes›"))
        #expect(command(.put, .bytes(Data("a\0b".utf8))).contains("‹3 bytes›"))
    }
}

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

    @Test("Content that is too much for an argument of a program is named in its place")
    func longContent() throws {
        let url = try InspectRig.url()
        for (count, isShown) in [(100_000, true), (100_001, false), (200_000, false)] {
            let body = HTTPBody.bytes(Data(repeating: UInt8(ascii: "x"), count: count))
            let command = HTTPRequest(method: .post, url: url, body: body).curlCommand(showsContent: true)
            #expect(command.contains("xxxx") == isShown && command.contains("‹\(count) bytes›") != isShown)
        }
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
                "curl", "-X", "POST", "-H", "X-Note: it's $HOME `id` \"q\" \\", "-H", "X-Empty;", "-H",
                "Content-Type:", "--data-raw", hostile, "\(request.url)",
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
        #expect(command(.get) == "curl 'https://a.example/'")
        #expect(command(.head) == "curl --head 'https://a.example/'")
        #expect(command(.delete) == "curl -X 'DELETE' 'https://a.example/'")
        #expect(command(.put) == "curl -X 'PUT' -H 'Content-Type:' --data-raw '' 'https://a.example/'")
        let body = HTTPBody.bytes(Data("a".utf8))
        let tail = "-H 'Content-Type:' --data-raw 'a' 'https://a.example/'"
        #expect(command(.get, body) == "curl -X 'GET' \(tail)")
        #expect(command(.head, body) == "curl --include -X 'HEAD' \(tail)")
        #expect(command(.put, .onceOnly(HTTPBody.Chunks { $0.finish() })).contains("--data-binary @-"))
        #expect(command(.put, .bytes(Data("a\0b".utf8))).contains("‹3 bytes›"))
    }

    @Test("A file is named, also one whose name curl would take for the standard input")
    func files() throws {
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, word) in [("it's", #"'@it'\''s'"#), ("-", "'@./-'")] {
            let file = folder.appendingPathComponent(name)
            try Data("x".utf8).write(to: file)
            let request = HTTPRequest(method: .put, url: try InspectRig.url(), body: .file(file))
            #expect(request.curlCommand().contains("--data-binary \(word) "))
        }
    }

    @Test("curl is kept from reading a URL in its own way, where it would")
    func switches() throws {
        func words(_ url: HTTPURL, _ fields: HTTPFields = [:]) -> [Substring] {
            HTTPRequest(method: .get, url: url, fields: fields).curlCommand().split(separator: " ")
                .filter { $0.hasPrefix("--") }
        }
        let plain = try HTTPURL("https://a.example/a.b/..c/%5B1-3%5D?q=..")
        #expect(words(plain).isEmpty)
        #expect(words(try HTTPURL("https://[2001:db8::1]/")) == ["--globoff"])
        for segment in ["..", ".", "%2e%2E", ".%2e"] {
            let url = HTTPURL(origin: plain.origin, path: "/a/\(segment)/b", query: nil)
            #expect(words(url) == ["--path-as-is"], "\(segment)")
        }
        #expect(words(plain, ["Accept-Encoding": "gzip, br"]) == ["--compressed"])
        #expect(words(plain, ["Accept-Encoding": "identity"]).isEmpty)
    }

    /// Contents that a shell, or curl, could take for something else.
    private static let contents: [(name: String, bytes: [UInt8])] = [
        ("a file's name", Array("@/etc/passwd".utf8)), ("an option", Array("--output x".utf8)),
        ("line breaks", Array("a\r\nb\nc\r".utf8)), ("quotes", Array(#"'it''s' "q" \'"#.utf8)),
        ("a quote with an accent", Array("a'\u{301}; exit 1 #".utf8)),
        ("expansions", Array("$HOME `id` $(id) !! *".utf8)),
        ("an escape that looks octal", Array("\\101\u{1}7\t!".utf8)), ("a byte order mark", [0xEF, 0xBB, 0xBF, 0x61]),
        ("another encoding", [0x63, 0x61, 0x66, 0xE9, 0x27, 0x5C, 0x21, 0x0A, 0x37]),
        ("every byte but NUL", Array(1...255)),
        ("characters without a form", Array("a\u{202E}b\u{2028}c\u{FEFF}é漢".utf8)), ("nothing", []),
    ]

    private static var shells: [URL] {
        ["/bin/bash", "/bin/zsh", "/usr/bin/zsh"].filter(FileManager.default.isExecutableFile).map {
            URL(fileURLWithPath: $0)
        }
    }

    @Test("A shell and curl send the very request: method, target, fields and content", arguments: contents.indices)
    func sent(_ index: Int) async throws {
        let (name, bytes) = Self.contents[index]
        let server = try LoopbackServer { _ in .init(status: 204) }
        defer { server.stop() }
        #expect(!Self.shells.isEmpty)
        for shell in Self.shells {
            for method in [HTTPMethod.post, .put, .get, .head] {
                for type in ["text/plain", nil] {
                    let url = HTTPURL(origin: server.url.origin, path: "/a/../%2e%2e/b's", query: "q=%5B1-3%5D&[a]={b}")
                    var request = HTTPRequest(method: method, url: url, body: .bytes(Data(bytes)))
                    request.fields = ["X-Note": "it's \"q\" \\ $HOME é", "X-Empty": "", "Accept-Encoding": "gzip"]
                    request.fields[.contentType] = type
                    let script = "export no_proxy='*'; \(request.curlCommand(showsContent: true)) --silent"
                    let result = try await Subprocess.run(shell, ["-c", script])
                    #expect(result.status == 0, "\(name): \(result.output)")
                    var sent = try #require(server.requests.last)
                    for added in [HTTPFieldName.accept, .userAgent, .contentLength, "Host"] {
                        sent.fields.remove(added)
                    }
                    #expect(sent.method == method && sent.target == url.target, "\(name)")
                    #expect(sent.body == Data(bytes), "\(name)")
                    let fields = Set(sent.fields.map { "\($0.name.text.lowercased()): \($0.value)" })
                    #expect(
                        fields == Set(request.fields.map { "\($0.name.text.lowercased()): \($0.value)" }), "\(name)")
                }
            }
        }
    }

    @Test("A request without content is sent as that, with a length of zero where the method mostly has some")
    func sentWithoutContent() async throws {
        let server = try LoopbackServer { _ in .text("abc") }
        defer { server.stop() }
        for method in [HTTPMethod.get, .head, .delete, .post, .put, .patch] {
            let request = HTTPRequest(method: method, url: server.url)
            let script = "export no_proxy='*'; \(request.curlCommand()) --silent"
            let result = try await Subprocess.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
            let sent = try #require(server.requests.last)
            #expect(result.status == 0 && sent.method == method && sent.body.isEmpty, "\(method)")
            #expect(sent.fields[.contentLength] == ([.post, .put, .patch].contains(method) ? "0" : nil), "\(method)")
            #expect(!sent.fields.contains(.contentType))
        }
    }

    @Test("Secrets in content of another encoding are not in it either")
    func otherEncodings() throws {
        for (type, text) in [
            ("application/x-www-form-urlencoded", "name=caf\u{E9}&password=c4n4ry"),
            ("application/json", #"{"name":"caf\#u{E9}","password":"c4n4ry"}"#),
            ("text/plain", "caf\u{E9} https://a.example/?token=c4n4ry"),
        ] {
            var request = HTTPRequest(method: .post, url: try InspectRig.url())
            request.fields[.contentType] = type
            request.body = .bytes(Data(text.unicodeScalars.map { UInt8($0.value) }))
            let command = request.curlCommand(showsContent: true)
            #expect(!command.contains("c4n4ry") && command.contains(#"caf\351"#), "\(type)")
        }
    }
}

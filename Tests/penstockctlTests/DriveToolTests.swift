import Foundation
import PenstockCore
import PenstockTesting
import Testing

/// What `drive` says of lines that are no requests.
@Suite(.timeLimit(.minutes(5))) struct DriveToolTests {
    private func replies(_ lines: [String]) async throws -> (replies: [String], errors: String) {
        let tool = try await Tool.run("drive", input: Data((lines.joined(separator: "\n") + "\n").utf8))
        #expect(tool.status == 0)
        return (tool.text.split(separator: "\n").dropFirst().map(String.init), tool.errors)
    }

    static let broken: [(members: String, reason: String)] = [
        (#""url":"http://127.0.0.1/""#, "method is missing"), (#""method":"GET","url":7"#, "url is not"),
        (#""method":"GET","url":"http://127.0.0.1/","body":{}"#, "body is not"),
        (#""method":"GET","url":"http://127.0.0.1/","headers":[["a"]]"#, "a header is a name and a value"),
        (#""method":"GET","url":"http://127.0.0.1/","headers":{"a":"b"}"#, "headers is not"),
        (#""method":"GET","url":"http://127.0.0.1/","cacheMode":"often""#, "cacheMode is not"),
        (#""method":"GET","url":"http://127.0.0.1/","redirect":"never""#, "redirect is not"),
    ]

    @Test("A line with an id gets a reply with the error, whatever else is wrong with it", arguments: broken)
    func numbered(_ members: String, _ reason: String) async throws {
        let (replies, errors) = try await replies([#"{"id":7,\#(members)}"#])
        #expect(replies.count == 1 && replies[0].contains(#""id":7"#) && replies[0].contains(reason), "\(replies)")
        #expect(errors.isEmpty)
    }

    @Test("A line without an id is told of on standard error, and headers may be left out")
    func unnumbered() async throws {
        let server = try LoopbackServer { _ in .text("tea") }
        defer { server.stop() }
        let request =
            #"{"id":1,"method":"GET","url":"\#(server.address("/"))","redirect":"follow","cacheMode":"default"}"#
        let (replies, errors) = try await replies([#"{"method":"GET"}"#, request])
        #expect(replies.count == 1 && replies[0].contains(#""body":"tea""#))
        #expect(errors.contains("no request"))
    }

    @Test("no-cache leaves a Cache-Control of the request as it is, and sends one where there is none")
    func noCache() async throws {
        let server = try LoopbackServer { .text($0.fields["Cache-Control"] ?? "none") }
        defer { server.stop() }
        func request(_ id: Int, _ headers: String) -> String {
            let url = server.address("/\(id)")
            return #"{"id":\#(id),"method":"GET","url":"\#(url)","headers":\#(headers),"cacheMode":"no-cache"}"#
        }
        let (replies, _) = try await replies([request(1, #"[["cache-control","no-store"]]"#), request(2, "[]")])
        #expect(replies.count == 2)
        #expect(replies.contains { $0.contains(#""id":1"#) && $0.contains(#""body":"no-store""#) }, "\(replies)")
        #expect(replies.contains { $0.contains(#""id":2"#) && $0.contains(#""body":"max-age=0""#) }, "\(replies)")
    }

    @Test("A byte order mark at the beginning of a body is in the reply")
    func byteOrderMark() async throws {
        let server = try LoopbackServer { _ in .init(body: Data([0xEF, 0xBB, 0xBF]) + Data("tea".utf8)) }
        defer { server.stop() }
        let (replies, _) = try await replies([#"{"id":1,"method":"GET","url":"\#(server.address("/"))"}"#])
        #expect(replies.count == 1 && replies[0].contains(#""body":"\ufefftea""#), "\(replies)")
    }

    #if os(Linux)
        @Test("Thousands of lines are answered, each once, and a line that was answered takes no memory")
        func manyLines() async throws {
            let server = try LoopbackServer { _ in
                .init(fields: ["Cache-Control": "max-age=600"], body: Data("tea".utf8))
            }
            defer { server.stop() }
            let folder = try Folder()
            let url = server.address("/")
            func lines(_ ids: Range<Int>) throws -> String {
                let text = ids.map { #"{"id":\#($0),"method":"GET","url":"\#(url)"}"# + "\n" }.joined()
                return try folder.write(Data(text.utf8), to: "lines\(ids.lowerBound)")
            }
            // The memory of the tool is looked at while it waits for more, before and after the second part of the lines.
            let script = """
                mkfifo "$1/in" || exit 1
                "$0" drive <"$1/in" >"$1/out" &
                exec 3>"$1/in"
                answered() {
                    tries=0
                    until [ "$(wc -l <"$1/out")" -gt "$2" ]; do
                        tries=$((tries + 1)); [ $tries -lt 2400 ] || exit 1; sleep 0.05
                    done
                    grep VmRSS "/proc/$!/status"
                }
                cat "$2" >&3; answered "$1" 3000
                cat "$3" >&3; answered "$1" 15000
                exec 3>&-; wait $!
                """
            let tool = try await Tool.shell(
                script, folder.url.path, try lines(0..<3_000), try lines(3_000..<15_000))
            #expect(tool.status == 0, "\(tool.errors)")
            let memory = tool.text.split(separator: "\n").compactMap { Int($0.filter(\.isNumber)) }
            #expect(memory.count == 2 && memory[1] - memory[0] < 12_000, "\(memory) KiB")
            let replies = String(decoding: try folder.read("out"), as: UTF8.self).split(separator: "\n").dropFirst()
            #expect(replies.count == 15_000 && replies.allSatisfy { $0.contains(#""body":"tea""#) })
            #expect(Set(replies).count == 15_000)
        }
    #endif
}

/// What a server chooses of what the tool prints moves nothing on a terminal.
@Suite(.timeLimit(.minutes(5))) struct PrintedSafelyTests {
    @Test("cache ls and show escape what a server has put into a field")
    func cache() async throws {
        let server = try LoopbackServer { _ in
            .init(
                status: 200, fields: ["Cache-Control": "max-age=600", "X-A": "a\u{9B}31m\u{202E}b"],
                body: Data("tea".utf8))
        }
        defer { server.stop() }
        let folder = try Folder()
        let file = folder.path("http.sqlite")
        _ = try await Tool.fetch(server.address("/tea"), "--cache", file)
        let shown = try await Tool.run("cache", "show", server.address("/tea"), "--cache", file)
        #expect(shown.status == 0 && shown.text.contains(#"X-A: a\u{9b}31m\u{202e}b"#), "\(shown.text)")
        #expect(!shown.text.unicodeScalars.contains("\u{9B}") && shown.text.split(separator: "\n").count > 2)
    }

    @Test("What fetch --json prints has no control or format character, and means the same")
    func json() async throws {
        let body = "a\u{7F}\u{9B}31m\u{202E}b\u{2066}\u{E0001}é😀"
        let server = try LoopbackServer { _ in .text(body) }
        defer { server.stop() }
        let tool = try await Tool.fetch(server.address("/"), "--json")
        let unseen = tool.text.unicodeScalars.dropLast().filter { scalar in
            [.control, .format].contains(scalar.properties.generalCategory)
        }
        #expect(unseen.isEmpty && tool.text.contains(#"a\u007f\u009b31m\u202eb\u2066\udb40\udc01é😀"#), "\(tool.text)")
        #expect(try tool.report().body == body)
    }

    @Test("-v shows the head of a response that breaks off")
    func broken() async throws {
        let server = try LoopbackServer { _ in
            var response = LoopbackServer.Response(status: 203, fields: ["X-A": "1"], body: Data("tea".utf8))
            (response.declaredLength, response.ending) = (100, .close)
            return response
        }
        defer { server.stop() }
        let tool = try await Tool.fetch(server.address("/"), "-v")
        #expect(tool.status == 9 && tool.errors.contains("< http/1.1 203\n") && tool.errors.contains("\n< X-A: 1\n"))
        #expect(tool.errors.contains("no whole response: ") && !tool.errors.contains("no response: "), "\(tool.errors)")
    }

    @Test("A folder in place of a file, and a vault that is not there, are wrong usage in words")
    func missing() async throws {
        let folder = try Folder()
        let sent = try await Tool.fetch("http://127.0.0.1:9/", "-d", "@" + folder.path(""))
        #expect(sent.status == 64 && sent.errors.contains("is a folder, and a file is wanted"))
        let list = try await Tool.run("vault", "ls", "--vault", folder.path("none"))
        #expect(list.status == 64 && list.errors.contains("--vault: there is no such file"))
    }
}

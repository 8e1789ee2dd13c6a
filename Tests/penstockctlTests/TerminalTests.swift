import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import penstockctl

/// What is made for a terminal and the shell in it, and what is kept out of a command line.
@Suite(.timeLimit(.minutes(5))) struct TerminalTests {
    /// What bash offers for the last of the words.
    private func completed(_ words: String..., in folder: String = "/") async throws -> [String] {
        try await completed(words, in: folder)
    }

    private func completed(_ words: [String], in folder: String) async throws -> [String] {
        let list = words.map { "'\($0)'" }.joined(separator: " ")
        let script =
            try Completions.script(for: "bash")
            + "\ncd '\(folder)'; COMP_WORDS=(penstockctl \(list)); COMP_CWORD=\(words.count); _penstockctl"
            + "\nprintf '%s\\n' \"${COMPREPLY[@]}\""
        let shell = try await Subprocess.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
        #expect(shell.status == 0)
        return shell.output.split(separator: "\n").map(String.init).sorted()
    }

    @Test func `A file's name with a space in it is completed as one word`() async throws {
        let folder = try Folder()
        defer { withExtendedLifetime(folder) {} }
        try Data().write(to: URL(fileURLWithPath: folder.path("two words.har")))
        let place = folder.url.path
        #expect(try await completed("replay", "two", in: place) == ["two words.har"])
        #expect(try await completed("fetch", "-o", "two", in: place) == ["two words.har"])
        #expect(try await completed("fetch", "-d", "@two", in: place) == ["@two words.har"])
    }

    @Test func `Words are completed as well where bash makes words of their own of equals signs, at signs and colons`()
        async throws
    {
        let folder = try Folder()
        defer { withExtendedLifetime(folder) {} }
        try Data().write(to: URL(fileURLWithPath: folder.path("two words.har")))
        let place = folder.url.path
        #expect(try await completed("fetch", "-d", "@", "two", in: place) == ["@two words.har"])
        #expect(try await completed("fetch", "-d", "@", in: place) == ["@two words.har"])
        #expect(try await completed("fetch", "--data", "=@", "two", in: place) == ["@two words.har"])
        #expect(try await completed("fetch", "--output", "=", "two", in: place) == ["two words.har"])
        #expect(try await completed("fetch", "--output", "=", in: place) == ["two words.har"])
        #expect(try await completed("fetch", "--policy", "=", "networkE") == ["networkElseCache"])
        #expect(try await completed("fetch", "--sign", "=") == ["aws:", "hmac", "rfc9421"])
        let nothing = [
            ["-o", "@", "two"], ["-d", "a", "=", "P"], ["--sign", "aws", ":"], ["http", ":", "//P"],
            ["-H", "X-A", ":", "P"],
        ]
        for words in nothing {
            #expect(try await completed(["fetch"] + words, in: place).isEmpty, "\(words)")
        }
    }

    @Test func `Operands and the values of options are completed`() async throws {
        #expect(try await completed("cache", "s") == ["show", "stats"])
        #expect(try await completed("completions", "") == ["bash", "fish", "zsh"])
        #expect(try await completed("fetch", "--policy", "networkE") == ["networkElseCache"])
        #expect(try await completed("fetch", "--sign", "") == ["aws:", "hmac", "rfc9421"])
        #expect(try await completed("fetch", "--timeout", "").isEmpty)
        #expect(try await completed("fetch", "P") == ["PATCH", "POST", "PUT"])
        #expect(try await completed("drive", "--cache", "memo") == ["memory"])
        #expect(try Completions.script(for: "zsh").contains("|| compinit"))
    }

    @Test func `Colours are for a terminal, and NO_COLOR keeps them away`() {
        #expect(Console.showsColours(isTerminal: true, [:]))
        #expect(Console.showsColours(isTerminal: true, ["NO_COLOR": "", "TERM": "xterm"]))
        #expect(!Console.showsColours(isTerminal: true, ["NO_COLOR": "1"]))
        #expect(!Console.showsColours(isTerminal: true, ["TERM": "dumb"]))
        #expect(!Console.showsColours(isTerminal: false, [:]))
    }

    @Test func `Header fields come from a file as well`() async throws {
        let server = try LoopbackServer { request in
            .text("\(request.fields["X-A"] ?? "") \(request.fields["X-B"] ?? "") \(request.fields["X-C"] ?? "")")
        }
        defer { server.stop() }
        let folder = try Folder()
        defer { withExtendedLifetime(folder) {} }
        let file = folder.path("fields")
        try Data("X-A: 1\r\n\nX-B: 2".utf8).write(to: URL(fileURLWithPath: file))
        #expect(try await Tool.fetch(server.address("/"), "-H", "@\(file)", "-H", "X-C: 3").text == "1 2 3")
        for argument in ["@", "@/nowhere/fields", "@/dev/zero"] {
            let wrong = try await Tool.fetch(server.address("/"), "-H", argument)
            #expect(wrong.status == 64 && wrong.errors.contains("-H"), "\(argument): \(wrong.errors)")
        }
        #expect(server.requestCount == 1)
    }

    @Test func `What is wrong with a line of the file does not repeat its value`() async throws {
        let folder = try Folder()
        defer { withExtendedLifetime(folder) {} }
        let file = folder.path("fields")
        try Data("hunter2".utf8).write(to: URL(fileURLWithPath: file))
        let wrong = try await Tool.fetch("http://127.0.0.1:9/", "-H", "@\(file)")
        #expect(wrong.status == 64 && wrong.errors.contains("-H") && !wrong.errors.contains("hunter2"))
    }

    @Test func `Verbose tells why a request is sent again, and why it is not`() async throws {
        let server = try LoopbackServer { _ in .init(status: 503) }
        defer { server.stop() }
        let posted = try await Tool.fetch(server.address("/"), "-v", "-d", "a=1")
        #expect(posted.errors.contains("retried"), "\(posted.errors)")
    }
}

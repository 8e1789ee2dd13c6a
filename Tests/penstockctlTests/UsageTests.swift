import Foundation
import PenstockTesting
import Testing

/// What is wrong with the arguments is said before anything is sent.
@Suite(.timeLimit(.minutes(5))) struct UsageTests {
    @Test func `Help names every option and every exit status`() async throws {
        let help = try await Tool.fetch("--help")
        #expect(help.status == 0)
        #expect(help.errors.isEmpty)
        let words = [
            "-H", "-d", "-o", "--json", "--timeout", "--transport", "--no-follow", "--cacert", "--pin", "--cert",
            "--key", "--resolve", "--sign", "--sign-key", "--sign-id", "--sign-query", "--cookies", "--fail", "-v",
            "64",
            "130",
            "timeout", "unreachable", "tls", "blocked", "limitExceeded", "cancelled",
        ]
        for word in words { #expect(help.text.contains(word), "help does not mention \(word)") }
    }

    @Test func `The program itself has a help and a version`() async throws {
        let help = try await Tool.run("--help")
        #expect(help.status == 0)
        #expect(help.text.contains("penstockctl fetch"))
        let version = try await Tool.run("--version")
        #expect(version.status == 0)
        #expect(version.text.hasPrefix("penstockctl "))
    }

    @Test(arguments: [
        "fetch", "cache", "vault", "report", "record", "replay", "drive", "completions", "manual",
    ])
    func `Every command has a help and a version`(_ command: String) async throws {
        let help = try await Tool.run(command, "--help")
        #expect(help.status == 0 && help.text.contains("usage: penstockctl \(command)"))
        let version = try await Tool.run(command, "--version")
        #expect(version.status == 0 && version.text.hasPrefix("penstockctl "), "\(version.errors)")
    }

    @Test func `The manual has the exit statuses of requests and of the vault`() async throws {
        let manual = try await Tool.run("manual").text
        #expect(manual.contains("\n.B 12\nmalformedEnvelope: no usable envelope"))
        #expect(manual.contains("\n.SS penstockctl vault\n"))
        for status in ["30", "31", "32", "33", "34", "35"] { #expect(manual.contains("\n.B \(status)\n"), "\(status)") }
    }

    @Test func `A report whose archive cannot be made is said of the option that was given`() async throws {
        let folder = try Folder()
        let tool = try await Tool.shell(
            "exec env TMPDIR=/dev/null \"$0\" fetch http://127.0.0.1:9/ --report \"$1\"", folder.path("a.html"))
        #expect(tool.status == 64 && tool.errors.contains("--report: "), "\(tool.errors)")
        #expect(!tool.errors.contains("--har"))
    }

    @Test(arguments: [[], ["brew"], ["--color"]])
    func `Without a command that exists the usage is wrong`(_ words: [String]) async throws {
        let tool = try await Tool.start(words).end()
        #expect(tool.status == 64)
        #expect(tool.output.isEmpty)
        #expect(tool.errors.contains("--help"))
    }

    /// The arguments after the URL of a server that must see nothing, and what the message names.
    static let mistakes: [([String], String)] = [
        (["--colour"], "--colour"), (["-ofile"], "-o: a value is a word of its own"), (["-o"], "-o"), (["-H"], "-H"),
        (["-d", "--json"], "-d"),
        (["--json=yes"], "--json"), (["--json", "--json"], "--json"),
        (["-o", "/nowhere/a", "--output", "/nowhere/b"], "--output"),
        (["http://127.0.0.1:9/"], "URL"), (["a", "b"], "too many"), (["-H", "no colon"], "-H"),
        (["-H", "X-A: b\r\nX-Evil: 1"], "X-A"), (["-H", "X-A: b\nX-Evil: 1"], "X-A"), (["-H", "X A: b"], "X A"),
        (["-H", "X-A\r\nX-Evil: 1"], "-H"), (["-H", ": b"], "-H"), (["--timeout", "soon"], "--timeout"),
        (["--timeout", "0"], "--timeout"), (["--timeout", "-1"], "--timeout"), (["--timeout=inf"], "--timeout"),
        (["--timeout=1e3"], "--timeout"), (["--transport", "pigeon"], "--transport"),
        (["--cacert", "/nowhere/ca.pem"], "--cacert"), (["-d", "@/nowhere/data"], "-d"), (["-d", "@"], "-d"),
        (["-o", "/"], "-o"), (["-o", "/nowhere/file"], "-o"), (["--output="], "-o"),
        (["--cacert", "/dev/null"], "--cacert needs https"), (["--cert", "/dev/null"], "--cert needs https"),
        (["--key", "/dev/null"], "--key needs https"), (["--pin", "sha256/AAAA"], "--pin needs https"),
        (["--sign", "aws:r:s3", "--sign-id", "ci"], "--sign-id"),
        (["--content", "10"], "--har"), (["--har", "/nowhere/a.har", "--content", "much"], "--content"),
    ]

    @Test(arguments: mistakes)
    func `A wrong argument is named, exits with 64 and sends nothing`(_ words: [String], _ name: String) async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        let tool = try await Tool.start(["fetch", server.address("/")] + words).end()
        #expect(tool.status == 64)
        #expect(tool.output.isEmpty)
        #expect(tool.errors.contains(name), "\(tool.errors)")
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: [
        ["ftp://example.com/"], ["file:///etc/passwd"], ["example.com"], ["http://"], ["http://a b/"],
        ["http://127.1/"],
        ["http://127.0.0.1:99999/"], [""], ["GET"], [], ["G T", "http://127.0.0.1:9/"],
        ["GET\r\n", "http://127.0.0.1:9/"],
    ])
    func `A bad URL or method exits with 64`(_ operands: [String]) async throws {
        let tool = try await Tool.start(["fetch"] + operands).end()
        #expect(tool.status == 64)
        #expect(tool.output.isEmpty)
        #expect(tool.errors.contains("URL") || tool.errors.contains("METHOD"))
    }

    static let misplaced = [
        ["-HAuthorization: Bearer hunter2secret"], ["-uhunter2secret"], ["--header:hunter2secret"],
        ["--no such=hunter2secret"], ["--head/hunter2secret"],
        ["Authorization: Bearer hunter2secret", "http://127.0.0.1:9/"],
        ["http://127.0.0.1:9/?token=hunter2secret", "http://127.0.0.1:9/"],
        ["key=hunter2secret", "http://127.0.0.1:9/"],
        ["--sign", "hmac:hunter2secret", "http://127.0.0.1:9/"],
        ["--timeout", "a hunter2secret", "http://127.0.0.1:9/"],
    ]

    @Test(arguments: misplaced)
    func `What may hold a secret is not repeated where it stands in the wrong place`(_ words: [String]) async throws {
        for words in [["fetch"] + words, words, ["report"] + words, ["replay"] + words] {
            let tool = try await Tool.start(words).end()
            #expect(tool.status == 64)
            #expect(tool.output.isEmpty)
            #expect(!tool.errors.isEmpty && !tool.errors.contains("hunter2"), "\(tool.errors)")
        }
    }

    @Test func `A name that does not exist is repeated`() async throws {
        #expect(try await Tool.run("brew").errors.contains("no such command: brew\n"))
        #expect(try await Tool.fetch("--colour").errors.contains("no such option: --colour\n"))
        #expect(try await Tool.fetch("-x", "http://127.0.0.1:9/").errors.contains("no such option: -x\n"))
        #expect(try await Tool.fetch("G,T", "http://127.0.0.1:9/").errors.contains("METHOD: \"G,T\" is no HTTP method"))
    }

    @Test func `User information in a URL is refused and not repeated`() async throws {
        let tool = try await Tool.fetch("http://alice:hunter2@127.0.0.1:9/", "--json")
        #expect(tool.status == 64)
        #expect(tool.output.isEmpty)
        #expect(tool.errors.contains("user information"))
        #expect(!tool.errors.contains("hunter2"))
    }
}

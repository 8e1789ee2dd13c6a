import Foundation
import Testing

/// `penstockctl vault`: secrets go through standard input and output alone.
@Suite(.timeLimit(.minutes(5))) struct VaultToolTests {
    private static let secret = Data("swordfish\n\0\u{fe}".utf8)

    @Test func `What set keeps get prints, byte for byte, ls lists by its names, and rm removes`() async throws {
        let folder = try Folder()
        let file = folder.path("new/shop.vault")
        let whose = ["main", "alice smith", "--origin", "https://a.example/x", "--environment=test", "--vault", file]
        #expect(try await Tool.start(["vault", "ls", "--vault", file]).end().text.isEmpty)
        #expect(try await Tool.start(["vault", "set"] + whose, input: Data("old".utf8)).end().status == 0)
        let set = try await Tool.start(["vault", "set"] + whose, input: Self.secret).end()
        #expect(set.status == 0 && set.output.isEmpty && set.errors.isEmpty)
        #expect(try await Tool.run("vault", "set", "jobs", "--vault", file, input: Data("other".utf8)).status == 0)
        #expect(try await Tool.start(["vault", "get"] + whose).end().output == Self.secret)
        #expect(try await Tool.run("vault", "get", "jobs", "--vault", file).text == "other")
        let list = try await Tool.run("vault", "ls", "--vault", file)
        #expect(list.text == "jobs\tproduction\t-\t-\nmain\ttest\thttps://a.example\talice%20smith\n")
        #expect(try await Tool.start(["vault", "rm"] + whose).end().status == 0)
        #expect(try await Tool.start(["vault", "rm"] + whose).end().status == 30)
        let gone = try await Tool.start(["vault", "get"] + whose).end()
        #expect(gone.status == 30 && gone.output.isEmpty)
        #expect(try await Tool.run("vault", "get", "jobs", "--vault", file).text == "other")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("new"))
        for name in names + [""] {
            let mode = try FileManager.default.attributesOfItem(atPath: folder.path("new/\(name)"))[.posixPermissions]
            #expect(mode as? Int == (name.isEmpty ? 0o700 : 0o600), "\(name)")
            guard !name.isEmpty else { continue }
            #expect(
                try Data(contentsOf: URL(fileURLWithPath: folder.path("new/\(name)"))).range(of: Data("swordfish".utf8))
                    == nil)
        }
    }

    @Test func `A vault that is locked, denied or corrupt, and a value that is too long, each have a status`()
        async throws
    {
        let folder = try Folder()
        let (file, key) = (folder.path("shop.vault"), folder.path("elsewhere.key"))
        func vault(_ words: String..., input: Data = Data()) async throws -> Int32 {
            try await Tool.start(["vault"] + words + ["--vault", file, "--key", key], input: input).end().status
        }
        #expect(try await vault("set", "main", input: Data(count: (1 << 20) + 1)) == 34)
        #expect(try await vault("set", "main", input: Data(count: 1 << 20)) == 0)
        #expect(try await vault("get", "main") == 0)
        #expect(!FileManager.default.fileExists(atPath: file + ".key"))
        let bytes = try folder.read("elsewhere.key")
        try FileManager.default.removeItem(atPath: key)
        #expect(try await vault("get", "main") == 31)
        #expect(try await vault("set", "main", input: Self.secret) == 31)
        _ = try folder.write(Data(bytes.reversed()), to: "elsewhere.key")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        #expect(try await vault("ls") == 32)
        _ = try folder.write(bytes, to: "elsewhere.key")
        #expect(try await vault("ls") == 0)
        _ = try folder.write(try folder.read("shop.vault").dropLast(), to: "shop.vault")
        #expect(try await vault("rm", "main") == 33)
    }

    @Test func `set refuses an empty value, and what was kept is there still`() async throws {
        let folder = try Folder()
        let words = ["main", "--vault", folder.path("shop.vault")]
        #expect(try await Tool.start(["vault", "set"] + words, input: Data()).end().status == 64)
        #expect(!FileManager.default.fileExists(atPath: folder.path("shop.vault")))
        #expect(try await Tool.start(["vault", "set"] + words, input: Self.secret).end().status == 0)
        let empty = try await Tool.start(["vault", "set"] + words, input: Data()).end()
        #expect(empty.status == 64 && empty.errors.contains("empty"), "\(empty.errors)")
        #expect(try await Tool.start(["vault", "get"] + words).end().output == Self.secret)
        #expect(try await Tool.start(["vault", "set"] + words, input: Data("\n".utf8)).end().status == 0)
    }

    @Test func `A file that is no vault stays as it is, and is said to be none`() async throws {
        let folder = try Folder()
        let file = try folder.write(Data("a list of the team's\n".utf8), to: "list")
        try FileManager.default.setAttributes([.posixPermissions: 0o664], ofItemAtPath: file)
        for words in [["ls"], ["get", "main"], ["set", "main"], ["rm", "main"]] {
            let tool = try await Tool.start(["vault"] + words + ["--vault", file], input: Self.secret).end()
            #expect(tool.status == 33 && tool.errors.contains("no vault"), "\(words): \(tool.errors)")
        }
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o664)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["list"])
    }

    @Test(arguments: [
        [], ["ls"], ["ls", "main", "--vault", "/none"], ["ls", "--vault", "/dev/null", "--environment", "test"],
        ["ls", "--vault", "/dev/null", "--origin", "https://a.example"], ["get", "--vault", "/none"],
        ["get", "", "--vault", "/none"],
        ["get", "a", "b", "c", "--vault", "/none"], ["put", "a", "--vault", "/none"],
        ["get", "a", "--vault", "/none", "--origin", "nonsense"],
        ["get", "a", "--secret-service", "x", "--vault", "/none"],
        ["get", "a", "--vault", "/none", "--key", "/k", "--keyring", "k"],
    ])
    func `vault refuses what it cannot do`(words: [String]) async throws {
        let tool = try await Tool.start(["vault"] + words, input: Self.secret).end()
        #expect(tool.status == 64)
        #expect(!tool.errors.contains("swordfish"))
    }
}

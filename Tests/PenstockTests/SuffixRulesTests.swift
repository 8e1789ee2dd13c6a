#if os(Linux)
    import CPSL
    import Foundation
    import Penstock
    import PenstockSuffixRules
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// The list that comes with the package, by which Apple's systems go, against libpsl on the same rules.
    @Suite(.timeLimit(.minutes(2))) struct SuffixRulesTests {
        private static let rules = SuffixRules.text.split(separator: "\n").map(String.init)

        /// A rule without its mark.
        private static func name(of rule: String) -> String {
            rule.hasPrefix("*.") ? String(rule.dropFirst(2)) : String(rule.drop { $0 == "!" })
        }

        private func withFolder(_ body: (URL) async throws -> Void) async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try await body(folder)
        }

        /// What libpsl makes of the very text that is our list.
        private func withLibrary(_ body: (OpaquePointer) throws -> Void) async throws {
            try await withFolder { folder in
                let file = folder.appendingPathComponent("rules.dat")
                try Data(SuffixRules.text.utf8).write(to: file)
                let library = try #require(psl_load_file(file.path))
                defer { psl_free(library) }
                try body(library)
            }
        }

        @Test func `every rule that comes with the package is read, and none stands there twice`() throws {
            #expect(Self.rules.count > 9_000)
            #expect(try #require(SuffixRules.list).description == "\(Self.rules.count) public suffixes")
            for rule in Self.rules {
                #expect(throws: Never.self, "\(rule)") { try HTTPURL("https://\(Self.name(of: rule))/") }
            }
        }

        @Test func `libpsl says the same of each rule, of what is above it, and of one, two and three labels more`()
            async throws
        {
            let own = try #require(SuffixRules.list)
            try await withLibrary { library in
                var kinds = (wildcards: 0, exceptions: 0, international: 0)
                for rule in Self.rules {
                    let name = Self.name(of: rule)
                    let host = try HTTPURL("https://\(name)/").host
                    kinds.wildcards += rule.hasPrefix("*.") ? 1 : 0
                    kinds.exceptions += rule.hasPrefix("!") ? 1 : 0
                    kinds.international += host == name ? 0 : 1
                    // The name as people write it is to libpsl what its form in URLs is.
                    #expect(own.isPublicSuffix(host) == (psl_is_public_suffix(library, name) != 0), "\(name)")
                    let parents = host.split(separator: ".").dropFirst()
                    let names = [host, parents.joined(separator: "."), "x.\(host)", "y.x.\(host)", "z.y.x.\(host)"]
                    for name in names where !name.isEmpty {
                        #expect(own.isPublicSuffix(name) == (psl_is_public_suffix(library, name) != 0), "\(name)")
                        // A place in the text that was asked about.
                        let registered = name.withCString { text in
                            psl_registrable_domain(library, text).map { String(cString: $0) }
                        }
                        #expect(own.registrableDomain(of: name) == registered, "\(name)")
                    }
                }
                #expect(kinds.wildcards > 50 && kinds.exceptions >= 8 && kinds.international > 300)
            }
        }

        @Test func `a name beside a rule is none of it, to libpsl and to us`() async throws {
            let own = try #require(SuffixRules.list)
            try await withLibrary { library in
                for rule in Self.rules {
                    let host = try HTTPURL("https://\(Self.name(of: rule))/").host
                    for name in ["x\(host)", "\(host)x", "\(host).example", "x-\(host).unknown-tld"] {
                        #expect(own.isPublicSuffix(name) == (psl_is_public_suffix(library, name) != 0), "\(name)")
                    }
                }
            }
        }

        @Test func `cookies go by it as by the system's`() throws {
            var jar = CookieJar(suffixes: SuffixRules.list)
            let shop = try HTTPURL("https://x.shop.co.uk/")
            jar.receive(["wide=1; Domain=shop.co.uk", "suffix=1; Domain=co.uk"], from: shop, at: .now)
            #expect(jar.field(for: try HTTPURL("https://y.shop.co.uk/"), at: .now) == "wide=1")
            jar.receive(["mine=1; Domain=github.io"], from: try HTTPURL("https://me.github.io/"), at: .now)
            #expect(jar.field(for: try HTTPURL("https://you.github.io/"), at: .now) == nil)
        }

        // MARK: How it is made

        private static let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

        private func makeRules(of list: String, in folder: URL) async throws -> Subprocess {
            let file = folder.appendingPathComponent("list.dat")
            try Data(list.utf8).write(to: file)
            return try await Subprocess.run(
                Self.root.appendingPathComponent("Scripts/public-suffixes"), [file.path, folder.path], in: folder)
        }

        /// What the script has made in a folder, by its name.
        private func made(in folder: URL) throws -> [String: String] {
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                .filter { $0.lastPathComponent.hasPrefix("SuffixRules+") }
            return try Dictionary(
                uniqueKeysWithValues: files.map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) })
        }

        @Test func `the script makes of a list the files that are here, and leaves its comments out`() async throws {
            let sources = Self.root.appendingPathComponent("Sources/PenstockSuffixRules")
            let (own, last) = (try made(in: sources), try #require(SuffixRules.text.split(separator: "\n").last))
            // The first rule of companies is the first of the last file.
            let file = try #require(own["SuffixRules+\(own.count).swift"])
            let companies = file.split(separator: "\n").drop { !$0.hasSuffix("\"\"\"") }.dropFirst()
            let first = try #require(companies.first?.split(separator: " ").first)
            let start = try #require(Self.rules.lastIndex(of: String(first)))
            #expect(Self.rules.last == String(last))
            let list = """
                // VERSION: \(SuffixRules.version)
                // ===BEGIN ICANN DOMAINS===

                // A registry : https://registry.example
                \(Self.rules[..<start].joined(separator: "\n"))
                // ===END ICANN DOMAINS===
                // ===BEGIN PRIVATE DOMAINS===
                \(Self.rules[start...].joined(separator: " // a word on it\n"))

                // ===END PRIVATE DOMAINS===

                """
            try await withFolder { folder in
                // What an earlier, longer list has left is taken away.
                try Data().write(to: folder.appendingPathComponent("SuffixRules+9.swift"))
                let script = try await makeRules(of: list, in: folder)
                #expect(script.status == 0, "\(script.output)")
                #expect(script.output == "\(Self.rules.count) rules of version \(SuffixRules.version)\n")
                let again = try made(in: folder)
                #expect(again == own)
            }
        }

        @Test(arguments: [
            "", "com\n", "// ===BEGIN ICANN DOMAINS===\ncom\n// ===END ICANN DOMAINS===\n",
            "<html>\n// ===BEGIN ICANN DOMAINS===\ncom\n// ===BEGIN PRIVATE DOMAINS===\ngithub.io\n",
            "// ===BEGIN ICANN DOMAINS===\n\\(run())\n// ===BEGIN PRIVATE DOMAINS===\ngithub.io\n",
        ]) func `a file that is no whole list changes nothing`(text: String) async throws {
            try await withFolder { folder in
                let old = folder.appendingPathComponent("SuffixRules+1.swift")
                try Data("old".utf8).write(to: old)
                let script = try await makeRules(of: text, in: folder)
                #expect(script.status == 1 && script.output.hasPrefix("public-suffixes: "), "\(script.output)")
                #expect(try made(in: folder) == ["SuffixRules+1.swift": "old"])
            }
        }
    }
#endif

import PenstockTestSupport
import Testing

/// One compiler at a time: each takes a core and some seconds.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CompileTimeTests {
    private static let login = """
        import PenstockCore

        struct Login: Endpoint, Encodable {
            typealias Output = String
            let account: String
            let password: String
            var route: Route { .post("/login") }
        }

        """

    @Test(.covers("S0.5", "S1.16", "S2.32"))
    func `leaving out a required parameter, or giving nil for it, does not compile`() async throws {
        let good = try await Compiler.check([
            "good.swift": Self.login + #"func make() -> Login { Login(account: "a", password: "b") }"#
        ])
        #expect(good.succeeded, "\(good.diagnostics)")
        let missing = try await Compiler.check(["bad.swift": Self.login + #"let bad = Login(account: "a")"#])
        #expect(!missing.succeeded)
        #expect(missing.diagnostics.contains("missing argument for parameter 'password' in call"))
        let none = try await Compiler.check([
            "bad.swift": Self.login + #"let bad = Login(account: "a", password: nil)"#
        ])
        #expect(!none.succeeded)
        #expect(none.diagnostics.contains("'nil' is not compatible with expected argument type 'String'"))
    }

    @Test(.covers("S1.16")) func `an optional cannot become part of a path`() async throws {
        func source(_ type: String) -> [String: String] {
            ["path.swift": "import PenstockCore\nfunc path(_ id: \(type)) -> RoutePath { \"/products/\\(id)\" }"]
        }
        #expect(try await Compiler.check(source("Int")).succeeded)
        let optional = try await Compiler.check(source("Int?"))
        #expect(!optional.succeeded)
        #expect(optional.diagnostics.contains("error:"))
        #expect(!optional.diagnostics.contains("no such module"))
    }

    @Test(.covers("S3.20")) func `an API without its route or its result type is none`() async throws {
        let whole = """
            import PenstockCore
            struct Products: Endpoint {
                typealias Output = [String]
                var route: Route { .get("/products") }
            }
            """
        #expect(try await Compiler.check(["whole.swift": whole]).succeeded)
        let parts = [
            ("    typealias Output = [String]\n", "protocol requires nested type 'Output'"),
            ("    var route: Route { .get(\"/products\") }\n", "protocol requires property 'route'"),
        ]
        for (part, wanted) in parts {
            let partial = try await Compiler.check([
                "part.swift": whole.split(separator: "\n").map { "\($0)\n" }.filter { $0 != part }.joined()
            ])
            #expect(!partial.succeeded, "without \(part)")
            #expect(partial.diagnostics.contains("type 'Products' does not conform to protocol 'Endpoint"))
            #expect(partial.diagnostics.contains(wanted))
        }
    }

    @Test(.covers("S2.31", "S3.25")) func `APIs in separate files compile with nothing of an app`() async throws {
        let result = try await Compiler.check([
            "space.swift": "enum API {}",
            "one.swift": """
            import PenstockCore
            extension API {
                struct Products: Endpoint {
                    typealias Output = [String]
                    var route: Route { .get("/products") }
                }
            }
            """,
            "two.swift": """
            import PenstockCore
            extension API {
                struct Order: Endpoint, Encodable {
                    typealias Output = Void
                    let id: Int
                    var route: Route { .put("/orders/\\(id)") }
                }
            }
            """,
            "use.swift": """
            import PenstockCore
            func use(_ client: APIClient) async throws(APIError) -> [String] {
                try await client.send(API.Order(id: 1))
                return try await client.send(API.Products())
            }
            """,
        ])
        #expect(result.succeeded, "\(result.diagnostics)")
    }

    @Test(.covers("S2.36")) func `three hundred APIs are three hundred declarations and compile`() async throws {
        let declarations = (0..<300).map { number in
            """
            struct API\(number): Endpoint, Encodable {
                typealias Output = Item
                let id: Int
                let note: String?
                var route: Route { .\(["get", "post", "put", "delete"][number % 4])("/module/\(number)/\\(id)") }
            }
            """
        }
        let head = "import PenstockCore\nstruct Item: Decodable, Sendable { let id: Int }\n"
        let result = try await Compiler.check(["apis.swift": head + declarations.joined(separator: "\n")])
        #expect(result.succeeded, "\(result.diagnostics.prefix(2_000))")
        let broken = try await Compiler.check([
            "apis.swift": head
                + declarations.joined(separator: "\n").replacing(
                    "Output = Item", with: "Output = Itm", maxReplacements: 1)
        ])
        #expect(!broken.succeeded)
    }
}

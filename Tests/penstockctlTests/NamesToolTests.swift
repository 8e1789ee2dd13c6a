#if os(Linux)
    import Foundation
    import PenstockTesting
    import Testing

    /// Where names lead, as the tool is told.
    @Suite(.timeLimit(.minutes(5))) struct NamesToolTests {
        @Test("A name leads where --resolve says, for its port alone, and stays the name", .covers("S3.28"))
        func resolve() async throws {
            let server = try LoopbackServer { request in .text(request.fields[.host] ?? "") }
            defer { server.stop() }
            let (url, port) = ("http://api.shop.test:\(server.url.port)/", server.url.port)
            for address in ["127.0.0.1", "127.0.0.2,127.0.0.1", "[::1],127.0.0.1"] {
                let tool = try await Tool.fetch(url, "--json", "--resolve", "API.shop.test:\(port):\(address)")
                #expect(tool.status == 0, "\(tool.errors)")
                let report = try tool.report()
                #expect(report.body == "api.shop.test:\(port)" && report.connection?.remoteAddress == "127.0.0.1")
                #expect(report.url == url)
            }
            let other = try await Tool.fetch(url, "--resolve", "api.shop.test:\(port + 1):127.0.0.1", "--timeout", "9")
            #expect(other.status == 6 || other.status == 7)
            #expect(server.requestCount == 3)
        }

        @Test("drive goes where --resolve says, too")
        func drive() async throws {
            let server = try LoopbackServer.echo()
            defer { server.stop() }
            let line = #"{"id":1,"method":"GET","url":"http://localhost:\#(server.url.port)/x","headers":[]}"# + "\n"
            let words = ["drive", "--resolve", "localhost:\(server.url.port):127.0.0.2,127.0.0.1"]
            let tool = try await Tool.start(words, input: Data(line.utf8)).end()
            #expect(tool.status == 0 && server.requestCount == 1, "\(tool.text) \(tool.errors)")
        }

        @Test(arguments: [
            "a.test", "a.test:80", "a.test:80:", "a.test:80:b", "a.test:x:1.1.1.1", "a.test:80:1.1.1.1,", ":80:1.1.1.1",
            "1.1.1.1:80:1.1.1.1",
        ])
        func `What is no name, port and address is named, exits with 64 and sends nothing`(text: String) async throws {
            let server = try LoopbackServer.echo()
            defer { server.stop() }
            let tool = try await Tool.fetch(server.address("/"), "--resolve", text)
            #expect(tool.status == 64 && tool.errors.contains("--resolve"), "\(tool.errors)")
            #expect(server.connectionCount == 0)
        }
    }
#endif

#if os(Linux)
    import Foundation
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// The tool with a name server that does not answer: a library that is loaded before all others looks names up in
    /// place of the system, and takes its time with some.
    @Suite(.timeLimit(.minutes(5))) struct StalledLookupTests {
        private static let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <netdb.h>
            #include <string.h>
            #include <unistd.h>

            typedef int look_up(const char *, const char *, const struct addrinfo *, struct addrinfo **);

            int getaddrinfo(const char *name, const char *port, const struct addrinfo *hints, struct addrinfo **list) {
                if (name && !strncmp(name, "slow", 4)) {
                    sleep(60);
                    return EAI_AGAIN;
                }
                look_up *next = (look_up *)dlsym(RTLD_NEXT, "getaddrinfo");
                return next(name && !strncmp(name, "good", 4) ? "127.0.0.1" : name, port, hints, list);
            }
            """

        /// Runs the tool with that library.
        private func run(_ prefix: String, _ arguments: String...) async throws -> (Tool, Duration) {
            let folder = try Folder()
            let file = try folder.write(Data(Self.source.utf8), to: "names.c")
            let library = file + ".so"
            let compiler = try await Subprocess.run(
                URL(fileURLWithPath: "/usr/bin/env"), ["clang", "-shared", "-fPIC", "-o", library, file, "-ldl"])
            try #require(compiler.status == 0, "\(compiler.output)")
            let words = arguments.map { "'\($0)'" }.joined(separator: " ")
            let start = ContinuousClock.now
            let tool = try await Tool.shell("LD_PRELOAD='\(library)' exec \(prefix) \"$0\" fetch \(words)")
            return (tool, ContinuousClock.now - start)
        }

        @Test("A look-up that does not end is given up in time, and the tool ends at once", .covers("H31"))
        func timeout() async throws {
            let (tool, duration) = try await run("", "http://slow.test/", "--timeout", "1")
            #expect(tool.status == 7)
            #expect(tool.errors.contains("look-up"))
            #expect(duration >= .seconds(1) && duration < .seconds(20))
        }

        @Test("An interrupt ends the tool at once while a name is looked up", .covers("H31"))
        func interrupt() async throws {
            let (tool, duration) = try await run("timeout --preserve-status -s INT 1", "http://slow.test/")
            #expect(tool.status != 0)
            #expect(duration < .seconds(20))
        }

        @Test func `A name that is answered is connected to`() async throws {
            let server = try LoopbackServer.echo()
            defer { server.stop() }
            let (tool, _) = try await run("", "http://good.test:\(server.url.port)/")
            #expect(tool.status == 0, "\(tool.errors)")
            #expect(server.requestCount == 1)
        }
    }
#endif

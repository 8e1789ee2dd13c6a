#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    extension OwnProcessTests {
        /// What becomes of calls when file descriptors run out. Each test has a process to itself, whose limit is low; the
        /// server is in another one, and is never short of them.
        @Suite(.serialized, .timeLimit(.minutes(5)))
        struct DescriptorTests {
            private static func limitDescriptors(to limit: rlim_t) async throws {
                // What the tasks' own pool needs for the time is opened with the first that sleeps.
                try await Task.sleep(for: .milliseconds(1))
                var limits = rlimit(rlim_cur: limit, rlim_max: limit)
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
            }

            private static func get(_ url: HTTPURL, identity: String = "", _ timeouts: Timeouts = .init())
                -> TransportRequest
            {
                TransportRequest(
                    HTTPRequest(method: .get, url: url), timeouts: timeouts,
                    isolation: IsolationKey(identity: identity))
            }

            @Test("At 256 descriptors six hundred users, one after the other, are all served", .covers("H36"))
            func identities() async throws {
                let server = try LoopbackServer { _ in .text("ok") }
                defer { server.stop() }
                await #expect(processExitsWith: .success) { [port = server.url.port as Int] in
                    let url = try HTTPURL("http://127.0.0.1:\(port)/")
                    try await Self.limitDescriptors(to: 256)
                    let transport = CurlTransport()
                    for number in 0..<600 {
                        let answer = try await transport.perform(Self.get(url, identity: "\(number)"))
                        #expect(answer.response.status == 200)
                    }
                    #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count < 240)
                    await transport.shutdown()
                }
            }

            @Test("At 256 descriptors four hundred calls at once to one host are all served", .covers("H36"))
            func crowd() async throws {
                let server = try LoopbackServer { _ in .text("ok") }
                defer { server.stop() }
                await #expect(processExitsWith: .success) { [port = server.url.port as Int] in
                    let url = try HTTPURL("http://127.0.0.1:\(port)/")
                    try await Self.limitDescriptors(to: 256)
                    let transport = CurlTransport()
                    try await withThrowingTaskGroup(of: Int.self) { group in
                        for _ in 0..<400 {
                            group.addTask { try await transport.perform(Self.get(url)).response.status }
                        }
                        for try await status in group { #expect(status == 200) }
                    }
                    await transport.shutdown()
                }
                #expect(server.connectionCount <= 64)
            }

            @Test("Without a limit of connections, calls wait for descriptors as well", .covers("H36"))
            func unlimited() async throws {
                let server = try LoopbackServer { _ in .text("ok") }
                defer { server.stop() }
                await #expect(processExitsWith: .success) { [port = server.url.port as Int] in
                    let url = try HTTPURL("http://127.0.0.1:\(port)/")
                    try await Self.limitDescriptors(to: 40)
                    let transport = CurlTransport(configuration: .init(maxConnectionsPerHost: .max))
                    try await withThrowingTaskGroup(of: Int.self) { group in
                        for _ in 0..<300 {
                            group.addTask { try await transport.perform(Self.get(url)).response.status }
                        }
                        for try await status in group { #expect(status == 200) }
                    }
                    await transport.shutdown()
                }
            }

            @Test(
                "Idle connections to other hosts, and other users' pools, are given up for a new connection",
                .covers("H36"))
            func idle() async throws {
                let server = try LoopbackServer { _ in .text("ok") }
                defer { server.stop() }
                await #expect(processExitsWith: .success) { [port = server.url.port as Int] in
                    let url = try HTTPURL("http://127.0.0.1:\(port)/")
                    let transport = CurlTransport(configuration: .init(maxConnectionsPerHost: 16))
                    try await Self.limitDescriptors(to: 70)
                    for number in 1...100 {
                        let other = try HTTPURL("http://h\(number).localhost:\(port)/")
                        #expect(try await transport.perform(Self.get(other)).response.status == 200)
                    }
                    for number in 1...100 {
                        let answer = try await transport.perform(Self.get(url, identity: "\(number % 10)"))
                        #expect(answer.response.status == 200)
                    }
                    await transport.shutdown()
                }
            }

            @Test("A call that finds no descriptor waits for one, and says so when none comes", .covers("H36"))
            func none() async throws {
                let server = try LoopbackServer { _ in .text("ok") }
                defer { server.stop() }
                await #expect(processExitsWith: .success) { [port = server.url.port as Int] in
                    let url = try HTTPURL("http://127.0.0.1:\(port)/")
                    let transport = CurlTransport()
                    // Once in a second libdispatch opens a file about each of its threads, and ends the process where it
                    // cannot. The first time is over by then, and the next one is later than the end of all this.
                    try await Task.sleep(for: .milliseconds(1_100))
                    try await Self.limitDescriptors(to: 64)
                    var taken: [Int32] = []
                    while case let descriptor = open("/dev/null", O_RDONLY), descriptor >= 0 {
                        taken.append(descriptor)
                    }
                    let hurried = Timeouts(connect: .milliseconds(100), firstByte: nil, idle: nil, total: .seconds(60))
                    // They are judged once there are descriptors again, since to tell of a failure takes some.
                    var errors: [TransportError?] = []
                    for host in ["127.0.0.1", "name.invalid"] {
                        let other = try HTTPURL("http://\(host):\(port)/")
                        do throws(TransportError) {
                            _ = try await transport.perform(Self.get(other, hurried))
                            errors.append(nil)
                        } catch {
                            errors.append(error)
                        }
                    }
                    let patient = Timeouts(connect: .seconds(60), total: .seconds(60))
                    async let answers = withThrowingTaskGroup(of: Int.self) { group in
                        for _ in 0..<20 {
                            group.addTask { try await transport.perform(Self.get(url, patient)).response.status }
                        }
                        return try await group.reduce(into: []) { $0.append($1) }
                    }
                    try await Task.sleep(for: .milliseconds(100))
                    for descriptor in taken.prefix(8) { close(descriptor) }
                    #expect(try await answers == Array(repeating: 200, count: 20))
                    for descriptor in taken.dropFirst(8) { close(descriptor) }
                    #expect(errors.map(\.?.kind) == Array(repeating: .unreachable(.noDescriptors), count: 2))
                    #expect(errors.allSatisfy { $0?.sendState == .unsent && $0?.message.isEmpty == false })
                    await transport.shutdown()
                }
            }
        }
    }
#endif

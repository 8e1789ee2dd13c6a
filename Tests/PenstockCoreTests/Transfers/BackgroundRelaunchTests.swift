import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What a process finds that comes back: the reply, the request still under way, or nothing.
extension BackgroundUploadTests {
    @Test("A reply that came while no process was there ends the upload", .covers("X15"), arguments: forms)
    func replyWhileAway(form: ResumableUploadProtocol) async throws {
        let server = UploadServer(form)
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, form)
        await system.send()
        #expect(server.objects == [content])
        let receipt = try await upload(next, client(server), transfers(system.process(), next), by: form).value
        #expect(server.objects == [content] && server.requests == ["POST", "PATCH"])
        #expect(receipt.response?.value == (form == .tus ? Data() : Data("processed".utf8)))
        #expect(receipt.url?.absoluteString == "https://a.example/uploads/1")
        #expect(next.kept.isEmpty && !FileManager.default.fileExists(atPath: next.state.path))
    }

    @Test("A reply waits on disk for the process that asks for it", .covers("X15"), arguments: forms)
    func replyOnDisk(form: ResumableUploadProtocol) async throws {
        let server = UploadServer(form)
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, form)
        // A process that is started for the reply, and ends before anybody asks for the upload.
        let woken = system.process()
        let waking = transfers(woken, next)
        await system.send()
        while !Task.isCancelled, next.kept.contains(where: { $0.hasSuffix(".part") }) || next.kept.isEmpty {
            await Task.yield()
        }
        woken.kill()
        withExtendedLifetime(waking) {}
        #expect(next.kept.count == 1 && next.kept.allSatisfy { $0.hasSuffix(".reply") })
        let reply = try #require(
            FileManager.default.enumerator(atPath: next.root.path)?.compactMap { $0 as? String }.last)
        let facts = try FileManager.default.attributesOfItem(atPath: next.root.appendingPathComponent(reply).path)
        #expect(facts[.posixPermissions] as? Int == 0o600)
        let receipt = try await upload(next, client(server), transfers(system.process(), next), by: form).value
        #expect(server.objects == [content] && server.requests == ["POST", "PATCH"])
        #expect(receipt.response?.http.status == (form == .tus ? 204 : 200))
        #expect(next.kept.isEmpty)
    }

    @Test("A request that is still under way is waited for, and not sent again", .covers("X15"), arguments: forms)
    func stillRunning(form: ResumableUploadProtocol) async throws {
        let server = UploadServer(form)
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, form)
        let background = transfers(system.process(), next)
        let second = upload(next, client(server), background, by: form)
        var progress = second.progress.makeAsyncIterator()
        while let seen = await progress.next(), seen.sent < 7 {}
        #expect(next.kept.count == 1, "its content is there as long as it is sent")
        await system.send()
        _ = try await second.value
        #expect(server.objects == [content] && server.requests == ["POST", "PATCH"])
        #expect(next.kept.isEmpty && system.state.withLock(\.begun).count == 1)
    }

    @Test("What the system has lost is asked for, and the rest is sent", .covers("X15"), arguments: forms)
    func lost(form: ResumableUploadProtocol) async throws {
        let server = UploadServer(form)
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, form)
        system.lose()
        let second = upload(next, client(server), transfers(system.process(), next), by: form)
        await system.hasTasks()
        #expect(next.kept.count == 1, "what was lost is removed")
        await system.send()
        _ = try await second.value
        #expect(server.objects == [content] && server.requests == ["POST", "HEAD", "PATCH"])
        #expect(next.kept.isEmpty)
    }

    @Test("An upload that was done, and whose reply is lost, is done once", .covers("X15"), arguments: forms)
    func replyLost(form: ResumableUploadProtocol) async throws {
        let server = UploadServer(form)
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, form)
        await system.send()
        system.lose()
        let receipt = try await upload(next, client(server), transfers(system.process(), next), by: form).value
        #expect(server.objects == [content] && server.requests == ["POST", "PATCH", "HEAD"])
        #expect(receipt.response == nil, "the answer is lost")
    }

    @Test("What may be done, and is forgotten by both, is not done again", .covers("X15"), arguments: forms)
    func forgotten(form: ResumableUploadProtocol) async throws {
        let server = UploadServer(form)
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, form)
        await system.send()
        system.lose()
        server.state.withLock { $0.resources = [:] }
        let error = await failure(upload(next, client(server), transfers(system.process(), next), by: form))
        #expect(error?.underlying as? ResumableUploadError == .outcomeUnknown && server.objects == [content])
    }

    @Test(arguments: [TransportError.Kind.cancelled, .connectionLost])
    func `what the user or the system has ended while no process was there is asked for`(kind: TransportError.Kind)
        async throws
    {
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, .tus)
        system.giveUp(kind)
        let second = upload(next, client(server), transfers(system.process(), next))
        await system.hasTasks()
        await system.send()
        _ = try await second.value
        #expect(server.objects == [content] && server.requests == ["POST", "HEAD", "PATCH"])
    }

    @Test func `what is waited for after a relaunch is cancelled like any other`() async throws {
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, .tus)
        let second = upload(next, client(server), transfers(system.process(), next))
        var progress = second.progress.makeAsyncIterator()
        while let seen = await progress.next(), seen.sent < 7 {}
        second.cancel()
        #expect(await failure(second)?.kind == .cancelled)
        #expect(system.state.withLock(\.tasks).isEmpty && server.requests == ["POST"])
    }

    @Test func `without the transfers that it was handed to, the upload asks the server`() async throws {
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, .tus)
        _ = try await upload(next, client(server), nil).value
        #expect(server.objects == [content] && server.requests == ["POST", "HEAD", "PATCH"])
    }

    @Test func `a refusal that came while no process was there ends one upload, and not the next`() async throws {
        let server = UploadServer(.tus, faults: [nil, .status(403)])
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, .tus)
        await system.send()
        let background = transfers(system.process(), next)
        #expect(await failure(upload(next, client(server), background))?.kind == .httpStatus(403))
        #expect(server.requests == ["POST", "PATCH"] && next.kept.isEmpty)
        let third = upload(next, client(server), background)
        await system.hasTasks()
        await system.send()
        _ = try await third.value
        #expect(server.objects == [content] && server.requests == ["POST", "PATCH", "HEAD", "PATCH"])
    }

    @Test func `a credential that has expired while no process was there is renewed, and the server asked`()
        async throws
    {
        let server = UploadServer(.tus, faults: [nil, .status(401)])
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, .tus)
        await system.send()
        server.state.withLock { $0.token = "new" }
        let client = bearer(server)
        try await client.signIn(Self.credential("old"), to: .main)
        let second = upload(next, client, transfers(system.process(), next))
        await system.hasTasks()
        await system.send()
        _ = try await second.value
        #expect(server.objects == [content] && server.requests == ["POST", "PATCH", "HEAD", "HEAD", "PATCH"])
    }

    @Test func `another user finds nothing of what the first one has handed over`() async throws {
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, .tus) { $0.identity = { "alice" } }
        await system.send()
        let background = transfers(system.process(), next)
        let other = upload(next, client(server) { $0.identity = { "bob" } }, background)
        await system.hasTasks()
        await system.send()
        _ = try await other.value
        #expect(server.requests == ["POST", "PATCH", "POST", "PATCH"])
        let receipt = try await upload(next, client(server) { $0.identity = { "alice" } }, background).value
        #expect(receipt.url?.absoluteString == "https://a.example/uploads/1" && server.requests.count == 4)
        #expect(server.objects == [content, content] && next.kept.isEmpty)
    }

    @Test(arguments: ["", "x", "../../etc/passwd", "0123456789abcdef-1"])
    func `a state that names what was never handed over asks the server`(key: String) async throws {
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, .tus)
        system.lose()
        let text = try String(contentsOf: next.state, encoding: .utf8)
        let known = try #require(system.state.withLock(\.begun).first?.key.text)
        #expect(text.contains(known))
        try Data(text.replacingOccurrences(of: known, with: key).utf8).write(to: next.state)
        let second = upload(next, client(server), transfers(system.process(), next))
        await system.hasTasks()
        await system.send()
        _ = try await second.value
        #expect(server.objects == [content] && server.requests == ["POST", "HEAD", "PATCH"])
    }

    // MARK: What is on disk, and what the app's delegate is asked

    @Test func `replies that nobody has asked for in a month are removed, and nothing else is`() async throws {
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, .tus)
        let woken = transfers(system.process(), next)
        await system.send()
        while !Task.isCancelled, next.kept.allSatisfy({ !$0.hasSuffix(".reply") }) { await Task.yield() }
        withExtendedLifetime(woken) {}
        let reply = next.root.appendingPathComponent(try #require(next.kept.first { $0.hasSuffix(".reply") }))
        let other = reply.deletingLastPathComponent().appendingPathComponent("mine.reply")
        try Data("mine".utf8).write(to: other)
        for (days, isKept) in [(29.0, true), (31, false)] {
            let later = BackgroundTransfers(
                system.process(), identifier: Self.identifier, root: next.root,
                at: Date().addingTimeInterval(days * 86_400))
            #expect(await !later.has(BackgroundKey(in: "0123456789abcdef").text), "it is open by then")
            #expect(FileManager.default.fileExists(atPath: reply.path) == isKept)
        }
        #expect(FileManager.default.fileExists(atPath: other.path))
    }

    @Test func `everything that was handed over is ended at once, whoever asks for it later`() async throws {
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server, isEager: false)
        let next = try await killed(system, .tus)
        let background = transfers(system.process(), next)
        await background.cancelAll()
        #expect(system.state.withLock(\.tasks).isEmpty && next.kept.isEmpty)
        let second = upload(next, client(server), background)
        await system.hasTasks()
        await background.cancelAll()
        await system.hasTasks()
        await system.send()
        _ = try await second.value
        #expect(server.objects == [content] && server.requests == ["POST", "HEAD", "HEAD", "PATCH"])
        await BackgroundTransfers(identifier: "none").cancelAll()
    }

    @Test @MainActor func `the system is told that all is known once it is, whichever comes first`() async throws {
        let system = BackgroundSystem(UploadServer(.tus))
        let background = transfers(system.process(), disk)
        let partition = ResumableUploadState.mark(of: "alice", in: "test")
        let done = Monitor(0)
        let session = "\(Self.identifier)-\(partition)"
        #expect(background.handleEvents(of: session) { done.withLock { $0 += 1 } })
        await system.state.waitUnlessCancelled { $0.partitions.contains([partition]) }
        #expect(done.withLock { $0 } == 0)
        system.tell(.caughtUp(partition: partition))
        await done.waitUnlessCancelled { $0 >= 1 }
        system.tell(.caughtUp(partition: partition))
        #expect(background.handleEvents(of: session) { done.withLock { $0 += 1 } })
        #expect(done.withLock { $0 } == 2)
        for other in ["", Self.identifier, "\(Self.identifier)-", "\(Self.identifier)-x", "other-\(partition)"] {
            #expect(!background.handleEvents(of: other) { done.withLock { $0 += 1 } })
        }
        #expect(!BackgroundTransfers(identifier: Self.identifier).handleEvents(of: session) {})
        #expect(done.withLock { $0 } == 2)
    }

    // MARK: What is refused

    static let refusals: [(feature: String, change: @Sendable (inout CallOptions) throws -> Void)] = [
        (
            "a trust policy other than the background session's own",
            { $0.trust = .authorities(URL(fileURLWithPath: "/a")) }
        ),
        (
            "a proxy of the request's own, in a background session",
            { $0.proxy = .http(try HTTPURL("http://proxy.example")) }
        ),
        ("refusing redirects, in a background session", { $0.redirects = .never }),
        ("a total time-out, in a background session", { $0.timeouts.total = .seconds(60) }),
        ("resumable uploads of sealed content", { $0.sealing = .sealed }),
    ]

    @Test(arguments: refusals.indices) func `what the system cannot keep is refused before anything is sent`(
        index: Int
    ) async throws {
        let (feature, change) = Self.refusals[index]
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server)
        var options = CallOptions()
        try change(&options)
        let error = await failure(
            upload(disk, client(server), transfers(system.process(), disk), options: options))
        #expect(error?.kind == .unsupported(feature: feature))
        #expect(server.requests.isEmpty && system.state.withLock(\.begun).isEmpty)
    }

    @Test func `a trust policy that the platform does not keep is refused, and one that is the session's own is not`()
        async throws
    {
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server)
        let policy = TrustPolicy.system.revocation(.lists(URL(fileURLWithPath: "/a")))
        for (trust, isTaken) in [(policy, false), (TrustPolicy.authorities(URL(fileURLWithPath: "/a")), true)] {
            let background = BackgroundTransfers(
                system.process(), identifier: Self.identifier, root: disk.root, trust: trust)
            let options = CallOptions.with { $0.trust = trust }
            let error = await failure(upload(disk, client(server), background, options: options))
            #expect((error == nil) == isTaken)
            if case .unsupported = error?.kind {} else if !isTaken { Issue.record("\(String(describing: error))") }
        }
        #expect(server.objects == [content])
    }

    @Test("Where the platform has no background sessions the upload is refused before anything is sent")
    func unsupported() async throws {
        let server = UploadServer(.tus)
        let error = await failure(upload(disk, client(server), BackgroundTransfers(identifier: Self.identifier)))
        #expect(error?.kind == .unsupported(feature: "background sessions on this platform"))
        #expect(error?.sendState == .unsent && server.requests.isEmpty)
    }
}

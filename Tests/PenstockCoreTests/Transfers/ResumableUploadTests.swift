import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Uploads of files through a client, to a server that fails at every point.
@Suite(.timeLimit(.minutes(5)))
final class ResumableUploadTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)")
    private var file: URL { folder.appendingPathComponent("clip.mov") }
    private var state: URL { folder.appendingPathComponent("clip.mov.upload") }
    private let content = sampleBytes(seed: 18, count: 300_000)

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try content.write(to: file)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    static let forms: [ResumableUploadProtocol] = [.httpDraft, .tus]

    /// Waits take no time.
    private static let time = TimeSource(
        now: { .zero }, date: { Date(timeIntervalSince1970: 1_770_000_000) }, sleep: { _ in })

    private func client(
        _ server: UploadServer, _ change: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        var configuration = APIClient.Configuration(
            services: [Service(.main, [.development: "https://a.example/api"])], build: .debug)
        configuration.time = Self.time
        configuration.options.retry = RetryPolicy.none
        configuration.circuitBreaker = nil
        change(&configuration)
        return APIClient(configuration, transport: server)
    }

    private func failure(_ upload: ResumableUpload) async -> APIError? {
        do throws(APIError) {
            _ = try await upload.value
            return nil
        } catch {
            return error
        }
    }

    private func reason(_ upload: ResumableUpload) async -> ResumableUploadError? {
        await failure(upload)?.underlying as? ResumableUploadError
    }

    // MARK: All is well

    @Test(arguments: forms) func `a file is uploaded whole, and nothing of the upload is left on disk`(
        form: ResumableUploadProtocol
    ) async throws {
        let server = UploadServer(form)
        let receipt = try await client(server).upload(file, to: "/videos", resumableBy: form).value
        #expect(server.objects == [content])
        #expect(server.requests == ["POST", "PATCH"])
        #expect(receipt.url?.absoluteString == "https://a.example/uploads/1")
        #expect(receipt.response?.value == (form == .tus ? Data() : Data("processed".utf8)))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["clip.mov"])
    }

    @Test(arguments: forms) func `an empty file becomes an empty object`(form: ResumableUploadProtocol) async throws {
        try Data().write(to: file)
        let server = UploadServer(form)
        _ = try await client(server).upload(file, to: "/videos", resumableBy: form).value
        #expect(server.objects == [Data()])
    }

    @Test func `the fields of each request are those of the draft`() async throws {
        let server = UploadServer(.httpDraft)
        _ = try await client(server).upload(file, to: "/videos", contentType: "video/quicktime").value
        let fields = server.state.withLock(\.fields)
        let created = try #require(fields.first)
        #expect(created["Upload-Complete"] == "?0" && created["Upload-Length"] == "300000")
        #expect(created[.contentType] == "video/quicktime")
        #expect(created["Content-Disposition"] == "inline; filename*=UTF-8''clip.mov")
        #expect(created["Upload-Draft-Interop-Version"] == "8" && created["Tus-Resumable"] == nil)
        let appended = try #require(fields.last)
        #expect(appended["Upload-Complete"] == "?1" && appended["Upload-Offset"] == "0")
        #expect(appended[.contentType] == "application/partial-upload" && appended["Content-Disposition"] == nil)
    }

    @Test func `the fields of each request are those of tus`() async throws {
        let server = UploadServer(.tus)
        _ = try await client(server).upload(
            file, to: "/videos", resumableBy: .tus, contentType: "video/quicktime", fileName: "",
            metadata: ["project": "7"]
        ).value
        let fields = server.state.withLock(\.fields)
        let created = try #require(fields.first)
        #expect(created["Upload-Length"] == "300000" && created["Tus-Resumable"] == "1.0.0")
        #expect(created["Upload-Metadata"] == "filetype dmlkZW8vcXVpY2t0aW1l,project Nw==")
        #expect(created["Upload-Complete"] == nil && created[.contentType] == nil)
        let appended = try #require(fields.last)
        #expect(appended[.contentType] == "application/offset+octet-stream" && appended["Upload-Offset"] == "0")
        #expect(appended["Tus-Resumable"] == "1.0.0")
    }

    // MARK: What goes wrong

    static let faults: [UploadServer.Fault] = [
        .lost, .cut(after: 0), .cut(after: 1), .cut(after: 150_000), .cut(after: 299_999), .cut(after: 300_000),
        .unanswered, .status(503), .status(423), .status(409),
    ]

    /// Every fault of every request, and every two in a row; a refusal (409) of an append alone, since others are for good.
    static let plans: [(ResumableUploadProtocol, [UploadServer.Fault?])] = forms.flatMap { form in
        faults.flatMap { fault in
            let plans: [[UploadServer.Fault?]] = [[nil, fault], [nil, fault, nil, fault]]
            let more: [[UploadServer.Fault?]] = [[fault], [nil, fault, fault], [fault, nil, fault]]
            return (fault == .status(409) ? plans : plans + more).map { (form, $0) }
        }
    }

    @Test(
        "Whatever is lost at whatever point, one object comes of it, and it is the file", .covers("X15"),
        arguments: plans)
    func faults(form: ResumableUploadProtocol, faults: [UploadServer.Fault?]) async throws {
        let server = UploadServer(form, faults: faults)
        _ = try await client(server).upload(file, to: "/videos", resumableBy: form).value
        #expect(server.objects == [content])
    }

    @Test("An upload that was done and whose answer was lost is done once", .covers("X15"), arguments: forms)
    func answerLost(form: ResumableUploadProtocol) async throws {
        let server = UploadServer(form, faults: [nil, .unanswered])
        let receipt = try await client(server).upload(file, to: "/videos", resumableBy: form).value
        #expect(server.objects == [content])
        #expect(server.requests == ["POST", "PATCH", "HEAD"])
        #expect(receipt.response == nil, "the answer is lost")
    }

    @Test(arguments: forms)
    func `an upload that may be done, and that the server knows nothing of any more, is not done again`(
        form: ResumableUploadProtocol
    ) async throws {
        let server = UploadServer(form, faults: [nil, .forgotten])
        let error = await failure(client(server).upload(file, to: "/videos", resumableBy: form))
        #expect(error?.underlying as? ResumableUploadError == .outcomeUnknown)
        #expect(error?.sendState == .maybeProcessed)
        #expect(server.objects == [content] && server.requests == ["POST", "PATCH", "HEAD"])
    }

    @Test(arguments: forms) func `an upload that cannot be done yet, and that the server has forgotten, is begun anew`(
        form: ResumableUploadProtocol
    ) async throws {
        let server = UploadServer(form, faults: [nil, .cut(after: 150_000)])
        server.state.withLock { state in
            state.onRequest = { number in if number == 3 { server.state.withLock { $0.resources = [:] } } }
        }
        _ = try await client(server).upload(file, to: "/videos", resumableBy: form).value
        #expect(server.objects == [content])
        #expect(server.requests == ["POST", "PATCH", "HEAD", "POST", "PATCH"])
    }

    @Test(arguments: forms) func `only what the server has not is sent again`(form: ResumableUploadProtocol)
        async throws
    {
        let server = UploadServer(form, faults: [nil, .cut(after: 200_000), nil, .cut(after: 50_000)])
        _ = try await client(server).upload(file, to: "/videos", resumableBy: form).value
        #expect(server.objects == [content])
        #expect(server.state.withLock(\.received) == content.count)
    }

    @Test(arguments: forms) func `an offset beyond the file is a failure, and nothing is sent`(
        form: ResumableUploadProtocol
    ) async throws {
        let server = UploadServer(form, faults: [nil, .cut(after: 10)])
        server.state.withLock { $0.offset = 300_001 }
        #expect(await reason(client(server).upload(file, to: "/videos", resumableBy: form)) == .impossibleOffset)
        #expect(server.objects.isEmpty && server.requests == ["POST", "PATCH", "HEAD"])
    }

    @Test(arguments: forms) func `a server that takes requests and no bytes is left, as one that does nothing`(
        form: ResumableUploadProtocol
    ) async throws {
        for status in [204, 409] {
            let server = UploadServer(form)
            server.state.withLock { state in
                state.alters = { request, answer in
                    if request.method == .post { return answer }
                    let fields: HTTPFields = ["Upload-Offset": "0", "Upload-Complete": "?0"]
                    return HTTPResponse(status: request.method == .patch ? status : 204, fields: fields)
                }
            }
            #expect(await reason(client(server).upload(file, to: "/videos", resumableBy: form)) == .stalled)
            #expect(server.requests.count { $0 == "PATCH" } == 9)
        }
    }

    @Test(arguments: forms) func `a server that says that it has all before the end was sent is not believed`(
        form: ResumableUploadProtocol
    ) async throws {
        let server = UploadServer(form, faults: [nil, .cut(after: 10)])
        server.state.withLock { state in
            state.offset = 300_000
            state.alters = { _, answer in
                var answer = answer
                if answer.fields["Upload-Complete"] != nil { answer.fields["Upload-Complete"] = "?1" }
                return answer
            }
        }
        #expect(await reason(client(server).upload(file, to: "/videos", resumableBy: form)) == .impossibleOffset)
        #expect(server.objects.isEmpty && server.requests == ["POST", "PATCH", "HEAD"])
        #expect(FileManager.default.fileExists(atPath: state.path))
    }

    @Test(arguments: [404, 410]) func `an upload that the server has forgotten fails at once where the policy says so`(
        status: Int
    ) async throws {
        let server = UploadServer(.tus, faults: [nil, .cut(after: 10), .status(status)])
        let policy = ResumableUploadPolicy(restarts: 0)
        let upload = client(server).upload(file, to: "/videos", resumableBy: .tus, policy: policy)
        #expect(await reason(upload) == .gone)
        #expect(server.requests == ["POST", "PATCH", "HEAD"])
    }

    @Test(arguments: [405, 501]) func `a server that does not take a method is asked once`(status: Int) async throws {
        for faults in [[.status(status)], [nil, .status(status)], [nil, .lost, .status(status)]]
            as [[UploadServer.Fault?]]
        {
            let server = UploadServer(.httpDraft, faults: faults)
            let error = await failure(client(server).upload(file, to: "/videos"))
            #expect(error?.kind == .httpStatus(status) && error?.response?.status == status)
            #expect(server.requests.count == faults.count && server.objects.isEmpty)
            try ResumableUpload.forget(file)
        }
    }

    @Test(arguments: ["", "x", "-1", "5.0", "5, 6", "1e3", "99999999999999999999"])
    func `a server that says its offset wrongly is not guessed at`(text: String) async throws {
        for form in Self.forms {
            let server = UploadServer(form, faults: [nil, .cut(after: 10)])
            server.state.withLock { state in
                state.alters = { request, answer in
                    var answer = answer
                    if request.method == .head { answer.fields["Upload-Offset"] = text }
                    return answer
                }
            }
            #expect(await reason(client(server).upload(file, to: "/videos", resumableBy: form)) == .notResumable)
            #expect(server.requests == ["POST", "PATCH", "HEAD"])
            try ResumableUpload.forget(file)
        }
    }

    @Test func `a server that goes on failing is left after eight tries in a row`() async throws {
        let server = UploadServer(.tus, faults: [nil] + Array(repeating: .status(503), count: 40))
        let error = await failure(client(server).upload(file, to: "/videos", resumableBy: .tus))
        #expect(error?.kind == .httpStatus(503))
        #expect(server.requests == ["POST", "PATCH"] + Array(repeating: "HEAD", count: 8))
    }

    @Test(arguments: forms) func `a server that asks to be left alone for too long ends the upload with its answer`(
        form: ResumableUploadProtocol
    ) async throws {
        for (wait, isWaitedFor) in [("60", true), ("61", false), ("86400", false)] {
            let server = UploadServer(form)
            server.state.withLock { state in
                state.alters = { request, answer in
                    request.method == .patch ? HTTPResponse(status: 503, fields: ["Retry-After": wait]) : answer
                }
            }
            let error = await failure(client(server).upload(file, to: "/videos", resumableBy: form))
            #expect(error?.kind == (isWaitedFor ? nil : .httpStatus(503)))
            try ResumableUpload.forget(file)
        }
    }

    @Test func `what tus has no form for is refused before anything is sent`() async throws {
        for key in ["", "a,b", "a b", "ž", "a\r\nb"] {
            let server = UploadServer(.tus)
            let upload = client(server).upload(file, to: "/videos", resumableBy: .tus, metadata: [key: "v"])
            guard case .invalidParameter("metadata", _)? = await failure(upload)?.kind else {
                Issue.record("\(key) is taken")
                continue
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a refusal is the error of the upload`() async throws {
        let server = UploadServer(.httpDraft, faults: [.status(403)])
        let error = await failure(client(server).upload(file, to: "/videos"))
        #expect(error?.kind == .httpStatus(403) && error?.response?.status == 403)
        let processed = UploadServer(.httpDraft)
        processed.state.withLock { $0.status = 422 }
        let judged = await failure(client(processed).upload(file, to: "/videos"))
        #expect(judged?.kind == .httpStatus(422) && judged?.response?.body == Data("processed".utf8))
        #expect(processed.requests == ["POST", "PATCH"])
        #expect(!FileManager.default.fileExists(atPath: state.path), "there is nothing to go on with")
    }

    @Test func `a server with a limit is sent no more at a time, and learns of it at once or by a refusal`()
        async throws
    {
        let told = UploadServer(.httpDraft)
        told.state.withLock { ($0.limit, $0.maximumAppend) = ("max-append-size=100000", 100_000) }
        _ = try await client(told).upload(file, to: "/videos").value
        #expect(told.objects == [content] && told.requests == ["POST", "PATCH", "PATCH", "PATCH"])
        let silent = UploadServer(.httpDraft)
        silent.state.withLock { $0.maximumAppend = 200_000 }
        _ = try await client(silent).upload(file, to: "/videos").value
        #expect(silent.objects == [content] && silent.requests == ["POST", "PATCH", "HEAD", "PATCH", "PATCH"])
        let small = UploadServer(.httpDraft)
        small.state.withLock { $0.limit = "max-size=299999" }
        #expect(
            await reason(client(small).upload(file, to: "/videos")) == .sizeRefused(minimum: nil, maximum: 299_999))
        #expect(small.requests == ["POST"])
    }

    @Test func `what an interim response names is known although the answer is lost`() async throws {
        let server = UploadServer(.httpDraft, faults: [.unanswered])
        server.state.withLock { $0.announces = true }
        _ = try await client(server).upload(file, to: "/videos").value
        #expect(server.requests == ["POST", "HEAD", "PATCH"])
        #expect(server.objects == [content] && server.state.withLock(\.created) == 1)
    }

    /// Puts uploads at another origin than they are asked for at.
    private func serverElsewhere(_ form: ResumableUploadProtocol, at base: String) -> UploadServer {
        let server = UploadServer(form, faults: [nil, .cut(after: 150_000)])
        server.state.withLock { state in
            state.alters = { _, answer in
                var answer = answer
                if let place = answer.fields[.location] { answer.fields[.location] = base + place }
                return answer
            }
        }
        return server
    }

    @Test(arguments: forms) func `a place at another origin is gone to by the rules of redirects`(
        form: ResumableUploadProtocol
    ) async throws {
        let secrets: HeaderEdits = ["Authorization": "Bearer secret", "X-Key": "secret", "X-Trace": "7"]
        let follows = RedirectPolicy(sendsBodyAcrossOrigins: true, crossOriginFields: ["X-Trace"])
        for (base, redirects, isFollowed) in [
            ("https://b.example", RedirectPolicy.follow, false), ("https://b.example", follows, true),
            ("http://a.example", follows, false),
        ] {
            let server = serverElsewhere(form, at: base)
            let options = CallOptions.headers(secrets).with { $0.redirects = redirects }
            let upload = client(server).upload(file, to: "/videos", resumableBy: form, options: options)
            let error = await failure(upload)
            if isFollowed {
                #expect(error == nil && server.objects == [content])
                #expect(server.state.withLock(\.urls).dropFirst().allSatisfy { $0 == "https://b.example/uploads/1" })
                for fields in server.state.withLock(\.fields).dropFirst() {
                    #expect(fields[.authorization] == nil && fields["X-Key"] == nil && fields["X-Trace"] == "7")
                }
                #expect(server.requests == ["POST", "PATCH", "HEAD", "PATCH"])
            } else {
                guard case .blocked(let reason) = error?.kind else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                #expect(reason.contains(base) && server.requests == ["POST"])
            }
            let created = server.state.withLock(\.fields).first
            #expect(created?[.authorization] == "Bearer secret" && created?["X-Key"] == "secret")
            try ResumableUpload.forget(file)
        }
    }

    @Test func `a service that seals is not sent a file in the clear unless that is said`() async throws {
        struct Mirror: Sealer {
            func seal(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest { request }
            func open(_ response: HTTPResponse, call: CallContext) async throws -> HTTPResponse { response }
        }
        let server = UploadServer(.tus)
        let sealing = client(server) { configuration in
            configuration.services = [Service(.main, [.development: "https://a.example/api"], sealer: Mirror())]
        }
        let error = await failure(sealing.upload(file, to: "/videos", resumableBy: .tus))
        #expect(error?.kind == .unsupported(feature: "resumable uploads of sealed content") && server.requests.isEmpty)
        _ = try await sealing.upload(file, to: "/videos", resumableBy: .tus, options: .plain).value
        #expect(server.objects == [content])
        #expect(await failure(client(server).upload(file, to: "/videos", options: .sealed))?.stage == .seal)
    }

    // MARK: The file

    @Test(arguments: forms) func `a file that changes while it is sent is never completed`(
        form: ResumableUploadProtocol
    ) async throws {
        for change in ["overwrite", "shrink", "grow"] {
            try content.write(to: file)
            let server = UploadServer(form, faults: [nil, .cut(after: 150_000)])
            let handle = try FileHandle(forUpdating: file)
            server.state.withLock { state in
                state.onRequest = { number in
                    guard number == 3 else { return }
                    switch change {
                    case "overwrite": try? handle.write(contentsOf: Data("other".utf8))
                    case "shrink": try? handle.truncate(atOffset: 299_999)
                    default:
                        _ = try? handle.seekToEnd()
                        try? handle.write(contentsOf: Data("more".utf8))
                    }
                }
            }
            #expect(
                await reason(client(server).upload(file, to: "/videos", resumableBy: form)) == .sourceChanged,
                "\(change)")
            #expect(server.objects.isEmpty)
            try ResumableUpload.forget(file)
        }
    }

    @Test(arguments: forms) func `a file that changes before, behind or below what is read of it is never completed`(
        form: ResumableUploadProtocol
    ) async throws {
        for place in [0, 100_000, 200_000, 299_999] {
            try content.write(to: file)
            let server = UploadServer(form)
            let handle = try FileHandle(forUpdating: file)
            server.state.withLock { state in
                state.onPiece = { count in
                    guard count < 200_000, (try? handle.seek(toOffset: UInt64(place))) != nil else { return }
                    try? handle.write(contentsOf: Data([0xFF ^ UInt8(count % 251)]))
                }
            }
            let upload = client(server).upload(file, to: "/videos", resumableBy: form)
            let reason = await reason(upload)
            if place >= 200_000 { #expect(reason == .sourceChanged, "\(place)") }
            for object in server.objects { #expect(object == content) }
            try ResumableUpload.forget(file)
        }
    }

    @Test(arguments: forms) func `a file that changed since another process began its upload is refused`(
        form: ResumableUploadProtocol
    ) async throws {
        let server = UploadServer(form, faults: [nil, .cut(after: 150_000), .status(403)])
        #expect(await failure(client(server).upload(file, to: "/videos", resumableBy: form))?.kind == .httpStatus(403))
        var other = content
        other[299_999] ^= 1
        try other.write(to: file)
        #expect(await reason(client(server).upload(file, to: "/videos", resumableBy: form)) == .sourceChanged)
        #expect(server.objects.isEmpty && server.requests == ["POST", "PATCH", "HEAD"])
        try ResumableUpload.forget(file)
        _ = try await client(server).upload(file, to: "/videos", resumableBy: form).value
        #expect(server.objects == [other])
    }

    @Test(arguments: forms) func `a file that another one is put in the place of, or that goes, is not sent on`(
        form: ResumableUploadProtocol
    ) async throws {
        for isReplaced in [true, false] {
            try content.write(to: file)
            let server = UploadServer(form, faults: [nil, .cut(after: 150_000)])
            server.state.withLock { state in
                state.onRequest = { [file, content] number in
                    guard number == 3 else { return }
                    // Foundation's atomic writing puts a new file in the place of the old one.
                    if isReplaced { try? content.write(to: file, options: .atomic) }
                    if !isReplaced { try? FileManager.default.removeItem(at: file) }
                }
            }
            #expect(await reason(client(server).upload(file, to: "/videos", resumableBy: form)) == .sourceChanged)
            #expect(server.objects.isEmpty && server.state.withLock(\.received) == 150_000)
            try ResumableUpload.forget(file)
        }
    }

    @Test func `a file that was written to and is the same is sent on`() async throws {
        let server = UploadServer(.tus, faults: [nil, .cut(after: 150_000)])
        let handle = try FileHandle(forUpdating: file)
        let start = content.prefix(10)
        server.state.withLock { state in
            state.onRequest = { number in if number == 3 { try? handle.write(contentsOf: start) } }
        }
        _ = try await client(server).upload(file, to: "/videos", resumableBy: .tus).value
        #expect(server.objects == [content])
    }

    @Test func `no file, a folder, and a file that is being uploaded are refused`() async throws {
        let server = UploadServer(.tus)
        let client = client(server)
        for bad in [folder, folder.appendingPathComponent("none")] {
            guard case .sourceUnreadable = await reason(client.upload(bad, to: "/videos", resumableBy: .tus)) else {
                Issue.record("\(bad.path) was read")
                continue
            }
        }
        let source = try await ResumableUploadSource.open(file)
        #expect(await reason(client.upload(file, to: "/videos", resumableBy: .tus)) == .inUse)
        withExtendedLifetime(source) {}
        #expect(server.requests.isEmpty)
    }

    @Test func `a volume that has no locks is uploaded from, and only a lock that somebody has is in use`() async throws
    {
        for code in [ENOTSUP, EINVAL, EBADF, ENOLCK, ENOSYS] {
            let lockless: ResumableUploadSource.Locker = { _ in
                errno = code
                return -1
            }
            #expect(try await ResumableUploadSource.open(file, locking: lockless).length == content.count)
        }
        let error = await #expect(throws: ResumableUploadError.self) {
            try await ResumableUploadSource.open(self.file) { _ in
                errno = EWOULDBLOCK
                return -1
            }
        }
        #expect(error == .inUse)
    }

    @Test
    func `an upload that has ended holds its file no more, and a body of it that somebody still has gives nothing`()
        async throws
    {
        let source = try await ResumableUploadSource.open(file)
        let hasEnded = Locked(false)
        let part = source.body(0..<content.count, willEnd: { hasEnded.withLock { $0 = true } })
        guard case .stream(let open) = part.source else { return #expect(Bool(false), "a part of a file is a stream") }
        var body = try open().makeAsyncIterator()
        #expect(try await body.next()?.count == 128 << 10)
        await source.end()
        let next = try await ResumableUploadSource.open(file)
        await #expect(throws: ResumableUploadError.self) { while try await body.next() != nil {} }
        #expect(!hasEnded.withLock { $0 })
        await next.end()
        withExtendedLifetime((source, next)) {}
    }

    // MARK: Another process

    @Test("What one process began another one ends, without sending anything twice", .covers("X15"), arguments: forms)
    func nextProcess(form: ResumableUploadProtocol) async throws {
        let server = UploadServer(form, faults: [nil, .cut(after: 200_000), .status(403)])
        #expect(await failure(client(server).upload(file, to: "/videos", resumableBy: form)) != nil)
        #expect(FileManager.default.fileExists(atPath: state.path))
        let mode = try FileManager.default.attributesOfItem(atPath: state.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        _ = try await client(server).upload(file, to: "/videos", resumableBy: form).value
        #expect(server.objects == [content] && server.state.withLock(\.received) == content.count)
        #expect(server.requests == ["POST", "PATCH", "HEAD", "HEAD", "PATCH"])
        #expect(!FileManager.default.fileExists(atPath: state.path))
    }

    @Test(arguments: forms) func `what another process may have completed is asked for, and not begun anew`(
        form: ResumableUploadProtocol
    ) async throws {
        let server = UploadServer(form, faults: [nil, .unanswered, .status(403)])
        #expect(await failure(client(server).upload(file, to: "/videos", resumableBy: form)) != nil)
        server.state.withLock { $0.resources = [:] }
        #expect(await reason(client(server).upload(file, to: "/videos", resumableBy: form)) == .outcomeUnknown)
        #expect(server.objects == [content])
    }

    @Test func `an upload is its user's, its environment's and its target's`() async throws {
        let server = UploadServer(.tus, faults: [nil, .cut(after: 200_000), .status(403)])
        _ = await failure(client(server).upload(file, to: "/videos", resumableBy: .tus))
        _ = try await client(server) { $0.identity = { "bob" } }.upload(file, to: "/videos", resumableBy: .tus).value
        #expect(server.requests.suffix(2) == ["POST", "PATCH"])
        #expect(server.objects == [content])
    }

    @Test func `a second user's upload of the same file leaves the first one's to be gone on with`() async throws {
        let server = UploadServer(.tus, faults: [nil, .cut(after: 200_000), .status(403)])
        func client(_ user: String, _ environment: ServerEnvironment = .development) -> APIClient {
            self.client(server) {
                $0.identity = { user }
                $0.services = ServiceRegistry([
                    Service(.main, [.development: "https://a.example/api", .test: "https://a.example/api"])
                ])
                $0.environment = environment
            }
        }
        #expect(await failure(client("alice").upload(file, to: "/videos", resumableBy: .tus)) != nil)
        for other in [client("bob"), client("alice", .test), client("")] {
            _ = try await other.upload(file, to: "/videos", resumableBy: .tus).value
            #expect(server.requests.suffix(2) == ["POST", "PATCH"])
        }
        _ = try await client("alice").upload(file, to: "/videos", resumableBy: .tus).value
        #expect(server.requests.suffix(2) == ["HEAD", "PATCH"])
        #expect(server.objects == Array(repeating: content, count: 4))
        #expect(server.state.withLock(\.received) == 4 * content.count)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["clip.mov"])
    }

    @Test func `what all users have begun of a file is forgotten, and nothing else beside it`() async throws {
        for user in ["", "alice", "bob"] {
            let server = UploadServer(.tus, faults: [nil, .cut(after: 1), .status(403)])
            _ = await failure(
                client(server) { $0.identity = { user } }.upload(file, to: "/videos", resumableBy: .tus))
        }
        let others = [
            "clip.mov.upload-0123456789abcde", "clip.mov.upload-0123456789abcdef0", "clip.mov.upload-0123456789abcdeg",
            "clip.mov.upload.0123456789abcdef", "clip.mp4.upload",
        ]
        for name in others { try Data("mine".utf8).write(to: folder.appendingPathComponent(name)) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == others.count + 4)
        for _ in 1...2 { try ResumableUpload.forget(file) }
        try ResumableUpload.forget(folder.appendingPathComponent("none/clip.mov"))
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) == Set(others + ["clip.mov"]))
    }

    @Test func `an upload ends where its user does`() async throws {
        let server = UploadServer(.tus, faults: [nil, .cut(after: 200_000)])
        let user = Locked("alice")
        server.state.withLock { state in
            state.onRequest = { number in if number == 2 { user.withLock { $0 = "bob" } } }
        }
        let client = client(server) { $0.identity = { user.withLock { $0 } } }
        #expect(await failure(client.upload(file, to: "/videos", resumableBy: .tus))?.kind == .cancelled)
        #expect(server.requests == ["POST", "PATCH"])
    }

    static let states: [(String, ResumableUploadError?)] = [
        ("", nil),
        ("my notes\n", .unusableState(reason: "clip.mov.upload is no state of an upload")),
        ("penstock upload 2\n{}\n", .unusableState(reason: "clip.mov.upload is of a later version")),
        (
            "penstock upload 1\n{\"subject\":{\"form\":\"tus\",\"target\":\"a\",\"environment\":\"b\",\"identity\":\"c\","
                + "\"length\":-1,\"digest\":\"d\"},\"confirmed\":0,\"mayBeComplete\":false,\"hasSentEnd\":false}\n", nil
        ),
        ("penstock upload 1\n{}\n", nil), ("penstock upload 1\n", nil), ("penstock upload 1\n{\"subj", nil),
    ]

    @Test(arguments: states) func `a state of something else is left alone, and a damaged one begins anew`(
        text: String, reason: ResumableUploadError?
    ) async throws {
        try Data(text.utf8).write(to: state)
        #expect(chmod(state.path, 0o664) == 0)
        let server = UploadServer(.tus)
        #expect(await self.reason(client(server).upload(file, to: "/videos", resumableBy: .tus)) == reason)
        #expect(server.objects == (reason == nil ? [content] : []))
        guard reason != nil else { return }
        #expect(try Data(contentsOf: state) == Data(text.utf8))
        let mode = try FileManager.default.attributesOfItem(atPath: state.path)[.posixPermissions] as? Int
        #expect(mode == (text.hasPrefix("penstock upload ") ? 0o600 : 0o664))
    }

    // MARK: Pause and progress

    @Test(arguments: forms) func `a pause ends the request, and the upload goes on from there`(
        form: ResumableUploadProtocol
    ) async throws {
        let server = UploadServer(form)
        let upload = client(server).upload(file, to: "/videos", resumableBy: form)
        server.state.withLock { state in
            state.onRequest = { number in if number == 2 || number == 4 { upload.pause() } }
        }
        for number in 1...2 {
            while !Task.isCancelled, server.requests.count < 2 * number || !upload.isPaused { await Task.yield() }
            #expect(server.objects.isEmpty)
            upload.resume()
        }
        _ = try await upload.value
        #expect(server.objects == [content])
    }

    @Test func `an upload that is cancelled ends, also while it is paused, and another one takes it up`() async throws {
        let server = UploadServer(.tus)
        let upload = client(server).upload(file, to: "/videos", resumableBy: .tus)
        server.state.withLock { state in state.onRequest = { number in if number == 2 { upload.pause() } } }
        while !Task.isCancelled, server.requests.count < 2 { await Task.yield() }
        upload.cancel()
        #expect(await failure(upload)?.kind == .cancelled)
        server.state.withLock { $0.onRequest = { _ in } }
        _ = try await client(server).upload(file, to: "/videos", resumableBy: .tus).value
        #expect(server.objects == [content] && server.state.withLock(\.created) == 1)
        let waiting = Task { [client = client(UploadServer(.tus, faults: [.status(503)])), file] in
            try await client.upload(file, to: "/videos", resumableBy: .tus).value
        }
        waiting.cancel()
        await #expect(throws: APIError.self) { try await waiting.value }
    }

    @Test("Progress never goes back, and ends at one", arguments: forms)
    func progress(form: ResumableUploadProtocol) async throws {
        let server = UploadServer(form, faults: [nil, .cut(after: 200_000), nil, .lost])
        let upload = client(server).upload(file, to: "/videos", resumableBy: form)
        var seen: [TransferProgress] = []
        for await progress in upload.progress { seen.append(progress) }
        _ = try await upload.value
        #expect(seen.last?.fraction == 1 && seen.last?.acknowledged == content.count && seen.last?.isComplete == true)
        for (earlier, later) in zip(seen, seen.dropFirst()) {
            #expect(earlier.sent <= later.sent && earlier.acknowledged <= later.acknowledged)
            let (before, after) = (earlier.fraction ?? 0, later.fraction ?? 0)
            #expect(before < 1 && before <= after && earlier.acknowledged <= earlier.sent)
        }
        var late: [TransferProgress] = []
        for await progress in upload.progress { late.append(progress) }
        #expect(late.map(\.fraction) == [1])
    }
}

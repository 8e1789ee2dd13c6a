import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// A resumable upload is one call of its client: whatever ends calls ends it, at whatever it is.
@Suite(.timeLimit(.minutes(5)))
final class ResumableUploadEndingTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)")
    private var file: URL { folder.appendingPathComponent("clip.mov") }
    private let content = sampleBytes(seed: 18, count: 300_000)

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try content.write(to: file)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Who ends it.
    enum Way: CaseIterable {
        case handle, client, id, scope, goneScope, signOut

        func end(_ upload: ResumableUpload, _ client: APIClient, _ scope: Locked<CallScope?>) async {
            if self == .signOut { _ = await client.signOut("alice") } else { endAtOnce(upload, client, scope) }
        }

        func endAtOnce(_ upload: ResumableUpload, _ client: APIClient, _ scope: Locked<CallScope?>) {
            switch self {
            case .handle: upload.cancel()
            case .client: client.cancelAll()
            case .id: for call in client.calls { client.cancel(call.id) }
            case .scope: scope.withLock { $0 }?.cancelAll()
            case .goneScope:
                let last = scope.withLock { scope in
                    defer { scope = nil }
                    return scope
                }
                withExtendedLifetime(last) {}
            case .signOut: break
            }
        }
    }

    private func client(_ server: UploadServer, _ clock: TestClock) -> APIClient {
        var configuration = APIClient.Configuration(
            services: [Service(.main, [.development: "https://a.example/api"])], build: .debug)
        configuration.time = clock.timeSource
        configuration.options.retry = RetryPolicy.none
        configuration.circuitBreaker = nil
        configuration.identity = { "alice" }
        return APIClient(configuration, transport: server)
    }

    private func failure(_ upload: ResumableUpload) async -> APIError.Kind? {
        do throws(APIError) { _ = try await upload.value } catch { return error.kind }
        return nil
    }

    /// What the upload is at when it is ended.
    enum Moment: CaseIterable { case sending, waiting, pausing }

    /// A sign-out is waited for, so that a request under way cannot begin it.
    static let cases = Way.allCases.flatMap { way in
        Moment.allCases.filter { way != .signOut || $0 != .sending }.map { (way, $0) }
    }

    @Test(
        "Whoever ends it, and whatever it is at, it ends as cancelled, and goes on when it is begun again",
        arguments: cases)
    func ends(way: Way, moment: Moment) async throws {
        let (clock, scope) = (TestClock(), Locked<CallScope?>(CallScope()))
        let server = UploadServer(.tus, faults: moment == .waiting ? [nil, .status(503)] : [])
        let client = client(server, clock)
        let upload = client.upload(file, to: "/videos", resumableBy: .tus, in: scope.withLock { $0 })
        #expect(client.callCount == 1)
        server.state.withLock { state in
            state.onRequest = { number in
                guard number == 2 else { return }
                if moment == .pausing { upload.pause() }
                if moment == .sending { way.endAtOnce(upload, client, scope) }
            }
        }
        while !Task.isCancelled, server.requests.count < 2 || moment == .pausing && !upload.isPaused {
            await Task.yield()
        }
        if moment != .sending {
            for _ in 0..<500 { await Task.yield() }
            #expect(client.callCount == 1)
            await way.end(upload, client, scope)
        }
        #expect(await failure(upload) == .cancelled)
        #expect(server.objects.isEmpty && server.requests == ["POST", "PATCH"])
        #expect(client.callCount == 0)
        server.state.withLock { ($0.onRequest, $0.faults) = ({ _ in }, []) }
        let other = self.client(server, clock)
        _ = try await other.upload(file, to: "/videos", resumableBy: .tus).value
        #expect(server.objects == [content] && server.state.withLock(\.created) == 1)
        #expect(other.callCount == 0)
    }

    @Test func `an upload that is ended before it has begun sends nothing`() async {
        let server = UploadServer(.tus)
        let client = client(server, TestClock())
        let upload = client.upload(file, to: "/videos", resumableBy: .tus)
        client.cancelAll()
        #expect(await failure(upload) == .cancelled)
        #expect(server.requests.isEmpty && client.callCount == 0)
    }

    @Test func `an upload that is done is no call any more, and its scope keeps nothing of it`() async throws {
        let (server, scope) = (UploadServer(.tus), CallScope())
        let client = client(server, TestClock())
        _ = try await client.upload(file, to: "/videos", resumableBy: .tus, in: scope).value
        #expect(client.callCount == 0 && scope.callCount == 0)
    }
}

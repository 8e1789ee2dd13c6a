import Foundation
import Penstock
import PenstockTestSupport
import Testing

/// Many calls at once over HTTP/2 against nginx and nghttpd. One test after the other: each is as much as the machine can
/// do, and others measure time.
@Suite(.serialized, .needsServers, .timeLimit(.minutes(5)))
struct HTTP2Tests {
    private func client(_ body: (APIClient, NginxServer) async throws -> Void) async throws {
        let nginx = try await EndToEndServers.shared().nginx
        let trust = TrustPolicy.authorities(nginx.certificateAuthority)
        try await Wire.libcurl.client(for: nginx.https, with: { $0.options.trust = trust }) {
            try await body($0, nginx)
        }
    }

    private func atOnce<Result: Sendable>(
        _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: Result.self) { group in
            for number in 0..<count { group.addTask { try await body(number) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("A hundred calls at once go over one connection", .covers("S3.29"))
    func hundred() async throws {
        try await client { client, _ in
            let replies = try await atOnce(100) { _ in try await client.response(for: Echo()) }
            #expect(Set(replies.map(\.value.connection)).count == 1)
            #expect(Set(replies.map(\.value.request)) == Set(1...100))
            #expect(replies.allSatisfy { $0.value.protocol == "HTTP/2.0" })
            #expect(replies.filter { $0.connection.isReused == false }.count == 1)
        }
    }

    @Test("Calls beyond what a connection carries wait for it, and open no hundreds of others")
    func thousand() async throws {
        try await client { client, _ in
            let replies = try await atOnce(1_000) { _ in try await client.send(Echo()) }
            #expect(Set(replies.map(\.connection)).count == 1)
            #expect(Set(replies.map(\.request)) == Set(1...1_000))
        }
    }

    @Test("Calls that take all places of a connection for long keep the others from none")
    func longCalls() async throws {
        try await client { client, _ in
            let scope = CallScope()
            let slow = Task { try await atOnce(100) { _ in try? await client.send(Download("/slow.bin"), in: scope) } }
            while !Task.isCancelled, client.callCount < 100 { await Task.yield() }
            let replies = try await atOnce(120) { _ in try await client.send(Echo()) }
            #expect(Set(replies.map(\.connection)).count <= 2)
            scope.cancelAll()
            _ = try await slow.value
        }
    }

    // MARK: Uploads

    /// Differs for each number, at every place.
    private func content(_ number: Int, _ count: Int) -> Data {
        NginxServer.largeFile[number..<(number + count)]
    }

    @Test("A hundred uploads at once all arrive as they are", arguments: [60_000, 100_000])
    func uploads(count: Int) async throws {
        try await client { client, _ in
            let replies = try await atOnce(100) { number in
                let response = try await client.response(for: Upload(body: .bytes(content(number, count))))
                let file = URL(fileURLWithPath: try #require(response.http.fields["X-Body-File"]))
                #expect(areSame(try Data(contentsOf: file), content(number, count)))
                return response
            }
            let connections = Set(replies.compactMap { $0.http.fields["X-Connection"] })
            if count < 65_536 {
                #expect(connections.count == 1)
                #expect(replies.allSatisfy { $0.http.version == .http2 })
            }
        }
    }

    @Test(
        "A server that answers before it has read the upload is understood",
        arguments: [60_000, 100_000, 1_000_000], [1, 10])
    func earlyAnswers(count: Int, calls: Int) async throws {
        try await client { client, _ in
            let replies = try await atOnce(calls) { number -> String? in
                do throws(APIError) {
                    return try await client.send(Echo(method: .post, body: .bytes(content(number, count)))).length
                } catch {
                    // An answer that overtakes content on a connection that others share may be lost; then the call says
                    // that it may have been done. Larger content has a connection of its own.
                    let mayBeLost = calls > 1 && count < 65_536
                    let isSaid = error.kind == .transport(.connectionLost) && error.sendState == .maybeProcessed
                    guard mayBeLost, isSaid else { throw error }
                    return nil
                }
            }
            #expect(replies.allSatisfy { $0 == nil || $0 == "\(count)" })
            #expect(replies.contains { $0 != nil })
        }
    }

    @Test("An upload of unknown length arrives as it is")
    func streamedUpload() async throws {
        let body = HTTPBody.stream {
            HTTPBody.Chunks { continuation in
                for number in 0..<10 { continuation.yield(content(number, 50_000)) }
                continuation.finish()
            }
        }
        try await client { client, _ in
            let response = try await client.response(for: Upload(body: body))
            let file = URL(fileURLWithPath: try #require(response.http.fields["X-Body-File"]))
            #expect(try Data(contentsOf: file).count == 500_000)
        }
    }

    @Test("Uploads on connections of their own leave the others on theirs")
    func besideUploads() async throws {
        try await client { client, _ in
            let first = try await client.send(Echo()).connection
            _ = try await atOnce(20) { try await client.send(Upload(body: .bytes(content($0, 100_000)))) }
            let replies = try await atOnce(50) { _ in try await client.send(Echo()) }
            #expect(Set(replies.map(\.connection)) == [first])
        }
    }

    private struct Upload: Endpoint {
        let body: HTTPBody
        var route: Route { .post("/upload") }
        typealias Output = EchoReply
    }

    // MARK: Bursts

    /// libcurl 7.88 forgets the end of one exchange in every thirtieth such burst.
    @Test("No call of a burst is forgotten")
    func bursts() async throws {
        let certificate = try await EndToEndServers.shared().nginx.certificateAuthority
        let base = try await NghttpdServer.shared()
        try await Wire.libcurl.client(
            for: base,
            with: {
                $0.options.trust = .authorities(certificate)
                $0.options.timeouts = Timeouts(total: .seconds(20))
            }
        ) { client in
            for _ in 1...8 {
                let contents = try await atOnce(100) { _ in try await client.send(Download("/content.bin")) }
                #expect(contents.allSatisfy { $0.count == NghttpdServer.contentLength })
            }
        }
    }
}

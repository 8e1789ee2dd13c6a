import Foundation
import Penstock

/// Answers requests that come as JSON lines, each through one client with a cache: for programs that watch what a cache
/// does.
struct Drive: Sendable {
    let options: DriveOptions

    /// The most lines that were read and are not answered yet: those beyond wait where they are written, and take no memory here.
    private static let mostLines = 1000

    func run() async throws(UsageError) -> Int32 {
        let store = try await options.cache.open()
        let transport = options.transport.make()
        let client = APIClient(configuration(store), transport: transport)
        let output = DriveOutput()
        output.write(.hello(cache: options.cache.name))
        let places = Self.places()
        await withTaskGroup(of: Void.self) { group in
            var untaken = 0
            for await line in Self.lines(until: output, places) {
                guard !output.isGone else { break }
                do throws(DriveRequest.Invalid) {
                    let request = try DriveRequest(line)
                    // A task stays in memory until the group is asked for it. Of so many one has given its place to this line.
                    if untaken == Self.mostLines { _ = await group.next() } else { untaken += 1 }
                    group.addTask {
                        output.write(await Self.answer(request, client))
                        places.signal()
                    }
                } catch {
                    places.signal()
                    guard let id = error.id else {
                        Console.note("a line is no request: \(error.reason)")
                        continue
                    }
                    output.write(DriveReply(id: id, error: error.reason))
                }
            }
            if output.isGone { group.cancelAll() }
        }
        await transport.shutdown()
        await store.close()
        return output.isGone ? ExitCode.output : ExitCode.success
    }

    private func configuration(_ store: any CacheStore) -> APIClient.Configuration {
        var configuration = APIClient.Configuration(services: [])
        configuration.headers = [.userAgent: "penstockctl/\(PenstockVersion.current)"]
        configuration.cache = .store(store)
        // All requests come from the one who drives: a cookie or a token more makes nobody else of them.
        configuration.identity = { "driver" }
        // Each request goes out once, whatever came of others: the one who drives counts them.
        configuration.circuitBreaker = nil
        configuration.options = .with {
            $0.cache = .http
            $0.cleartext = .loopback
            $0.retry = RetryPolicy.none
            $0.timeouts = .total(.seconds(9))
            $0.resolver = options.resolver
        }
        return configuration
    }

    private static func answer(_ request: DriveRequest, _ client: APIClient) async -> DriveReply {
        do throws(DriveRequest.Invalid) {
            let http = try request.http()
            let options = CallOptions.with { $0.redirects = request.followsRedirects ? .follow : .never }
            return DriveReply(request.id, await response(to: http, options, client))
        } catch {
            return DriveReply(id: request.id, error: error.reason)
        }
    }

    private static func response(
        to request: HTTPRequest, _ options: CallOptions, _ client: APIClient
    ) async -> Result<APIResponse<Data>, APIError> {
        do throws(APIError) {
            return .success(try await client.send(request, options: options))
        } catch {
            return .failure(error)
        }
    }

    /// A place for each line that may be under way.
    private static func places() -> DispatchSemaphore {
        // One that is made with its places ends the process if it goes while some are taken, as they are where nobody reads on.
        let places = DispatchSemaphore(value: 0)
        for _ in 0..<mostLines { places.signal() }
        return places
    }

    /// Standard input, read by a thread of its own since reading it waits, as does a place for the next line. It ends where nobody
    /// reads the replies any more.
    private static func lines(until output: DriveOutput, _ places: DispatchSemaphore) -> AsyncStream<String> {
        AsyncStream { continuation in
            output.whenGone { continuation.finish() }
            Thread.detachNewThread {
                places.wait()
                while let line = readLine() {
                    continuation.yield(line)
                    places.wait()
                }
                continuation.finish()
            }
        }
    }
}

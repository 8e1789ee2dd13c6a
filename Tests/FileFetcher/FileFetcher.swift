import Foundation
import PenstockCore
import PenstockCurl
import PenstockTestSupport

/// Downloads a file until it is killed or has all of it: `file-fetcher URL DESTINATION [PAUSES]`. It prints `done` at its end,
/// or the kind of its error; with pauses, which are spread over the file, also how many there were, and how many KiB of memory it
/// has held beside what it held after its first call: `memory COUNT`.
///
/// `file-fetcher leave URL AUTHORITY` makes one connection with TLS after the other, and ends by `exit` in the midst of them.
@main
enum FileFetcher {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 4, arguments[1] == "leave" { try await leave(arguments[2], arguments[3]) }
        guard (3...4).contains(arguments.count) else { exit(64) }
        var configuration = APIClient.Configuration(services: [])
        configuration.cache = .none
        configuration.options.cleartext = .loopback
        let client = APIClient(configuration, transport: CurlTransport())
        let request = HTTPRequest(method: .get, url: try HTTPURL(arguments[1]))
        let pauses = arguments.count == 4 ? Int(arguments[3]) ?? 0 : 0
        var idle = 0
        if pauses > 0 {
            // What a client takes for its first call is no download's.
            _ = try await client.send(HTTPRequest(method: .head, url: try HTTPURL(arguments[1])))
            idle = ProcessMemory.now
            ProcessMemory.forgetPeak()
        }
        let call = client.download(request, to: .file(URL(fileURLWithPath: arguments[2])))
        var done = 0
        if pauses > 0 {
            for try await case .progress(let progress) in call.updates {
                let mark = (progress.expectedToReceive ?? 0) / (pauses + 1) * (done + 1)
                guard done != pauses, progress.received > mark else { continue }
                done += 1
                call.suspend()
                await Task.yield()
                call.resume()
            }
        }
        let result = await call.result
        if pauses > 0 { print("paused \(done)\nmemory \(ProcessMemory.peak - idle)") }
        switch result {
        case .success: print("done")
        case .failure(let error): print(error.kind)
        }
        await client.transport.shutdown()
    }

    private static func leave(_ url: String, _ authority: String) async throws -> Never {
        // Handlers run in the opposite order: this one after all that libraries add, while other threads go on.
        atexit { usleep(50_000) }
        let transport = CurlTransport()
        let url = try HTTPURL(url)
        let (answers, answered) = AsyncStream.makeStream(of: Bool.self)
        for lane in 0..<8 {
            Task {
                // Each over a connection of its own, so that TLS is being agreed on at any time.
                for number in 0... {
                    let key = IsolationKey(
                        identity: "\(lane) \(number)", trust: .authorities(URL(fileURLWithPath: authority)))
                    let order = TransportRequest(HTTPRequest(method: .get, url: url), isolation: key)
                    answered.yield((try? await transport.perform(order)) != nil)
                }
            }
        }
        var count = 0
        for await isAnswered in answers {
            guard isAnswered else { exit(70) }
            count += 1
            if count == 24 { break }
        }
        exit(0)
    }
}

import Foundation
import PenstockCore
import PenstockCurl
import PenstockTestSupport

/// Downloads a file until it is killed or has all of it: `file-fetcher URL DESTINATION [PAUSES]`. It prints `done` at its end,
/// or the kind of its error; with pauses, which are spread over the file, also how many there were, and how many KiB of memory it
/// has held beside what it held after its first call: `memory COUNT`.
@main
enum FileFetcher {
    static func main() async throws {
        let arguments = CommandLine.arguments
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
}

import Foundation
import PenstockCore
import PenstockCurl

/// Downloads a file until it is killed or has all of it: `file-fetcher URL DESTINATION`. It prints `done` at
/// its end, or the kind of its error.
@main
enum FileFetcher {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { exit(64) }
        var configuration = APIClient.Configuration(services: [])
        configuration.cache = .none
        configuration.options.cleartext = .loopback
        let client = APIClient(configuration, transport: CurlTransport())
        let request = HTTPRequest(method: .get, url: try HTTPURL(arguments[1]))
        let result = await client.download(request, to: .file(URL(fileURLWithPath: arguments[2]))).result
        switch result {
        case .success: print("done")
        case .failure(let error): print(error.kind)
        }
        await client.transport.shutdown()
    }
}

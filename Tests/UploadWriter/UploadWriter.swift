import Foundation
import Penstock
import PenstockTestSupport

/// Uploads a file until that is done or it is killed: `upload-writer URL PATH FORM FILE [PAUSES]`.
///
/// It prints `sent COUNT` now and then, and `done` when the server has the file; with pauses, which are spread over the file, also
/// how many KiB of memory it has held beside what it held before the upload: `memory COUNT`.
@main
enum UploadWriter {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard (5...6).contains(arguments.count), let form = ResumableUploadProtocol(rawValue: arguments[3]) else {
            exit(64)
        }
        let pauses = arguments.count == 6 ? Int(arguments[5]) ?? 0 : 0
        var configuration = APIClient.Configuration(services: [Service(.main, [.development: arguments[1]])])
        configuration.environment = .development
        configuration.cache = .none
        configuration.options.cleartext = .loopback
        let client = APIClient(configuration)
        // What a client takes for its first call is no upload's.
        _ = try await client.send(HTTPRequest(method: .get, url: try HTTPURL(arguments[1] + "/stats")))
        let idle = pauses > 0 ? ProcessMemory.now : 0
        if pauses > 0 { ProcessMemory.forgetPeak() }
        let upload = client.upload(
            URL(fileURLWithPath: arguments[4]), to: "/\(arguments[2])", resumableBy: form, policy: .init(patience: 100))
        var done = 0
        for await progress in upload.progress {
            if pauses == 0 { say("sent \(progress.sent)") }
            let mark = (progress.expectedToSend ?? 0) / (pauses + 1) * (done + 1)
            guard done != pauses, progress.sent > mark else { continue }
            done += 1
            upload.pause()
            upload.resume()
        }
        _ = try await upload.value
        if pauses > 0 { say("paused \(done)\nmemory \(ProcessMemory.peak - idle)") }
        say("done")
    }

    /// Past every buffer: what was said is heard, also of one that is killed.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

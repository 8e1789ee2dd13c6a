import Foundation
import Penstock

/// Uploads a file until that is done or it is killed: `upload-writer URL PATH FORM FILE`.
///
/// It prints `sent COUNT` now and then, and `done` when the server has the file.
@main
enum UploadWriter {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let form = ResumableUploadProtocol(rawValue: arguments[3]) else { exit(64) }
        var configuration = APIClient.Configuration(services: [Service(.main, [.development: arguments[1]])])
        configuration.environment = .development
        configuration.cache = .none
        configuration.options.cleartext = .loopback
        let upload = APIClient(configuration).upload(
            URL(fileURLWithPath: arguments[4]), to: "/\(arguments[2])", resumableBy: form, patience: 100)
        for await progress in upload.progress { say("sent \(progress.sent)") }
        _ = try await upload.value
        say("done")
    }

    /// Past every buffer: what was said is heard, also of one that is killed.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

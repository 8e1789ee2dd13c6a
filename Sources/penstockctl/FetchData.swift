import Foundation
import Penstock

/// Where `-d` takes the body from.
enum FetchData: Sendable {
    case text(String)
    case file(String)
    case standardInput

    init(_ argument: String) throws(UsageError) {
        guard argument.hasPrefix("@") else {
            self = .text(argument)
            return
        }
        let path = String(argument.dropFirst())
        guard !path.isEmpty else { throw UsageError("-d: @ needs the name of a file") }
        self = path == "-" ? .standardInput : .file(path)
    }

    /// A file is read while it is sent. Standard input is read to its end first, so that it has a length and can be sent
    /// again by a redirect.
    func body() throws(UsageError) -> HTTPBody {
        switch self {
        case .text(let text):
            return .bytes(Data(text.utf8))
        case .file(let path):
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
                throw UsageError("-d: \(String(reflecting: path)) is a folder, and a file is wanted")
            }
            return try attempt("-d: there is no readable file \(String(reflecting: path))") {
                let file = URL(fileURLWithPath: path)
                try FileHandle(forReadingFrom: file).close()
                return HTTPBody.file(file)
            }
        case .standardInput:
            return try attempt("-d: standard input cannot be read") {
                .bytes(try FileHandle.standardInput.readToEnd() ?? Data())
            }
        }
    }

    private func attempt(_ failure: String, _ body: () throws -> HTTPBody) throws(UsageError) -> HTTPBody {
        do {
            return try body()
        } catch {
            throw UsageError(failure)
        }
    }
}

import Foundation

/// Where a download is kept, and under what name. The app decides; what a server suggests is made harmless first
/// (``FileNameRules``).
///
/// ```swift
/// client.download(Film(id: 7), to: .file(movies.appending(path: "seven.mp4")))
/// client.download(Film(id: 7), to: .folder(movies))                       // as the server names it, or "name 2"
/// client.download(Film(id: 7), to: .folder(movies) { response, name in response.status == 200 ? name : "other" })
/// ```
public struct DownloadDestination: Sendable {
    /// What becomes of a file that has the name already.
    public enum Overwriting: Hashable, Sendable {
        /// It stays, and the download fails as ``APIError/StorageFault/exists``: before anything is sent, where the name is known.
        case fail
        /// The new file takes its place, in one moment. Of a link the link is replaced, and not what it leads to.
        case replace
        /// It stays, and the new one is `name 2`, `name 3` and so on; two downloads never get the same name.
        case numbered
    }

    enum Naming: Sendable {
        case fixed(String)
        case chosen(@Sendable (HTTPResponse, String) -> String)
    }

    /// Where the file goes, and until it is whole a hidden one that holds what has come. It must be there.
    public let folder: URL
    /// What becomes of a file that has the name already.
    public let overwriting: Overwriting
    let naming: Naming

    /// A file of this name, which is the app's own and used as it is.
    ///
    /// - Parameter overwriting: ``Overwriting/fail`` by default.
    public static func file(_ url: URL, overwriting: Overwriting = .fail) -> DownloadDestination {
        DownloadDestination(
            folder: url.deletingLastPathComponent(), overwriting: overwriting, naming: .fixed(url.lastPathComponent))
    }

    /// A file in this folder with the name that the server suggests, made harmless: that of `Content-Disposition`, else the last
    /// component of the URL.
    ///
    /// - Parameter overwriting: ``Overwriting/numbered`` by default.
    public static func folder(_ url: URL, overwriting: Overwriting = .numbered) -> DownloadDestination {
        DownloadDestination(folder: url, overwriting: overwriting, naming: .chosen { $1 })
    }

    /// A file in this folder with a name that the app chooses when the response is there.
    ///
    /// - Parameters:
    ///   - overwriting: ``Overwriting/numbered`` by default.
    ///   - name: is given the head of the response and the name that it suggests, made harmless. What it gives back is made harmless
    ///     as well.
    public static func folder(
        _ url: URL, overwriting: Overwriting = .numbered,
        naming name: @escaping @Sendable (_ response: HTTPResponse, _ suggested: String) -> String
    ) -> DownloadDestination {
        DownloadDestination(folder: url, overwriting: overwriting, naming: .chosen(name))
    }

    /// The name of the file, now that its response is there.
    func name(for response: HTTPResponse, from url: HTTPURL) -> String {
        switch naming {
        case .fixed(let name): name
        case .chosen(let choose):
            FileNameRules.harmless(choose(response, FileNameRules.suggested(by: response.fields, of: url)))
        }
    }

    /// What tells two destinations in one folder apart before a name is known.
    var mark: String {
        if case .fixed(let name) = naming { "file/\(name)" } else { "folder" }
    }
}

/// A file that has been downloaded.
public struct DownloadedFile: Hashable, Sendable {
    /// Where it is.
    public let url: URL
    /// Its length in bytes.
    public let length: Int
    /// Whether a part of it had been there before this download began: an earlier one was interrupted.
    public let wasResumed: Bool
}

extension APIError {
    /// Why what came could not be kept on this machine.
    @nonexhaustive
    public enum StorageFault: String, Hashable, Sendable {
        /// There is a file of the name already, and it was to stay.
        case exists
        /// What has the name is a folder.
        case isFolder
        /// The folder is not there.
        case noFolder
        /// Nothing may be written there: missing rights, or a medium that can only be read.
        case notWritable
        /// The disk is full, or the user's share of it. What has come is kept, and gone on with once there is room.
        case noSpace
        /// Another download to the same place, of this process or another one, is under way.
        case inUse
        /// None of the others; ``APIError/underlying`` is the system's own error.
        case failed

        init(_ code: Int32) {
            self =
                switch code {
                case EEXIST, ENOTEMPTY: .exists
                case EISDIR: .isFolder
                case ENOENT, ENOTDIR: .noFolder
                case EACCES, EPERM, EROFS: .notWritable
                case ENOSPC, EDQUOT: .noSpace
                case EWOULDBLOCK: .inUse
                default: .failed
                }
        }
    }

    /// What the system said when a file was to be written.
    init(_ error: SystemError) {
        self.init(
            .storage(StorageFault(error.code)), stage: .file,
            underlying: POSIXErrorCode(rawValue: error.code).map { POSIXError($0) })
    }
}

extension StageName {
    /// What came is kept in a file.
    public static let file = StageName(rawValue: "file")
}

import Foundation

/// What sends requests for the app while that does not run: the seam behind ``BackgroundTransfers``. On Apple's systems it is
/// background sessions of Foundation's; a test plays it.
///
/// It keeps what it was given past the end of the process, and tells a later process what has come of it.
package protocol BackgroundSession: Sendable {
    /// Which parts of a trust policy it keeps.
    var capabilities: TransportCapabilities { get }

    /// Takes up what earlier processes have left to it. It may be asked again, for further partitions.
    ///
    /// - Parameters:
    ///   - partitions: whose requests are taken up; what was begun in one shares no connection with any other.
    ///   - tell: called from any thread. It may wait for the disk, and what is told next waits with it.
    /// - Returns: what it is still busy with, by its key, and how many bytes of the content have gone out. What has ended
    ///   meanwhile is told of by events.
    func open(
        _ partitions: Set<String>, _ tell: @escaping @Sendable (BackgroundEvent) -> Void
    ) async -> [String: Int]

    /// Takes a request over. It returns at once, and the request goes out when the system sees fit.
    ///
    /// - Throws: what is known at once, such as a URL that the platform does not take. Nothing is sent then.
    func begin(_ upload: BackgroundUpload) throws(TransportError)

    /// Ends a request. Nothing where it knows none by this key.
    func cancel(_ key: String)

    /// Tells nobody of anything any more. What it was given goes on.
    func close()
}

/// A request that is handed over.
package struct BackgroundUpload: Sendable {
    /// What it is known by, in later processes as well.
    package let key: BackgroundKey
    /// The request as it left the request path: with the service's headers, credential and signature. It has no content of its own.
    package let request: HTTPRequest
    /// Its content. Nobody changes it, and it is there until the request has ended.
    package let file: URL
}

/// What happens to requests that were handed over.
package enum BackgroundEvent: Sendable {
    /// So many bytes of the content have gone out.
    case sent(String, Int)
    /// The response, whatever its status, with as much of its content as ``BackgroundTransfers/maximumReply`` says; or why there
    /// is none.
    case ended(String, Result<HTTPResponse, TransportError>)
    /// Everything that has happened in a partition while the app did not run was told.
    case caughtUp(partition: String)
}

/// What a request that was handed over is known by: the partition it belongs to, and a number that no other has.
package struct BackgroundKey: Hashable, Sendable {
    /// The partition it belongs to: those of one user in one environment have one, and share connections with no other.
    package let partition: String
    /// All of it.
    package let text: String

    /// A new one.
    init(in partition: String) {
        self.partition = partition
        text = "\(partition)-\(UUID().uuidString)"
    }

    /// - Returns: `nil` for a text that is none.
    package init?(_ text: String) {
        guard let dash = text.firstIndex(of: "-"), UUID(uuidString: String(text[text.index(after: dash)...])) != nil,
            ResumableUploadState.isMark(text[..<dash])
        else { return nil }
        partition = String(text[..<dash])
        self.text = text
    }
}

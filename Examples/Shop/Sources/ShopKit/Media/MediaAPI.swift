import Foundation
import Penstock

/// Pictures that customers send, and films that the shop shows: files both ways.
public struct MediaAPI: Sendable {
    private let client: APIClient

    public init(client: APIClient) {
        self.client = client
    }

    /// Sends a picture, which is read from the disk as it is sent.
    ///
    /// - Parameter progress: told how far it is, many times; its fraction never goes back, and is 1 when the shop has the picture.
    public func upload(
        _ picture: URL, title: String, progress: @Sendable (TransferProgress) -> Void
    ) async throws(APIError) -> Picture {
        let call = client.start(UploadPicture(title: title, picture: picture))
        for try await case .progress(let done) in call.updates { progress(done) }
        return try await call.value
    }

    /// Downloads a film to a file. It goes on where it was interrupted, now or the next time that the same is downloaded.
    ///
    /// - Parameter progress: as that of an upload.
    public func download(
        film: Int, to file: URL, progress: @Sendable (TransferProgress) -> Void
    ) async throws(APIError) -> DownloadedFile {
        let call = client.download(GetFilm(id: film), to: .file(file))
        for try await case .progress(let done) in call.updates { progress(done) }
        return try await call.value
    }
}

/// A picture as the shop has it.
public struct Picture: Decodable, Hashable, Sendable {
    public let name: String
    public let title: String
    public let bytes: Int
}

struct UploadPicture: Endpoint {
    typealias Output = Picture
    let title: String
    let picture: URL
    var service: ServiceID { .media }
    var route: Route { .post("/pictures") }
    var body: HTTPBody { .multipart([.field("title", title), .file("picture", picture)]) }
}

struct GetFilm: Endpoint {
    typealias Output = Data
    let id: Int
    var service: ServiceID { .media }
    var route: Route { .get("/films/\(id)") }
}

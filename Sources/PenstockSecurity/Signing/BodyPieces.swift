import Foundation
import PenstockCore

extension HTTPBody {
    /// Reads all of it once, in pieces that are cheap to hold; nothing where there is none.
    ///
    /// - Parameter stage: that needs the bytes.
    /// - Throws: an error of the file or of the stream as ``APIError/Kind/transport(_:)`` with
    ///   ``APIError/TransportFault/requestBody``; what `take` throws as it is.
    func forEachPiece(at stage: StageName, _ take: (Data) throws -> Void) async throws {
        switch source {
        case .none: break
        case .bytes(let data): try take(data)
        case .file(let url):
            let file = try Self.readable(stage) { try FileHandle(forReadingFrom: url) }
            defer { try? file.close() }
            while let piece = try Self.readable(stage, { try file.read(upToCount: Self.pieceSize) }), !piece.isEmpty {
                try Task.checkCancellation()
                try take(piece)
            }
        case .stream(let open):
            var pieces = try Self.readable(stage) { try open() }.makeAsyncIterator()
            while let piece = try await Self.nextPiece(&pieces, stage) { try take(piece) }
        @unknown default:
            throw APIError(.unsupported(feature: "a body of an unknown kind"), stage: stage)
        }
    }

    /// How many bytes of a file are read at once: as much as is cheap to hold, and enough that the calls do not count.
    private static let pieceSize = 65_536

    private static func nextPiece(_ pieces: inout Chunks.Iterator, _ stage: StageName) async throws -> Data? {
        do {
            return try await pieces.next()
        } catch {
            throw unreadable(error, stage)
        }
    }

    private static func readable<Value>(_ stage: StageName, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw unreadable(error, stage) }
    }

    private static func unreadable(_ error: any Error, _ stage: StageName) -> any Error {
        if error is CancellationError || error is APIError { return error }
        return APIError(.transport(.requestBody), stage: stage, sendState: .unsent, underlying: error)
    }
}

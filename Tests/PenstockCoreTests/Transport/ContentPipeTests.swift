import Foundation
import PenstockCore
import Testing

/// What can be read of content that has ended.
@Suite(.timeLimit(.minutes(5))) struct ContentPipeTests {
    private static func pipe(of pieces: [String], ending end: Result<Void, TransportError>) -> ContentPipe {
        let pipe = ContentPipe {}
        for piece in pieces { _ = pipe.push(Data(piece.utf8)) }
        pipe.end(end)
        return pipe
    }

    /// What is read before the end, and of what kind that is.
    private static func reading(_ pipe: ContentPipe) async -> (texts: [String], failure: TransportError.Kind?) {
        var texts: [String] = []
        do throws(TransportError) {
            while let piece = try await pipe.read() { texts.append(String(decoding: piece, as: UTF8.self)) }
            return (texts, nil)
        } catch {
            return (texts, error.kind)
        }
    }

    @Test func `what came before the end of the content is read, and then the end`() async {
        let (texts, failure) = await Self.reading(Self.pipe(of: ["a", "b"], ending: .success(())))
        #expect(texts == ["a", "b"])
        #expect(failure == nil)
    }

    @Test(
        "What came before the connection was lost, or fell silent, is read, and then the failure",
        arguments: [TransportError.Kind.connectionLost, .timeout(.idle)])
    func broken(kind: TransportError.Kind) async {
        let pipe = Self.pipe(of: ["a", "b"], ending: .failure(TransportError(kind, sendState: .answered)))
        let (texts, failure) = await Self.reading(pipe)
        #expect(texts == ["a", "b"])
        #expect(failure == kind)
        #expect(await Self.reading(pipe).failure == kind)
    }

    @Test("Of several who read at a time each gets other pieces, and all of them the end")
    func readers() async {
        let pipe = ContentPipe {}
        let readers = (0..<3).map { _ in Task { await Self.reading(pipe) } }
        for _ in 0..<100 { await Task.yield() }
        _ = pipe.push(Data("a".utf8))
        _ = pipe.push(Data("b".utf8))
        for _ in 0..<100 { await Task.yield() }
        pipe.end(.success(()))
        var texts: [String] = []
        for reader in readers { texts += await reader.value.texts }
        #expect(texts.sorted() == ["a", "b"])
    }

    @Test(
        "Any other failure is told at once",
        arguments: [
            TransportError.Kind.cancelled, .timeout(.total), .timeout(.firstByte), .limitExceeded(.bodyBytes),
            .protocolViolation, .other,
        ])
    func refused(kind: TransportError.Kind) async {
        let pipe = Self.pipe(of: ["a", "b"], ending: .failure(TransportError(kind, sendState: .answered)))
        let (texts, failure) = await Self.reading(pipe)
        #expect(texts.isEmpty)
        #expect(failure == kind)
    }
}

import Foundation
import Testing

@testable import PenstockCore

@Suite(.timeLimit(.minutes(1))) struct ErrorTextTests {
    private static let lost = APIError(.timeout(.idle), stage: .transport)

    /// One of each public type of error, or more where its texts differ by more than a word.
    private static let errors: [any Error] = [
        lost, BatchError(index: 1, endpoint: "Login", error: lost), CallNodeError.failed(lost),
        CallNodeError.skipped(because: "Login", lost), CallNodeError.notInGraph, CallGraphError.unknownCall("Login"),
        MergeError.noValue, PagingError.tooManyPages(limit: 3), StreamLimitError.lineTooLong(limit: 7),
        CookieFileError.inUse, EventLogError.full, EventLogError.refused(events: 2, .cancelled),
        OutboxError.request(lost), OutboxError.store(.full), OutboxError.unregistered("SendMessage"),
        OutboxError.cipher(OutboxCipherUnavailable()), OutboxError.undeliverable(OutboxFailure(.expired), nil),
        OutboxFailure(.refused), OutboxStoreError.damaged, OutboxCipherUnavailable(), ResumableUploadError.stalled,
        MultipartError.invalidName("a"), SourceFileError.changed(URL(fileURLWithPath: "/a")),
        FrameError(.tooLong, "the frame is too long"), WebSocketClosure(code: .normal), PinError.malformedPin("x"),
        HostSourceError.noAddress("a.example"), WebSocketFailure(.length, "the length is wrong"),
        HTTPURL.ParseError.missingHost, RoutePath.Invalid(.path, .url), HTTPBody.AlreadyRead(),
        ParameterEncodingError(.tooDeep), AuthenticationFailure.missing, VaultError.locked,
        TransportError(.connectionLost, sendState: .unsent),
    ]

    @Test(arguments: errors) func `a public error has a sentence for people, not Foundation's number`(error: any Error)
    {
        let text = error.localizedDescription
        #expect(!text.contains("\(type(of: error))"), "\(text)")
        #expect(text.first?.isUppercase == true && text.last == ".", "\(text)")
        #expect(text.count > 10)
    }

    @Test func `an error about another one says what that one says`() {
        for error in [
            BatchError(index: 0, endpoint: "Login", error: Self.lost), CallNodeError.failed(Self.lost),
            OutboxError.answer(Self.lost), OutboxError.undeliverable(OutboxFailure(.refused), Self.lost),
        ] as [any Error] {
            #expect(error.localizedDescription == Self.lost.localizedDescription)
        }
    }

    @Test func `its description names the cause with the types that it is nested in, and without its module`() {
        let nested: [(any Error, String)] = [
            (RoutePath.Invalid(.path, .url), "caused by RoutePath.Invalid"),
            (VaultError.locked, "caused by VaultError"),
            (HTTPBody.AlreadyRead(), "caused by HTTPBody.AlreadyRead"), (Hidden(), "caused by Hidden"),
            (
                TransportError(.other, sendState: .unsent, underlying: HTTPURL.ParseError.missingHost),
                "caused by HTTPURL.ParseError"
            ),
        ]
        for (cause, text) in nested {
            let error = APIError(.timeout(.idle), stage: .transport, underlying: cause)
            #expect(error.description.hasSuffix("; \(text)"), "\(error)")
        }
    }

    @Test func `every public error of the package has its sentence`() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 1...4 { root.deleteLastPathComponent() }
        let sources = root.appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        let text = try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
        let declared = text.matches(of: /public (?:struct|enum|final class) (\w+): (?:\w+, )*Error\b/).map(\.output.1)
        let worded = Set(text.matches(of: /extension (?:\w+\.)*(\w+): LocalizedError/).map(\.output.1))
        #expect(declared.count > 30)
        for name in declared { #expect(worded.contains(name), "\(name)") }
    }
}

private struct Hidden: Error {}

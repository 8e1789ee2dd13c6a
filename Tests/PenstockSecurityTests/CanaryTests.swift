import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore
@testable import PenstockSecurity

/// Secrets that were planted in every place are in nothing that is written.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct CanaryTests {
    private static let scan = CanaryScan(CanaryScan.planted)
    private static let marker = CanaryScan(["marker": CanaryScan.marker])

    /// A server that gives secrets away wherever it can: in fields, in URLs, and in what it says of an error.
    private static func hostileServer() throws -> LoopbackServer {
        @Sendable func planted(_ place: String) -> String { CanaryScan.planted[place] ?? "" }
        let note = CanaryScan.marker
        return try LoopbackServer { request in
            let seen = [HTTPFieldName.authorization, .cookie, "X-Api-Key", "X-Signature"].map { name in
                "\"\(name)\":\"\(request.fields[name] ?? "")\""
            }
            switch request.path {
            case "/session":
                let cookie = "sid=\(planted("cookie")); Path=/"
                return .json("{}", fields: ["Cache-Control": "no-store", "Set-Cookie": cookie, "X-Note": note])
            case "/page":
                return .json("{\"note\":\"\(note)\"}", fields: ["Cache-Control": "max-age=600", "X-Note": note])
            case "/kept":
                return .json(
                    "{\"note\":\"\(note)\"}",
                    fields: [
                        "Cache-Control": "max-age=600", "X-Note": note, "Vary": "X-Client",
                        "Set-Cookie": "kept=\(planted("keptcookie")); Path=/",
                        "Authentication-Info": "nextnonce=\"\(planted("keptnonce"))\"",
                    ])
            case "/redirect":
                return .init(status: 302, fields: ["Location": "/echo?note=\(note)&code=\(planted("location"))"])
            case "/cut":
                var cut = LoopbackServer.Response.text(note)
                (cut.declaredLength, cut.ending) = (1_000, .drop)
                return cut
            case "/unavailable":
                return .init(status: 503)
            default:
                // What the server repeats of a password, beside its name, in JSON within JSON, and in markup within it.
                let told = [
                    "\"errors\":[{\"loc\":[\"body\",\"password\"],\"input\":\"\(planted("labelled"))\"}]",
                    "\"body\":\"[[\\\"Cookie\\\",\\\"\(planted("nested"))\\\"]]\"",
                    "\"page\":\"&lt;password&gt;\(planted("escaped"))&lt;/password&gt;\"",
                ]
                let said = ["\"note\":\"\(note)\"", "\"token\":\"\(planted("reply"))\""] + told + seen
                return .json("{\(said.joined(separator: ","))}", status: 400, fields: ["Cache-Control": "no-store"])
            }
        }
    }

    /// What was written, by kind. The vault's file is sealed, and its key is random.
    private static let open = [
        "errors.txt", "events.txt", "log.txt", "telemetry.txt", "calls.har", "calls.html", "recording.json",
        "values.txt", "listing.txt",
        "receipt.txt", "cache/http.sqlite", "open/http.sqlite-wal", "notes.log", "temporary/left", "output.txt",
    ]
    private static let sealed = [
        "vault/credentials.vault", "vault/credentials.vault.key", "cache/outbox.sqlite", "open/outbox.sqlite",
    ]
    /// The same on both: what is written, and what must not be.
    private static let transports = ["libcurl", "URLSession"]

    /// A folder in which a program of its own has written all that it writes.
    private static func written(_ transport: String) async throws -> Folder {
        let folder = try Folder()
        let server = try hostileServer()
        defer { server.stop() }
        let temporary = folder.url.appendingPathComponent("temporary")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        // Foundation's URLSession leaks at each request, behind a library without frame pointers. Under the address sanitizer a
        // suppression finds its name only in whole stacks, which are slow to take, so they are taken in this program alone.
        let sanitizer = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] ?? ""
        let variables = [
            "ASAN_OPTIONS=\(sanitizer):fast_unwind_on_malloc=0", "HOME=\(folder.url.path)", "TMPDIR=\(temporary.path)/",
            "XDG_CACHE_HOME=\(folder.url.path)/xdg-cache",
            "XDG_STATE_HOME=\(folder.url.path)/xdg-state",
        ]
        let program = try #require(BuiltProgram.url("vault-writer"))
        let process = try await Subprocess.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            variables + [program.path, "canary", server.url.absoluteString, folder.url.path, transport])
        #expect(process.status == 0, "\(process.output)")
        try Data(process.output.utf8).write(to: folder.url.appendingPathComponent("output.txt"))
        // What was planted did arrive, or nothing was hidden.
        let requests = server.requests.map { "\($0.target) \($0.fields.map(\.value)) \($0.text)" }.joined()
        let arrived = scan.found(in: Data(requests.utf8))
        for place in [
            "header", "cookie", "query", "form", "json", "token", "location", "keptquery", "keptcookie", "wrongfield",
            "wrongcookie", "varied",
        ] { #expect(arrived.contains(place), "\(place)") }
        for place in [
            "sealed", "sealingkey", "proxy", "clientkey", "passphrase", "refresh", "pin", "signingkey", "collector",
        ] {
            #expect(!arrived.contains(place), "\(place)")
        }
        #expect(server.requests.count { $0.path == "/kept" } == 1, "it was not stored")
        return folder
    }

    @Test(
        "Of the secrets that were planted in every place, none is in a log, a trace, an error, an archive, a report, a recording, a cache or another file",
        .covers("X10", "H2"), arguments: transports)
    func nothing(_ transport: String) async throws {
        let folder = try await Self.written(transport)
        let found = try Self.scan.found(inFolder: folder.url)
        for (name, places) in found.sorted(by: { $0.key < $1.key }) { #expect(places == [], "\(name)") }
        // Each kind of output was there, and was read: what is no secret is in all of them.
        let markers = try Self.marker.found(inFolder: folder.url)
        for name in Self.open { #expect(markers[name] == ["marker"], "\(name)") }
        for name in Self.sealed { #expect(markers[name] == [], "\(name)") }
        // What was wrong with a field is told, by its name.
        let errors = try String(contentsOf: folder.url.appendingPathComponent("errors.txt"), encoding: .utf8)
        for name in ["Authorization", "Cookie"] {
            #expect(errors.contains("invalidParameter \"\(name)\": its name or its value"), "\(name)")
        }
    }

    @Test("A secret that leaks into an output of any kind, in any form, is found there, and by its place")
    func leaks() async throws {
        let folder = try await Self.written(Self.transports[0])
        let places = CanaryScan.planted.keys.sorted()
        for (index, name) in (Self.open + Self.sealed).enumerated() {
            let file = folder.url.appendingPathComponent(name)
            let before = try Data(contentsOf: file)
            let place = places[index % places.count]
            let forms = CanaryScan.forms(of: CanaryScan.planted[place] ?? "")
            try (before + forms[index % forms.count]).write(to: file)
            let found = try Self.scan.found(inFolder: folder.url)
            #expect(found.filter { !$0.value.isEmpty } == [name: [place]])
            try before.write(to: file)
        }
        let named = folder.url.appendingPathComponent("temporary/\(CanaryScan.planted["token"] ?? "")")
        try Data().write(to: named)
        #expect(try Self.scan.found(inFolder: folder.url)["temporary/\(named.lastPathComponent)"] == ["token"])
    }

    @Test("The forms in which a secret is looked for are those in which it is written")
    func forms() throws {
        let scan = CanaryScan(["x": "swordfish"])
        for text in ["a swordfish b", "73776f726466697368", "73776F726466697368"] {
            #expect(scan.found(in: Data(text.utf8)) == ["x"])
        }
        for before in 0..<4 {
            for after in 0..<4 {
                let bytes =
                    Data(repeating: 255, count: before) + Data("swordfish".utf8) + Data(repeating: 1, count: after)
                #expect(scan.found(in: Data(bytes.base64EncodedString().utf8)) == ["x"], "\(before), \(after)")
            }
        }
        #expect(scan.found(in: try #require("swordfish".data(using: .utf16LittleEndian))) == ["x"])
        for text in ["swordfis", "Swordfish", ""] { #expect(scan.found(in: Data(text.utf8)) == []) }
    }
}

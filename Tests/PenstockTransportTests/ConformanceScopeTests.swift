import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// How much of the suite each transport runs: what is left out is a change that is seen here.
@Suite(.covers("X1"))
struct ConformanceScopeTests {
    @Test("Each transport runs so many rules", arguments: [("libcurl", 793), ("URLSession", 281), ("stub", 68)])
    func counts(name: String, count: Int) throws {
        let transport = try #require(TransportUnderTest.every.first { $0.name == name })
        let rules = TransportConformance.rules.filter {
            $0.applies(to: transport.capabilities, hasWire: transport.hasWire)
        }
        #expect(rules.count == count)
    }

    @Test("libcurl is excused from nothing but what is there for those that lack something")
    func libcurlRunsEverything() throws {
        let libcurl = try #require(TransportUnderTest.every.first)
        #expect(libcurl.capabilities == .all)
        for rule in TransportConformance.rules where !rule.applies(to: libcurl.capabilities) {
            #expect(!rule.excludes.isEmpty, "\(rule)")
        }
    }

    @Test("Every group of rules is run by a test")
    func everyGroupIsRun() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        func text(of folder: String, _ prefix: String) throws -> String {
            let folder = root.appendingPathComponent(folder)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.hasPrefix(prefix) && $0.hasSuffix(".swift")
            }
            return try names.map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
                .joined(separator: "\n")
        }
        let sources = try text(of: "Sources/PenstockTesting/Conformance", "TransportConformance")
        let tests = try text(of: "Tests/PenstockTransportTests", "")
        let groups = sources.matches(of: #/public static (?:let|var) (\w+): \[Rule\]/#).map { String($0.output.1) }
        // These are made of others.
        let wholes = ["rules", "http2", "secure"]
        #expect(groups.count > 30 && Set(wholes).isSubset(of: groups))
        for group in groups where !wholes.contains(group) {
            #expect(tests.contains("Case.all(TransportConformance.\(group))"), "\(group)")
        }
    }

    @Test("Rules have names of their own")
    func namesAreUnique() {
        let names = Dictionary(grouping: TransportConformance.rules, by: \.name)
        #expect(names.filter { $0.value.count > 1 }.keys.sorted() == [])
    }

    @Test("The documents name everything that a transport lacks")
    func documentsNameWhatIsMissing() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try ["README.md", "Documentation/Transports.md"]
            .map { try String(contentsOf: root.appendingPathComponent($0), encoding: .utf8) }.joined(separator: "\n")
        let table = text.split(separator: "\n").filter { $0.hasPrefix("|") }
        for transport in TransportUnderTest.every where transport.hasWire {
            for missing in TransportCapabilities.all.subtracting(transport.capabilities).names {
                #expect(table.contains { $0.contains("`\(missing)`") }, "\(transport) lacks \(missing)")
            }
        }
    }
}

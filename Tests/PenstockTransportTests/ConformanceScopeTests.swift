import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// How much of the suite each transport runs: what is left out is a change that is seen here.
@Suite(.covers("X1"))
struct ConformanceScopeTests {
    @Test("Each transport runs so many rules", arguments: [("libcurl", 794), ("URLSession", 281), ("stub", 68)])
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

    @Test("A rule is left out for a double because it has no wire or no channels, or can what only others refuse")
    func stubIsExcused() throws {
        let stub = try #require(TransportUnderTest.every.last)
        #expect(stub.name == "stub" && !stub.hasWire)
        let missing = TransportCapabilities.all.subtracting(stub.capabilities)
        #expect(missing.names == ["channels"])
        let others = TransportConformance.rules.filter {
            !$0.applies(to: stub.capabilities, hasWire: stub.hasWire) && !$0.needsWire
                && $0.requires.isDisjoint(with: missing)
        }
        #expect(
            others.map(\.name) == [
                "A stream that cannot be sent is refused unsent",
                "A trust policy that cannot be enforced is refused unsent",
                "A proxy that cannot be used is refused unsent",
            ])
        #expect(others.allSatisfy { !$0.excludes.isEmpty })
    }

    /// The cells of the tables that compare transports, by what their first cell names in code.
    private static func comparisons() throws -> [[String]] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var rows: [[String]] = []
        for name in ["README.md", "Documentation/Transports.md"] {
            let text = try String(contentsOf: root.appendingPathComponent(name), encoding: .utf8)
            var isInside = false
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                isInside =
                    line.hasPrefix("|")
                    && (isInside || line.hasPrefix("| | libcurl | URLSession on Linux | URLSession on"))
                guard isInside else { continue }
                let cells = line.split(separator: "|").map {
                    $0.trimmingCharacters(in: CharacterSet(charactersIn: " *"))
                }
                #expect(cells.count == 4, "\(line)")
                rows.append(cells)
            }
        }
        return rows.filter { $0.count == 4 }
    }

    @Test("The documents say of everything that a transport lacks that it does, in the column of that transport")
    func documentsNameWhatIsMissing() throws {
        let rows = try Self.comparisons()
        #expect(rows.count > 30)
        #if canImport(Darwin)
            let columns = ["libcurl": 1, "URLSession": 3]
        #else
            let columns = ["libcurl": 1, "URLSession": 2]
        #endif
        for transport in TransportUnderTest.every where transport.hasWire {
            let column = try #require(columns[transport.name])
            let missing = Set(TransportCapabilities.all.subtracting(transport.capabilities).names)
            for name in TransportCapabilities.all.names {
                let said = rows.filter { $0[0].contains("`\(name)`") }.map { $0[column] }
                guard missing.contains(name) else {
                    #expect(said.allSatisfy { !Self.isDenial($0) }, "\(transport) has \(name): \(said)")
                    continue
                }
                #expect(!said.isEmpty && said.allSatisfy(Self.isDenial), "\(transport) lacks \(name): \(said)")
            }
        }
    }

    /// Whether a cell says that something is not there, or that nobody knows.
    private static func isDenial(_ cell: String) -> Bool {
        let beginnings = ["no", "not known", "not run", "refused", "sent as it is", "the platform decides"]
        let first = cell.prefix { $0.isLetter || $0 == " " }.trimmingCharacters(in: .whitespaces)
        return beginnings.contains { first == $0 || first.hasPrefix($0 + " ") }
    }
}

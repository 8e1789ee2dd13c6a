import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockInspect

/// `traceparent` and `tracestate` as W3C "Trace Context" writes them.
@Suite struct TraceContextTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let span = "b7ad6b7169203331"
    private static let zeros = String(repeating: "0", count: 32)

    @Test("A valid traceparent is read, and written as version 00 with the sampled flag alone", .covers("X12"))
    func valid() throws {
        let sampled = try #require(TraceContext(parent: "00-\(Self.trace)-\(Self.span)-01"))
        #expect(sampled.traceID == Self.trace && sampled.spanID == Self.span && sampled.isSampled)
        #expect(sampled.parent == "00-\(Self.trace)-\(Self.span)-01")
        #expect(TraceContext(parent: "00-\(Self.trace)-\(Self.span)-00")?.isSampled == false)
        #expect(TraceContext(parent: "00-\(Self.trace)-\(Self.span)-fe")?.isSampled == false)
        #expect(TraceContext(parent: "00-\(Self.trace)-\(Self.span)-ff")?.parent.hasSuffix("-01") == true)
        let later = try #require(TraceContext(parent: "cc-\(Self.trace)-\(Self.span)-01-what-comes"))
        #expect(later.parent == "00-\(Self.trace)-\(Self.span)-01")
        #expect(TraceContext(parent: "cc-\(Self.trace)-\(Self.span)-01") != nil)
    }

    @Test("What is no traceparent is refused: the version ff, zeros, capitals, other lengths", .covers("X12"))
    func invalid() {
        let broken = [
            "", "00", "ff-\(Self.trace)-\(Self.span)-01", "00-\(Self.zeros)-\(Self.span)-01",
            "00-\(Self.trace)-\(Self.zeros.prefix(16))-01", "00-\(Self.trace.uppercased())-\(Self.span)-01",
            "00-\(Self.trace)-\(Self.span)-01-", "00-\(Self.trace)-\(Self.span)-01-x",
            "00-\(Self.trace)-\(Self.span)-1",
            "00-\(Self.trace)0-\(Self.span)-01", "00-\(Self.trace.dropLast())-\(Self.span)-01",
            "cc-\(Self.trace)-\(Self.span)-01x",
            "00-\(Self.trace)-\(Self.span)", "00_\(Self.trace)_\(Self.span)_01", "0g-\(Self.trace)-\(Self.span)-01",
            "00-\(Self.trace.dropLast())g-\(Self.span)-01", " 00-\(Self.trace)-\(Self.span)-01",
        ]
        for parent in broken { #expect(TraceContext(parent: parent) == nil, "\(parent)") }
    }

    @Test("A tracestate keeps its members and their order over several fields, white space left out", .covers("X12"))
    func stateMembers() {
        #expect(TraceState(["a=1, b=2 ,\tc=3", "", "d@e=4,,"]).value == "a=1,b=2,c=3,d@e=4")
        #expect(TraceState([]).value == nil && TraceState([" , "]).value == nil)
        let thirtyTwo = (1...32).map { "k\($0)=v" }.joined(separator: ",")
        #expect(TraceState([thirtyTwo]).members.count == 32)
        #expect(TraceState([thirtyTwo, "k33=v"]).members.isEmpty)
        #expect(TraceState(["0a@b=1"]).members.count == 1)
    }

    @Test("A tracestate that breaks the grammar, or has a key twice, says nothing", .covers("X12"))
    func brokenStates() {
        let long = String(repeating: "k", count: 257)
        for text in [
            "a", "=1", "=a=1", "a=", "A=1", "0a=1", "a=1,a=2", "a=b=c", "a=\u{1}", "a=é", "a@=1", "@a=1", "a@b@c=1",
            "a@0b=1",
            "\(long)=1", "a=\(String(repeating: "v", count: 257))", "a b=1",
        ] { #expect(TraceState([text]).members.isEmpty, "\(text)") }
        #expect(TraceState(["\(long.dropLast())=1"]).members.count == 1)
        #expect(TraceState(["a=\(String(repeating: "v", count: 256))"]).members.count == 1)
    }

    @Test(
        "A key has small letters, digits and four signs; a tenant's has 241 of them at most, and its system 14",
        .covers("X12"))
    func stateKeys() {
        let (tenant, system) = (String(repeating: "t", count: 241), String(repeating: "s", count: 14))
        let good = [
            "a", "z", "az09_-*/", "\(tenant)@\(system)", "0@a", "9@z", "0z@a9", String(repeating: "k", count: 256),
        ]
        for key in good { #expect(TraceState(["\(key)=1"]).members == ["\(key)=1"], "\(key)") }
        for key in [
            "t\(tenant)@\(system)", "\(tenant)@s\(system)", "a@9", "_a", "-a", "*a", "/a", "9", "a`", "a{", "a:", "a.",
            "a+",
            "`a", "{a", ":a", "/@a", "a@_",
        ] { #expect(TraceState(["\(key)=1"]).members.isEmpty, "\(key)") }
    }

    @Test("A value is printable ASCII, a space among it, but for the comma and the equals sign", .covers("X12"))
    func stateValues() {
        for value in ["~", "!", "a b", "x y z", "-", ".", "+", "<", ">", "\\", "\""] {
            #expect(TraceState(["a=\(value)"]).members == ["a=\(value)"], "\(value)")
        }
        #expect(TraceState(["a= 1"]).members == ["a= 1"], "a space is lost at the end alone")
        for value in ["\u{7F}", "\u{1F}", "b\u{0}", "=", "b=", "\u{80}"] {
            #expect(TraceState(["a=\(value)"]).members.isEmpty, "\(value)")
        }
    }

    @Test("At most 512 characters are passed on: long members go first, then the oldest", .covers("X12"))
    func shortening() {
        func member(_ key: String, _ length: Int) -> String {
            "\(key)=" + String(repeating: "v", count: length - key.count - 1)
        }
        let exact = (0..<4).map { member("k\($0)", $0 == 3 ? 125 : 128) }
        #expect(exact.joined(separator: ",").count == 512 && TraceState(exact).members == exact)
        let over = exact.dropLast() + [member("k3", 126)]
        #expect(TraceState(Array(over)).members == Array(over.dropLast()))
        let withLong = ["a=1", member("long", 129), member("x", 128), member("y", 128), member("z", 128)]
        #expect(TraceState(withLong).members == [withLong[0], withLong[2], withLong[3], withLong[4]])
    }
}

#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import Testing

    @testable import PenstockCurl

    /// The parsers of a response's head do linear work, whatever the server writes.
    @Suite(.timeLimit(.minutes(5)), .covers("H33")) struct LinearHeadTests {
        #if DEBUG
            static let limit = 1.0
        #else
            static let limit = 0.1
        #endif

        private static func take(_ lines: [String]) {
            var head = CurlHead()
            for line in ["HTTP/1.1 200 OK"] + lines + [""] {
                let end = Array("\(line)\r\n".utf8).withUnsafeBytes { head.take($0, ResponseLimits(), nil) }
                if end != nil { return }
            }
        }

        @Test(
            "Twice the line costs twice the work",
            arguments: ["", "X:", "Content-Length:", "Content-Encoding:", "Transfer-Encoding:", "Set-Cookie: a="])
        func lines(head: String) {
            for unit in LinearWork.units {
                LinearWork.expect("a line after \(head.debugDescription)", head: head, unit: unit, limit: Self.limit) {
                    Self.take([$0])
                }
            }
        }

        @Test("So do as many lines as there may be, folded or not")
        func manyLines() {
            for unit in LinearWork.units {
                LinearWork.expect("many lines", unit: unit, limit: Self.limit) { value in
                    Self.take((0..<900).map { "X\($0): \(value.prefix(value.count / 900))" })
                }
                LinearWork.expect("folded lines", unit: unit, limit: Self.limit) { value in
                    Self.take(["X: a"] + (0..<900).map { _ in " \(value.prefix(value.count / 900))" })
                }
            }
        }

        @Test("So does the list of content codings")
        func codings() throws {
            for unit in LinearWork.units {
                try LinearWork.expect("codings", unit: unit, limit: Self.limit) { value in
                    do throws(TransportError) {
                        _ = try ContentCoding.applied([.contentEncoding: value])
                    } catch {
                        guard error.kind == .limitExceeded(.contentCodings) else { throw error }
                    }
                }
            }
        }
    }
#endif

#if canImport(Darwin)
    import Foundation

    /// Writes `gzip` (RFC 1952) with the system's own zlib.
    enum URLSessionCodings {
        static func encoded(_ content: Data, in coding: String) -> Data? {
            guard coding == "gzip", let deflated = try? (content as NSData).compressed(using: .zlib) else { return nil }
            // Without a name, a time or a flag, from no system in particular.
            var output = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
            // What Foundation calls zlib is deflate alone (RFC 1951).
            output.append(deflated as Data)
            for number in [checksum(content), UInt32(truncatingIfNeeded: content.count)] {
                withUnsafeBytes(of: number.littleEndian) { output.append(contentsOf: $0) }
            }
            return output
        }

        /// CRC-32 (RFC 1952 §8).
        private static func checksum(_ data: Data) -> UInt32 {
            ~data.reduce(~0) { sum, byte in sum >> 8 ^ table[Int((sum ^ UInt32(byte)) & 0xFF)] }
        }

        private static let table: [UInt32] = (0..<256).map { index in
            (0..<8).reduce(UInt32(index)) { rest, _ in rest & 1 == 1 ? 0xEDB8_8320 ^ rest >> 1 : rest >> 1 }
        }
    }

    extension URLSessionTransport {
        /// `gzip`.
        public func encoded(_ content: Data, in coding: String) -> Data? {
            URLSessionCodings.encoded(content, in: coding)
        }
    }
#endif

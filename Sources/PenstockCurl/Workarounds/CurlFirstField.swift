#if os(Linux)
    import CCurl
    import PenstockCore

    /// Keeps libcurl from continuing a field line of the transfer before (``CurlFault/danglingField``).
    ///
    /// It tells of a line as debug text before it looks whether the line continues another. So that is listened to from the
    /// status line to the first field line, and a line that continues nothing loses its first byte there. Such a head is
    /// refused in any case (RFC 9112 §2.2).
    struct CurlFirstField {
        /// Whether libcurl has had a field line of the response.
        private(set) var hasCome = false

        /// Looks at a line that libcurl is about to take in.
        mutating func look(at line: UnsafeMutableBufferPointer<CChar>) {
            guard let first = line.first.map(UInt8.init(bitPattern:)) else { return }
            switch first {
            // A name that is empty.
            case 0x20, 0x09: if !hasCome { line[0] = 0x3A }
            case 0x0D, 0x0A: break
            default: hasCome = hasCome || !Self.isStatusLine(line)
            }
        }

        /// The head has come so far.
        mutating func note(_ head: CurlHead) {
            hasCome = hasCome || head.isComplete || !head.fields.isEmpty
        }

        /// What a field's name begins with otherwise has no slash.
        private static func isStatusLine(_ line: UnsafeMutableBufferPointer<CChar>) -> Bool {
            line.count > 5 && line[4] == 0x2F
        }
    }
#endif

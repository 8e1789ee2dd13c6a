extension String {
    /// The text whose UTF-8 the bytes are, every one of them; `nil` where they are not UTF-8.
    ///
    /// Foundation's takes a byte order mark off, and the standard library's own needs systems newer than this package asks for.
    package init?(utf8 bytes: some Collection<UInt8>) {
        self.init(decoding: bytes, as: UTF8.self)
        guard utf8.elementsEqual(bytes) else { return nil }
    }
}

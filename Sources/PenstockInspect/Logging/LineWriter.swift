/// Puts a line together byte by byte, in memory of the line's own: to append to a `String` takes several times as long.
struct LineWriter {
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    private init(_ bytes: UnsafeMutableBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// The line that `write` has made. What has no room is left out.
    ///
    /// - Parameter room: at most so many bytes.
    static func line(room: Int, _ write: (inout LineWriter) -> Void) -> String {
        String(unsafeUninitializedCapacity: room) { bytes in
            var writer = LineWriter(bytes)
            write(&writer)
            return writer.count
        }
    }

    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { text in
            let end = min(count + text.count, bytes.count)
            _ = bytes[count..<end].update(fromContentsOf: text[..<(end - count)])
            count = end
        }
    }

    /// Adds a number without Foundation's formats, which took more time than all else of a line.
    ///
    /// - Parameter digits: with zeros before it, at least so many. One by default.
    mutating func add(_ number: Int, digits: Int = 1) {
        if number < 0 { add("-") }
        var (rest, length) = (number.magnitude, 1)
        while rest > 9 { (rest, length) = (rest / 10, length + 1) }
        let start = count
        let end = start + max(length, digits)
        guard end <= bytes.count else { return }
        rest = number.magnitude
        for index in stride(from: end - 1, through: start, by: -1) {
            bytes[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        count = end
    }

    /// How long, in the unit that reads best: `0.42 ms`, `412 ms`, `12.3 s`.
    mutating func add(_ duration: Duration) {
        let milliseconds = duration / .milliseconds(1)
        switch milliseconds {
        case ..<10: add(milliseconds, places: 2)
        case ..<10_000: add(milliseconds, places: 0)
        default: add(milliseconds / 1_000, places: 1)
        }
        add(milliseconds < 10_000 ? " ms" : " s")
    }

    private mutating func add(_ value: Double, places: Int) {
        let unit = [1, 10, 100][places]
        guard let whole = Int(exactly: (value.magnitude * Double(unit)).rounded(.toNearestOrEven)) else {
            return add("\(value)")
        }
        if value < 0, whole > 0 { add("-") }
        add(whole / unit)
        guard places > 0 else { return }
        add(".")
        add(whole % unit, digits: places)
    }
}

import Foundation

/// Writes numbers and texts one after the other, little end first.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ date: Date) {
        append(date.timeIntervalSince1970.bitPattern)
    }

    mutating func append(_ duration: Duration) {
        append(duration.components.seconds)
        append(duration.components.attoseconds)
    }

    /// The length in four bytes, and the text as UTF-8.
    mutating func append(_ text: String) {
        append(UInt32(truncatingIfNeeded: text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func append(contentsOf other: [UInt8]) {
        bytes.append(contentsOf: other)
    }
}

/// Bytes that are not what this version writes.
struct Malformed: Error {}

/// Reads what ``ByteWriter`` wrote. No length that it finds is trusted: each is held against what there is.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(Malformed) -> Number {
        let size = MemoryLayout<Number>.size
        guard bytes.count &- offset >= size else { throw Malformed() }
        defer { offset &+= size }
        return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }

    /// A number that counts something in memory.
    mutating func count<Number: FixedWidthInteger>(_ type: Number.Type) throws(Malformed) -> Int {
        guard let count = Int(exactly: try number(type)) else { throw Malformed() }
        return count
    }

    mutating func date() throws(Malformed) -> Date {
        let seconds = Double(bitPattern: try number())
        guard abs(seconds) <= Self.longest else { throw Malformed() }
        return Date(timeIntervalSince1970: seconds)
    }

    mutating func duration() throws(Malformed) -> Duration {
        Duration(secondsComponent: try number(), attosecondsComponent: try number())
    }

    /// Dates further from 1970 are not read, so that differences of dates have a whole number of seconds.
    private static let longest: TimeInterval = 1e15

    mutating func slice(_ count: Int) throws(Malformed) -> UnsafeRawBufferPointer {
        guard count >= 0, bytes.count &- offset >= count else { throw Malformed() }
        defer { offset &+= count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset &+ count])
    }

    mutating func text() throws(Malformed) -> String {
        return String(decoding: try slice(count(UInt32.self)), as: UTF8.self)
    }
}

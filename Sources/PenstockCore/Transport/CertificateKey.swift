import Foundation

/// Finds the public key in a certificate, for platforms whose libraries give keys without the algorithm that pins include.
enum CertificateKey {
    /// - Parameter certificate: DER.
    /// - Returns: the subject public key info as it stands there, `nil` where the bytes are no certificate (RFC 5280 §4.1).
    static func info(in certificate: Data) -> Data? {
        var outer = DERReader(certificate)
        guard var body = outer.enter(DERReader.sequence), outer.isAtEnd, var fields = body.enter(DERReader.sequence)
        else { return nil }
        // The version is there unless it is 1. Then come serial number, signature, issuer, validity and subject.
        _ = fields.next(DERReader.version)
        for tag in [DERReader.integer] + Array(repeating: DERReader.sequence, count: 4) {
            guard fields.next(tag) != nil else { return nil }
        }
        return fields.next(DERReader.sequence)
    }
}

/// Reads elements of definite length one after the other (X.690 §8.1, §10.1). Never reads beyond what it was given.
private struct DERReader {
    static let integer: UInt8 = 0x02
    static let sequence: UInt8 = 0x30
    static let version: UInt8 = 0xA0

    private var rest: Data

    init(_ data: Data) {
        rest = data
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Takes an element whole, with its tag and length; `nil`, and takes nothing, where the next one is another.
    mutating func next(_ tag: UInt8) -> Data? {
        guard let (header, length) = header(tag) else { return nil }
        defer { rest = rest.dropFirst(header + length) }
        return Data(rest.prefix(header + length))
    }

    /// Takes an element, and reads what is in it.
    mutating func enter(_ tag: UInt8) -> DERReader? {
        guard let (header, _) = header(tag), let element = next(tag) else { return nil }
        return DERReader(element.dropFirst(header))
    }

    /// The bytes of tag and length, and how many follow; `nil` where another element is next or not all of it is there.
    private func header(_ tag: UInt8) -> (header: Int, length: Int)? {
        guard rest.first == tag, let first = rest.dropFirst().first else { return nil }
        if first < 0x80 { return checked(2, Int(first)) }
        let count = Int(first & 0x7F)
        // Three bytes are enough for any certificate, and cannot overflow.
        guard (1...3).contains(count) else { return nil }
        return checked(2 + count, rest.dropFirst(2).prefix(count).reduce(0) { $0 << 8 | Int($1) })
    }

    private func checked(_ header: Int, _ length: Int) -> (header: Int, length: Int)? {
        length <= rest.count - header ? (header, length) : nil
    }
}

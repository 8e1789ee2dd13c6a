#if os(Linux)
    import PenstockCore

    /// The kernel's words of rtnetlink, as `linux/netlink.h` and `linux/rtnetlink.h` define them (RFC 3549, rtnetlink(7)). The
    /// system's module has none of them. All numbers are in the machine's own byte order.
    package enum Netlink {
        /// Message types.
        static let error: UInt16 = 2
        static let done: UInt16 = 3
        static let newLink: UInt16 = 16
        static let getLink: UInt16 = 18
        static let newAddress: UInt16 = 20
        static let getAddress: UInt16 = 22
        static let newRoute: UInt16 = 24
        static let getRoute: UInt16 = 26
        /// Any message of links, addresses and routes, new or gone.
        static let changes: ClosedRange<UInt16> = 16...27

        /// Flags of messages.
        static let isRequest: UInt16 = 0x01
        static let isInterruptedDump: UInt16 = 0x10
        static let wantsDump: UInt16 = 0x300

        /// A request for all links, addresses or routes of every family.
        package static func dumpRequest(_ type: UInt16, sequence: UInt32) -> [UInt8] {
            // A header of 16 bytes, and one that begins with the family: 0 is any.
            var bytes: [UInt8] = []
            bytes.append(native: UInt32(17))
            bytes.append(native: type)
            bytes.append(native: isRequest | wantsDump)
            bytes.append(native: sequence)
            bytes.append(native: UInt32(0))
            return bytes + [0, 0, 0, 0]
        }

        /// The messages of one datagram. What is cut off, or claims to be longer than what is left, ends the list.
        package static func messages(in datagram: [UInt8]) -> [NetlinkMessage] {
            var messages: [NetlinkMessage] = []
            var rest = datagram[...]
            while let length = rest.native(UInt32.self, at: 0).map({ Int($0) }), length >= 16, length <= rest.count,
                let type = rest.native(UInt16.self, at: 4), let flags = rest.native(UInt16.self, at: 6),
                let sequence = rest.native(UInt32.self, at: 8)
            {
                let content = rest.dropFirst(16).prefix(length - 16)
                messages.append(NetlinkMessage(type: type, flags: flags, sequence: sequence, content: content))
                rest = rest.dropFirst(aligned(length))
            }
            return messages
        }

        fileprivate static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
    }

    /// One message of the kernel's.
    package struct NetlinkMessage: Sendable {
        package let type: UInt16
        package let flags: UInt16
        package let sequence: UInt32
        package let content: ArraySlice<UInt8>

        /// The attributes behind a header of so many bytes; the first of each type. What is cut off ends the list.
        func attributes(after header: Int) -> [UInt16: ArraySlice<UInt8>] {
            Self.attributes(of: content.dropFirst(header))
        }

        static func attributes(of bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
            var attributes: [UInt16: ArraySlice<UInt8>] = [:]
            var rest = bytes
            while let length = rest.native(UInt16.self, at: 0).map({ Int($0) }), length >= 4, length <= rest.count,
                let type = rest.native(UInt16.self, at: 2)
            {
                // The two upper bits say how the content is to be read.
                let key = type & 0x3FFF
                if attributes[key] == nil { attributes[key] = rest.dropFirst(4).prefix(length - 4) }
                rest = rest.dropFirst(Netlink.aligned(length))
            }
            return attributes
        }
    }

    extension ArraySlice<UInt8> {
        /// The number at an offset from the slice's beginning; `nil` where the slice is too short.
        func native<Number: FixedWidthInteger>(_: Number.Type, at offset: Int) -> Number? {
            let bytes = dropFirst(offset).prefix(MemoryLayout<Number>.size)
            guard bytes.count == MemoryLayout<Number>.size else { return nil }
            var number: Number = 0
            Swift.withUnsafeMutableBytes(of: &number) { $0.copyBytes(from: bytes) }
            return number
        }
    }

    extension [UInt8] {
        package mutating func append<Number: FixedWidthInteger>(native number: Number) {
            Swift.withUnsafeBytes(of: number) { append(contentsOf: $0) }
        }
    }
#endif

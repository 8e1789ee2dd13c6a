#if os(Linux)
    import Foundation
    import Glibc
    import PenstockCore

    /// A log in systemd's journal, by the journal's own protocol: one datagram an entry, each field by its name, so that
    /// `journalctl PENSTOCK_HOST=shop.example.com` finds it.
    ///
    /// The protocol is that of systemd, "Native Journal Protocol". Where there is no journal, or it does not take an entry at
    /// once, the entry is lost and counted: a log must not hold calls up.
    public final class JournalLog: LogDestination {
        private let descriptor: Int32
        private let path: String
        private let identifier: String
        private let lost = Locked(0)

        /// A log in the journal.
        ///
        /// - Parameters:
        ///   - identifier: what `journalctl -t` finds the entries by; the program's name unless given.
        ///   - socket: of the journal.
        public init(
            identifier: String = ProcessInfo.processInfo.processName,
            socket path: String = "/run/systemd/journal/socket"
        ) {
            self.identifier = identifier
            self.path = path
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        }

        deinit {
            if descriptor >= 0 { close(descriptor) }
        }

        /// How many entries the journal did not take.
        public var lostCount: Int { lost.withLock { $0 } }

        /// Sends the entry.
        public func write(_ entry: LogEntry) {
            let data = Self.datagram(entry, identifier: identifier)
            if !send(data) { lost.withLock { $0 += 1 } }
        }

        private static let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)

        private func send(_ data: Data) -> Bool {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let bytes = Array(path.utf8)
            guard descriptor >= 0, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
            let sent = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    data.withUnsafeBytes { buffer in
                        sendto(
                            descriptor, buffer.baseAddress, buffer.count, Self.flags,
                            address, socklen_t(MemoryLayout<sockaddr_un>.size))
                    }
                }
            }
            return sent == data.count
        }

        /// The entry as the protocol has it: `NAME=value` and a line feed, or, for a value that has line feeds itself, the
        /// name, a line feed, its length as 64 bits in little-endian order, the value, and a line feed.
        public static func datagram(_ entry: LogEntry, identifier: String) -> Data {
            var fields: [(name: String, value: String)] = [
                ("MESSAGE", "\(entry.call)  \(entry.message)"), ("PRIORITY", priority(entry.level)),
                ("SYSLOG_IDENTIFIER", identifier),
            ]
            for field in entry.fields { fields.append(("PENSTOCK_\(field.name.uppercased())", field.value)) }
            if let host = entry.url?.host { fields.append(("PENSTOCK_HOST", host)) }
            return fields.reduce(into: Data()) { $0 += line($1.name, $1.value) }
        }

        private static func line(_ name: String, _ value: String) -> Data {
            guard value.utf8.contains(UInt8(ascii: "\n")) else { return Data("\(name)=\(value)\n".utf8) }
            let length = withUnsafeBytes(of: UInt64(value.utf8.count).littleEndian) { Data($0) }
            return Data("\(name)\n".utf8) + length + Data("\(value)\n".utf8)
        }

        /// The priority of a level by syslog's numbers (RFC 5424 §6.2.1).
        private static func priority(_ level: LogLevel) -> String {
            switch level {
            case .error: "3"
            case .warning: "4"
            case .info: "6"
            case .off, .debug, .trace: "7"
            }
        }
    }
#endif

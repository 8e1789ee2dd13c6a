#if os(Linux)
    import Foundation
    import PenstockCore

    /// A connection to a message bus, for the few calls of one request to a vault. One thread uses it, and waits.
    final class Bus {
        /// What a call came to that did not succeed.
        enum Failure: Error, Equatable {
            /// The object is not there, or not any more.
            case gone
            /// The service could not do it, and gives no reason that has a name. It may be able to in a moment: one that has just
            /// started is still reading its files.
            case failed
            case vault(VaultError)
        }

        /// How long a service is waited for, in microseconds: it may have to be started, and read its files.
        private static let patience: UInt64 = 15_000_000

        private let library: BusLibrary
        private let handle: OpaquePointer

        init(_ address: String) throws(Failure) {
            guard let library = BusLibrary.shared else { throw .vault(.unavailable) }
            var opened: OpaquePointer?
            guard library.new(&opened) >= 0, let handle = opened else { throw .vault(.unavailable) }
            self.library = library
            self.handle = handle
            try Self.check(library.setAddress(handle, address))
            try Self.check(library.setBusClient(handle, 1))
            try Self.check(library.start(handle))
        }

        deinit {
            _ = library.close(handle)
        }

        /// Calls a method of the Secret Service and waits for its answer.
        ///
        /// - Parameter write: what is called with.
        func call(
            _ path: String, _ interface: String, _ method: String,
            _ write: (BusMessage) throws(Failure) -> Void = { _ throws(Failure) in }
        ) throws(Failure) -> BusMessage {
            var made: OpaquePointer?
            try Self.check(library.newCall(handle, &made, "org.freedesktop.secrets", path, interface, method))
            guard let pointer = made else { throw .vault(.unavailable) }
            let message = BusMessage(pointer, library)
            try write(message)
            return try send(message)
        }

        private func send(_ message: BusMessage) throws(Failure) -> BusMessage {
            // `sd_bus_error`: two pointers, of which the first is the error's name, and an `int`.
            let error = UnsafeMutableRawPointer.allocate(byteCount: 24, alignment: 8)
            error.initializeMemory(as: UInt8.self, repeating: 0, count: 24)
            defer {
                library.freeError(error)
                error.deallocate()
            }
            var answer: OpaquePointer?
            let code = library.call(handle, message.pointer, Self.patience, error, &answer)
            guard code >= 0, let reply = answer else {
                if let name = error.load(as: UnsafePointer<CChar>?.self) {
                    throw Failure(named: String(cString: name))
                }
                throw Failure(code: code)
            }
            return BusMessage(reply, library)
        }

        static func check(_ code: Int32) throws(Failure) {
            guard code >= 0 else { throw Failure(code: code) }
        }
    }

    extension Bus.Failure {
        /// What sd-bus returns: an `errno`, less than zero.
        init(code: Int32) {
            self = .vault([-EACCES, -EPERM].contains(code) ? .denied : .unavailable)
        }

        /// What the bus, or the service, calls it (Secret Service API Draft 0.2, "Errors"; D-Bus Specification).
        init(named name: String) {
            self =
                switch name {
                case "org.freedesktop.Secret.Error.IsLocked": .vault(.locked)
                case "org.freedesktop.Secret.Error.NoSuchObject", "org.freedesktop.DBus.Error.UnknownObject",
                    "org.freedesktop.DBus.Error.UnknownMethod":
                    .gone
                case "org.freedesktop.DBus.Error.Failed": .failed
                case "org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.AuthFailed": .vault(.denied)
                default: .vault(.unavailable)
                }
        }
    }

    /// A message that is written from its beginning to its end, or read so. Types are D-Bus's letters.
    final class BusMessage {
        let pointer: OpaquePointer
        private let library: BusLibrary

        init(_ pointer: OpaquePointer, _ library: BusLibrary) {
            self.pointer = pointer
            self.library = library
        }

        deinit {
            _ = library.release(pointer)
        }

        private static func letter(_ type: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: type.value) }

        // MARK: Writing

        func write(_ text: String, as type: Unicode.Scalar = "s") throws(Bus.Failure) {
            try Bus.check(text.withCString { library.append(pointer, Self.letter(type), $0) })
        }

        func write(_ flag: Bool) throws(Bus.Failure) {
            var value: Int32 = flag ? 1 : 0
            try Bus.check(library.append(pointer, Self.letter("b"), &value))
        }

        func write(_ bytes: [UInt8]) throws(Bus.Failure) {
            try Bus.check(
                bytes.withUnsafeBytes { library.appendArray(pointer, Self.letter("y"), $0.baseAddress, $0.count) })
        }

        /// Writes what stands in an array (`a`), a variant (`v`), a structure (`r`) or an entry of a dictionary (`e`).
        func write(
            _ container: Unicode.Scalar, _ contents: String, _ body: () throws(Bus.Failure) -> Void
        ) throws(Bus.Failure) {
            try Bus.check(library.openContainer(pointer, Self.letter(container), contents))
            try body()
            try Bus.check(library.closeContainer(pointer))
        }

        func write(_ values: [String: String]) throws(Bus.Failure) {
            try write("a", "{ss}") { () throws(Bus.Failure) in
                for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                    try write("e", "ss") { () throws(Bus.Failure) in
                        try write(name)
                        try write(value)
                    }
                }
            }
        }

        // MARK: Reading

        /// What is there is of another type, as no service that keeps to the specification has it.
        private func expect(_ code: Int32) throws(Bus.Failure) {
            guard code > 0 else { throw .vault(.corrupt) }
        }

        func text(_ type: Unicode.Scalar = "s") throws(Bus.Failure) -> String {
            var start: UnsafePointer<CChar>?
            try expect(library.read(pointer, Self.letter(type), &start))
            guard let text = start else { throw .vault(.corrupt) }
            return String(cString: text)
        }

        func flag() throws(Bus.Failure) -> Bool {
            var value: Int32 = 0
            try expect(library.read(pointer, Self.letter("b"), &value))
            return value != 0
        }

        func bytes() throws(Bus.Failure) -> [UInt8] {
            var start: UnsafeRawPointer?
            var count = 0
            guard library.readArray(pointer, Self.letter("y"), &start, &count) >= 0 else { throw .vault(.corrupt) }
            return start.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) } ?? []
        }

        func skip(_ types: String) throws(Bus.Failure) {
            guard library.skip(pointer, types) >= 0 else { throw .vault(.corrupt) }
        }

        func read<Value>(
            _ container: Unicode.Scalar, _ contents: String, _ body: () throws(Bus.Failure) -> Value
        ) throws(Bus.Failure) -> Value {
            try expect(library.enterContainer(pointer, Self.letter(container), contents))
            let value = try body()
            guard library.exitContainer(pointer) >= 0 else { throw .vault(.corrupt) }
            return value
        }

        func paths() throws(Bus.Failure) -> [String] {
            try read("a", "o") { () throws(Bus.Failure) in
                var paths: [String] = []
                var path: UnsafePointer<CChar>?
                while library.read(pointer, Self.letter("o"), &path) > 0, let found = path {
                    paths.append(String(cString: found))
                }
                return paths
            }
        }

        func values() throws(Bus.Failure) -> [String: String] {
            try read("a", "{ss}") { () throws(Bus.Failure) in
                var values: [String: String] = [:]
                while library.enterContainer(pointer, Self.letter("e"), "ss") > 0 {
                    let name = try text()
                    values[name] = try text()
                    guard library.exitContainer(pointer) >= 0 else { throw .vault(.corrupt) }
                }
                return values
            }
        }
    }
#endif

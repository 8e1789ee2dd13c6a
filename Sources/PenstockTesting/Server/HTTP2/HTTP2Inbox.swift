#if os(Linux)
    import Foundation
    import PenstockCore

    /// What the threads of streams ask of the thread that owns their connection, and the pipe that wakes it.
    final class HTTP2Inbox: Sendable {
        typealias Command = @Sendable (HTTP2Connection) -> Void

        private struct State {
            var commands: [Command] = []
            var isClosed = false
        }

        private let state = Locked(State())
        /// Readable while there are commands.
        let reader: Int32
        private let writer: Int32

        /// `nil` when the system gives no pipe.
        init?() {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { return nil }
            (reader, writer) = (ends[0], ends[1])
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        }

        deinit {
            Foundation.close(reader)
            Foundation.close(writer)
        }

        /// Nothing happens once the connection is over.
        func post(_ command: @escaping Command) {
            let isFirst = state.withLock { state in
                guard !state.isClosed else { return false }
                state.commands.append(command)
                return state.commands.count == 1
            }
            var byte: UInt8 = 0
            if isFirst { _ = write(writer, &byte, 1) }
        }

        func takeAll() -> [Command] {
            state.withLock { state in
                guard !state.commands.isEmpty else { return [] }
                var byte: UInt8 = 0
                _ = read(reader, &byte, 1)
                defer { state.commands = [] }
                return state.commands
            }
        }

        func close() {
            state.withLock { state in
                state.isClosed = true
                state.commands = []
            }
        }
    }
#endif

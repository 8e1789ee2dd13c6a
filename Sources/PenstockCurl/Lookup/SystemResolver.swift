#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// Looks names up as the system is set up to (`getaddrinfo`), on threads of its own.
    ///
    /// `getaddrinfo` cannot be ended, and takes as long as the name servers let it: 10 s and more where they do not answer.
    /// So nobody ever waits for one of these threads. A caller who gives up is done at once; the thread goes on, and is
    /// there for whoever asks for the same name next. Threads end when there is nothing left to look up.
    ///
    /// The number of threads is bounded twice. Up to ``mostWorkers`` look up names that somebody waits for; names beyond
    /// that stand in line, and the newest is served first, since its caller has most of its time left. Threads that nobody
    /// waits for any more do not count there, so that names which are never answered cannot keep others from being looked
    /// up, until there are ``mostThreads`` threads in all.
    ///
    /// Where as many look something up for somebody and none ends, one thread more is started after a pause, and then
    /// another: names that are never answered and still waited for make a new one late by that pause, and no more. Such
    /// threads last longer than a look-up usually does. While there are more than ``mostWorkers``, those go on whose names
    /// are answered within the pause, and the others end.
    final class SystemResolver: HostFinder {
        /// Every transport uses this one, so that the bounds hold for the process.
        static let shared = SystemResolver()
        static let mostWorkers = 32
        static let mostThreads = 64
        /// Threads that are left for names that nobody has asked for yet.
        static let spare = 16
        /// Microseconds after which one thread, and then another, takes the place of one that looks up what was given up:
        /// calls that began together are given up together, and the names in line would be given up next.
        private static let pause: UInt32 = 50_000
        /// Microseconds after which a thread beyond ``mostWorkers`` begins: as many as there may be are started within 13 s,
        /// and `getaddrinfo` usually gives up after 10.
        static let reliefPause: UInt32 = 400_000

        /// A name that is being looked up, or stands in line for it.
        fileprivate struct Job {
            var waiters: [Int: HostCompletion] = [:]
            var isRunning = false
            /// Whether the name was asked for when no threads were left but the spare ones, which it may have then.
            var isForSpare = false
            /// How many threads had begun beyond the first bound when this look-up did.
            var round = 0
        }

        fileprivate struct State {
            /// The jobs by name; those that run for nobody included.
            var jobs: [String: Job] = [:]
            /// Names in line. Those that were given up are passed over.
            var line: [String] = []
            /// Names in line that somebody waits for.
            var inLine = 0
            /// All that were started and have not ended.
            var threads = 0
            /// Threads that look something up.
            var running = 0
            /// Threads that look up what nobody waits for.
            var abandoned = 0
            /// Whether a thread is about to take the place of an abandoned one.
            var isReplacing = false
            /// Whether a thread is about to begin beyond the first bound. It is no worker until then.
            var isRelieving = false
            /// How many threads have begun so.
            var round = 0
            var lastTicket = 0

            var workers: Int { threads - abandoned - (isRelieving ? 1 : 0) }
            /// Threads that are about to take a name out of the line, and do not pause first.
            var ready: Int { threads - running - (isReplacing ? 1 : 0) - (isRelieving ? 1 : 0) }
        }

        private struct Ticket: HostLookup {
            let resolver: SystemResolver
            let name: String
            let number: Int

            func cancel() {
                resolver.leave(name, number)
            }
        }

        private let state = Locked(State())
        private let ask: @Sendable (String) -> HostResult
        private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Bool
        private let sleep: @Sendable (UInt32) -> Void

        /// - Parameters:
        ///   - ask: looks one name up and may take its time. `getaddrinfo` by default.
        ///   - startThread: tells whether the system gave a thread.
        ///   - sleep: lets a thread pause for so many microseconds.
        init(
            ask: @escaping @Sendable (String) -> HostResult = SystemResolver.addresses,
            startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = {
                SystemThread.start("penstock.names", $0)
            },
            sleep: @escaping @Sendable (UInt32) -> Void = { usleep($0) }
        ) {
            self.ask = ask
            self.startThread = startThread
            self.sleep = sleep
        }

        func lookUp(_ name: String, _ completion: @escaping HostCompletion) -> any HostLookup {
            let number = state.withLock { $0.join(name, completion) }
            startThreads()
            relieve()
            return Ticket(resolver: self, name: name, number: number)
        }

        private func leave(_ name: String, _ number: Int) {
            state.withLock { $0.leave(name, number) }
            replaceThread()
            relieve()
        }

        /// Starts as many threads as there are names in line and the bounds allow.
        private func startThreads() {
            while state.withLock({ $0.reserveThread() }) {
                guard !startThread({ self.work() }) else { continue }
                return miss()
            }
        }

        /// Starts one such thread after a pause, and so on.
        private func replaceThread() {
            guard state.withLock({ $0.reserveReplacement() }) else { return }
            let isStarted = startThread {
                self.sleep(Self.pause)
                self.state.withLock { $0.isReplacing = false }
                self.replaceThread()
                self.work()
            }
            guard !isStarted else { return }
            state.withLock { $0.isReplacing = false }
            miss()
        }

        /// Starts one thread beyond the first bound after a pause, where those that there are do not come to the line. The thread
        /// sees to the next one itself.
        private func relieve() {
            guard state.withLock({ $0.reserveRelief() }) else { return }
            let isStarted = startThread {
                self.sleep(Self.reliefPause)
                self.state.withLock { $0.beginRelief() }
                self.work()
            }
            guard !isStarted else { return }
            state.withLock { $0.isRelieving = false }
            miss()
        }

        /// A lookup in line is served by the threads that there are; where there are none, nobody would be.
        private func miss() {
            for completion in state.withLock({ $0.missThread() }) { completion(.failure(.noThread)) }
        }

        private func work() {
            // A thread may take a name, however many have begun beside it before it came to run, and then one after each that was
            // answered promptly.
            var isPrompt = true
            while let name = state.withLock({ $0.next(isPrompt) }) {
                relieve()
                let result = ask(name)
                let (waiters, wasPrompt) = state.withLock { $0.end(name) }
                for completion in waiters { completion(result) }
                isPrompt = wasPrompt
            }
            relieve()
        }
    }

    extension SystemResolver.State {
        /// - Returns: the caller's number.
        fileprivate mutating func join(_ name: String, _ completion: @escaping HostCompletion) -> Int {
            lastTicket += 1
            if let job = jobs[name] {
                if job.waiters.isEmpty { abandoned -= 1 }
            } else {
                line.append(name)
                inLine += 1
            }
            let isForSpare = hasOnlySpare
            jobs[name, default: .init(isForSpare: isForSpare)].waiters[lastTicket] = completion
            return lastTicket
        }

        /// A look-up that has begun goes on: whoever asks for the name next joins it.
        fileprivate mutating func leave(_ name: String, _ number: Int) {
            guard jobs[name]?.waiters.removeValue(forKey: number) != nil, let job = jobs[name], job.waiters.isEmpty
            else { return }
            guard !job.isRunning else { return abandoned += 1 }
            jobs[name] = nil
            inLine -= 1
            guard line.count > 2 * inLine + 16 else { return }
            line = line.filter { jobs[$0]?.isRunning == false }
        }

        fileprivate mutating func reserveReplacement() -> Bool {
            guard !isReplacing, !hasOnlySpare, reserveThread() else { return false }
            isReplacing = true
            return true
        }

        private var hasOnlySpare: Bool { threads >= SystemResolver.mostThreads - SystemResolver.spare }

        /// Counts a thread in that is to begin beyond the first bound after a pause.
        fileprivate mutating func reserveRelief() -> Bool {
            guard !isRelieving, inLine > max(0, ready), workers >= SystemResolver.mostWorkers,
                threads < SystemResolver.mostThreads, !hasOnlySpare || newestInLine?.isForSpare == true
            else { return false }
            threads += 1
            isRelieving = true
            return true
        }

        /// Makes a worker of it.
        fileprivate mutating func beginRelief() {
            isRelieving = false
            round += 1
        }

        private var newestInLine: SystemResolver.Job? {
            line.last { jobs[$0]?.isRunning == false }.flatMap { jobs[$0] }
        }

        /// Counts a thread in that is about to be started.
        fileprivate mutating func reserveThread() -> Bool {
            guard inLine > ready, workers < SystemResolver.mostWorkers,
                threads < SystemResolver.mostThreads
            else { return false }
            threads += 1
            return true
        }

        /// - Returns: those who wait in vain.
        fileprivate mutating func missThread() -> [HostCompletion] {
            threads -= 1
            guard threads == 0 else { return [] }
            let waiters = jobs.values.flatMap(\.waiters.values)
            (jobs, line, inLine) = ([:], [], 0)
            return waiters
        }

        /// - Returns: the name that the calling thread is to look up; `nil` when the thread is to end.
        fileprivate mutating func next(_ isPrompt: Bool) -> String? {
            while isPrompt || workers <= SystemResolver.mostWorkers, let name = line.popLast() {
                guard jobs[name]?.isRunning == false else { continue }
                jobs[name]?.isRunning = true
                jobs[name]?.round = round
                inLine -= 1
                running += 1
                return name
            }
            threads -= 1
            return nil
        }

        /// - Returns: those who wait for the name, and whether it was answered within the pause after which another thread would
        ///   have begun.
        fileprivate mutating func end(_ name: String) -> (waiters: [HostCompletion], isPrompt: Bool) {
            running -= 1
            guard let job = jobs.removeValue(forKey: name) else { return ([], false) }
            if job.waiters.isEmpty { abandoned -= 1 }
            return (Array(job.waiters.values), isRelieving && job.round == round)
        }
    }

    // MARK: The system

    extension SystemResolver {
        /// Addresses in the order in which the system prefers them (RFC 6724).
        static func addresses(of name: String) -> HostResult {
            var hints = addrinfo()
            hints.ai_family = hasIPv6 ? AF_UNSPEC : AF_INET
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            var list: UnsafeMutablePointer<addrinfo>?
            let code = getaddrinfo(name, nil, &hints, &list)
            defer { if let list { freeaddrinfo(list) } }
            // A file or a socket of the look-up that cannot be opened may look as if there were no such name.
            guard code == 0 else {
                return .failure(
                    CurlDescriptors.areShort ? .noDescriptors : .notFound(String(cString: gai_strerror(code))))
            }
            let addresses = sequence(first: list, next: { $0?.pointee.ai_next }).compactMap { $0 }.compactMap(address)
            return addresses.isEmpty ? .failure(.notFound("no address")) : .success(addresses)
        }

        private static func address(_ info: UnsafeMutablePointer<addrinfo>) -> HostAddress? {
            guard let generic = info.pointee.ai_addr else { return nil }
            let raw = UnsafeRawPointer(generic)
            switch info.pointee.ai_family {
            case AF_INET:
                var address = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
                return text(AF_INET, &address).map { HostAddress(trusted: $0) }
            case AF_INET6:
                let found = raw.loadUnaligned(as: sockaddr_in6.self)
                var address = found.sin6_addr
                return text(AF_INET6, &address).map { HostAddress(trusted: $0, found.sin6_scope_id) }
            default: return nil
            }
        }

        static func text(_ family: Int32, _ address: UnsafeRawPointer) -> String? {
            var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            guard inet_ntop(family, address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
            return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }

        /// Whether the kernel has IPv6. Without it its addresses are not asked for: where they are not answered, they cost the time that
        /// the name server is given.
        private static let hasIPv6: Bool = {
            let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
            if descriptor >= 0 { close(descriptor) }
            return descriptor >= 0 || errno != EAFNOSUPPORT
        }()
    }
#endif

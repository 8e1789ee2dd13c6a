#if os(Linux)
    import CTorture
    import Foundation
    import PenstockCurl

    /// All runs of one scenario.
    struct Campaign {
        let scenario: Scenario
        let sites: Sites
        let isFull: Bool
        private(set) var breaches: [String] = []
        private var runs = 0
        private var successes = 0
        private var failures: [String: Int] = [:]

        /// Seconds that one run may take: any time-out of its requests has passed by then.
        private static let patience: UInt32 = 10

        init(scenario: Scenario, sites: Sites, isFull: Bool) {
            (self.scenario, self.sites, self.isFull) = (scenario, sites, isFull)
        }

        /// One call that fails.
        private struct Fault: CustomStringConvertible {
            var kind: torture_kind
            var number: Int
            var code: Int32
            var isLasting = false

            /// Whether nothing can come any more, since whatever is asked for is put off for ever, or the system says of itself
            /// that it took too long.
            var endsInTimeout: Bool {
                if kind == torture_connect { return code == ETIMEDOUT }
                let waits = [torture_send, torture_recv, torture_poll, torture_epoll_wait, torture_epoll_ctl]
                return isLasting && waits.contains(kind) && [EAGAIN, EINTR, ENOMEM, ENOSPC].contains(code)
            }

            var description: String {
                "\(String(cString: torture_name(kind))) number \(number)\(isLasting ? " and all that follow" : ""), code \(code)"
            }
        }

        var summary: String {
            let ends = failures.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }
            return
                "\(scenario.rawValue): \(runs) runs, \(successes) successes; failures: \(ends.joined(separator: ", "))"
        }

        mutating func run() async {
            if scenario == .first { return await suffer(Fault(kind: torture_global_init, number: 1, code: 2)) }
            // What is made once for the life of a process is made before anything is counted: the timer of sleeping tasks too.
            try? await Task.sleep(for: .milliseconds(1))
            for _ in 0..<2 { _ = await live(nil) }
            await suffer(nil)
            let kinds = (0..<torture_kinds.rawValue).map { torture_kind(rawValue: $0) }
            let counts = kinds.map { (kind: $0, count: torture_count($0)) }
            print("\(scenario.rawValue): \(counts.map { "\($0.count) \(String(cString: torture_name($0.kind)))" })")
            if scenario == .pause, torture_count(torture_easy_pause) == 0 { breach("pause: nothing was paused") }
            for (kind, count) in counts where count > 0 {
                for number in stride(from: 1, through: count, by: step(kind, count)) { await suffer(kind, number) }
            }
        }

        /// Where there are many of one kind, they are much alike.
        private func step(_ kind: torture_kind, _ count: Int) -> Int {
            if isFull { return 1 }
            return kind == torture_allocation ? 3 : max(1, count / 50)
        }

        private mutating func suffer(_ kind: torture_kind, _ number: Int) async {
            let codes = (0..<6).map { torture_code(kind, $0) }.filter { $0 != 0 }
            // One after the other from call to call, unless there is time for each.
            let chosen = isFull ? codes[...] : codes[(number % codes.count)...(number % codes.count)]
            for code in chosen {
                await suffer(Fault(kind: kind, number: number, code: code))
                guard isFull else { continue }
                await suffer(Fault(kind: kind, number: number, code: code, isLasting: true))
            }
        }

        // MARK: One run

        private mutating func suffer(_ fault: Fault?) async {
            let before = Self.descriptors
            let name = "\(scenario.rawValue), \(fault.map { "\($0)" } ?? "nothing fails")"
            torture_watch(Self.patience, name)
            let verdicts = await live(fault)
            record(verdicts, name, fault)
            let uses = torture_uses_after_failure()
            if uses > 0 { breach("\(name): libcurl was called \(uses) times more after it had failed") }
            await lookForLeaks(fault, name, before)
            torture_watch(0, "")
        }

        /// What a library opens once for the life of a process may be opened at any time: a leak shows again.
        private mutating func lookForLeaks(_ fault: Fault?, _ name: String, _ before: Int) async {
            let once = await Self.settled(at: before)
            guard once > before else { return }
            _ = await live(fault)
            let twice = await Self.settled(at: once)
            if twice > once { breach("\(name): \(before) descriptors before, \(once) and \(twice) after") }
        }

        /// The life of one transport: the request that suffers, and one that must not any more.
        private func live(_ fault: Fault?) async -> (first: Verdict, second: Verdict) {
            torture_arm(
                fault?.kind ?? torture_allocation, fault?.number ?? 0, fault?.code ?? 0, fault?.isLasting ?? false)
            let transport = CurlTransport()
            let first = await scenario.perform(over: transport, sites)
            torture_disarm()
            let second = await performedAfter(fault, over: transport)
            await transport.shutdown()
            return (first, second)
        }

        /// Where libcurl 7.88 had no memory at some moments of a POST, the connection that it keeps is out of step. The next
        /// POST fails by it, since it cannot be sent again unasked, and the one after that must be good. So is one of HTTP/2
        /// on which nothing could be sent for long.
        private func performedAfter(_ fault: Fault?, over transport: CurlTransport) async -> Verdict {
            let next = await scenario.perform(over: transport, sites)
            if case .success = next { return next }
            guard let fault else { return next }
            let isOutOfStep = fault.kind == torture_allocation && (scenario == .post || scenario == .upload)
            guard isOutOfStep || (fault.isLasting && losesWhatIsSent(fault)) else { return next }
            return await scenario.perform(over: transport, sites)
        }

        private mutating func record(
            _ verdicts: (first: Verdict, second: Verdict), _ name: String, _ fault: Fault?
        ) {
            runs += 1
            switch verdicts.first {
            case .success: successes += 1
            case .failure(let kind, let message):
                failures[kind, default: 0] += 1
                if !isExpected(kind, of: fault) { breach("\(name): \(kind), \(message)") }
            case .breach(let what): breach("\(name): \(what)")
            }
            if case .success = verdicts.second { return }
            breach("\(name): \(verdicts.first), and the request after it: \(verdicts.second)")
        }

        /// A time-out means that something was lost and only the clock ended the wait. libcurl 7.88 loses what it could not
        /// send at once over HTTP/2.
        private func isExpected(_ kind: String, of fault: Fault?) -> Bool {
            guard let fault else { return false }
            guard kind.hasPrefix("timeout") else { return true }
            return fault.endsInTimeout || losesWhatIsSent(fault)
        }

        private func losesWhatIsSent(_ fault: Fault) -> Bool {
            [.http2, .pause].contains(scenario) && fault.kind == torture_send
        }

        private mutating func breach(_ text: String) {
            print("BREACH: \(text)")
            breaches.append(text)
        }

        // MARK: Descriptors

        private static var descriptors: Int {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1
        }

        /// A thread that was told to end needs a moment to be gone.
        private static func settled(at goal: Int) async -> Int {
            for _ in 0..<2_000 {
                if descriptors <= goal { return goal }
                try? await Task.sleep(for: .milliseconds(1))
            }
            return descriptors
        }
    }
#endif

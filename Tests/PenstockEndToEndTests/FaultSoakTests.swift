#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// Exchanges that go wrong in every way, at every moment, with every method, on every transport, many at a time.
    ///
    /// The test has a process of its own, so that the descriptors and threads it counts are nobody else's. By default it
    /// makes 1,500 exchanges; with `PENSTOCK_SOAK=full` it makes 15,000. What happens follows from a seed, which is
    /// printed, and can be given as `PENSTOCK_SEED`.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct FaultSoakTests {
        @Test(
            "Whatever goes wrong, a call ends once, with right bytes or a failure, and leaves nothing", .covers("S1.8"))
        func faults() async throws {
            print("fault soak: seed \(FaultSoak.seed)")
            // For the process that is about to start, so that the seed is known however it ends.
            setenv(FaultSoak.seedVariable, "\(FaultSoak.seed)", 1)
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                try await FaultSoak(count: FaultSoak.isFull ? 15_000 : 1_500).measure()
            }
            guard FaultSoak.isFull, let result else { return }
            print(String(decoding: result.standardErrorContent, as: UTF8.self), terminator: "")
        }
    }

    /// The soak, run in a process of its own.
    private struct FaultSoak {
        static let isFull = ProcessInfo.processInfo.environment["PENSTOCK_SOAK"] == "full"
        static let seedVariable = "PENSTOCK_SEED"
        static let seed =
            ProcessInfo.processInfo.environment[seedVariable].flatMap(UInt64.init) ?? .random(in: 1...1_000_000)
        /// Exchanges of one wire at a time.
        private static let crowd = 40

        let count: Int
        private var seed: UInt64 { Self.seed }

        func measure() async throws {
            tell("seed \(seed)")
            // What is made once for the life of a process is made before anything is counted.
            try await run(SoakPlan.make(400, seed: seed &+ 1))
            let before = ProcessInventory()
            let begin = ContinuousClock.now
            try await run(SoakPlan.make(count, seed: seed), isTold: true)
            let taken = begin.duration(to: .now)
            let after = await ProcessInventory.settled(at: before)
            #expect(after.descriptors == before.descriptors, "before: \(before); after: \(after)")
            #expect(after.threads <= before.threads, "before: \(before); after: \(after)")
            tell("\(count) exchanges: \(taken); before: \(before); after: \(after)")
        }

        /// One life of the servers and the transports.
        private func run(_ plans: [SoakPlan], isTold: Bool = false) async throws {
            let servers = try SoakServers(plans)
            let caller = SoakCaller(servers)
            let reports = await withTaskGroup(of: [Report].self) { group in
                for wire in SoakWire.allCases {
                    let own = plans.filter { $0.wire == wire }
                    for worker in 0..<Self.crowd {
                        group.addTask {
                            await work(stride(from: worker, to: own.count, by: Self.crowd).map { own[$0] }, caller)
                        }
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            #expect(caller.callCount == 0)
            await caller.shutdown()
            for server in servers.watched {
                // Asked of the system: a server that has stopped reading an upload sees the end only behind what it does
                // not read.
                let open = try openSockets(to: UInt16(server.url.port))
                #expect(open.isEmpty, "seed \(seed), \(server.url)")
            }
            servers.stop()
            await check(reports, servers.ledger)
            if isTold { for line in SoakTally(reports.map { ($0.plan, $0.outcome) }).lines { tell(line) } }
        }

        private struct Report: Sendable {
            let plan: SoakPlan
            let outcome: SoakOutcome
            let witness: SoakWitness
        }

        private func work(_ plans: [SoakPlan], _ caller: SoakCaller) async -> [Report] {
            var reports: [Report] = []
            for plan in plans {
                let (outcome, witness) = await caller.perform(plan)
                reports.append(Report(plan: plan, outcome: outcome, witness: witness))
            }
            return reports
        }

        /// Once everything is closed, and nothing more can be seen or delivered.
        private func check(_ reports: [Report], _ ledger: SoakLedger) async {
            var missed = 0
            for report in reports {
                let (plan, outcome) = (report.plan, report.outcome)
                let breach = SoakChecks.breach(of: plan, outcome, seen: ledger[plan.index])
                if let breach, breach == SoakChecks.lateness, plan.wire == .urlSession {
                    missed += 1
                    tell("\(plan): \(breach)")
                } else if let breach {
                    Issue.record("seed \(seed), \(plan): \(breach); \(outcome.end), \(ledger[plan.index])")
                }
                let ends = await report.witness.ends
                #expect(ends == (plan.isStreamed ? 0 : 1), "seed \(seed), \(plan)")
            }
            // `noticesAll` is not among what URLSession can do on Linux.
            #expect(missed <= 1 + reports.count { $0.plan.wire == .urlSession } / 1_000, "seed \(seed)")
        }

        private func tell(_ text: String) {
            FileHandle.standardError.write(Data("fault soak: \(text)\n".utf8))
        }
    }

    /// How many exchanges ended how, for each wire.
    private struct SoakTally {
        private var counts: [SoakWire: [String: Int]] = [:]

        init(_ outcomes: [(SoakPlan, SoakOutcome)]) {
            for (plan, outcome) in outcomes { counts[plan.wire, default: [:]][Self.name(outcome), default: 0] += 1 }
        }

        var lines: [String] {
            SoakWire.allCases.map { wire in
                let ends = (counts[wire] ?? [:]).sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }
                return "\(wire.rawValue): \(ends.joined(separator: ", "))"
            }
        }

        private static func name(_ outcome: SoakOutcome) -> String {
            guard !outcome.isAbandoned else { return "let go of" }
            return outcome.error.map { "\($0.kind)" } ?? "success"
        }
    }
#endif

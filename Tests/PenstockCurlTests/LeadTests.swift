#if os(Linux)
    import CCurl
    import Foundation
    import Testing

    @testable import PenstockCurl

    @Suite(.timeLimit(.minutes(5)))
    struct LeadTests {
        private static let quick = CurlLead.haste - 1

        private func lead(after count: Int, hasOtherProcessors: Bool = true) -> CurlLead {
            var lead = CurlLead(hasOtherProcessors: hasOtherProcessors)
            for _ in 0..<count { lead.hasEnded(after: Self.quick, others: 0) }
            return lead
        }

        @Test("A caller looks busily for its answer only after sixteen lone exchanges in a row that were quick")
        func sixteen() {
            #expect(!lead(after: 15).isImminent)
            #expect(lead(after: 16).isImminent)
            #expect(lead(after: 1_000).isImminent)
        }

        @Test("No caller looks busily where the peer may need the only processor")
        func onlyProcessor() {
            let lead = lead(after: 16, hasOtherProcessors: false)
            #expect(!lead.isImminent)
            #expect(lead.isWorthwhile)
        }

        @Test(
            "One exchange that was not quick, or not alone, and no caller looks busily before sixteen more",
            arguments: [(CurlLead.haste, 0), (CurlLead.patience, 0), (quick, 1)])
        func slowOne(duration: UInt64, others: Int) {
            var lead = lead(after: 20)
            lead.hasEnded(after: duration, others: others)
            #expect(!lead.isImminent)
            for _ in 0..<15 { lead.hasEnded(after: Self.quick, others: 0) }
            #expect(!lead.isImminent)
            lead.hasEnded(after: Self.quick, others: 0)
            #expect(lead.isImminent)
        }

        @Test("A caller that looks busily sees what comes meanwhile")
        func meanwhile() throws {
            try withPoller { poller, wakeup in
                let writer = Thread {
                    usleep(2_000)
                    eventfd_write(wakeup, 1)
                }
                writer.start()
                #expect(poller.wait(-1, busily: .max / 4) == 1)
            }
        }

        @Test("A caller that has looked busily in vain sleeps, and one that may not sleep does not look busily")
        func inVain() throws {
            try withPoller { poller, _ in
                #expect(poller.wait(1, busily: 1) == 0)
                #expect(poller.wait(0, busily: .max / 4) == 0)
            }
        }

        private func withPoller(_ body: (CurlPoller, Int32) throws -> Void) throws {
            let wakeup = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
            try #require(wakeup >= 0)
            defer { close(wakeup) }
            let poller = CurlPoller(wakeup: wakeup)
            try #require(poller.isUsable)
            try body(poller, wakeup)
        }
    }
#endif

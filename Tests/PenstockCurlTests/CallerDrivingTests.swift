#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore
    import PenstockTesting
    import Testing

    @testable import PenstockCurl

    @Suite(.timeLimit(.minutes(5)))
    struct CallerDrivingTests {
        private static let quick = CurlCallerDriving.longestSpin - 1

        private func driving(
            after count: Int, isAllowed: Bool = true, hasOtherProcessors: Bool = true
        ) -> CurlCallerDriving {
            var driving = CurlCallerDriving(isAllowed: isAllowed, hasOtherProcessors: hasOtherProcessors)
            for _ in 0..<count { driving.noteEnd(after: Self.quick, others: 0) }
            return driving
        }

        @Test("A caller looks busily for its answer only after sixteen lone exchanges in a row that were quick")
        func sixteen() {
            #expect(!driving(after: 15).isImminent)
            #expect(driving(after: 16).isImminent)
            #expect(driving(after: 1_000).isImminent)
        }

        @Test("No caller looks busily where the peer may need the only processor")
        func onlyProcessor() {
            let driving = driving(after: 16, hasOtherProcessors: false)
            #expect(!driving.isImminent)
            #expect(driving.isWorthwhile)
        }

        @Test(
            "One exchange that was not quick, or not alone, and no caller looks busily before sixteen more",
            arguments: [(CurlCallerDriving.longestSpin, 0), (CurlCallerDriving.longestWait, 0), (quick, 1)])
        func slowOne(duration: UInt64, others: Int) {
            var driving = driving(after: 20)
            driving.noteEnd(after: duration, others: others)
            #expect(!driving.isImminent)
            for _ in 0..<15 { driving.noteEnd(after: Self.quick, others: 0) }
            #expect(!driving.isImminent)
            driving.noteEnd(after: Self.quick, others: 0)
            #expect(driving.isImminent)
        }

        @Test("The loop's thread steps back only after sixteen lone exchanges in a row that were short")
        func steppingBack() {
            #expect(!driving(after: 15).isWorthwhile)
            #expect(driving(after: 16).isWorthwhile)
            var driving = driving(after: 16)
            driving.noteEnd(after: CurlCallerDriving.longestWait - 1, others: 0)
            #expect(driving.isWorthwhile)
            driving.noteEnd(after: CurlCallerDriving.longestWait, others: 0)
            #expect(!driving.isWorthwhile)
        }

        @Test("A caller that waited in vain leaves the loop to its thread for 272 exchanges")
        func inVainOnce() {
            var driving = driving(after: 16)
            driving.backOff()
            for _ in 0..<271 { driving.noteEnd(after: 0, others: 0) }
            #expect(!driving.isWorthwhile)
            driving.noteEnd(after: 0, others: 0)
            #expect(driving.isWorthwhile)
        }

        @Test("Where it is switched off, the loop's thread never steps back and no caller looks busily")
        func switchedOff() {
            let driving = driving(after: 1_000, isAllowed: false)
            #expect(!driving.isWorthwhile)
            #expect(!driving.isImminent)
        }

        @Test(
            "Where it is switched off, every exchange is driven by the loop's thread alone", arguments: [false, true])
        func threads(isOn: Bool) async throws {
            let server = try LoopbackServer { _ in .text("ok") }
            defer { server.stop() }
            let transport = CurlTransport(configuration: .init(drivesOnCallersThreads: isOn))
            let drivers = Locked<Set<String>>([])
            for _ in 0..<64 {
                let control = ExchangeControl(onProgress: { _ in
                    let name = "\(pthread_self())"
                    drivers.withLock { _ = $0.insert(name) }
                })
                let answer = try await transport.perform(
                    TransportRequest(HTTPRequest(method: .get, url: server.url), control: control))
                #expect(answer.response.body == Data("ok".utf8))
            }
            #expect(isOn || drivers.withLock(\.count) == 1)
            await transport.shutdown()
        }

        @Test("A caller takes the loop only while nobody has it, and not before the loop's own thread")
        func lock() throws {
            let lock = CurlLoopLock()
            #expect(lock.tryLock())
            #expect(!lock.tryLock())
            let hasWaited = DispatchSemaphore(value: 0)
            let isDone = DispatchSemaphore(value: 0)
            let thread = Thread {
                lock.lock()
                hasWaited.signal()
                isDone.wait()
                lock.unlock()
            }
            thread.start()
            while !lock.isAwaited { usleep(100) }
            lock.unlock()
            hasWaited.wait()
            #expect(!lock.isAwaited)
            #expect(!lock.tryLock())
            isDone.signal()
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

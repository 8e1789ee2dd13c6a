#if os(Linux)
    import Testing

    @testable import PenstockCurl

    struct ReadWaitTests {
        private func wait(after count: Int, _ duration: UInt64 = CurlReadWait.longest - 1) -> CurlReadWait {
            var wait = CurlReadWait()
            for _ in 0..<count { wait.note(duration) }
            return wait
        }

        @Test(
            "A reader waits by itself only after four short waits in a row",
            arguments: [(0, false), (3, false), (4, true), (9, true)])
        func four(count: Int, isWorthwhile: Bool) {
            #expect(wait(after: count).isWorthwhile == isWorthwhile)
            #expect(!wait(after: count, CurlReadWait.longest).isWorthwhile)
        }

        @Test("One wait that was long, and no reader waits by itself before four more")
        func longOne() {
            var wait = wait(after: 9)
            wait.note(CurlReadWait.longest)
            for _ in 0..<3 { wait.note(0) }
            #expect(!wait.isWorthwhile)
            wait.note(0)
            #expect(wait.isWorthwhile)
        }

        @Test("Behind a wait in vain sixty-four short ones are needed, whatever long ones come between")
        func vainOne() {
            var wait = wait(after: 9)
            wait.backOff()
            for _ in 0..<63 {
                wait.note(0)
                wait.note(CurlReadWait.longest)
                #expect(!wait.isWorthwhile)
            }
            for _ in 0..<4 { wait.note(0) }
            #expect(wait.isWorthwhile)
        }
    }
#endif

import Testing

@testable import PenstockCore

/// A value that is made when it is first asked for.
@Suite struct OnceTests {
    @Test func `of two that make a value at the same time, both are given the one that was ready first`() {
        let once = Once<Int>()
        let slow = once.value {
            #expect(once.value { 1 } == 1)
            return 2
        }
        #expect(slow == 1)
        #expect(once.value { 3 } == 1)
    }

    @Test func `what could not be made is made when it is asked for again`() throws {
        struct Refusal: Error {}
        let once = Once<Int>()
        #expect(throws: Refusal.self) { try once.value { () throws(Refusal) in throw Refusal() } }
        #expect(once.value { 4 } == 4)
    }
}

import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Work that waits for a disk: where it is done, and what of it is done beside each other.
@Suite(.timeLimit(.minutes(5))) struct DiskWorkTests {
    /// Works that hang until they are let go, or the test's time is up.
    private struct Hanging: Sendable {
        let begun = Monitor(0)
        private let gate = DispatchSemaphore(value: 0)

        func hang() {
            begun.withLock { $0 += 1 }
            gate.wait()
        }

        /// Lets so many go, whether they hang already or will.
        func letGo(_ count: Int) {
            for _ in 0..<count { gate.signal() }
        }
    }

    @Test func `works that hang hold up no task and no other work, since they have threads of their own`() async {
        let (hanging, names) = (Hanging(), Box<Set<String>>([]))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    await DiskWork.run {
                        names.update { _ = $0.insert(Thread.current.name ?? "") }
                        hanging.hang()
                    }
                }
            }
            await hanging.begun.waitUnlessCancelled { $0 >= 40 }
            #expect(await DiskWork.run { 7 } == 7)
            hanging.letGo(40)
        }
        #expect(names.value == ["penstock.disk"])
    }

    @Test func `an error of the work is thrown where it was asked for`() async {
        struct Full: Error {}
        await #expect(throws: Full.self) { try await DiskWork.run { () throws(Full) in throw Full() } }
    }

    @Test func `where the system makes no thread the work is done all the same`() async {
        let (threads, done) = (WorkThreads("test", atMost: 2) { _ in false }, Monitor<[Int]>([]))
        for number in 0..<10 { threads.run { done.withLock { $0.append(number) } } }
        await done.waitUnlessCancelled { $0.count >= 10 }
        #expect(done.withLock { $0.sorted() } == Array(0..<10))
    }

    @Test func `works begin in the order in which they came, with no more beside each other than there are threads`()
        async
    {
        let (threads, hanging) = (WorkThreads("test", atMost: 2), Hanging())
        let done = Monitor<[Int]>([])
        for _ in 0..<2 { threads.run { hanging.hang() } }
        await hanging.begun.waitUnlessCancelled { $0 >= 2 }
        for number in 0..<100 { threads.run { done.withLock { $0.append(number) } } }
        #expect(done.withLock(\.isEmpty))
        hanging.letGo(1)
        await done.waitUnlessCancelled { $0.count >= 100 }
        #expect(done.withLock { $0 } == Array(0..<100))
        hanging.letGo(1)
    }
}

import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@testable import PenstockURLSession

/// What stops a session's task while the reader of its content has enough.
@Suite(.timeLimit(.minutes(1)))
struct URLSessionBrakeTests {
    /// A pipe behind a brake, and how often the task was stopped and let go on.
    private final class Rig: Sendable {
        let brake: URLSessionBrake
        let pipe: ContentPipe
        let told = Locked<[String]>([])

        init(capacity: Int) {
            let brake = URLSessionBrake()
            self.brake = brake
            pipe = ContentPipe(capacity: capacity, onDemand: brake.apply)
            brake.attach(
                pipe, stop: { [told] in told.withLock { $0.append("stop") } },
                goOn: { [told] in told.withLock { $0.append("go on") } })
        }
    }

    @Test("A full pipe stops the task once, however much comes all the same, and an empty one lets it go on once")
    func turns() async throws {
        let rig = Rig(capacity: 4)
        for _ in 0..<6 where !rig.pipe.push(Data("ab".utf8)) { rig.brake.apply() }
        #expect(rig.told.withLock(\.self) == ["stop"])
        for _ in 0..<6 { _ = try await rig.pipe.read() }
        #expect(rig.told.withLock(\.self) == ["stop", "go on"])
    }

    @Test("A reader that is quicker than the brake does not leave the task stopped")
    func quickReader() async throws {
        let rig = Rig(capacity: 2)
        #expect(!rig.pipe.push(Data("ab".utf8)))
        _ = try await rig.pipe.read()
        rig.brake.apply()
        #expect(rig.told.withLock(\.self) == [])
    }

    @Test("Content that comes behind the end of the reading stops nothing")
    func end() {
        let rig = Rig(capacity: 2)
        #expect(!rig.pipe.push(Data("ab".utf8)))
        rig.brake.apply()
        rig.pipe.end(.success(()))
        rig.brake.apply()
        _ = rig.pipe.push(Data("ab".utf8))
        rig.brake.apply()
        #expect(rig.told.withLock(\.self) == ["stop", "go on"])
    }

    @Test("However a thread that brings content and a task that reads it fall over each other, all of it arrives")
    func race() async throws {
        let pieces = 50_000
        let task = StoppableTask()
        let brake = URLSessionBrake()
        let pipe = ContentPipe(capacity: 3, onDemand: brake.apply)
        brake.attach(pipe, stop: { task.isStopped = true }, goOn: { task.isStopped = false })
        let thread = Thread {
            for _ in 0..<pieces {
                guard task.waitUntilItGoesOn() else { return }
                if !pipe.push(Data([1])) { brake.apply() }
            }
        }
        thread.start()
        defer { task.leave() }
        try await withTaskCancellationHandler {
            for _ in 0..<pieces { _ = try await pipe.read() }
        } onCancel: {
            pipe.end(.failure(TransportError(.cancelled, sendState: .answered)))
        }
        #expect(!task.isStopped)
    }
}

/// What a session's task does between stopping and going on. Unchecked because the condition guards all of it.
private final class StoppableTask: @unchecked Sendable {
    private let condition = NSCondition()
    private var stopped = false
    private var hasLeft = false

    var isStopped: Bool {
        get { condition.withLock { stopped } }
        set {
            condition.withLock { stopped = newValue }
            condition.broadcast()
        }
    }

    func leave() {
        condition.withLock { hasLeft = true }
        condition.broadcast()
    }

    /// - Returns: `false` when it never will.
    func waitUntilItGoesOn() -> Bool {
        condition.withLock {
            while stopped, !hasLeft { condition.wait() }
            return !hasLeft
        }
    }
}

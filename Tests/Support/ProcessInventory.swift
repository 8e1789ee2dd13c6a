#if os(Linux)
    import Foundation

    /// What this process has open.
    public struct ProcessInventory: Equatable, CustomStringConvertible {
        public let descriptors: Int
        public let threads: Int

        public init() {
            descriptors = Self.count("/proc/self/fd")
            threads = Self.count("/proc/self/task")
        }

        public var description: String { "\(descriptors) descriptors, \(threads) threads" }

        /// Threads that were told to end need a moment to be gone.
        public static func settled(at goal: ProcessInventory) async -> ProcessInventory {
            let deadline = ContinuousClock.now.advanced(by: .seconds(10))
            while ContinuousClock.now < deadline {
                let now = ProcessInventory()
                if now.descriptors == goal.descriptors, now.threads <= goal.threads { return now }
                try? await Task.sleep(for: .milliseconds(10))
            }
            return ProcessInventory()
        }

        private static func count(_ folder: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? -1
        }
    }
#endif

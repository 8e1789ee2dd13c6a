import Foundation
import PenstockCore

extension TestClock {
    /// This clock as a client's time: ``TimeSource/now``, ``TimeSource/date`` and ``TimeSource/sleep`` all move only
    /// with it. The date begins on 9 September 2001, a thousand million seconds after 1970.
    public var timeSource: TimeSource {
        TimeSource(
            now: { self.now.offset },
            date: { Date(timeIntervalSince1970: 1_000_000_000 + self.now.offset / .seconds(1)) },
            sleep: { try await self.sleep(until: self.now.advanced(by: $0)) },
            sleepUntil: { try await self.sleep(until: Instant(offset: $0)) })
    }
}

import Foundation
import PenstockCore

/// The phases of one attempt, one after the other, in microseconds. They cover the whole of it without a gap, so their sum is how
/// long it took.
package struct Phases: Hashable, Sendable {
    /// Waiting for a connection, or for one's turn on it.
    package let blocked: Int
    /// Looking up the name; `nil` where that was not done.
    package var nameLookup: Int?
    /// Making the connection, TLS included; `nil` where one was there.
    package var connect: Int?
    /// The part of ``connect`` that TLS took; `nil` without TLS.
    package var secure: Int?
    /// The time from the request's first byte to the response's.
    package let wait: Int
    /// The time from the response's first byte to its last.
    package let receive: Int

    /// How long all of it took.
    package var total: Int { blocked + (nameLookup ?? 0) + (connect ?? 0) + wait + receive }

    /// - Parameter total: how long the attempt took (``AttemptRecord/length``). Of what the transport tells nothing is believed that
    ///   would make a phase end before the one before it, or after the whole.
    package init(_ timings: Timings, isReused: Bool, total: Duration) {
        let total = max(0, total.microseconds)
        var last = 0
        func length(to end: Duration?) -> Int? {
            guard let end else { return nil }
            let moment = min(max(end.microseconds, last), total)
            defer { last = moment }
            return moment - last
        }
        if !isReused {
            nameLookup = length(to: timings.nameLookup)
            let plain = length(to: timings.connected)
            secure = length(to: timings.secured)
            if plain != nil || secure != nil { connect = (plain ?? 0) + (secure ?? 0) }
        }
        blocked = length(to: timings.requestStart) ?? 0
        let answered = length(to: timings.responseStart)
        wait = answered ?? total - last
        receive = answered == nil ? 0 : total - last
    }
}

extension Duration {
    package var microseconds: Int {
        let (seconds, attoseconds) = components
        let (whole, overflow) = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : whole.addingReportingOverflow(Int(attoseconds / 1_000_000_000_000)).partialValue
    }
}

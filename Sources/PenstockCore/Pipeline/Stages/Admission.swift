import Foundation

/// Lets an attempt wait until it may be sent: for a place among those under way, for its turn, for the end of a pause. It stands
/// below the retries, so that an attempt that is yet to be repeated holds no place.
struct Admission: Stage {
    static let name = StageName.admission

    let admissions: Admissions
    let origins: OriginTable
    /// The stage below that puts the credential on; `nil` where there is none.
    let authenticate: Authenticate?

    /// How often an attempt stands in line at most because its credential was no longer there when its turn came. A credential that is
    /// renewed again and again holds nobody up for ever.
    private static let turns = 3

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        // Others wait for what it brings, and may hold every place while they do.
        if call.renewsCredential || !admissions.mayHold(call) { return try await next(request) }
        guard let place = try await self.place(for: request, call) else { return try await next(request) }
        do throws(APIError) {
            return place.vacated(by: try await next(request))
        } catch {
            place.vacate()
            throw error
        }
    }

    /// Waits for the credential first, and then for a place. The app may send its login by itself, and that would wait behind those who
    /// hold every place and wait for the login.
    ///
    /// - Returns: `nil` where there is nothing to wait for.
    @inline(never)
    private func place(for request: HTTPRequest, _ call: CallContext) async throws(APIError) -> AdmissionPlace? {
        var turn = 0
        while true {
            turn += 1
            // What is held back asks nobody for a credential, since that may show the user a login.
            if !call.control.isSuspended, !admissions.isPaused(call) {
                try await authenticate?.untilReady(request, call)
            }
            guard let place = try enter(request, call) else { return nil }
            try await place.untilAdmitted()
            try checkCircuit(request, call, place)
            // While it stood in line the credential may have been refused to another call, or come to be due. Where there is no more
            // than a rate, whoever waits below is in nobody's way.
            guard admissions.hasPlaces, turn < Self.turns, authenticate?.makesWait(request, call) == true else {
                return place
            }
            place.vacate()
        }
    }

    /// - Returns: `nil` where there is nothing to wait for.
    @inline(never)
    private func enter(_ request: HTTPRequest, _ call: CallContext) throws(APIError) -> AdmissionPlace? {
        let origin = request.url.origin
        switch admissions.enter(call, to: origin) {
        case .unlimited: return nil
        case .admitted(let ticket): return AdmissionPlace(ticket, request, call, admissions)
        case .waits(let ticket, let promise, let reason):
            call.emit(.queued(reason))
            if reason == .paused { call.giveProbeBack() }
            return AdmissionPlace(ticket, request, call, admissions, promise)
        case .refused(let wait):
            throw .takesNothing(origin, for: wait, request)
        }
    }

    /// What others came to while this attempt waited is no news to the retries above, which were asked before.
    @inline(never)
    private func checkCircuit(
        _ request: HTTPRequest, _ call: CallContext, _ place: AdmissionPlace
    ) throws(APIError) {
        guard place.hasWaited else { return }
        do throws(APIError) {
            let origin = request.url.origin
            if origins.isOpen(origin, in: .zero) {
                throw APIError(
                    .unavailable(reason: OriginTable.reason(origin)), stage: .admission, request: request,
                    sendState: .unsent)
            }
            try call.renewProbe(for: request, at: Self.name)
        } catch {
            place.vacate()
            throw error
        }
    }
}

extension APIError {
    fileprivate static func takesNothing(
        _ origin: HTTPURL.Origin, for wait: Duration, _ request: HTTPRequest
    ) -> APIError {
        APIError(
            .unavailable(reason: "\(origin.text) takes nothing for \(wait), which is longer than the call waits"),
            stage: .admission,
            request: request)
    }
}

/// The place of one attempt: waited for, then taken until the response has come to its end, or the call has. The app's code
/// below may never return, and holds no place for that.
final class AdmissionPlace: CallWait, SharedWork, UrgentWork {
    private let ticket: AdmissionQueue.Ticket
    private let request: HTTPRequest
    private let call: CallContext
    private let admissions: Admissions
    /// `nil` where it was free.
    private let promise: Promise<Admissions.End>?

    init(
        _ ticket: AdmissionQueue.Ticket, _ request: HTTPRequest, _ call: CallContext, _ admissions: Admissions,
        _ promise: Promise<Admissions.End>? = nil
    ) {
        self.ticket = ticket
        self.request = request
        self.call = call
        self.admissions = admissions
        self.promise = promise
        call.endsWithCall(self)
    }

    /// Whether it was not free when it was asked for.
    var hasWaited: Bool { promise != nil }

    /// - Throws: ``APIError/Kind/cancelled`` or ``APIError/Kind/timeout(_:)`` when the call ends before;
    ///   ``APIError/Kind/unavailable(reason:)`` when its origin turns out to take nothing for as long as it goes on, or for longer than it waits.
    func untilAdmitted() async throws(APIError) {
        guard let promise else { return }
        let start = call.time.now()
        _ = call.control.attach(self)
        defer { call.control.detach(self) }
        holdWithCall()
        call.leads(self)
        defer { call.doesNotLead(self) }
        do throws(APIError) {
            switch try await call.value(of: promise, at: .admission) {
            case .admitted: break
            case .refused(let wait): throw .takesNothing(request.url.origin, for: wait, request)
            }
        } catch {
            vacate()
            throw error
        }
        call.emit(.admitted(after: call.time.now() - start))
    }

    /// The call has ended: it stands in line no more, and what becomes free is for others.
    func markEnded() -> [CallContext.EarlyEnd] {
        admissions.withdraw(ticket)
        return []
    }

    func abandon() { vacate() }

    func follow(_ call: CallContext) { admissions.prioritise(ticket) }

    // MARK: What the call's control does, while it waits

    /// What is suspended takes no place from the others: it waits as if it was paused.
    private func holdWithCall() {
        while true {
            let isSuspended = call.control.isSuspended
            admissions.suspend(ticket, isSuspended)
            if isSuspended { call.giveProbeBack() }
            // The call may be suspended and resumed at any moment, and the last word counts.
            if call.control.isSuspended == isSuspended { return }
        }
    }

    var isOnWire: Bool { false }

    func cancel() { promise?.abandon() }

    func suspend() { holdWithCall() }

    func resume() { holdWithCall() }

    // MARK: Giving it back

    /// Gives the place back. Once it is given back, this does nothing: no other attempt has its ticket.
    func vacate() {
        call.doesNotEnd(self)
        admissions.leave(ticket)
    }

    /// The exchange, whose content holds the place where it is yet to come.
    func vacated(by exchange: Exchange) -> Exchange {
        admissions.heed(exchange.response, from: request.url.origin, call.time)
        guard let content = exchange.content else {
            vacate()
            return exchange
        }
        var exchange = exchange
        exchange.content = PlacedContent(content, self)
        return exchange
    }
}

/// Content that holds the place of its attempt until it has ended, or nobody wants more of it.
private final class PlacedContent: TransportContent {
    private let content: any TransportContent
    private let place: AdmissionPlace

    init(_ content: any TransportContent, _ place: AdmissionPlace) {
        self.content = content
        self.place = place
    }

    deinit {
        place.vacate()
    }

    func next() async throws(TransportError) -> Data? {
        do throws(TransportError) {
            let piece = try await content.next()
            if piece == nil { place.vacate() }
            return piece
        } catch {
            place.vacate()
            throw error
        }
    }

    func discard() {
        content.discard()
        place.vacate()
    }

    var completion: TransportCompletion { content.completion }
}

#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import PenstockTesting

    /// What carries an exchange of the soak.
    enum SoakWire: String, CaseIterable, Sendable {
        case http1 = "libcurl, HTTP/1.1"
        case http2 = "libcurl, HTTP/2"
        case urlSession = "URLSession"
        case scripted = "script"
        case stub = "stub"

        var isReal: Bool { self != .scripted && self != .stub }
        var isCurl: Bool { self == .http1 || self == .http2 }
    }

    /// What goes wrong with an exchange.
    enum SoakTrouble: Hashable, Sendable {
        case none
        case fault(LoopbackServer.Fault)
        /// The connection fails before its first request.
        case handshake

        var fault: LoopbackServer.Fault? {
            if case .fault(let fault) = self { fault } else { nil }
        }

        /// Whether other exchanges of an HTTP/2 connection end with it.
        var endsConnections: Bool {
            switch fault?.effect {
            case .close, .shutDown: true
            default: false
            }
        }

        var isStall: Bool { fault?.effect == .stall || self == .handshake }
        var isInRequest: Bool {
            switch fault?.trigger {
            case .requestStart, .requestBody: true
            default: false
            }
        }
    }

    /// One exchange of the soak: what the client does, what the server does, and what each is to see of the other. All of
    /// it follows from the seed and the index.
    struct SoakPlan: Sendable, CustomStringConvertible {
        let index: Int
        let wire: SoakWire
        let method: HTTPMethod
        let trouble: SoakTrouble
        /// Over connections on which nothing goes wrong.
        let isApart: Bool
        let isStreamed: Bool
        /// Content of the request, and whether it is handed over as a stream.
        let request: Data
        let isRequestStreamed: Bool
        let response: Data
        let isResponseChunked: Bool
        /// When the caller loses interest; `nil` where it does not.
        let cancelAfter: Duration?
        /// After how many bytes the reader of a stream lets go of it.
        let abandonAfter: Int?

        var description: String {
            "\(index): \(method) by \(wire.rawValue), \(trouble), streamed: \(isStreamed), request: \(request.count), "
                + "response: \(response.count), cancelled: \(cancelAfter.map { "\($0)" } ?? "no")"
        }

        /// What a success brings.
        var content: Data { method == .head ? Data() : response }

        /// Whether nothing but a caller that loses interest can keep it from success.
        var mustSucceed: Bool { trouble == .none && (isApart || wire == .stub || wire == .scripted) }

        /// Whether the server never gives all of a response.
        var mustFail: Bool {
            if trouble == .handshake { return true }
            return trouble.isInRequest || trouble.fault?.trigger == .responseStart
        }

        /// While Foundation's URLSession on Linux sends content, or after it has sent its head again on another connection, it
        /// does not always notice that the connection has ended; and exchanges share connections unless they are apart.
        private var mayHang: Bool { wire == .urlSession && !request.isEmpty && !isApart }

        var mayTimeOut: Bool { trouble.isStall || mayHang }

        /// Short where something stalls, and longer than a test may take where nothing does.
        var timeouts: Timeouts {
            let isExpected = trouble.isStall || (mayHang && mustFail)
            let limit = isExpected ? Duration.milliseconds(200) : mayHang ? .seconds(2) : .seconds(30)
            return Timeouts(connect: limit, firstByte: limit, idle: limit, total: nil)
        }
    }

    extension SoakPlan {
        /// What is to be tried, each with each method.
        private struct Combination {
            let wire: SoakWire
            let method: HTTPMethod
            let trouble: SoakTrouble
        }

        static let methods: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options]

        /// As many plans as are asked for; every combination is among them, if there are enough.
        static func make(_ count: Int, seed: UInt64) -> [SoakPlan] {
            var random = Seeded(seed: seed)
            let all = combinations
            let order = (0..<count).map { all[$0 % all.count] }.shuffled(using: &random)
            return order.enumerated().map { index, combination in
                SoakPlan(index, combination, &random)
            }
        }

        private static var combinations: [Combination] {
            SoakWire.allCases.flatMap { wire in
                troubles(on: wire).flatMap { trouble in
                    methods.map { Combination(wire: wire, method: $0, trouble: trouble) }
                }
            }
        }

        static let effects: [LoopbackServer.Fault.Effect] = [.close, .shutDown, .closeStream(.internalError), .stall]

        private static func troubles(on wire: SoakWire) -> [SoakTrouble] {
            guard wire != .stub else { return [.none] }
            // Where they fire in the middle of content is moved for each plan.
            let triggers: [LoopbackServer.Fault.Trigger] = [
                .requestStart, .requestBody(after: 0), .responseStart, .responseBody(after: 0), .responseEnd,
            ]
            let faults = effects.flatMap { effect in triggers.map { SoakTrouble.fault(.init(effect, at: $0)) } }
            return faults + [.handshake, .none, .none, .none]
        }

        private init(_ index: Int, _ combination: Combination, _ random: inout Seeded) {
            self.index = index
            (wire, method) = (combination.wire, combination.method)
            let hasContent = [.post, .put, .patch].contains(method) && Int.random(in: 0..<8, using: &random) > 0
            request = hasContent ? Self.content(&random) : Data()
            response = Self.content(&random)
            isRequestStreamed = hasContent && wire.isCurl && Bool.random(using: &random)
            // Where an HTTP/2 server says goodbye or breaks a stream off, libcurl 7.88 now and then forgets content that it has
            // not handed over yet, and calls what it has the whole. Only a length that is known tells.
            let canBeCut = wire == .http2 && combination.trouble != .none
            isResponseChunked = Bool.random(using: &random) && !canBeCut
            isStreamed = wire != .urlSession && Bool.random(using: &random)
            trouble = Self.moved(combination.trouble, request.count, response.count, &random)
            isApart = trouble == .none && Bool.random(using: &random)
            let isImpatient = Int.random(in: 0..<6, using: &random) == 0 || (wire == .scripted && trouble.isStall)
            let patience = Duration.microseconds(Int.random(in: 0..<40_000, using: &random))
            cancelAfter = isImpatient ? patience : nil
            let isAbandoned = isStreamed && Int.random(in: 0..<8, using: &random) == 0
            abandonAfter = isAbandoned ? Int.random(in: 0...response.count, using: &random) : nil
        }

        /// Mostly small, and now and then more than one buffer, frame or window holds.
        private static func content(_ random: inout Seeded) -> Data {
            let most = [0, 100, 2_000, 20_000, 100_000, 300_000].randomElement(using: &random) ?? 0
            return sampleBytes(seed: random.next(), count: Int.random(in: 0...most, using: &random))
        }

        private static func moved(
            _ trouble: SoakTrouble, _ sent: Int, _ received: Int, _ random: inout Seeded
        ) -> SoakTrouble {
            guard let fault = trouble.fault else { return trouble }
            switch fault.trigger {
            case .requestBody:
                return .fault(.init(fault.effect, at: .requestBody(after: Int.random(in: 0...sent, using: &random))))
            case .responseBody:
                return .fault(
                    .init(fault.effect, at: .responseBody(after: Int.random(in: 0...received, using: &random))))
            default: return trouble
            }
        }
    }
#endif

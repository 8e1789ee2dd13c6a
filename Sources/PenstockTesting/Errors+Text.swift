import Foundation
import PenstockCore

extension LoopbackServer.WaitTimeout: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension LoopbackServer.TLSFailure: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension ConformanceViolation: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension ReplayDrift: LocalizedError {
    public var errorDescription: String? { asSentence }
}

import Foundation

extension FrameError: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension WebSocketClosure: LocalizedError {
    public var errorDescription: String? { asSentence }
}

import Foundation
import Security

/// What the package uses of Apple's Network framework, with Apple's documented signatures and without bodies that do anything.
public final class NWPathMonitor {
    public init() {}
    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)?
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}

public struct NWPath: Sendable {
    public enum Status: Sendable {
        case satisfied
        case unsatisfied
        case requiresConnection
    }

    public let status: Status
    public let isExpensive: Bool
    public let isConstrained: Bool
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool { false }
}

public struct NWInterface: Sendable {
    public enum InterfaceType: Sendable {
        case other
        case wifi
        case cellular
        case wiredEthernet
        case loopback
    }
}

public final class NWConnection: Sendable {
    public enum State: Sendable {
        case setup
        case waiting(NWError)
        case preparing
        case ready
        case failed(NWError)
        case cancelled
    }

    public enum SendCompletion: Sendable {
        case contentProcessed(@Sendable (_ error: NWError?) -> Void)
        case idempotent
    }

    public final class ContentContext: Sendable {
        public static let defaultMessage = ContentContext()
        public static let finalMessage = ContentContext()
    }

    public init(host: NWEndpoint.Host, port: NWEndpoint.Port, using: NWParameters) {}
    public var stateUpdateHandler: (@Sendable (_ state: NWConnection.State) -> Void)? {
        get { nil }
        set {}
    }
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
    public func receive(
        minimumIncompleteLength: Int, maximumLength: Int,
        completion:
            @escaping @Sendable (
                _ content: Data?, _ contentContext: ContentContext?, _ isComplete: Bool, _ error: NWError?
            ) -> Void
    ) {}
    public func receiveMessage(
        completion:
            @escaping @Sendable (
                _ completeContent: Data?, _ contentContext: ContentContext?, _ isComplete: Bool, _ error: NWError?
            ) -> Void
    ) {}
    public func send(
        content: Data?, contentContext: ContentContext = .defaultMessage, isComplete: Bool = true,
        completion: SendCompletion
    ) {}
}

public enum NWEndpoint {
    public struct Host: Sendable {
        public init(_ string: String) {}
    }

    public struct Port: Sendable {
        public init?(rawValue: UInt16) {}
    }
}

public enum NWError: Error {
    case posix(POSIXErrorCode)
    case dns(Int32)
    case tls(OSStatus)
}

public final class NWParameters {
    public init(tls: NWProtocolTLS.Options?, tcp: NWProtocolTCP.Options) {}
    public static var udp: NWParameters { NWParameters(tls: nil, tcp: .init()) }
}

public enum NWProtocolTCP {
    public final class Options {
        public init() {}
        public var noDelay: Bool {
            get { false }
            set {}
        }
    }
}

public enum NWProtocolTLS {
    public final class Options {
        public init() {}
        public var securityProtocolOptions: sec_protocol_options_t { fatalError() }
    }
}

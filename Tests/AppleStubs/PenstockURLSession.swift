import Foundation
import Security

// What Foundation has on Apple's systems alone, with Apple's documented signatures.
let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"

extension URLProtectionSpace {
    var serverTrust: SecTrust? { nil }
}

extension URLCredential {
    var identity: SecIdentity? { nil }
    var certificates: [Any] { [] }

    convenience init(trust: SecTrust) {
        self.init(user: "", password: "", persistence: .none)
    }

    convenience init(identity: SecIdentity, certificates: [Any]?, persistence: URLCredential.Persistence) {
        self.init(user: "", password: "", persistence: persistence)
    }
}

extension URLSessionConfiguration {
    var tlsMinimumSupportedProtocolVersion: Security.tls_protocol_version_t {
        get { .TLSv12 }
        set {}
    }

    /// FoundationNetworking has it too, as one that is not to be used.
    class func background(withIdentifier identifier: String) -> URLSessionConfiguration { .ephemeral }

    var sessionSendsLaunchEvents: Bool {
        get { true }
        set {}
    }
}

extension URLSession {
    func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        uploadTask(with: request, from: Data())
    }
}

extension Stream {
    class func getBoundStreams(
        withBufferSize bufferSize: Int, inputStream: UnsafeMutablePointer<InputStream?>?,
        outputStream: UnsafeMutablePointer<OutputStream?>?
    ) {}
}

final class CFRunLoop {}

func CFRunLoopWakeUp(_ loop: CFRunLoop!) {}

extension RunLoop {
    /// Foundation has it too, with a type of another module.
    func getCFRunLoop() -> CFRunLoop { CFRunLoop() }
}

/// FoundationNetworking has these too, with a port that is text.
final class URLSessionTaskMetrics {
    var transactionMetrics: [URLSessionTaskTransactionMetrics] { [] }
}

final class URLSessionTaskTransactionMetrics {
    var fetchStartDate: Date? { nil }
    var domainLookupEndDate: Date? { nil }
    var connectEndDate: Date? { nil }
    var secureConnectionEndDate: Date? { nil }
    var requestStartDate: Date? { nil }
    var responseStartDate: Date? { nil }
    var isReusedConnection: Bool { false }
    var remoteAddress: String? { nil }
    var remotePort: Int? { nil }
    var networkProtocolName: String? { nil }
    var countOfResponseBodyBytesReceived: Int64 { 0 }
}

extension NSData {
    enum CompressionAlgorithm: Int {
        case lzfse, lz4, lzma, zlib
    }

    func compressed(using algorithm: CompressionAlgorithm) throws -> Self { self }
}

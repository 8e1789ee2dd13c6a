import Foundation

/// What the package uses of Apple's Security framework, with Apple's documented signatures. Core Foundation's types are
/// those that Swift bridges them to, since nothing is bridged on Linux.
public typealias OSStatus = Int32
public typealias CFData = Data
public typealias CFArray = [Any]
public typealias CFIndex = Int
public typealias CFAllocator = Int

public final class CFError {}
public final class SecTrust {}
public final class SecCertificate {}

public let errSecSuccess: OSStatus = 0
public let errSecHostNameMismatch: OSStatus = -67602
public let errSecCertificateExpired: OSStatus = -67818
public let errSecCertificateNotValidYet: OSStatus = -67819

public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    errSecSuccess
}
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    errSecSuccess
}
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { false }
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? { nil }
public func CFErrorGetCode(_ error: CFError!) -> CFIndex { 0 }

#if os(Linux)
    private import CCrypto
    import Foundation

    /// A digest under way by OpenSSL. OpenSSL's own state is copied when a copy of this one goes on.
    ///
    /// OpenSSL can fail here for want of memory, and where the machine's own configuration of OpenSSL takes SHA-256 away. The
    /// process ends then, as Swift ends it without memory: with a digest that is none, different contents would be taken for one.
    struct PlatformDigest: Sendable {
        private var state: State

        init(_ function: DigestFunction) {
            state = State(function)
        }

        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            if !isKnownUniquelyReferenced(&state) { state = State(state) }
            state.update(bytes)
        }

        func bytes() -> Data { State(state).finish() }

        /// The digest of bytes that are all there.
        ///
        /// - Parameter output: as long as the digest.
        static func digest(
            of bytes: UnsafeRawBufferPointer, _ function: DigestFunction, into output: UnsafeMutableRawBufferPointer
        ) {
            let output = output.assumingMemoryBound(to: UInt8.self).baseAddress
            let isMade = EVP_Digest(bytes.baseAddress, bytes.count, output, nil, Algorithms.shared[function], nil) == 1
            precondition(isMade, "OpenSSL cannot make a digest")
        }

        /// HMAC-SHA-256 (RFC 2104).
        static func code256(of data: [UInt8], key: [UInt8]) -> Data {
            var output = [UInt8](repeating: 0, count: DigestFunction.sha256.size)
            let length = Int32(clamping: key.count)
            let isMade = HMAC(Algorithms.shared[.sha256], key, length, data, data.count, &output, nil) != nil
            precondition(isMade, "OpenSSL cannot make a keyed digest")
            return Data(output)
        }
    }

    /// OpenSSL's state of a digest. Unchecked because the compiler cannot see that it is changed only while nobody shares it.
    private final class State: @unchecked Sendable {
        private let function: DigestFunction
        private let context: OpaquePointer?

        init(_ function: DigestFunction) {
            self.function = function
            context = EVP_MD_CTX_new()
            precondition(
                EVP_DigestInit_ex(context, Algorithms.shared[function], nil) == 1, "OpenSSL cannot begin a digest")
        }

        /// A copy.
        init(_ other: State) {
            function = other.function
            context = EVP_MD_CTX_new()
            precondition(EVP_MD_CTX_copy_ex(context, other.context) == 1, "OpenSSL cannot copy a digest")
        }

        deinit {
            EVP_MD_CTX_free(context)
        }

        func update(_ bytes: UnsafeRawBufferPointer) {
            precondition(
                EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "OpenSSL cannot go on with a digest")
        }

        /// Called once, last of all.
        func finish() -> Data {
            var output = [UInt8](repeating: 0, count: function.size)
            precondition(EVP_DigestFinal_ex(context, &output, nil) == 1, "OpenSSL cannot end a digest")
            return Data(output)
        }
    }

    /// The functions as OpenSSL has them. They are fetched once, since a fetch takes ten times as long as a short digest.
    ///
    /// Unchecked because C pointers cannot say so: what they lead to is never changed, and stays until the process ends.
    private struct Algorithms: @unchecked Sendable {
        static let shared = Algorithms()

        private let sha256: OpaquePointer?
        private let sha512: OpaquePointer?

        private init() {
            _ = ccrypto_prepare()
            sha256 = EVP_MD_fetch(nil, "SHA256", nil)
            sha512 = EVP_MD_fetch(nil, "SHA512", nil)
        }

        subscript(function: DigestFunction) -> OpaquePointer? { function == .sha256 ? sha256 : sha512 }
    }
#endif

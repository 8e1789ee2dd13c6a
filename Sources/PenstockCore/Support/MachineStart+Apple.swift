#if canImport(Darwin)
    import Foundation

    /// Tells one start of the machine from another one.
    enum MachineStart {
        /// The kernel's own name for it; `nil` where it does not tell.
        static let id: String? = {
            // A UUID as text, and the zero behind it.
            var bytes = [UInt8](repeating: 0, count: 64)
            var size = bytes.count
            guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }()
    }
#endif

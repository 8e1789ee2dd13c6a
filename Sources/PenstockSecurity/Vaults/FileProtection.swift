import Foundation

#if canImport(Darwin) && !os(macOS)
    /// The protection of files by the device's passcode: by Apple's documentation those of an app cannot be opened from the start of
    /// the device until it is first unlocked, a lock file without content as little as one with secrets.
    enum FileProtection {
        /// What the system says then, an `errno`.
        static let refusal: Int32? = EPERM
    }
#else
    /// The protection of files by the device's passcode, which there is none of here.
    enum FileProtection {
        static let refusal: Int32? = nil
    }
#endif

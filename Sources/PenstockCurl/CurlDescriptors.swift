#if os(Linux)
    import CCurl
    import Foundation

    /// The file descriptors of the process.
    enum CurlDescriptors {
        /// Whether the process or the system has none left.
        static var areShort: Bool {
            let descriptor = eventfd(0, Int32(EFD_CLOEXEC))
            guard descriptor < 0 else {
                close(descriptor)
                return false
            }
            return isShortage(errno)
        }

        /// Whether an error of the system's says so.
        static func isShortage(_ number: Int32) -> Bool {
            number == EMFILE || number == ENFILE
        }
    }
#endif

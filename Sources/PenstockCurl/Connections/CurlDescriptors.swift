#if os(Linux)
    import CCurl
    import Foundation

    /// The file descriptors of the process.
    enum CurlDescriptors {
        /// How many the process may open (`RLIMIT_NOFILE`).
        static var limit: Int {
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
            return Int(clamping: limit.rlim_cur)
        }

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

#if !canImport(Darwin)
    import Foundation

    extension FileFacts {
        /// When the content was last written to.
        static func modification(_ facts: stat) -> (seconds: Int, nanoseconds: Int) {
            (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
        }
    }
#endif

#if canImport(Darwin)
    import Foundation

    extension FileFacts {
        /// When the content was last written to.
        static func modification(_ facts: stat) -> (seconds: Int, nanoseconds: Int) {
            (facts.st_mtimespec.tv_sec, facts.st_mtimespec.tv_nsec)
        }
    }
#endif

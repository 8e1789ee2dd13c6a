#if canImport(Darwin)
    import Foundation

    enum FileMove {
        /// Gives a file another name, unless something has that: as `rename` returns, with `EEXIST`.
        static func exclusively(_ old: String, _ new: String) -> Int32 {
            renamex_np(old, new, UInt32(RENAME_EXCL))
        }
    }
#endif
